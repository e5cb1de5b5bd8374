"""Names of `jax.sharding` for meshes of devices. adze has one device a program, and several ranks a job.

A mesh of one device can be made and compared, since libraries keep it beside their parameters; one of more is
refused. Meshes of ranks are in `frontend/sharding`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..errors import UnsupportedError
from ..sharding.mesh import PartitionSpec, current_mesh
from ..sharding.named import NamedSharding as NamedSharding
from ..sharding.named import Sharding as Sharding
from ..sharding.named import SingleDeviceSharding as SingleDeviceSharding
from ..tracing.locations import user_location_text

P = PartitionSpec


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


class AxisType:
    """Kinds of axes of a mesh."""

    Auto: Final = "Auto"
    Explicit: Final = "Explicit"
    Manual: Final = "Manual"


def get_abstract_mesh() -> Any:
    """The mesh in force, an empty one where there is none."""
    return current_mesh() or AbstractMesh()


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
