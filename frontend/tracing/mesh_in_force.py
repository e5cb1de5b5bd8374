"""The mesh in force: that of the innermost `with mesh:`, or of `adze.set_mesh`.

Input: a mesh, from `frontend/sharding/mesh.py`. Output: what the key of every cache of traces has of it.
Idea: a function can ask for the mesh in force, and so can what it calls (`with_sharding_constraint`,
`shard_map`). So its traces, and the programs made of them, are those of one mesh.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextvars import ContextVar
from typing import Any, Final

MESH: Final[ContextVar[Any]] = ContextVar("mesh", default=None)
"""None where no mesh is in force."""


def mesh_in_force() -> Hashable | None:
    """Equal for meshes that are the same to a trace: ranks, and axes with their types."""
    mesh = MESH.get()
    return None if mesh is None else (mesh, mesh.axis_types)
