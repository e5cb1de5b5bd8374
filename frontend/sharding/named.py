"""How arrays lie on devices and ranks: the classes of `jax.sharding`.

Input: a mesh and a specification. Output: what says which part of an array each rank has.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...dialects.communicator import bound
from ...dialects.dataclass import dataclass
from ...passes.partition.layouts import Grid, Spec
from ..errors import ShapeError, ShardingError
from ..tracing.layouts import Layout
from ..tracing.locations import user_location_text
from .mesh import UNCONSTRAINED, Mesh, PartitionSpec, check_spec, current_mesh, local_shape

Index = tuple[slice, ...]


class Sharding:
    """How an array lies on devices, or on ranks."""

    @property
    def one_device(self) -> Any:
        """The device, None where it is not stated."""
        return None

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device, or rank, has all of it."""
        return True

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process has all of it."""
        return True


@dataclass(frozen=True)
class SingleDeviceSharding(Sharding):
    """An array that lies on one device."""

    device: Any = None

    def __init__(self, device: Any = None, *, memory_kind: str | None = None) -> None:
        if memory_kind not in (None, "device"):
            raise ShardingError(
                f"SingleDeviceSharding: memory_kind is {memory_kind!r}, expected 'device' or None",
                where=user_location_text(),
                hint="arrays lie in the memory of their device",
            )
        object.__setattr__(self, "device", device)

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self.device!r}, memory_kind={self.memory_kind})"

    @property
    def memory_kind(self) -> str:
        """`device`: arrays lie in the memory of their device."""
        return "device"

    @property
    def one_device(self) -> Any:
        """The device."""
        return self.device

    @property
    def device_set(self) -> set[Any]:
        """The device alone."""
        return {self.device}

    addressable_devices = device_set

    @property
    def _addressable_device_assignment(self) -> tuple[Any, ...]:
        """JAX's private name, which orbax asks for."""
        return (self.device,)

    @property
    def num_devices(self) -> int:
        """One."""
        return 1

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape itself: the device has the whole array."""
        return tuple(global_shape)

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Whether arrays of rank `ndim` lie in the same way."""
        return self == other

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, Index]:
        """The device, and the index of its part: all of the array."""
        return {self.device: (slice(None),) * len(global_shape)}

    addressable_devices_indices_map = devices_indices_map


@dataclass(frozen=True)
class NamedSharding(Sharding):
    """A specification together with its mesh: one of `make_mesh`, whose axes the specification names, or of
    one device."""

    mesh: Any
    spec: PartitionSpec

    def __post_init__(self) -> None:
        if self.mesh.axis_names:
            check_spec("NamedSharding", self.mesh, self.spec)

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh!s}, spec={self.spec}, memory_kind=device)"

    @property
    def device_set(self) -> set[Any]:
        """The devices, or ranks, that have a part."""
        return set(self.mesh.devices.flat)

    @property
    def num_devices(self) -> int:
        """How many there are."""
        return int(self.mesh.size)

    @property
    def memory_kind(self) -> str:
        """`device`: arrays lie in the memory of their device."""
        return "device"

    def check_array(self, value: Any) -> None:
        """Raise `ShapeError` for an array with fewer dimensions than the specification names."""
        rank = np.ndim(value)
        if self.spec is not None and rank < len(self.spec):
            raise ShapeError(
                f"{self.spec} divides {len(self.spec)} dimensions of an array of rank {rank}",
                where=user_location_text(),
            )

    @property
    def one_device(self) -> Any:
        """The device of a mesh that has one."""
        if isinstance(self.mesh, Mesh):
            return None
        return None if self.has_ranks or self.mesh.empty else self.mesh.devices.flat[0]

    @property
    def has_ranks(self) -> bool:
        """Whether it is about ranks, and not about one device."""
        return isinstance(self.mesh, Mesh) and self.mesh.has_ranks

    @property
    def is_remote(self) -> bool:
        """Whether its ranks are those of a job, of which this process, or thread, is one."""
        return isinstance(self.mesh, Mesh) and not self.mesh.is_local

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every rank has all of it."""
        return not self.has_ranks or all(self.mesh.shape[n] == 1 for names in self.spec.axes() for n in names)

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process has all ranks' parts."""
        return not self.is_remote or self.mesh.size == 1

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the part of one rank, or device."""
        if not self.mesh.axis_names:
            return tuple(global_shape)
        return local_shape("NamedSharding", self.mesh, self.spec, tuple(global_shape))

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Whether arrays of rank `ndim` lie in the same way."""
        if not isinstance(other, NamedSharding) or not (self.has_ranks and other.has_ranks):
            return self == other
        return self.mesh == other.mesh and self.dimensions(ndim) == other.dimensions(ndim)

    def layout(self, rank: int) -> Layout | None:
        """As part of the type of an array of this rank: on local ranks, where all axes are explicit."""
        if not self.mesh.are_all_axes_explicit or self.is_remote or len(self.spec) > rank:
            return None
        dimensions = tuple(names or () for names in self.dimensions(rank))
        return Layout(self.mesh, dimensions, self.spec.unreduced, self.spec.reduced)

    # -- ranks -----------------------------------------------------------------------------------

    def dimensions(self, rank: int) -> Spec:
        """For each dimension of an array of this rank the axes that divide it, None for any."""
        entries = [None if entry is UNCONSTRAINED else names for entry, names in self.spec.entries()]
        return (*entries, *(((),) * (rank - len(entries))))

    def index(self, shape: Sequence[int], rank: int) -> Index:
        """The part of an array of this shape that a rank has."""
        part = self.shard_shape(shape)
        where = np.unravel_index(rank, self.mesh.axis_sizes) if self.mesh.axis_sizes else ()
        position = dict(zip(self.mesh.axis_names, map(int, where), strict=True))
        starts = []
        for names, n in zip(self.dimensions(len(shape)), part, strict=True):
            number = 0
            for name in names or ():
                number = number * self.mesh.shape[name] + position[name]
            starts.append(number * n)
        return tuple(slice(start, start + n) for start, n in zip(starts, part, strict=True))

    def replica(self, rank: int) -> int:
        """Which of the ranks with the same part a rank is."""
        where = np.unravel_index(rank, self.mesh.axis_sizes) if self.mesh.axis_sizes else ()
        named = {name for names in self.spec.axes() for name in names}
        number = 0
        for name, place in zip(self.mesh.axis_names, where, strict=True):
            if name not in named:
                number = number * self.mesh.shape[name] + int(place)
        return number

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[int, Index]:
        """The part of an array that each rank has, by the number of the rank."""
        return {rank: self.index(global_shape, rank) for rank in range(self.mesh.size)}

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> dict[int, Index]:
        """The same, of the ranks of this process."""
        return {rank: self.index(global_shape, rank) for rank in self.own_ranks}

    @property
    def own_ranks(self) -> Sequence[int]:
        """The ranks of the mesh that this process is: all of a local one."""
        if not self.is_remote:
            return range(self.mesh.size)
        communicator = bound()
        if communicator is None or communicator.size != self.mesh.size:
            raise ShardingError(
                f"{self}: this process is in no job of {self.mesh.size} ranks", where=user_location_text()
            )
        return [communicator.rank]

    @property
    def grid(self) -> Grid:
        """The mesh as the passes know it."""
        return Grid(self.mesh.axis_sizes, self.mesh.axis_names)


def of_layout(layout: Layout) -> NamedSharding:
    """The sharding that says the same, with an entry for each dimension."""
    entries = [None if not names else names[0] if len(names) == 1 else names for names in layout.dimensions]
    spec = PartitionSpec(*entries, unreduced=layout.unreduced, reduced=layout.reduced)
    return NamedSharding(layout.mesh, spec)


def named_sharding(what: str, sharding: Any) -> NamedSharding | None:
    """A sharding over ranks that a user stated; a `PartitionSpec` is over the mesh in force. None for one
    device, and for None."""
    if isinstance(sharding, PartitionSpec):
        mesh = current_mesh()
        if mesh is None:
            raise ShardingError(
                f"{what}: {sharding!r} says how an array is divided, but not over which mesh",
                where=user_location_text(),
                hint=f"name the mesh: NamedSharding(mesh, {sharding!r}), or call adze.set_mesh(mesh) before",
            )
        sharding = NamedSharding(mesh, sharding)
    if sharding is None or (isinstance(sharding, Sharding) and not isinstance(sharding, NamedSharding)):
        return None
    if not isinstance(sharding, NamedSharding):
        raise ShardingError(
            f"{what}: {sharding!r} is {type(sharding).__name__}, expected a NamedSharding, a PartitionSpec "
            "or None",
            where=user_location_text(),
            hint="write adze.sharding.NamedSharding(mesh, PartitionSpec('data'))",
        )
    return sharding if sharding.has_ranks and prod(sharding.mesh.axis_sizes) else None


def is_sharding(value: Any) -> bool:
    """Whether an entry of a tree of shardings is a leaf of it."""
    return value is None or isinstance(value, (Sharding, PartitionSpec))
