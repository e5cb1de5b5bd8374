"""Files with a program compiled for several targets: one trace, one module a target, one manifest.

Input: compiled programs of one trace. Output: the contents of a `.vmfb` that holds all of them. The first one
stands first in the file, where hosts that know nothing of adze look for a module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...runtime.artifact.artifact import Contents
from ...runtime.artifact.variants import part_of, variant_of
from ...runtime.targets import Target, parse_target
from ..errors import ArgumentError
from .modules import kept_ir
from .stages import Compiled


def packed(compiled: Sequence[Compiled], *, keep_ir: bool = False) -> Contents:
    """The contents of a file with these programs, which are one traced program for several targets."""
    first, *others = compiled
    ir = kept_ir(first.program.module) if keep_ir else b""
    if not others:
        return Contents(first.vmfb, first.manifest, ir)
    variants = tuple(variant_of(each.manifest, each.vmfb) for each in compiled)
    manifest = replace(first.manifest, variants=variants)
    parts = {part_of(variant): each.vmfb for variant, each in zip(variants[1:], others, strict=True)}
    return Contents(first.vmfb, manifest, ir, parts)


def different_targets(names: Sequence[str | Target]) -> list[Target]:
    """The targets of these names, none of them twice."""
    targets = [parse_target(name) for name in names]
    for position, target in enumerate(targets):
        if target.name in [other.name for other in targets[:position]]:
            raise ArgumentError(f"target {target} is named twice", hint="name each target once")
    return targets
