"""Names of `jax.sharding`: descriptions of how arrays lie on several devices. adze has one device a program.

Specifications can be made and compared, since libraries keep them beside their parameters; a mesh of more
than one device is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..errors import UnsupportedError
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
        import numpy as np

        self.devices = np.asarray(devices, dtype=object)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if self.devices.size > 1:
            raise UnsupportedError(
                f"a mesh of {self.devices.size} devices: adze runs a program on one device",
                where=user_location_text(),
            )

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
    """A specification together with its mesh."""

    mesh: Mesh
    spec: PartitionSpec

    @property
    def one_device(self) -> Any:
        """The device of the mesh."""
        return self.mesh.devices.flat[0] if self.mesh.devices.size else None


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
