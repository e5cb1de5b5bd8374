"""Names of `jax.sharding`: meshes of ranks, and how arrays lie on them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..sharding.constraints import reshard as reshard
from ..sharding.mesh import AbstractMesh as AbstractMesh
from ..sharding.mesh import AxisType as AxisType
from ..sharding.mesh import Mesh as Mesh
from ..sharding.mesh import PartitionSpec, current_mesh, ranks_of_shape, set_mesh
from ..sharding.mesh import get_mesh as get_mesh
from ..sharding.named import NamedSharding as NamedSharding
from ..sharding.named import Sharding as Sharding
from ..sharding.named import SingleDeviceSharding as SingleDeviceSharding
from ..tracing.layouts import stated_by_caller

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


def auto_axes(
    fun: Callable[..., Any] | None = None, *, axes: Any = None, out_sharding: Any = None
) -> Callable[..., Any]:
    """`fun`, inside of which nothing is checked of how arrays lie.

    `out_sharding`, here or at the call, states it of the results.
    """
    if fun is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)

    @functools.wraps(fun)
    def call(*args: Any, out_sharding: Any = out_sharding, **kwargs: Any) -> Any:
        mesh = current_mesh()
        with stated_by_caller(), set_mesh(None if mesh is None else mesh.with_types(AxisType.Auto)):
            result = fun(*args, **kwargs)
        return result if out_sharding is None else reshard(result, out_sharding)

    return call


def explicit_axes(
    fun: Callable[..., Any] | None = None, *, axes: Any = None, in_sharding: Any = None
) -> Callable[..., Any]:
    """`fun`, inside of which how arrays lie is part of their types: its arguments as `in_sharding` says."""
    if fun is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)

    @functools.wraps(fun)
    def call(*args: Any, in_sharding: Any = in_sharding, **kwargs: Any) -> Any:
        mesh = current_mesh()
        with set_mesh(None if mesh is None else mesh.with_types(AxisType.Explicit)):
            if in_sharding is not None:
                args = (
                    tuple(reshard(args, in_sharding)) if len(args) != 1 else (reshard(args[0], in_sharding),)
                )
            return fun(*args, **kwargs)

    return call


__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "auto_axes",
    "explicit_axes",
    "get_abstract_mesh",
    "get_mesh",
    "reshard",
    "set_mesh",
    "use_abstract_mesh",
]
