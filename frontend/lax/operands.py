"""Operands of primitives: Python scalars take the dtype and shape of the arrays beside them, nothing else is
promoted or broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..tracing.interpreter import as_value, is_python_scalar, ops
from ..tracing.locations import user_location_text


def operands(*xs: Any) -> list[Any]:
    """`xs` as values of one dtype where Python scalars yield, and of one shape where 0-d scalars spread."""
    values = [as_value(x) for x in xs]
    strong = [v for v in values if not v.weak_type]
    dtype = strong[0].dtype if strong else max((v.dtype for v in values), key=_generality)
    values = [
        as_value(x if is_python_scalar(x) else v, dtype) if v.weak_type else v
        for x, v in zip(xs, values, strict=True)
    ]
    largest = max(values, key=lambda v: v.ndim)
    return [_spread(x, v, largest) for x, v in zip(xs, values, strict=True)]


def _generality(dtype: np.dtype) -> tuple[int, int]:
    return "biufVc".index(dtype.kind), dtype.itemsize


def _spread(given: Any, value: Any, like: Any) -> Any:
    is_scalar = is_python_scalar(given) or value.weak_type
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
    given = (axes,) if isinstance(axes, int) else tuple(axes)
    found = tuple(axis_of(a, rank, name) for a in given)
    if len(set(found)) != len(found):
        raise ShapeError(f"{name} {given} names an axis twice", where=user_location_text())
    return found


def choice(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """`value`, or an `ArgumentError` that lists what is allowed."""
    if value not in allowed:
        raise ArgumentError(
            f"{name} is {value!r}, expected one of {', '.join(map(repr, allowed))}",
            where=user_location_text(),
        )
    return value
