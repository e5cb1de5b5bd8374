"""Meshes of ranks, and how an array is divided among them: `adze.sharding`.

Input: sizes and names of axes. Output: a mesh, and specifications of arrays on it. Idea: in a job of several
ranks (processes, or threads of `adze.distributed.run`) a mesh arranges these; elsewhere its ranks are local,
and one program computes what all of them do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ContextDecorator
from contextvars import ContextVar, Token
from typing import Any, ClassVar, Final

import numpy as np

from ...dialects.communicator import bound
from ..errors import ArgumentTypeError, ShardingError, UnsupportedError
from ..tracing.jax_rules import follows_jax
from ..tracing.locations import user_location_text
from ..tracing.mesh_in_force import MESH
from .axis_types import AxisType as AxisType
from .axis_types import TypedAxes
from .ranks import Rank


class Unconstrained:
    """In a specification: any axes may divide this dimension."""

    def __repr__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED: Final = Unconstrained()


class PartitionSpec(tuple[Any, ...]):
    """For each dimension of an array the axis of a mesh that divides it, several axes, or None.

    Dimensions that are left out at the end are not divided; as `jax.sharding.PartitionSpec`. A constraint may
    leave a dimension open: `PartitionSpec.UNCONSTRAINED`. `unreduced` names axes whose ranks have summands of
    the array, `reduced` those along which its cotangent may be left as summands: statements of what is sent,
    and when. They change no value.
    """

    UNCONSTRAINED: ClassVar[Unconstrained] = UNCONSTRAINED
    unreduced: frozenset[str]
    reduced: frozenset[str]

    def __new__(
        cls, *partitions: Any, unreduced: Iterable[str] = (), reduced: Iterable[str] = ()
    ) -> PartitionSpec:
        spec = super().__new__(cls, partitions)
        spec.unreduced, spec.reduced = _axis_set(unreduced), _axis_set(reduced)
        twice = sorted((spec.unreduced | spec.reduced) & spec.names() | (spec.unreduced & spec.reduced))
        if twice:
            raise ShardingError(
                f"PartitionSpec: {', '.join(map(repr, twice))} stands twice: an axis divides a dimension, "
                "or is unreduced, or reduced",
                where=user_location_text(),
            )
        return spec

    @property
    def partitions(self) -> tuple[Any, ...]:
        """The entries, as a plain tuple."""
        return tuple(self)

    def update(self, **changed: Any) -> PartitionSpec:
        """The specification with other `partitions`, `unreduced` or `reduced`."""
        stated = {
            "partitions": self.partitions,
            "unreduced": self.unreduced,
            "reduced": self.reduced,
        } | changed
        return PartitionSpec(*stated.pop("partitions"), **stated)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionSpec):
            return tuple.__eq__(self, other)
        sums = self.unreduced == other.unreduced and self.reduced == other.reduced
        return sums and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((tuple(self), self.unreduced, self.reduced))

    def __reduce__(self) -> Any:
        return _spec, (tuple(self), self.unreduced, self.reduced)

    def __repr__(self) -> str:
        stated = [repr(entry) for entry in self]
        for name, axes in (("unreduced", self.unreduced), ("reduced", self.reduced)):
            if axes:
                stated.append(f"{name}={{{', '.join(map(repr, sorted(axes)))}}}")
        lone = "," if len(self) == len(stated) == 1 else ""
        return f"P({', '.join(stated)}{lone})"

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


def _axis_set(names: Iterable[str]) -> frozenset[str]:
    return frozenset((names,) if isinstance(names, str) else names)


def _spec(partitions: tuple[Any, ...], unreduced: frozenset[str], reduced: frozenset[str]) -> PartitionSpec:
    """A specification that was pickled."""
    return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced)


def _names(entry: Any) -> tuple[str, ...]:
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return (entry,) if isinstance(entry, str) else tuple(entry)


class AbstractMesh(TypedAxes):
    """Sizes and names of axes, without the ranks."""

    def __init__(
        self,
        axis_sizes: Sequence[int] = (),
        axis_names: Sequence[str] = (),
        axis_types: Sequence[AxisType] | AxisType | None = None,
        **_: Any,
    ) -> None:
        self.axis_sizes = tuple(map(int, axis_sizes))
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if len(self.axis_sizes) != len(self.axis_names) or len(set(self.axis_names)) < len(self.axis_names):
            raise ShardingError(
                f"a mesh of {list(self.axis_sizes)} with the axes {list(self.axis_names)}: expected one "
                "distinct name for each size",
                where=user_location_text(),
            )
        kinds = AxisType.Auto if axis_types is None else axis_types
        self.axis_types = (kinds,) * len(self.axis_names) if isinstance(kinds, AxisType) else tuple(kinds)
        if len(self.axis_types) != len(self.axis_names):
            raise ShardingError(
                f"a mesh with the axes {list(self.axis_names)} and {len(self.axis_types)} axis_types",
                where=user_location_text(),
            )

    @property
    def shape(self) -> dict[str, int]:
        """The size of each axis by name."""
        return dict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def shape_tuple(self) -> tuple[tuple[str, int], ...]:
        """The same, as pairs."""
        return tuple(self.shape.items())

    @property
    def size(self) -> int:
        """The number of ranks."""
        return math.prod(self.axis_sizes) if self.axis_names else 0

    @property
    def empty(self) -> bool:
        """Whether it has no rank."""
        return self.size == 0

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh without its ranks."""
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    def update_axis_types(self, name_to_type: Mapping[str, AxisType]) -> AbstractMesh:
        """The mesh without its ranks, the axes that are named of other types."""
        kinds = zip(self.axis_names, self.axis_types, strict=True)
        return self.abstract_mesh.update(axis_types=[name_to_type.get(name, kind) for name, kind in kinds])

    def update(
        self,
        axis_sizes: Sequence[int] | None = None,
        axis_names: Sequence[str] | None = None,
        axis_types: Sequence[AxisType] | None = None,
    ) -> AbstractMesh:
        """A mesh of the same sizes, names and types, but for those that are passed."""
        return AbstractMesh(
            self.axis_sizes if axis_sizes is None else axis_sizes,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )

    def _key(self) -> tuple[Any, ...]:
        """What two equal meshes have in common; types of axes change no rank."""
        return self.axis_sizes, self.axis_names

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        axes = [f"{name!r}: {size}" for name, size in self.shape.items()]
        kinds = f"axis_types=({', '.join(map(repr, self.axis_types))}{',' * (len(axes) == 1)})"
        return f"{type(self).__name__}({', '.join([*axes, kinds] if axes else [])})"

    __repr__ = __str__


class Mesh(AbstractMesh, ContextDecorator):
    """Ranks in a grid with named axes, in the order of `devices`: an array of devices or of their numbers.

    `is_local`: all of them are computed by this process's program, on its device. A mesh of a single device
    says on which one arrays lie.
    """

    def __init__(
        self,
        devices: Any,
        axis_names: Sequence[str] = (),
        axis_types: Sequence[AxisType] | AxisType | None = None,
        *,
        is_local: bool | None = None,
        **_: Any,
    ) -> None:
        grid = np.asarray(devices, dtype=object)
        super().__init__(grid.shape, axis_names, axis_types)
        numbers = [int(d) for d in grid.ravel() if isinstance(d, (int, np.integer, Rank))]
        if len(set(numbers)) < len(numbers):
            raise ShardingError(f"Mesh: a device stands twice among {numbers}", where=user_location_text())
        self.has_ranks = grid.size != 1 or bool(numbers)
        ids = numbers if len(numbers) == grid.size else range(grid.size)
        self.device_ids = np.asarray(ids, np.int64).reshape(grid.shape)
        self.devices = grid if not self.has_ranks else ranks_of(self.device_ids)
        self.is_local = _is_local(self) if is_local is None else is_local

    def update(
        self,
        devices: Any = None,
        axis_names: Sequence[str] | None = None,
        axis_types: Sequence[AxisType] | None = None,
    ) -> Mesh:
        """A mesh of the same devices, names and types, but for those that are passed."""
        return Mesh(
            self.devices if devices is None else devices,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
            is_local=self.is_local if devices is None else None,
        )

    def with_types(self, kind: AxisType) -> Mesh:
        """The same ranks, all axes of this type."""
        return Mesh(self.devices, self.axis_names, kind, is_local=self.is_local)

    @property
    def local_devices(self) -> list[Any]:
        """The ranks that this process is."""
        if self.is_local:
            return list(self.devices.ravel())
        communicator = bound()
        return [] if communicator is None else [Rank(communicator.rank)]

    @property
    def is_multi_process(self) -> bool:
        """Whether its ranks are processes of a job."""
        return not self.is_local

    def _key(self) -> tuple[Any, ...]:
        lies_on = self.device_ids.tobytes() if self.has_ranks else self.devices.item()
        return (*super()._key(), lies_on, self.is_local)

    def __repr__(self) -> str:
        kinds = ", ".join(map(repr, self.axis_types)) + "," * (len(self.axis_types) == 1)
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, axis_types=({kinds}))"

    def __enter__(self) -> Mesh:
        _ENTERED.set((*_ENTERED.get(), MESH.set(self)))
        return self

    def __exit__(self, *_: object) -> None:
        *rest, token = _ENTERED.get()
        _ENTERED.set(tuple(rest))
        MESH.reset(token)


_ENTERED: Final[ContextVar[tuple[Token[Mesh | None], ...]]] = ContextVar("entered", default=())


def current_mesh() -> Mesh | None:
    """The mesh in force: that of the innermost `with mesh:`, or of `set_mesh`."""
    mesh: Mesh | None = MESH.get()
    return mesh


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
        self._token = MESH.set(mesh)

    def __enter__(self) -> Mesh | None:
        return self._mesh

    def __exit__(self, *_: object) -> None:
        MESH.reset(self._token)


def get_mesh() -> Mesh:
    """The mesh in force, one without ranks where there is none."""
    return current_mesh() or Mesh(np.empty(0, object), ("none",), is_local=True)


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[str],
    axis_types: Sequence[AxisType] | AxisType | None = None,
    *,
    devices: Any = None,
) -> Mesh:
    """A mesh of `axis_shapes` ranks with these names; ranks are numbered row by row.

    In a job of several ranks its size must be theirs; in any other process the ranks are local. `devices` are
    as many devices, or numbers of ranks, in the order of the grid: local ranks run on this process's device
    whichever they are. `axis_types` are `Auto`; in programs written for JAX `Explicit`, as there. Raises
    `ShardingError` for names or sizes that are no mesh, and `UnsupportedError` for axes that are `Manual`.
    """
    kinds = [axis_types] if isinstance(axis_types, AxisType) else list(axis_types or ())
    if AxisType.Manual in kinds:
        raise UnsupportedError(
            "make_mesh(axis_types=Manual): a mesh has all ranks of the job, or ranks of this process",
            where=user_location_text(),
            hint="leave it out; shard_map makes the axes that it names manual",
        )
    sizes = tuple(int(n) for n in axis_shapes)
    names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
    if len(sizes) != len(names) or len(set(names)) < len(names) or any(n < 1 for n in sizes):
        raise ShardingError(
            f"make_mesh({list(axis_shapes)}, {list(axis_names)}): expected one distinct name for each size, "
            "and sizes of at least 1",
            where=user_location_text(),
        )
    count = math.prod(sizes)
    chosen = list(range(count)) if devices is None else np.asarray(devices, object).ravel().tolist()
    if len(chosen) != count:
        raise ShardingError(
            f"make_mesh(devices=...): {len(chosen)} devices for {dict(zip(names, sizes, strict=True))}, "
            f"which has {count} ranks",
            where=user_location_text(),
            hint="leave devices out: a mesh has ranks of this process, or all ranks of the job",
        )
    if axis_types is None:
        axis_types = AxisType.Explicit if follows_jax() else AxisType.Auto
    grid = np.empty(count, object)
    grid[:] = chosen
    return Mesh(grid.reshape(sizes), names, axis_types)


def _is_local(mesh: Mesh) -> bool:
    """Whether a new mesh has ranks of this process alone; raises where the job has others."""
    communicator = bound()
    if communicator is None or communicator.size == 1 or not mesh.has_ranks:
        return True
    if communicator.size != mesh.size:
        raise ShardingError(
            f"make_mesh: {mesh.shape} has {mesh.size} ranks, the job has {communicator.size}",
            where=user_location_text(),
            hint="start as many processes as the mesh has ranks: mpirun -n N python train.py",
        )
    if (mesh.device_ids.ravel() != np.arange(mesh.size)).any():
        raise UnsupportedError(
            f"a mesh of the ranks {mesh.device_ids.ravel().tolist()} of a job: it numbers them row by row",
            where=user_location_text(),
            hint="leave devices out, and permute the array, or the result with lax.ppermute",
        )
    return False


def ranks_of_shape(mesh: AbstractMesh) -> Mesh:
    """A mesh with ranks, of the sizes of an abstract one."""
    return Mesh(np.arange(mesh.size).reshape(mesh.axis_sizes), mesh.axis_names, mesh.axis_types)


def mesh_of_job(sizes: Sequence[int], names: Sequence[str]) -> Mesh:
    """The mesh of these sizes of the ranks of a job."""
    return Mesh(np.arange(math.prod(sizes)).reshape(sizes), names, is_local=False)


def ranks_of(ids: np.ndarray) -> np.ndarray:
    """Ranks by their numbers, in the same grid."""
    grid = np.empty(ids.size, object)
    grid[:] = [Rank(int(n)) for n in ids.ravel()]
    return grid.reshape(ids.shape)


def check_spec(what: str, mesh: Mesh, spec: Any) -> None:
    """Raise `ShardingError` unless `spec` names axes of the mesh, each once."""
    if not isinstance(spec, PartitionSpec):
        raise ShardingError(
            f"{what}: {spec!r} is {type(spec).__name__}, expected a PartitionSpec",
            where=user_location_text(),
            hint="write adze.sharding.PartitionSpec('data') or PartitionSpec() for one that all ranks have",
        )
    named = [*(name for names in spec.axes() for name in names), *spec.unreduced, *spec.reduced]
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
