"""Collectives on their way to a compiled program: the functions that it imports, and its meshes.

Input: a module with collectives over a mesh, and its target. Output: a `HostSite` for each import that their
lowering emits, and the names of the axes of each mesh. `runtime/distributed/imports.py` says what the imports
are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.op import DIALECT
from ...dialects.ops.collectives.mesh_axes import MeshAxisOp, Unvary, Vary
from ...dialects.types import TensorType
from ...runtime.distributed.division import Division
from ...runtime.distributed.imports import INDEX, channel_names, import_name, sites_of
from ...runtime.distributed.programs import Job, job_for
from ...runtime.execute.host_calls import HostSite
from ...runtime.targets import Target
from ..analysis.verify import location_text


@dataclass(frozen=True)
class _Collective:
    """An op that the program imports a function for."""

    application: Application
    type: TensorType
    where: str | None


def _collectives(module: mlir.ir.Module) -> list[_Collective]:
    reader = Reader(Codec(module.context))
    found: list[_Collective] = []

    def visit(operation: Any) -> Any:
        op = reader.declaration(operation.name) if operation.name.startswith(f"{DIALECT}.") else None
        if op is not None and issubclass(op, MeshAxisOp) and op not in (Vary, Unvary):
            application = reader.read(operation)
            result = reader.codec.read_type(operation.results[0].type)
            assert application is not None
            assert isinstance(result, TensorType)
            if application.attributes["mesh"][application.attributes["axis"]] > 1:
                found.append(_Collective(application, result, location_text(operation.location)))
        return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def _named(collectives: list[_Collective], target: Target) -> Iterator[tuple[str, _Collective]]:
    for each in collectives:
        op, attributes = each.application.op.name, each.application.attributes
        if target.has_channels and op != INDEX:
            for name in channel_names(attributes["mesh"], attributes["axis"]):
                yield name, each
        else:
            yield import_name(op, attributes, each.type.dtype, each.type.rank), each


def collective_sites(module: mlir.ir.Module, target: Target) -> tuple[HostSite, ...]:
    """What the program imports; equal collectives share one function."""
    named: dict[str, _Collective] = {}
    for name, each in _named(_collectives(module), target):
        named.setdefault(name, each)
    return tuple(site for name, each in named.items() for site in sites_of(name, each.where))


def job_of(module: mlir.ir.Module, target: Target, division: Division | None = None) -> Job | None:
    """The job that a program with collectives, or a `division`, is for; None for a program of one rank."""
    collectives = _collectives(module)
    if not collectives and division is not None:
        return Job(math.prod(division.sizes), (), (), division)
    if not collectives:
        return None
    imports = sorted({name for name, _ in _named(collectives, target)})
    meshes: dict[tuple[int, ...], dict[int, str]] = {}
    for each in collectives:
        attributes = each.application.attributes
        meshes.setdefault(attributes["mesh"], {})[attributes["axis"]] = attributes["axis_name"]
    return replace(job_for(imports, meshes), division=division)
