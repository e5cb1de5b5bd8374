"""Scatter by a kernel of our own (`kernels/scattering.py`): how an update meets an element.

Input: updates `[count, size]`, positions `[count]`, and the array as rows. Output: the updated rows, in the
array's buffer, or in a copy of it where something else uses the array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.types import BOOL, COMPLEX, FLOAT32, FLOAT64
from ..builder import Value
from ..iree.overwritten_arguments import owned
from ..kernels.scattering import Meeting, scatter_rows
from ..lowering import LoweringContext
from ..scalars import Scalars
from ..tuning import configuration
from .tensor_ops import broadcast_number, expand_axes

_OF_FLOATS: Final = {"add": "addf", "mul": "mulf"}
_OF_INTEGERS: Final = {"add": "addi", "mul": "muli"}
_OF_SIGNED: Final = {**_OF_INTEGERS, "max": "maxsi", "min": "minsi"}
_OF_UNSIGNED: Final = {**_OF_INTEGERS, "max": "maxui", "min": "minui"}


def scatters_by_kernel(ctx: LoweringContext) -> bool:
    """Whether the kernel takes elements of this dtype on this target."""
    dtype = ctx.result_type.dtype
    return configuration.has_kernels(ctx.target) and dtype != BOOL and dtype not in COMPLEX


def scatter_by_kernel(
    ctx: LoweringContext,
    kind: str,
    rows: Value,
    positions: Value,
    updates: Value,
    *,
    clips: bool,
    is_signed: bool,
) -> Value:
    """`rows` after `updates`; a position outside is dropped, or moved inside if the scatter `clips`."""
    b = ctx.builder
    dtype = ctx.result_type.dtype
    combine, has_vectors = _combination(ctx, kind, dtype)
    how = Meeting(f"{kind}-{dtype}", combine, has_vectors, clips, is_signed)
    rows = owned(ctx, rows, dtype)
    updates = _one_update(ctx, updates)
    updated = scatter_rows(ctx.kernels, rows, positions, updates, how, b.shape)
    return b.bind_shape(updated, b.shape(rows))


def _one_update(ctx: LoweringContext, updates: Value) -> Value:
    """Updates `[1, 1]` where all elements are one that is broadcast, so that they need no memory."""
    source = broadcast_number(updates)
    return updates if source is None else expand_axes(ctx.builder, source, [], [1, 1])


def _combination(ctx: LoweringContext, kind: str, dtype: np.dtype) -> tuple[Callable[..., Value], bool]:
    """What becomes of the element that is present and an update, and whether vectors of them meet alike."""
    if kind == "set":
        return lambda present, update: update, True
    vectors = {"i": _OF_SIGNED, "u": _OF_UNSIGNED}.get(dtype.kind, {})
    if dtype in (FLOAT32, FLOAT64):
        vectors = _OF_FLOATS
    if kind in vectors:
        return getattr(mlir.arith, vectors[kind]), True
    meet = getattr(Scalars(ctx.target.kind.value), kind)  # one that calls no functions of the module
    return lambda present, update: meet(dtype, present, update), False
