"""Reductions over axes, and running values along one: sums, products, extrema, truth, positions, moments.

Dtypes of results are NumPy's: sums of small integers widen to 64 bits; means of integers are float32.
Means and variances are computed in two passes; half precision is carried in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects.types import (
    BFLOAT16,
    BOOL,
    COMPLEX,
    COMPLEX64,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INEXACT,
    INTEGERS,
    SIGNED,
)
from ...tracing.default_dtypes import floating, floating_of, integral, narrowed
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from .arguments import (
    argument_error,
    count_array,
    count_of,
    dtype_error,
    dtype_of,
    full_like,
    keep_axes,
    normalize_axes,
    normalize_axis,
    refuse_out,
    require_sizes,
    shape_error,
)
from .arithmetic import add, divide, maximum, minimum, multiply, root_of_squares, subtract
from .logic import truth
from .promotion import asarray_of, broadcast, convert, promote, stays_weak, type_text

_UINT64 = np.dtype(np.uint64)


def accumulated_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype that sums and products have: 64 bits for booleans and integers, as in NumPy, and as many as
    `integral` has."""
    if dtype == BOOL or dtype in SIGNED:
        return integral()
    return narrowed(_UINT64) if dtype in INTEGERS else dtype


def _prepared(function: str, x: Any, axis: Any, dtype: Any) -> tuple[Any, tuple[int, ...]]:
    value = asarray_of(x)
    axes = normalize_axes(function, axis, value.ndim)
    wanted = accumulated_dtype(value.dtype) if dtype is None else dtype_of(function, dtype)
    return (value if value.dtype == wanted else convert(value, wanted)), axes


def _kept_dtype(x: Any, dtype: Any, promote_integers: bool) -> Any:
    """The dtype to reduce in: what is asked for, or that of the elements where integers are not promoted."""
    return asarray_of(x).dtype if dtype is None and not promote_integers else dtype


def _where(value: Any, where: Any, identity: Any) -> Any:
    """`value` with `identity` wherever `where` is false."""
    if where is None or where is True:
        return value
    mask = broadcast(truth(where), value.shape)
    return ops.select(mask, value, full_like(value, identity))


@stays_weak
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """The sum over `axis` (all axes when None); integers have 64 bits with `promote_integers`."""
    refuse_out("sum", out)
    value, axes = _prepared("sum", a, axis, _kept_dtype(a, dtype, promote_integers))
    reduce = ops.reduce_or if value.dtype == BOOL else ops.reduce_sum
    result = reduce(_where(value, where, 0), axes=axes)
    result = keep_axes(result, value.shape, axes) if keepdims else result
    return result if initial is None else add(result, initial)


@stays_weak
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """The product over `axis` (all axes when None); integers have 64 bits with `promote_integers`."""
    refuse_out("prod", out)
    value, axes = _prepared("prod", a, axis, _kept_dtype(a, dtype, promote_integers))
    reduce = ops.reduce_and if value.dtype == BOOL else ops.reduce_prod
    result = reduce(_where(value, where, 1), axes=axes)
    result = keep_axes(result, value.shape, axes) if keepdims else result
    return result if initial is None else multiply(result, initial)


def all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = None) -> Any:
    """Whether all elements over `axis` are nonzero."""
    refuse_out("all", out)
    value = _where(truth(a), where, True)
    axes = normalize_axes("all", axis, value.ndim)
    result = ops.reduce_and(value, axes=axes)
    return keep_axes(result, value.shape, axes) if keepdims else result


def any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = None) -> Any:
    """Whether one of the elements over `axis` is nonzero."""
    refuse_out("any", out)
    value = _where(truth(a), where, False)
    axes = normalize_axes("any", axis, value.ndim)
    result = ops.reduce_or(value, axes=axes)
    return keep_axes(result, value.shape, axes) if keepdims else result


# -- extrema -----------------------------------------------------------------------------------


@stays_weak
def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The greatest element over `axis`; NaN if one is. An empty axis is an error without `initial`."""
    refuse_out("max", out)
    return _extremum("max", a, axis, keepdims, initial, where)


@stays_weak
def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The least element over `axis`; NaN if one is. An empty axis is an error without `initial`."""
    refuse_out("min", out)
    return _extremum("min", a, axis, keepdims, initial, where)


amax, amin = max, min


def _extremum(function: str, x: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    value = asarray_of(x)
    axes = normalize_axes(function, axis, value.ndim)
    empty = [a for a in axes if isinstance(value.shape[a], int) and value.shape[a] == 0]
    if value.dtype in COMPLEX:
        raise dtype_error(f"{function}: complex numbers have no order", "compare .real, .imag or abs()")
    where = None if where is True else where
    if where is not None and initial is None:
        raise argument_error(f"{function}: where= needs initial=, the value where nothing is selected")
    if initial is not None:
        is_python = type(initial) in (bool, int, float)
        start = convert(initial, value.dtype) if is_python else asarray_of(initial)
        value, start = promote(value, start)
        if where is not None:
            value = ops.select(broadcast(truth(where), value.shape), value, broadcast(start, value.shape))
        if empty:
            result = broadcast(start, tuple(n for a, n in enumerate(value.shape) if a not in axes))
            return keep_axes(result, value.shape, axes) if keepdims else result
    if empty:
        raise shape_error(
            f"{function}: axis {empty[0]} of {type_text(value)} is empty: no elements have no {function}"
        )
    if value.dtype == BOOL:
        result = (ops.reduce_or if function == "max" else ops.reduce_and)(value, axes=axes)
    else:
        result = (ops.reduce_max if function == "max" else ops.reduce_min)(value, axes=axes)
    result = keep_axes(result, value.shape, axes) if keepdims else result
    if initial is not None:
        result = (maximum if function == "max" else minimum)(result, initial)
    return result


@stays_weak
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The greatest minus the least element over `axis`."""
    refuse_out("ptp", out)
    return subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


def argmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The position (int64) of the first greatest element along `axis`, in the flat array when None."""
    refuse_out("argmax", out)
    return _position("argmax", a, axis, keepdims)


def argmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The position (int64) of the first least element along `axis`, in the flat array when None."""
    refuse_out("argmin", out)
    return _position("argmin", a, axis, keepdims)


def _position(function: str, x: Any, axis: Any, keepdims: bool) -> Any:
    value = asarray_of(x)
    shape = value.shape
    if value.dtype in COMPLEX:
        raise dtype_error(f"{function}: complex numbers have no order", "compare .real, .imag or abs()")
    if axis is None:
        value = ops.reshape(value, shape=(count_of(shape, range(value.ndim)),))
        place, axes = 0, tuple(range(len(shape)))
    else:
        place = normalize_axis(function, axis, value.ndim)
        axes = (place,)
    if isinstance(value.shape[place], int) and value.shape[place] == 0:
        raise shape_error(
            f"{function}: axis {place} of {type_text(value)} is empty: no elements have no extremum"
        )
    search = ops.argmax if function == "argmax" else ops.argmin
    result = search(value, axis=place, index_dtype=integral())
    return keep_axes(result, shape, axes) if keepdims else result


# -- moments -----------------------------------------------------------------------------------


def _moment_dtypes(dtype: np.dtype, wanted: Any) -> tuple[np.dtype, np.dtype]:
    """The dtype that a mean is carried in, and the one of its result."""
    result = dtype if dtype in INEXACT else floating_of(dtype)
    if wanted is not None:
        result = dtype_of("mean", wanted)
    return (FLOAT32 if result in (FLOAT16, BFLOAT16) else result), result


def _count(value: Any, axes: Sequence[int], where: Any, dtype: np.dtype) -> Any:
    if where is None or where is True:
        return count_array(count_of(value.shape, axes), dtype)
    mask = broadcast(truth(where), value.shape)
    return ops.reduce_sum(ops.convert(mask, dtype=dtype), axes=tuple(axes))


@stays_weak
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, where: Any = None
) -> Any:
    """The arithmetic mean over `axis`; NaN of nothing."""
    refuse_out("mean", out)
    value = asarray_of(a)
    axes = normalize_axes("mean", axis, value.ndim)
    carried, final = _moment_dtypes(value.dtype, dtype)
    result = _mean(convert(value, carried), axes, where)
    result = result if carried == final else ops.convert(result, dtype=final)
    return keep_axes(result, value.shape, axes) if keepdims else result


def _mean(value: Any, axes: tuple[int, ...], where: Any) -> Any:
    total = ops.reduce_sum(_where(value, where, 0), axes=axes)
    count = _count(value, axes, where, value.dtype)
    return ops.div(total, broadcast(count, total.shape))


@stays_weak
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
    *,
    mean: Any = None,
    correction: float = 0,
) -> Any:
    """The variance over `axis`: the mean squared distance to the mean, divided by `count - correction`.

    `mean` is that of the elements, with its axes kept, if it is known already.
    """
    refuse_out("var", out)
    return _spread("var", a, axis, dtype, ddof or correction, keepdims, where, mean)


@stays_weak
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
    *,
    mean: Any = None,
    correction: float = 0,
) -> Any:
    """The standard deviation over `axis`: the root of the variance."""
    refuse_out("std", out)
    return _spread("std", a, axis, dtype, ddof or correction, keepdims, where, mean)


def _spread(
    function: str, x: Any, axis: Any, dtype: Any, correction: float, keepdims: bool, where: Any, known: Any
) -> Any:
    value = asarray_of(x)
    axes = normalize_axes(function, axis, value.ndim)
    if dtype is not None and value.dtype not in COMPLEX and dtype_of(function, dtype) not in INEXACT:
        dtype = floating() if follows_jax() else dtype  # as there: a spread is no integer
    carried, final = _moment_dtypes(value.dtype, dtype)
    value = convert(value, carried)
    if known is None:
        known = keep_axes(_mean(value, axes, where), value.shape, axes)
    centre = broadcast(convert(asarray_of(known), carried), value.shape)
    # Masked before it is squared: a NaN that is left out would come back as the slope of its square.
    distance = _where(ops.sub(value, centre), where, 0)
    if carried in COMPLEX:
        squares = add(
            multiply(ops.real(distance), ops.real(distance)), multiply(ops.imag(distance), ops.imag(distance))
        )
        final = FLOAT32 if final == COMPLEX64 else FLOAT64
    else:
        squares = ops.mul(distance, distance)
    total = ops.reduce_sum(squares, axes=axes)
    count = _count(value, axes, where, total.dtype)
    if correction:
        count = ops.max(ops.sub(count, full_like(count, correction)), full_like(count, 0))
    result = ops.div(total, broadcast(count, total.shape))
    result = root_of_squares(result) if function == "std" else result
    result = result if result.dtype == final else ops.convert(result, dtype=final)
    return keep_axes(result, value.shape, axes) if keepdims else result


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """The mean weighted by `weights`, which have the shape of `a` or the length of `axis`."""
    value = asarray_of(a)
    if weights is None:
        result = mean(value, axis, keepdims=keepdims)
        axes = normalize_axes("average", axis, value.ndim)
        total = full_like(result, 1, result.dtype)
        count = count_array(count_of(value.shape, axes), result.dtype)
        return (result, multiply(total, count)) if returned else result
    weight = asarray_of(weights)
    if weight.ndim == 1 and value.ndim != 1 and axis is not None:
        place = normalize_axis("average", axis, value.ndim)
        require_sizes("average", "weights", weight, (value.shape[place],), f"axis {place}")
        weight = ops.broadcast_in_dim(weight, shape=value.shape, dimensions=(place,))
    elif weight.ndim != value.ndim:
        raise shape_error(
            f"average: weights {type_text(weight)} must have the shape of {type_text(value)}, or be a vector "
            "along one axis"
        )
    product = multiply(value, weight)
    if product.dtype not in INEXACT:
        product = ops.convert(product, dtype=floating_of(product.dtype))
    weight = convert(weight, product.dtype)
    total = sum(weight, axis, keepdims=keepdims)
    result = divide(sum(product, axis, keepdims=keepdims), total)
    return (result, broadcast(total, result.shape)) if returned else result


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements over `axis` are nonzero, as int64."""
    return sum(truth(a), axis, keepdims=keepdims)
