"""Sorting by keys, and the greatest elements."""

from __future__ import annotations

from typing import Any

from ...tracing.interpreter import as_value, ops
from .. import numpy as xp
from .scalar_operands import axis_of


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sorted along an axis, ascending, NaN last; of several arrays the first `num_keys` are compared."""
    several = isinstance(operand, (tuple, list))
    values = [as_value(x) for x in (operand if several else (operand,))]
    axis = axis_of(dimension, values[0].ndim, "dimension")
    results = ops.sort(*values, axis=axis, num_keys=num_keys, is_stable=is_stable)
    return results if several else results[0]


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """`keys` sorted along an axis, and `values` in the same order."""
    results = sort((keys, values), dimension, is_stable, num_keys=1)
    return results[0], results[1]


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The `k` largest along an axis, largest first, and their positions (int32)."""
    value = as_value(operand)
    place, last = axis_of(axis, value.ndim), value.ndim - 1
    values, indices = ops.top_k(xp.swapaxes(value, place, last), k=k)
    return xp.swapaxes(values, place, last), xp.swapaxes(indices, place, last)
