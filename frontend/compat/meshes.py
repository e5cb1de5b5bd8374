"""Names of `jax.experimental.mesh_utils`: grids of ranks, which `Mesh` and `make_mesh` name the axes of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..tracing.locations import user_location_text


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Any = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """The numbers of ranks in a grid, row by row; options about how devices are wired change nothing.

    Raises `UnsupportedError` for a choice of several `devices`: a mesh has all ranks.
    """
    if devices is not None and len(devices) not in (1, int(np.prod(mesh_shape))):
        raise UnsupportedError(
            f"create_device_mesh: {len(devices)} devices for a mesh of {tuple(mesh_shape)}",
            where=user_location_text(),
            hint="leave devices out: a mesh has ranks of this process, or all ranks of the job",
        )
    return np.arange(int(np.prod(mesh_shape))).reshape(tuple(mesh_shape))


__all__ = ["create_device_mesh"]
