"""Collectives on their way to a compiled program: the functions that it imports for them.

Input: a module with collectives over a mesh. Output: a `HostSite` for each import that their lowering emits.
"""

from __future__ import annotations

from typing import Any

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.op import DIALECT
from ...dialects.ops.collectives.mesh_axes import MeshAxisOp, Vary
from ...dialects.types import TensorType
from ...runtime.distributed.sites import import_name, site_of
from ...runtime.execute.host_calls import HostSite
from ..analysis.verify import location_text


def collective_sites(module: mlir.ir.Module) -> tuple[HostSite, ...]:
    """What the program imports; equal collectives share one function."""
    reader = Reader(Codec(module.context))
    sites: dict[str, HostSite] = {}

    def visit(operation: Any) -> Any:
        op = reader.declaration(operation.name) if operation.name.startswith(f"{DIALECT}.") else None
        if op is not None and issubclass(op, MeshAxisOp) and op is not Vary:
            application = reader.read(operation)
            result = reader.codec.read_type(operation.results[0].type)
            assert application is not None
            assert isinstance(result, TensorType)
            name = import_name(op.name, application.attributes, result.dtype, result.rank)
            if name not in sites:
                sites[name] = site_of(name, location_text(operation.location))
        return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return tuple(sites.values())
