"""Primitives that read and write parts of arrays at positions known when the program runs."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import storage
from ...errors import ArgumentError, ShapeError
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from .scalar_operands import axis_of


class GatherScatterMode(enum.Enum):
    """What an index out of bounds means: clipped, filled (gather) or dropped (scatter), promised absent."""

    CLIP = "clip"
    FILL_OR_DROP = "fill"
    PROMISE_IN_BOUNDS = "promise_in_bounds"

    @staticmethod
    def from_any(value: Any) -> GatherScatterMode:
        """A mode from its name: `clip`, `fill`, `drop` or `promise_in_bounds`."""
        if isinstance(value, GatherScatterMode):
            return value
        names = {
            None: GatherScatterMode.FILL_OR_DROP,
            "clip": GatherScatterMode.CLIP,
            "fill": GatherScatterMode.FILL_OR_DROP,
            "drop": GatherScatterMode.FILL_OR_DROP,
            "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
        }
        if value not in names:
            raise ArgumentError(
                f"mode is {value!r}, expected clip, fill, drop or promise_in_bounds",
                where=user_location_text(),
            )
        return names[value]


@dataclass(frozen=True)
class GatherDimensionNumbers:
    """Which axes a gather reads and writes; the meaning is XLA's."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


@dataclass(frozen=True)
class ScatterDimensionNumbers:
    """Which axes a scatter reads and writes; the meaning is XLA's."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


def dynamic_slice(
    operand: Any,
    start_indices: Sequence[Any],
    slice_sizes: Sequence[Any],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """The slice of `slice_sizes` at `start_indices`, moved inside the array where it would stick out.

    Negative indices count from the end; where `allow_negative_indices` is false (for all axes or for each),
    they are clamped to 0.
    """
    value = as_value(operand)
    starts = _starts(value, start_indices, allow_negative_indices)
    return ops.dynamic_slice(value, *starts, slice_sizes=tuple(slice_sizes))


def dynamic_update_slice(
    operand: Any,
    update: Any,
    start_indices: Sequence[Any],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """`operand` with `update` written at `start_indices`, moved inside where it would stick out.

    Negative indices are as in `dynamic_slice`.
    """
    value = as_value(operand)
    starts = _starts(value, start_indices, allow_negative_indices)
    return ops.dynamic_update_slice(value, as_value(update, value.dtype), *starts)


def dynamic_slice_in_dim(
    operand: Any, start_index: Any, slice_size: Any, axis: int = 0, *, allow_negative_indices: bool = True
) -> Any:
    """`dynamic_slice` along one axis."""
    value = as_value(operand)
    axis = axis_of(axis, value.ndim)
    starts: list[Any] = [0] * value.ndim
    starts[axis] = start_index
    sizes = [*value.shape[:axis], slice_size, *value.shape[axis + 1 :]]
    return dynamic_slice(value, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any, index: Any, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True
) -> Any:
    """One index along an axis, kept as an axis of size 1 unless `keepdims` is false."""
    value = as_value(operand)
    axis = axis_of(axis, value.ndim)
    slice_ = dynamic_slice_in_dim(value, index, 1, axis, allow_negative_indices=allow_negative_indices)
    if keepdims:
        return slice_
    return ops.reshape(slice_, shape=(*value.shape[:axis], *value.shape[axis + 1 :]))


def dynamic_update_slice_in_dim(
    operand: Any, update: Any, start_index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """`dynamic_update_slice` along one axis."""
    value = as_value(operand)
    starts: list[Any] = [0] * value.ndim
    starts[axis_of(axis, value.ndim)] = start_index
    return dynamic_update_slice(value, update, starts, allow_negative_indices=allow_negative_indices)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """`operand` with `update` written at one index of an axis."""
    value, new = as_value(operand), as_value(update)
    axis = axis_of(axis, value.ndim)
    if new.ndim != value.ndim:
        new = ops.reshape(new, shape=(*value.shape[:axis], 1, *value.shape[axis + 1 :]))
    return dynamic_update_slice_in_dim(value, new, index, axis, allow_negative_indices=allow_negative_indices)


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[Any],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Any:
    """XLA's gather: a slice of `slice_sizes` for each index vector in the last axis of `start_indices`.

    An index out of bounds is moved inside, also in mode `promise_in_bounds`, the default; in mode `fill` it
    reads `fill_value` (NaN, or the dtype's extreme).
    """
    del unique_indices, indices_are_sorted  # hints that the lowering has no use for
    value = as_value(operand)
    chosen = GatherScatterMode.from_any("promise_in_bounds" if mode is None else mode)
    fill = _fill_value(value.dtype) if fill_value is None else fill_value
    return ops.gather(
        value,
        as_value(start_indices),
        offset_dims=dimension_numbers.offset_dims,
        collapsed_slice_dims=dimension_numbers.collapsed_slice_dims,
        start_index_map=dimension_numbers.start_index_map,
        operand_batching_dims=dimension_numbers.operand_batching_dims,
        start_indices_batching_dims=dimension_numbers.start_indices_batching_dims,
        slice_sizes=tuple(slice_sizes),
        mode="fill" if chosen is GatherScatterMode.FILL_OR_DROP else "clip",
        fill_value=storage(np.asarray(fill, dtype=value.dtype)),
    )


def _scatter(kind: str) -> Any:
    def scatter_kind(
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Any:
        value = as_value(operand)
        chosen = GatherScatterMode.from_any(mode)
        return ops.scatter(
            value,
            as_value(scatter_indices),
            as_value(updates, value.dtype),
            kind=kind,
            update_window_dims=dimension_numbers.update_window_dims,
            inserted_window_dims=dimension_numbers.inserted_window_dims,
            scatter_dims_to_operand_dims=dimension_numbers.scatter_dims_to_operand_dims,
            operand_batching_dims=dimension_numbers.operand_batching_dims,
            scatter_indices_batching_dims=dimension_numbers.scatter_indices_batching_dims,
            mode="clip" if chosen is GatherScatterMode.CLIP else "drop",
            unique_indices=unique_indices,
            indices_are_sorted=indices_are_sorted,
        )

    scatter_kind.__name__ = "scatter" if kind == "set" else f"scatter_{kind}"
    scatter_kind.__doc__ = (
        f"XLA's scatter with update `{kind}`: each index vector in the last axis of `scatter_indices` names "
        "where a window of `updates` goes. Updates are applied in row-major order; indices out of bounds "
        "are dropped."
    )
    return scatter_kind


scatter = _scatter("set")
scatter_add = _scatter("add")
scatter_mul = _scatter("mul")
scatter_min = _scatter("min")
scatter_max = _scatter("max")


def scatter_sub(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """`scatter_add` of the negated updates."""
    return scatter_add(
        operand,
        scatter_indices,
        ops.neg(as_value(updates, as_value(operand).dtype)),
        dimension_numbers,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
    )


def _starts(value: Any, start_indices: Sequence[Any], allow_negative: bool | Sequence[bool]) -> list[Any]:
    """The indices as values, those below zero counted from the end of their axis where that is allowed."""
    indices = list(start_indices)
    allowed = [allow_negative] * len(indices) if isinstance(allow_negative, bool) else list(allow_negative)
    if len(indices) != value.ndim or len(allowed) != value.ndim:
        raise ShapeError(
            f"expected {value.ndim} start indices, one an axis of {ops.type_of(value)}, got {len(indices)}"
            + ("" if len(allowed) == len(indices) else f" and {len(allowed)} allow_negative_indices"),
            where=user_location_text(),
        )
    return [_start(*each) for each in zip(indices, value.shape, allowed, strict=True)]


def _start(index: Any, size: Any, allow_negative: bool) -> Any:
    start = as_value(index)
    if isinstance(index, int):
        start = index + size if allow_negative and index < 0 else index
        return as_value(start, np.dtype(np.int64))
    if start.weak_type:
        start = as_value(start, np.dtype(np.int64))
    if not allow_negative or start.dtype.kind != "i":
        return start
    if not isinstance(size, int) or size > np.iinfo(start.dtype).max:
        start = as_value(start, np.dtype(np.int64))
    from_end = ops.add(start, as_value(size, start.dtype))
    is_negative = ops.compare(start, ops.full_like(start, 0), direction="LT")
    return ops.select(is_negative, from_end, start)


def _fill_value(dtype: np.dtype) -> Any:
    if dtype.kind in "fcV":
        return np.nan
    if dtype.kind == "i":
        return np.iinfo(dtype).min
    return np.iinfo(dtype).max if dtype.kind == "u" else True
