"""Names of `jax.sharding`: descriptions of how arrays lie on several devices. adze has one device a program.

Specifications can be made and compared, since libraries keep them beside their parameters; a mesh of more
than one device is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedError
from ..sharding import mesh as ranks
from ..sharding.mesh import PartitionSpec
from ..tracing.locations import user_location_text

P = PartitionSpec


class Sharding:
    """How an array lies on devices: on one, in adze."""

    @property
    def one_device(self) -> Any:
        """The device, None where it is not stated."""
        return None


@dataclass(frozen=True)
class SingleDeviceSharding(Sharding):
    """An array that lies on one device."""

    device: Any = None

    @property
    def one_device(self) -> Any:
        """The device."""
        return self.device


class Mesh:
    """Devices by named axes; of one device alone."""

    def __init__(self, devices: Any, axis_names: Any = (), **_: Any) -> None:
        self.devices = np.asarray(devices, dtype=object)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if self.devices.size > 1:
            raise UnsupportedError(
                f"a mesh of {self.devices.size} devices: adze runs a program on one device",
                where=user_location_text(),
            )

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{name!r}: {size}' for name, size in self.shape.items())})"

    @property
    def empty(self) -> bool:
        return self.devices.size == 0

    @property
    def shape(self) -> dict[str, int]:
        return dict(zip(self.axis_names, self.devices.shape, strict=False))

    def __enter__(self) -> Mesh:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was entered."""


class AbstractMesh(Mesh):
    """A mesh without its devices: always empty."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__([])


@dataclass(frozen=True)
class NamedSharding(Sharding):
    """A specification together with its mesh: one of `make_mesh`, whose axes the specification names, or of
    one device."""

    mesh: Mesh | ranks.Mesh
    spec: PartitionSpec

    def __post_init__(self) -> None:
        if isinstance(self.mesh, ranks.Mesh):
            ranks.check_spec("NamedSharding", self.mesh, self.spec)
            return
        for entry in self.spec if self.mesh.axis_names else ():
            for name in entry if isinstance(entry, tuple) else (entry,):
                if name is not None and name not in self.mesh.axis_names:
                    raise ArgumentError(
                        f"NamedSharding: {self.spec} names the axis {name!r}, the mesh has "
                        f"{self.mesh.axis_names}",
                        where=user_location_text(),
                    )

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
        """The device of the mesh."""
        if isinstance(self.mesh, ranks.Mesh):
            raise UnsupportedError(
                f"an array on the {self.mesh.size} ranks of {self.mesh.shape}: arrays are whole outside",
                where=user_location_text(),
                hint="pass the whole array to adze.shard_map, whose in_specs divide it",
            )
        return self.mesh.devices.flat[0] if self.mesh.devices.size else None

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the part of one rank, or device."""
        if not isinstance(self.mesh, ranks.Mesh):
            return tuple(global_shape)
        return ranks.local_shape("NamedSharding", self.mesh, self.spec, tuple(global_shape))


class AxisType:
    """Kinds of axes of a mesh."""

    Auto: Final = "Auto"
    Explicit: Final = "Explicit"
    Manual: Final = "Manual"


def get_abstract_mesh() -> AbstractMesh:
    """The mesh in force: none."""
    return AbstractMesh()


__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "get_abstract_mesh",
]
