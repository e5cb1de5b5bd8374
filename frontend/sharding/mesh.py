"""Meshes of ranks, and how an array is divided among them: `adze.sharding`.

Input: sizes and names of axes. Output: a mesh, and specifications of arrays on it. Idea: in a job of several
ranks (processes, or threads of `adze.distributed.run`) a mesh arranges these; elsewhere its ranks are local,
and one program computes what all of them do.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np

from ...dialects.communicator import bound
from ..errors import ArgumentTypeError, ShardingError, UnsupportedError
from ..tracing.locations import user_location_text


class Unconstrained:
    """In a specification: any axes may divide this dimension."""

    def __repr__(self) -> str:
        return "PartitionSpec.UNCONSTRAINED"


UNCONSTRAINED: Final = Unconstrained()


class PartitionSpec(tuple[Any, ...]):
    """For each dimension of an array the axis of a mesh that divides it, several axes, or None.

    Dimensions that are left out at the end are not divided; as `jax.sharding.PartitionSpec`. A constraint may
    leave a dimension open: `PartitionSpec.UNCONSTRAINED`.
    """

    UNCONSTRAINED: ClassVar[Unconstrained] = UNCONSTRAINED

    def __new__(cls, *partitions: Any) -> PartitionSpec:
        return super().__new__(cls, partitions)

    def __repr__(self) -> str:
        return f"PartitionSpec({', '.join(map(repr, self))})"

    def axes(self) -> list[tuple[str, ...]]:
        """The axes of each dimension that is stated."""
        return [_names(entry) for entry in self]

    def names(self) -> frozenset[str]:
        """The axes that divide any dimension."""
        return frozenset(name for names in self.axes() for name in names)

    def entries(self) -> list[tuple[Any, tuple[str, ...]]]:
        """Each entry as it was written, and its axes."""
        return [(entry, _names(entry)) for entry in self]


def spec_of(dimensions: Iterable[Sequence[str]]) -> PartitionSpec:
    """The specification for the axes that divide each dimension, as users write it: short."""
    entries = [None if not names else names[0] if len(names) == 1 else tuple(names) for names in dimensions]
    while entries and entries[-1] is None:
        entries.pop()
    return PartitionSpec(*entries)


def _names(entry: Any) -> tuple[str, ...]:
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return (entry,) if isinstance(entry, str) else tuple(entry)


@dataclass(frozen=True)
class Mesh:
    """Ranks in a grid with named axes. `is_local`: all of them are computed by this process's program."""

    axis_sizes: tuple[int, ...]
    axis_names: tuple[str, ...]
    is_local: bool = True

    @property
    def shape(self) -> dict[str, int]:
        """The size of each axis by name."""
        return dict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """The number of ranks."""
        return int(np.prod(self.axis_sizes))

    @property
    def empty(self) -> bool:
        """Whether it has no rank."""
        return self.size == 0

    @property
    def devices(self) -> np.ndarray:
        """The numbers of the ranks, in the grid."""
        return np.arange(self.size).reshape(self.axis_sizes)

    def __enter__(self) -> Mesh:
        _ENTERED.set((*_ENTERED.get(), _MESH.set(self)))
        return self

    def __exit__(self, *_: object) -> None:
        *rest, token = _ENTERED.get()
        _ENTERED.set(tuple(rest))
        _MESH.reset(token)


_MESH: Final[ContextVar[Mesh | None]] = ContextVar("mesh", default=None)
_ENTERED: Final[ContextVar[tuple[Token[Mesh | None], ...]]] = ContextVar("entered", default=())


def current_mesh() -> Mesh | None:
    """The mesh in force: that of the innermost `with mesh:`, or of `set_mesh`."""
    return _MESH.get()


class set_mesh:  # it is called like a function, as in JAX
    """Let `mesh` be in force: for all that follows in this thread, or for a `with` statement.

    Where it is, a `PartitionSpec` alone says how an array lies, and `shard_map` needs no mesh. None: no mesh.
    """

    def __init__(self, mesh: Mesh | None) -> None:
        if mesh is not None and not isinstance(mesh, Mesh):
            raise ArgumentTypeError(
                f"set_mesh expects a mesh, got {type(mesh).__name__}",
                where=user_location_text(),
                hint="make one with adze.make_mesh((4,), ('data',))",
            )
        self._mesh = mesh
        self._token = _MESH.set(mesh)

    def __enter__(self) -> Mesh | None:
        return self._mesh

    def __exit__(self, *_: object) -> None:
        _MESH.reset(self._token)


def get_mesh() -> Mesh:
    """The mesh in force, one without ranks where there is none."""
    return _MESH.get() or Mesh((0,), ("none",))


class AxisType(enum.Enum):
    """How JAX's axes of a mesh treat the shardings of values. adze divides as it finds best: `Auto`.

    `Explicit` says the same of values; JAX adds shardings to types then.
    """

    Auto = "auto"
    Explicit = "explicit"
    Manual = "manual"


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[str],
    axis_types: Sequence[AxisType] | None = None,
    *,
    devices: Any = None,
) -> Mesh:
    """A mesh of `axis_shapes` ranks with these names; ranks are numbered row by row.

    In a job of several ranks its size must be theirs; in any other process the ranks are local. `axis_types`
    of JAX change no value. `devices` are as many devices or numbers of ranks, in ascending order: local
    ranks run on this process's device whichever they are. Raises `ShardingError` for names or sizes that are
    no mesh, and `UnsupportedError` for axes that are `Manual`, and for `devices` in another order.
    """
    if any(kind is AxisType.Manual for kind in axis_types or ()):
        raise UnsupportedError(
            "make_mesh(axis_types=Manual): a mesh has all ranks of the job, or ranks of this process",
            where=user_location_text(),
            hint="leave it out; shard_map makes the axes that it names manual",
        )
    sizes, names = tuple(int(n) for n in axis_shapes), tuple(axis_names)
    if len(sizes) != len(names) or len(set(names)) < len(names) or any(n < 1 for n in sizes):
        raise ShardingError(
            f"make_mesh({list(axis_shapes)}, {list(axis_names)}): expected one distinct name for each size, "
            "and sizes of at least 1",
            where=user_location_text(),
        )
    mesh = Mesh(sizes, names)
    if devices is not None:
        _check_devices(mesh, np.asarray(devices, object).ravel().tolist())
    communicator = bound()
    if communicator is None or communicator.size == 1:
        return mesh
    if communicator.size != mesh.size:
        raise ShardingError(
            f"make_mesh: {mesh.shape} has {mesh.size} ranks, the job has {communicator.size}",
            where=user_location_text(),
            hint="start as many processes as the mesh has ranks: mpirun -n N python train.py",
        )
    return Mesh(sizes, names, is_local=False)


def _check_devices(mesh: Mesh, devices: Sequence[Any]) -> None:
    """Raise unless there is a device for each rank, and the numbers of ranks among them ascend."""
    if len(devices) != mesh.size:
        raise ShardingError(
            f"make_mesh(devices=...): {len(devices)} devices for {mesh.shape}, which has {mesh.size} ranks",
            where=user_location_text(),
            hint="leave devices out: a mesh has ranks of this process, or all ranks of the job",
        )
    numbers = [int(d) for d in devices if isinstance(d, (int, np.integer))]
    if any(low >= high for low, high in pairwise(numbers)):
        raise UnsupportedError(
            f"make_mesh(devices=...): the ranks {numbers} do not ascend, and a mesh numbers them row by row",
            where=user_location_text(),
            hint="leave devices out, and permute the array, or the result with lax.ppermute",
        )


def check_spec(what: str, mesh: Mesh, spec: Any) -> None:
    """Raise `ShardingError` unless `spec` names axes of the mesh, each once."""
    if not isinstance(spec, PartitionSpec):
        raise ShardingError(
            f"{what}: {spec!r} is {type(spec).__name__}, expected a PartitionSpec",
            where=user_location_text(),
            hint="write adze.sharding.PartitionSpec('data') or PartitionSpec() for one that all ranks have",
        )
    named = [name for names in spec.axes() for name in names]
    unknown = [name for name in named if name not in mesh.axis_names]
    if unknown or len(set(named)) < len(named):
        raise ShardingError(
            f"{what}: {spec} must name axes of the mesh {mesh.shape}, each at most once",
            where=user_location_text(),
        )


def local_shape(what: str, mesh: Mesh, spec: PartitionSpec, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of one rank's part of an array of `shape`."""
    if len(spec) > len(shape):
        raise ShardingError(
            f"{what}: {spec} has {len(spec)} entries for an array of rank {len(shape)}",
            where=user_location_text(),
        )
    parts = list(shape)
    for dimension, n in enumerate(shape):
        if not isinstance(n, int):
            raise ShardingError(
                f"{what}: dimension {dimension} has the dynamic size {n}, expected static sizes on a mesh",
                where=user_location_text(),
                hint="state the size as a number, and build or jit the function for each",
            )
    for dimension, names in enumerate(spec.axes()):
        count = int(np.prod([mesh.shape[name] for name in names], dtype=int))
        n = shape[dimension]
        if n % count:
            raise ShardingError(
                f"{what}: dimension {dimension} has {n} elements, which the {count} ranks along "
                f"{', '.join(map(repr, names))} cannot share",
                where=user_location_text(),
                hint="pad the array to a multiple, or divide another dimension",
            )
        parts[dimension] = n // count
    return tuple(parts)
