"""Files with a program compiled for several targets: one trace, one module a target, one manifest.

Input: compiled programs of one trace. Output: the contents of a `.vmfb` that holds all of them. The first one
stands first in the file, where hosts that know nothing of adze look for a module.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...runtime.artifact.artifact import Contents, save
from ...runtime.artifact.files import write_atomically
from ...runtime.artifact.variants import part_of, variant_of
from ...runtime.artifact.weights import safetensors_of
from ...runtime.distributed.programs import for_any_target
from ...runtime.targets import Target, parse_target
from ..errors import ArgumentError
from .compiled import Compiled
from .modules import kept_ir
from .traced import Traced


def packed(compiled: Sequence[Compiled], *, keep_ir: bool = False) -> Contents:
    """The contents of a file with these programs, which are one traced program for several targets."""
    first, *others = compiled
    ir = kept_ir(first.program.module) if keep_ir else b""
    for each in compiled:
        each.require_portable()
    if not others:
        return Contents(first.vmfb, first.manifest, ir)
    variants = tuple(variant_of(each.manifest, each.vmfb) for each in compiled)
    extra = for_any_target([each.manifest.extra for each in compiled])
    manifest = replace(first.manifest, variants=variants, extra=extra)
    parts = {part_of(variant): each.vmfb for variant, each in zip(variants[1:], others, strict=True)}
    return Contents(first.vmfb, manifest, ir, parts)


def contents_of(
    compiled: Sequence[Compiled],
    keep_ir: bool,
    parameters: Mapping[str, np.ndarray] | None,
    file: str | None,
) -> tuple[Contents, bytes]:
    """The contents of a file, and those of the file called `file` beside it that has its parameters.

    The manifest has the hash of the latter. Without parameters it is empty.
    """
    contents = packed(compiled, keep_ir=keep_ir)
    held = contents.manifest.parameters
    if not parameters or held is None or file is None:
        return contents, b""
    beside = safetensors_of(parameters)
    held = replace(held, file=file, sha256=hashlib.sha256(beside).hexdigest())
    return replace(contents, manifest=replace(contents.manifest, parameters=held)), beside


def write_traced(
    path: str | os.PathLike[str],
    traced: Traced,
    targets: Sequence[str | Target],
    *,
    keep_ir: bool = False,
    parameters: Mapping[str, np.ndarray] | None = None,
) -> list[Compiled]:
    """Compile a traced program for each target and write it to `path`, and its parameters beside it.

    The file of parameters is called like the program and ends in `.safetensors`.
    """
    compiled = [traced.lower(target).compile() for target in different_targets(targets)]
    file = Path(path).with_suffix(".safetensors")
    contents, beside = contents_of(compiled, keep_ir, parameters, file.name)
    if beside:
        write_atomically(file, beside)
    save(path, contents)
    return compiled


def different_targets(names: Sequence[str | Target]) -> list[Target]:
    """The targets of these names, none of them twice."""
    targets = [parse_target(name) for name in names]
    for position, target in enumerate(targets):
        if target.name in [other.name for other in targets[:position]]:
            raise ArgumentError(f"target {target} is named twice", hint="name each target once")
    return targets
