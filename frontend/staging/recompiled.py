"""Artifacts compiled again from the adze IR that they keep: for other targets, or another version of IREE.

Input: the contents of an artifact. Output: its whole program, as one that was traced; or the
contents of another artifact, whose manifest says the same of functions and parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...dialects import mlir
from ...dialects.types import TensorType
from ...passes.lower.hold_state import HELD
from ...runtime.artifact.artifact import Contents
from ...runtime.artifact.manifest import ExportedFunction, Held
from ...runtime.artifact.signature import ArraySpec
from ...runtime.errors import ArtifactError
from ...runtime.targets import Target
from .. import tree
from ..tracing.program import Program
from ..tracing.trace import HeldArray, Parameter, TracedProgram
from .compiled import Compiled
from .held import written_array
from .kept import program_of
from .packages import different_targets, packed
from .traced import Traced


def retraced(contents: Contents) -> Traced:
    """The program of an artifact as it was traced. Raises `ArgumentError` where no IR is kept."""
    manifest = contents.manifest
    program = program_of(contents, manifest.functions[0].signature.name)
    first, *others = (_entry(program, exported) for exported in manifest.functions)
    first.others = others
    first.held = [_held(each) for each in manifest.parameters.held] if manifest.parameters else []
    return Traced(first)


def recompiled_here(contents: Contents, device: str | None, target: str | None) -> Contents:
    """The program of an artifact, compiled for this machine: for `target`, or a target of its on `device`."""
    manifest = contents.manifest
    targets = [variant.target for variant in manifest.variants] or [manifest.target]
    if target is not None and target not in targets:
        raise ArtifactError(f"the file has no variant for {target}: it has {', '.join(targets)}")
    kinds = [each.partition(":")[0] for each in targets]
    wanted = kinds[0] if device is None else device.partition(":")[0]
    kind = "cpu" if wanted.startswith("local-") else wanted
    if kind not in kinds:
        raise ArtifactError(f"the file has no variant for {device}: it has {', '.join(targets)}")
    chosen = target or ("cpu" if kind == "cpu" else targets[kinds.index(kind)])
    return recompiled(contents, [chosen])[0]


def recompiled(
    contents: Contents,
    targets: Sequence[str | Target],
    *,
    keep_ir: bool = True,
    inside: Mapping[str, np.ndarray] | None = None,
) -> tuple[Contents, tuple[Compiled, ...]]:
    """The program of an artifact, compiled for these targets by the compiler that is here.

    The arrays `inside` are those that it has outside, and become a part of it.
    """
    traced = retraced(contents)
    parameters = contents.manifest.parameters
    if inside is not None and parameters is not None:
        _put_inside(traced.program, inside)
        held = tuple(replace(each, is_parameter=False) for each in parameters.held)
        parameters = replace(parameters, file=None, sha256="", held=held)
    compiled = tuple(traced.lower(target).compile() for target in different_targets(targets))
    new = packed(compiled, keep_ir=keep_ir)
    return replace(new, manifest=replace(new.manifest, parameters=parameters)), compiled


def _put_inside(program: TracedProgram, arrays: Mapping[str, np.ndarray]) -> None:
    """Let the module have these arrays as the first values of those that it has outside."""
    attributes = program.module.operation.attributes
    written = list(attributes[HELD])
    program.held = [replace(each, is_parameter=False) for each in program.held]
    with program.program.context, program.program.unknown:
        for n, held in enumerate(program.held):
            if "scope" in mlir.ir.DictAttr(written[n]):
                written[n] = written_array(program.program.codec, held, arrays[held.name])
        attributes[HELD] = mlir.ir.ArrayAttr.get(written)


def _entry(program: Program, exported: ExportedFunction) -> TracedProgram:
    signature = exported.signature
    parameters = [Parameter(spec.name, _type(spec), dimensions=_names(spec)) for spec in signature.inputs]
    return TracedProgram(
        program,
        signature.name,
        parameters,
        tree.structure((tuple(range(len(parameters))), {})),
        tree.structure(tuple(range(len(signature.outputs)))),
        [_type(spec) for spec in signature.outputs],
        [spec.name for spec in signature.outputs],
        [spec.shape for spec in signature.outputs],
        bounds=signature.bounds,
        exported=exported,
    )


def _held(held: Held) -> HeldArray:
    return HeldArray(held.spec.name, _type(held.spec), held.is_mutable, held.is_parameter)


def _type(spec: ArraySpec) -> TensorType:
    return TensorType(tuple(n if isinstance(n, int) else None for n in spec.shape), spec.dtype)


def _names(spec: ArraySpec) -> tuple[str | None, ...]:
    return (
        () if spec.static_shape is not None else tuple(n if isinstance(n, str) else None for n in spec.shape)
    )
