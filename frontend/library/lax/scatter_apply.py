"""Elements at given positions: changed by a function, or taken by one index vector for several axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....dialects.types import INT32
from ...control.while_loops import fori_loop
from ...errors import ShapeError
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...transforms.vmap import vmap
from .. import numpy as xp
from .indexing import GatherDimensionNumbers, ScatterDimensionNumbers, gather, scatter_add
from .scalar_operands import axes_of


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[Any] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """`operand` with `func`, a function of a scalar, applied to each element as often as it is named.

    `update_shape` is the shape that the updates of `scatter` would have.
    """
    value = as_value(operand)
    counts = scatter_add(
        xp.zeros(value.shape, INT32),
        scatter_indices,
        xp.ones(tuple(update_shape), INT32),
        dimension_numbers,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
    )
    each = vmap(func)

    def apply(done: Any, x: Any) -> Any:
        changed = as_value(each(xp.ravel(x)), x.dtype)
        return xp.where(counts > done, xp.reshape(changed, x.shape), x)

    return fori_loop(0, xp.max(counts, initial=0), apply, value)


def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
    """The slices of `src` at `idxs`, an index array for each of `axes`; their axis becomes the first.

    Indices are taken modulo the size of their axis.
    """
    value, places = as_value(src), axes_of(axes, as_value(src).ndim)
    if len(idxs) != len(places):
        raise ShapeError(
            f"index_take: expected an index array for each of the axes {tuple(axes)}, got {len(idxs)}",
            where=user_location_text(),
        )
    found = [as_value(i) for i in idxs]
    wrapped = [xp.remainder(i, value.shape[a]) for i, a in zip(found, places, strict=True)]
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(range(1, value.ndim - len(places) + 1)),
        collapsed_slice_dims=tuple(sorted(places)),
        start_index_map=places,
    )
    sizes = [1 if a in places else n for a, n in enumerate(value.shape)]
    return gather(value, xp.stack(wrapped, axis=-1), numbers, sizes, mode="clip")


def reduce_xor(operand: Any, axes: Sequence[int]) -> Any:
    """The bitwise exclusive or of the elements along `axes`, which are removed."""
    value = as_value(operand)
    for axis in sorted(axes_of(axes, value.ndim), reverse=True):
        value = _xor_along(value, axis)
    return value


def _xor_along(value: Any, axis: int) -> Any:
    """Halves an axis until one element is left, or none."""
    size = value.shape[axis]
    if not isinstance(size, int):
        raise ShapeError(
            f"reduce_xor: the size {size} must be known while tracing", where=user_location_text()
        )
    rows = xp.moveaxis(value, axis, 0)
    while rows.shape[0] > 1:
        half = rows.shape[0] // 2
        joined = ops.xor(rows[:half], rows[half : 2 * half])
        rows = xp.concatenate([joined, rows[2 * half :]], axis=0)
    return rows[0] if size else xp.zeros(rows.shape[1:], np.dtype(value.dtype))
