"""Collectives on their way to a compiled program: the functions that it imports for them.

Input: a module with collectives over a mesh. Output: a `HostSite` for each import that their lowering emits.
Idea: the name is the whole site (`all_reduce.axis-0.kind-sum.mesh-2x4.float32.2d`), so that no table is
needed and all ranks run the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.op import DIALECT
from ...dialects.ops.collectives.exchanges import AllGather, AllToAll, Permute, ReduceScatter
from ...dialects.ops.collectives.mesh_axes import AllReduce, MeshAxisOp, MeshCollective, MeshIndex, Vary
from ...dialects.types import TensorType, as_dtype
from ...runtime.execute.host_calls import HostSite
from ..analysis.verify import location_text

MODULE: Final = "adze_dist"
_OPS: Final[dict[str, type[MeshAxisOp]]] = {
    op.name: op for op in (AllReduce, AllGather, ReduceScatter, AllToAll, Permute, MeshIndex)
}
_LEFT_OUT: Final = ("axis_name", "is_invariant")


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return "x".join(map(_written, value)) or "none"
    return str(value)


def import_name(op: str, attributes: Mapping[str, Any], dtype: np.dtype, rank: int) -> str:
    """The name of the function that computes a collective of arrays of a dtype and a number of axes."""
    stated = sorted((n, v) for n, v in attributes.items() if n not in _LEFT_OUT)
    return ".".join([op, *(f"{n}-{_written(v)}" for n, v in stated), dtype.name, f"{rank}d"])


def site_of(name: str, where: str | None = None) -> HostSite:
    """The function of that name, as the runtime calls it."""
    op_name, *stated, dtype_name, _ = name.split(".")
    op, dtype = _OPS[op_name], as_dtype(dtype_name)
    attributes: dict[str, Any] = {"axis_name": ""}
    for entry in stated:
        key, _, value = entry.partition("-")
        attributes[key] = _parsed(key, value)
    if op is AllGather:
        attributes["is_invariant"] = False
    if not issubclass(op, MeshCollective):
        return HostSite(name, lambda arrays: [op.evaluate(**attributes)], (), 1, where, MODULE)
    index = np.zeros((), np.int32)
    return HostSite(name, lambda a: [op.evaluate(a[0], index, **attributes)], (dtype,), 1, where, MODULE)


def _parsed(key: str, value: str) -> Any:
    if key == "kind":
        return value
    numbers = tuple(int(n) for n in value.split("x")) if value != "none" else ()
    if key == "perm":
        return tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return numbers if key == "mesh" else numbers[0]


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
            if application.attributes["mesh"][application.attributes["axis"]] == 1:
                return mlir.ir.WalkResult.ADVANCE
            name = import_name(op.name, application.attributes, result.dtype, result.rank)
            if name not in sites:
                sites[name] = site_of(name, location_text(operation.location))
        return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return tuple(sites.values())
