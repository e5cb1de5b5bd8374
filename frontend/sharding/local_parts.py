"""The parts of whole arrays where one program computes all ranks: an axis in front for each of the mesh.

Input: an array and its specification. Output: the parts one behind the other, and the way back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..library import numpy as xp
from ..tracing.interpreter import ops
from .mesh import Mesh, PartitionSpec


def divided(value: Any, mesh: Mesh, spec: PartitionSpec) -> Any:
    """An array with an axis in front for each axis of the mesh that divides it, in the order of the mesh."""
    shape: list[int] = []
    at: dict[str, int] = {}
    kept: list[int] = []
    entries = spec.axes() + [()] * (value.ndim - len(spec))
    for n, names in zip(value.shape, entries, strict=True):
        for name in names:
            at[name] = len(shape)
            shape.append(mesh.shape[name])
        kept.append(len(shape))
        shape.append(n // int(np.prod([mesh.shape[name] for name in names], dtype=int)))
    if not at:
        return value
    order = [at[name] for name in mesh.axis_names if name in at] + kept
    return ops.transpose(ops.reshape(value, shape=tuple(shape)), permutation=tuple(order))


def joined(value: Any, varying: list[str], mesh: Mesh, spec: PartitionSpec) -> Any:
    """The inverse, for a result with the axes `varying` in front; it repeats over others of its spec."""
    named = [name for name in mesh.axis_names if any(name in names for names in spec.axes())]
    for name in [name for name in varying if name not in named]:  # batched, and yet the same for all
        value = xp.take(value, 0, axis=varying.index(name))
        varying = [other for other in varying if other != name]
    local = tuple(value.shape)[len(varying) :]
    if named != varying:
        dimensions = [i for i, name in enumerate(named) if name in varying]
        dimensions += range(len(named), len(named) + len(local))
        shape = (*(mesh.shape[name] for name in named), *local)
        value = ops.broadcast_in_dim(value, shape=shape, dimensions=tuple(dimensions))
    order: list[int] = []
    sizes: list[int] = []
    for dimension, n in enumerate(local):
        names = spec.axes()[dimension] if dimension < len(spec) else ()
        order += [named.index(name) for name in names]
        order.append(len(named) + dimension)
        sizes.append(n * int(np.prod([mesh.shape[name] for name in names], dtype=int)))
    if not named:
        return value
    return xp.reshape(ops.transpose(value, permutation=tuple(order)), tuple(sizes))
