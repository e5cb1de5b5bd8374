"""Names of `jax.experimental.mesh_utils`: grids of ranks, which `Mesh` and `make_mesh` name the axes of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ShardingError
from ..sharding.mesh import ranks_of
from ..tracing.locations import user_location_text


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Any = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """Ranks in a grid, row by row; options about how devices are wired change nothing.

    `devices` are as many ranks or devices as the grid has places, and without it the first ones. Raises
    `ShardingError` for another number of them.
    """
    count = math.prod(mesh_shape)
    if devices is None:
        return ranks_of(np.arange(count).reshape(tuple(mesh_shape)))
    given = list(np.asarray(devices, object).ravel())
    if len(given) != count:
        raise ShardingError(
            f"create_device_mesh: {len(given)} devices for a mesh of {tuple(mesh_shape)}",
            where=user_location_text(),
            hint="leave devices out: a mesh has ranks of this process, or all ranks of the job",
        )
    grid = np.empty(count, object)
    grid[:] = given
    return grid.reshape(tuple(mesh_shape))


__all__ = ["create_device_mesh"]
