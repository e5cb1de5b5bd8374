"""Calls of a program that takes and returns parts: those of a rank, of arrays that are divided among ranks.

Input: the division that a program's manifest states, and the leaves of the arguments of a call, divided
arrays or whole ones. Output: this rank's parts, and divided arrays for the results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...runtime.artifact.signature import ArraySpec, FunctionSignature, check_arguments
from ...runtime.distributed.division import Division
from ...runtime.distributed.programs import job_from
from ...runtime.execute.devices import Device
from ..errors import ShardingError
from ..sharding.arrays import ShardedArray
from ..sharding.mesh import mesh_of_job, spec_of
from ..sharding.named import NamedSharding
from ..tracing.array import Array
from ..tracing.locations import user_location_text
from .host import runtime_argument


class Parts:
    """How the arguments and results of a program of a rank lie on all of them.

    `signature` is that of whole arrays.
    """

    def __init__(self, division: Division, of_rank: FunctionSignature) -> None:
        mesh = mesh_of_job(division.sizes, division.names)
        self.signature = division.whole(of_rank)
        self.inputs = tuple(NamedSharding(mesh, spec_of(axes)) for axes in division.inputs)
        self.outputs = tuple(NamedSharding(mesh, spec_of(axes)) for axes in division.outputs)

    def of(self, leaves: Sequence[Any], device: Device | None = None) -> list[Any]:
        """This rank's parts of the leaves of the arguments, as the runtime takes them.

        A leaf is a whole array, or lies as the program says. Raises `ShardingError` for one that lies
        otherwise, `CallError` for other shapes and dtypes.
        """
        specs = self.signature.inputs
        values = [
            x if type(x) is ShardedArray else runtime_argument(x, spec.dtype)
            for x, spec in zip(leaves, specs, strict=True)
        ]
        check_arguments(self.signature, [(tuple(value.shape), value.dtype) for value in values])
        parts = map(self._part, values, specs, self.inputs)
        return [runtime_argument(part, spec.dtype, device) for part, spec in zip(parts, specs, strict=True)]

    def arrays(self, results: Sequence[Any]) -> list[Array]:
        """The divided arrays whose parts of this rank are `results`."""
        shapes = [spec.static_shape or () for spec in self.signature.outputs]
        described = zip(results, self.outputs, shapes, strict=True)
        return [ShardedArray(Array(part), sharding, shape) for part, sharding, shape in described]

    def _part(self, value: Any, spec: ArraySpec, sharding: NamedSharding) -> Any:
        if type(value) is ShardedArray and value.has_all:
            value = value.part
        elif type(value) is ShardedArray and not value.sharding.is_equivalent_to(sharding, value.ndim):
            raise ShardingError(
                f"{self.signature.name}(): argument {spec.name!r} lies on the ranks as "
                f"{value.sharding.spec}, the program was built for {sharding.spec}",
                where=user_location_text(),
                hint=f"put it there: adze.device_put(x, NamedSharding(mesh, {sharding.spec}))",
            )
        return part_for_call(value, sharding)


def part_for_call(leaf: Any, sharding: NamedSharding) -> Any:
    """What this rank has of an argument: a divided array, or a whole one that every rank has."""
    if type(leaf) is ShardedArray:
        return leaf.part
    if sharding.is_fully_replicated:
        return leaf
    (rank,) = sharding.own_ranks
    whole = leaf if isinstance(leaf, np.ndarray) else leaf.numpy()
    return np.ascontiguousarray(whole[sharding.index(whole.shape, rank)])


def parts_of(extra: Mapping[str, Any], of_rank: FunctionSignature) -> Parts | None:
    """What a manifest with this `extra` says of a function; None where it takes and returns whole arrays."""
    job = job_from(extra)
    return None if job is None or job.division is None else Parts(job.division, of_rank)
