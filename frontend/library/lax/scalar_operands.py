"""Operands of primitives: Python scalars take the dtype and shape of the arrays beside them, and no dtype is
promoted. Elementwise primitives of two operands repeat axes of size 1 and 0-d arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError, DtypeError, ShapeError
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...tracing.scalars import is_python_scalar
from ..numpy.promotion import is_one, same_shape, same_size


def operands(*xs: Any) -> list[Any]:
    """`xs` as values of one dtype where Python scalars yield, and of one shape where 0-d scalars spread."""
    values = [as_value(x) for x in xs]
    strong = [v for v in values if not v.weak_type]
    if not strong and all(map(is_python_scalar, xs)) and len({v.dtype for v in values}) > 1:
        raise DtypeError(
            f"primitives of adze.lax promote nothing, got {', '.join(map(repr, xs))}",
            where=user_location_text(),
            hint="write numbers of one kind, or the function of adze.numpy, which promotes",
        )
    dtype = strong[0].dtype if strong else max((v.dtype for v in values), key=_generality)
    values = [
        as_value(x if is_python_scalar(x) else v, dtype) if v.weak_type else v
        for x, v in zip(xs, values, strict=True)
    ]
    largest = max(values, key=lambda v: v.ndim)
    return [_spread(x, v, largest) for x, v in zip(xs, values, strict=True)]


def repeated(*xs: Any) -> list[Any]:
    """`operands`, with 0-d arrays and axes of size 1 repeated to the size of the others."""
    values = operands(*xs)
    rank = max(v.ndim for v in values)
    if any(v.ndim not in (0, rank) for v in values):
        return values
    shapes = [v.shape for v in values if v.ndim == rank]
    shape = tuple(next((n for n in sizes if not is_one(n)), 1) for sizes in zip(*shapes, strict=True))
    return [_repeat(v, shape) for v in values]


def _repeat(value: Any, shape: tuple[Any, ...]) -> Any:
    pairs = zip(value.shape, shape, strict=True) if value.ndim else ()
    fits = all(is_one(n) or same_size(n, m) for n, m in pairs)
    if same_shape(value.shape, shape) or not fits:
        return value  # as it is, or for the op to refuse
    return ops.broadcast_in_dim(value, shape=shape, dimensions=tuple(range(value.ndim)))


def _generality(dtype: np.dtype) -> tuple[int, int]:
    return "biufVc".index(dtype.kind), dtype.itemsize


def _spread(argument: Any, value: Any, like: Any) -> Any:
    is_scalar = is_python_scalar(argument) or value.weak_type
    if not is_scalar or like.ndim == 0 or value.ndim:
        return value
    return ops.broadcast_in_dim(value, shape=like.shape, dimensions=())


def axis_of(axis: int, rank: int, name: str = "axis") -> int:
    """`axis` counted from the front; `ShapeError` when there is no such axis."""
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise ShapeError(
            f"{name} {axis!r} is out of range for an array of rank {rank}", where=user_location_text()
        )
    return axis % rank


def axes_of(axes: int | Sequence[int], rank: int, name: str = "axes") -> tuple[int, ...]:
    """Axes counted from the front, in the order given; `ShapeError` when one repeats or does not exist."""
    entries = (axes,) if isinstance(axes, int) else tuple(axes)
    normalized = tuple(axis_of(a, rank, name) for a in entries)
    if len(set(normalized)) != len(normalized):
        raise ShapeError(f"{name} {entries} names an axis twice", where=user_location_text())
    return normalized


def choice(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """`value`, or an `ArgumentError` that lists what is allowed."""
    if value not in allowed:
        raise ArgumentError(
            f"{name} is {value!r}, expected one of {', '.join(map(repr, allowed))}",
            where=user_location_text(),
        )
    return value
