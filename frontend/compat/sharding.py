"""Names of `jax.sharding`: meshes of ranks, and how arrays lie on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..sharding.mesh import AbstractMesh as AbstractMesh
from ..sharding.mesh import AxisType as AxisType
from ..sharding.mesh import Mesh as Mesh
from ..sharding.mesh import PartitionSpec, current_mesh, ranks_of_shape, set_mesh
from ..sharding.mesh import get_mesh as get_mesh
from ..sharding.named import NamedSharding as NamedSharding
from ..sharding.named import Sharding as Sharding
from ..sharding.named import SingleDeviceSharding as SingleDeviceSharding

P = PartitionSpec


def get_abstract_mesh() -> AbstractMesh:
    """The mesh in force without its ranks, an empty one where there is none."""
    mesh = current_mesh()
    return AbstractMesh() if mesh is None else mesh.abstract_mesh


@contextmanager
def use_abstract_mesh(mesh: AbstractMesh) -> Iterator[AbstractMesh]:
    """A context in which a mesh of these sizes is in force, with the ranks of this process or of the job."""
    in_force = mesh if isinstance(mesh, Mesh) else None if mesh.empty else ranks_of_shape(mesh)
    with set_mesh(in_force):
        yield mesh


def use_mesh(mesh: Mesh) -> Any:
    """A context in which a mesh is in force: `set_mesh`."""
    return set_mesh(mesh)


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
    "get_mesh",
    "set_mesh",
    "use_abstract_mesh",
]
