"""Arrays that are divided among ranks.

Input: the part of this rank, or a whole array where all ranks are local, and a sharding. Output: an array of
the whole shape. Idea: in a job it holds this rank's part alone, which jitted functions take; NumPy is given
the elements only where this process has all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.types import short_name
from .. import tree
from ..errors import ArgumentError, ShardingError, UnsupportedError
from ..tracing.array import Array
from ..tracing.deleted import PartialArray
from ..tracing.interpreter import as_value
from ..tracing.layouts import UNKNOWN, Layout, layout_of
from ..tracing.locations import user_location_text
from .mesh import PartitionSpec, current_mesh
from .named import Index, NamedSharding, Sharding, SingleDeviceSharding, of_layout
from .ranks import Rank


@dataclass(frozen=True)
class Shard:
    """A part of an array: the rank that has it, where it is in the whole, and which of equal ones it is."""

    device: Rank
    index: Index
    replica_id: int
    data: Array

    def __repr__(self) -> str:
        return (
            f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, "
            f"data={self.data})"
        )


class ShardedArray(PartialArray):
    """An array that lies on the ranks of a mesh as its `sharding` says.

    In a job each rank holds its part, `addressable_data(0)`; what needs all elements (NumPy, printing, ops
    outside of jitted functions) is an error unless every rank has them.
    """

    __slots__ = ("_lies", "_shape")

    def __init__(self, part: Array, sharding: NamedSharding, shape: tuple[int, ...]) -> None:
        has_all = part.shape == shape
        self.kind, self.call_kind = part.kind if has_all else None, None
        self._view = part._view if has_all else None
        self._buffer = part._buffer if has_all else None
        self._host = part._host if has_all else None
        self.weak_type = part.weak_type
        self.wide = part.wide if has_all else None
        self.part = part
        self._lies = sharding
        self._shape = shape

    @property
    def has_all(self) -> bool:
        """Whether all elements are here."""
        return self.part.shape == self._shape

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        return self.part.dtype

    @property
    def device(self) -> str:
        return self.part.device

    @property
    def sharding(self) -> NamedSharding:
        """How it lies on the ranks."""
        return self._lies

    @property
    def committed(self) -> bool:
        """True: it was put on the ranks of a mesh."""
        return True

    @property
    def layout(self) -> Layout | None:
        """How it lies on a mesh of local ranks whose axes are explicit, where that is part of its type."""
        return self._lies.layout(len(self._shape))

    def devices(self) -> set[Any]:
        """The ranks that have a part of it."""
        return self.sharding.device_set

    @property
    def buffer(self) -> Any:
        if not self.has_all:
            self._refused()
        return self.part.buffer

    def numpy(self) -> np.ndarray:
        if not self.has_all:
            self._refused()
        return self.part.numpy()

    def of_part(self, part: Array) -> Array:
        return ShardedArray(part, self.sharding, self._shape)

    def _refused(self) -> NoReturn:
        if self.is_deleted():
            self.part.numpy()  # raises, and says why it was deleted
        raise ShardingError(
            f"an array {short_name(self.dtype)}{list(self.shape)} that lies on the ranks as "
            f"{self.sharding.spec}: this rank has {list(self.part.shape)} of it",
            where=user_location_text(),
            hint="compute with it in a jitted function; take x.addressable_data(0), or gather it: "
            "adze.device_put(x, NamedSharding(mesh, PartitionSpec()))",
        )

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process has all parts."""
        return self.sharding.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every rank has all elements."""
        return self.sharding.is_fully_replicated

    def __repr__(self) -> str:
        if self.has_all:
            return super().__repr__()
        return (
            f"ShardedArray({short_name(self.dtype)}{list(self.shape)}, {self.sharding.spec}, "
            f"part {list(self.part.shape)})"
        )

    def __str__(self) -> str:
        return super().__str__() if self.has_all else repr(self)


def sharding_of(array: Any) -> Any:
    """How an array lies: on one device, unless it says otherwise; of a traced one what is known of it."""
    layout = layout_of(array)
    if layout is not None:
        return NamedSharding(current_mesh(), PartitionSpec()) if layout is UNKNOWN else of_layout(layout)
    return SingleDeviceSharding(array.device)


def laid_out(array: Any, layout: Layout | None) -> Any:
    """A concrete array that lies as a layout says; as it is where that says nothing."""
    if layout is None or layout is UNKNOWN or not isinstance(array, Array):
        return array
    return ShardedArray(array, of_layout(layout), array.shape)


def shards_of(array: Array) -> list[Shard]:
    """The parts of an array that this process has."""
    if isinstance(array, ShardedArray) and array.sharding.spec.unreduced:
        raise UnsupportedError(
            f"the parts of an array that lies as {array.sharding.spec}: in JAX ranks have summands "
            "of it, and adze has added them",
            where=user_location_text(),
            hint="put the sum where it shall lie first: adze.reshard(x, P())",
        )
    if not isinstance(array, ShardedArray):
        return [Shard(Rank(0), (slice(None),) * array.ndim, 0, array)]
    found = []
    for rank in array.sharding.own_ranks:
        index = array.sharding.index(array.shape, rank)
        data = array.part if array.sharding.is_remote else Array(array.numpy()[index])
        device = array.sharding.mesh.devices.flat[rank]
        found.append(Shard(device, index, array.sharding.replica(rank), data))
    return found


def whole_array(array: Array, sharding: NamedSharding) -> ShardedArray:
    """An array of which this process has all elements as `sharding` says: in a job, its part of it."""
    shape = array.shape
    sharding.check_array(array)
    sharding.shard_shape(shape)
    if not sharding.is_remote:
        return ShardedArray(array, sharding, shape)
    (rank,) = sharding.own_ranks
    if sharding.is_fully_replicated:
        return ShardedArray(array, sharding, shape)
    part = np.ascontiguousarray(array.numpy()[sharding.index(shape, rank)])
    return ShardedArray(Array(part), sharding, shape)


def make_array_from_callback(
    shape: Sequence[int],
    sharding: NamedSharding,
    data_callback: Callable[[Index], Any],
    dtype: Any = None,
) -> ShardedArray:
    """The array whose part at each index (a tuple of slices) is `data_callback(index)`.

    In a job the callback is asked for this rank's part alone; otherwise for those of all ranks.
    Raises `ShardingError` for parts of another shape.
    """
    whole = tuple(shape)
    expected = _checked("make_array_from_callback", sharding).shard_shape(whole)
    parts = []
    for rank in sharding.own_ranks:
        index = sharding.index(whole, rank)
        part = np.asarray(as_value(data_callback(index), dtype).numpy())
        if part.shape != expected:
            raise ShardingError(
                f"make_array_from_callback: the part at {index} has shape {part.shape}, expected {expected}",
                where=user_location_text(),
            )
        parts.append((index, part))
    if sharding.is_remote:
        return ShardedArray(Array(np.array(parts[0][1])), sharding, whole)
    elements = np.empty(whole, parts[0][1].dtype)
    for index, part in parts:
        elements[index] = part
    return ShardedArray(Array(elements), sharding, whole)


def make_array_from_process_local_data(
    sharding: NamedSharding, local_data: Any, global_shape: Sequence[int] | None = None
) -> ShardedArray:
    """The array of which this rank has `local_data`: all of the whole array where all ranks are local.

    `global_shape` follows from the sharding: a dimension is as many times as long as ranks divide it.
    Raises `ShardingError` where it does not fit.
    """
    _checked("make_array_from_process_local_data", sharding)
    data = as_value(local_data)
    if not sharding.is_remote:
        return whole_array(Array(np.asarray(data.numpy())), sharding)
    counts = [
        int(np.prod([sharding.mesh.shape[n] for n in names or ()], dtype=int))
        for names in sharding.dimensions(data.ndim)
    ]
    whole = tuple(n * count for n, count in zip(data.shape, counts, strict=True))
    if global_shape is not None and tuple(global_shape) != whole:
        raise ShardingError(
            f"make_array_from_process_local_data: parts {data.shape} as {sharding.spec} make an array of "
            f"shape {whole}, global_shape is {tuple(global_shape)}",
            where=user_location_text(),
        )
    return ShardedArray(Array(np.array(data.numpy())), sharding, whole)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Any], *, dtype: Any = None
) -> Array:
    """The array of this shape of which the ranks of this process have `arrays`, in their order.

    A sharding of one device takes one array, which is the whole.
    """
    if isinstance(sharding, SingleDeviceSharding) and len(arrays) == 1:
        return _whole_of(tuple(shape), arrays[0])
    sharding = _checked("make_array_from_single_device_arrays", sharding)
    if len(arrays) != len(sharding.own_ranks):
        raise ArgumentError(
            f"make_array_from_single_device_arrays: got {len(arrays)} arrays, this process has "
            f"{len(sharding.own_ranks)} ranks of the mesh",
            where=user_location_text(),
        )
    places = {
        tuple((s.start, s.stop) for s in sharding.index(tuple(shape), rank)): array
        for rank, array in zip(sharding.own_ranks, arrays, strict=True)
    }
    return make_array_from_callback(
        shape, sharding, lambda index: places[tuple((s.start, s.stop) for s in index)], dtype
    )


def _whole_of(shape: tuple[int, ...], part: Any) -> Array:
    """An array that is the only part of one of this shape."""
    whole = as_value(part)
    if whole.shape != shape:
        raise ShardingError(
            f"make_array_from_single_device_arrays: the part has shape {whole.shape}, expected {shape}",
            where=user_location_text(),
        )
    return whole


def _checked(what: str, sharding: Any) -> NamedSharding:
    if not isinstance(sharding, NamedSharding) or not sharding.has_ranks:
        raise ShardingError(
            f"{what}: {sharding!r} is no sharding over a mesh of ranks",
            where=user_location_text(),
            hint="write NamedSharding(adze.make_mesh((4,), ('data',)), PartitionSpec('data'))",
        )
    return sharding


def is_divided(value: Any) -> bool:
    """Whether a leaf is an array of which a rank of a job has a part."""
    return type(value) is ShardedArray and value.sharding.is_remote


def any_divided(values: Any) -> bool:
    """Whether a tree has such an array."""
    return any(map(is_divided, tree.leaves(values)))
