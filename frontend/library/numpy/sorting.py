"""Sorting: values, positions, several keys, partitions (by sorting), the greatest elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...tracing.default_dtypes import integral
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from .arguments import argument_error, count_of, dtype_of, normalize_axis, shape_error, type_error
from .promotion import asarray_of, type_text


def _check_algorithm(function: str, kind: Any, order: Any) -> None:
    """Raise `ArgumentTypeError` for fields to sort by; in programs written for JAX for an algorithm too."""
    if order is not None:
        raise type_error(f"{function}: order={order!r} names fields, which arrays here have not")
    if kind is not None and follows_jax():
        raise type_error(f"{function}: kind={kind!r} is NumPy's", hint="write stable=True or stable=False")


def _prepared(function: str, x: Any, axis: int | None) -> tuple[Any, int]:
    value = asarray_of(x)
    if axis is None:
        return ops.reshape(value, shape=(count_of(value.shape, range(value.ndim)),)), 0
    return value, normalize_axis(function, axis, value.ndim)


def sort(
    a: Any,
    axis: int | None = -1,
    *,
    descending: bool = False,
    stable: bool = True,
    kind: Any = None,
    order: Any = None,
) -> Any:
    """The elements in ascending order along `axis`, NaNs last; `descending` turns the order around."""
    _check_algorithm("sort", kind, order)
    value, place = _prepared("sort", a, axis)
    (result,) = ops.sort(value, axis=place, num_keys=1, is_stable=False)
    return ops.reverse(result, axes=(place,)) if descending else result


def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    descending: bool = False,
    stable: bool = True,
    kind: Any = None,
    order: Any = None,
    dtype: Any = None,
) -> Any:
    """The positions (of `dtype`, int64 by default) that sort `a` along `axis`; equal ones keep order."""
    _check_algorithm("argsort", kind, order)
    value, place = _prepared("argsort", a, axis)
    # Turned around before and after, so that equal elements keep their order also when descending.
    key = ops.reverse(value, axes=(place,)) if descending else value
    positions = integral() if dtype is None else dtype_of("argsort", dtype)
    counted = ops.iota(shape=value.shape, axis=place, dtype=positions)
    counted = ops.reverse(counted, axes=(place,)) if descending else counted
    result = ops.sort(key, counted, axis=place, num_keys=1, is_stable=True)[1]
    return ops.reverse(result, axes=(place,)) if descending else result


def lexsort(keys: Any, axis: int = -1) -> Any:
    """The positions that sort by several keys, the last one first."""
    values = [asarray_of(k) for k in (keys if isinstance(keys, Sequence) else list(asarray_of(keys)))]
    if not values:
        raise argument_error("lexsort: need at least one key")
    if any(tuple(v.shape) != tuple(values[0].shape) for v in values[1:]):
        raise shape_error(f"lexsort: keys must have one shape, got {', '.join(map(type_text, values))}")
    place = normalize_axis("lexsort", axis, values[0].ndim)
    counted = ops.iota(shape=values[0].shape, axis=place, dtype=integral())
    return ops.sort(*reversed(values), counted, axis=place, num_keys=len(values), is_stable=True)[-1]


def partition(a: Any, kth: Any, axis: int | None = -1) -> Any:
    """The elements with the `kth` at their sorted place; the others are sorted too.

    `kth` is an integer or several. Raises `ArgumentError` for one that is no position along `axis`.
    """
    _check_positions("partition", a, kth, axis)
    return sort(a, axis)


def argpartition(a: Any, kth: Any, axis: int | None = -1) -> Any:
    """The positions that partition `a`; they sort it. Errors as `partition` raises them."""
    _check_positions("argpartition", a, kth, axis)
    return argsort(a, axis, dtype=np.int32 if follows_jax() else None)


def _check_positions(function: str, a: Any, kth: Any, axis: int | None) -> None:
    value, place = _prepared(function, a, axis)
    size = value.shape[place]
    for position in np.ravel(kth):
        if not isinstance(position, (int, np.integer)):
            raise type_error(f"{function}: kth is {kth!r}, expected integers")
        if isinstance(size, int) and not -size <= position < size:
            raise argument_error(
                f"{function}: kth is {position}, and axis {place} of {type_text(value)} has {size} elements"
            )


def top_k(x: Any, k: int, /) -> tuple[Any, Any]:
    """The `k` greatest elements of the last axis in falling order, and their positions (int32)."""
    values, positions = ops.top_k(asarray_of(x), k=k)
    return values, positions
