"""Names of `jax.sharding` for meshes of devices. adze has one device a program, and several ranks a job.

A mesh of one device can be made and compared, since libraries keep it beside their parameters; one of more
has ranks, as `make_mesh` makes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sharding.mesh import AxisType as AxisType
from ..sharding.mesh import PartitionSpec, current_mesh, make_mesh
from ..sharding.named import NamedSharding as NamedSharding
from ..sharding.named import Sharding as Sharding
from ..sharding.named import SingleDeviceSharding as SingleDeviceSharding

P = PartitionSpec


class Mesh:
    """Devices by named axes. One of a single device is of this class; larger ones are meshes of ranks."""

    def __new__(cls, devices: Any, axis_names: Any = (), **_: Any) -> Any:
        grid = np.asarray(devices, dtype=object)
        if grid.size > 1:
            return make_mesh(grid.shape, (axis_names,) if isinstance(axis_names, str) else tuple(axis_names))
        return super().__new__(cls)

    def __init__(self, devices: Any, axis_names: Any = (), **_: Any) -> None:
        self.devices = np.asarray(devices, dtype=object)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)

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

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__([])


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
