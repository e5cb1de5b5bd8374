"""Running values along an axis and differences: cumulative sums, products, extrema, `diff`, `gradient`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, INT32, INT64, INTEGERS
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from .arguments import (
    argument_error,
    count_of,
    default_float_value,
    dtype_of,
    float_value,
    full_like,
    integer,
    normalize_axes,
    normalize_axis,
    refuse_out,
    require_rank,
    require_sizes,
    scalar,
    shape_error,
)
from .arithmetic import add, divide, multiply, negative, remainder, subtract
from .logic import not_equal, truth
from .promotion import asarray_of, broadcast, convert, promote, type_text
from .reductions import accumulated_dtype
from .reductions import sum as sum_of

AT_ONCE: Final = 4
"""Differences of differences that are computed of parts of one array: what two of them share is rather
computed twice than stored and read again."""


def _flat_or_axis(function: str, x: Any, axis: Any) -> tuple[Any, int]:
    value = asarray_of(x)
    if axis is None:
        return ops.reshape(value, shape=(count_of(value.shape, range(value.ndim)),)), 0
    return value, normalize_axis(function, axis, value.ndim)


def _running_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of running sums and products: that of `sum`, and in programs written for JAX that of the
    array, of whatever integers it is."""
    return dtype if dtype in INTEGERS and follows_jax() else accumulated_dtype(dtype)


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums along `axis`, of the flat array when None."""
    refuse_out("cumsum", out)
    value, place = _flat_or_axis("cumsum", a, axis)
    wanted = _running_dtype(value.dtype) if dtype is None else dtype_of("cumsum", dtype)
    if wanted == BOOL:  # whether one was nonzero so far, as in NumPy
        return not_equal(ops.cumsum(convert(truth(value), INT64), axis=place, reverse=False), 0)
    return ops.cumsum(convert(value, wanted), axis=place, reverse=False)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running products along `axis`, of the flat array when None."""
    refuse_out("cumprod", out)
    value, place = _flat_or_axis("cumprod", a, axis)
    wanted = _running_dtype(value.dtype) if dtype is None else dtype_of("cumprod", dtype)
    if wanted == BOOL:
        return not_equal(ops.cumprod(convert(truth(value), INT32), axis=place, reverse=False), 0)
    return ops.cumprod(convert(value, wanted), axis=place, reverse=False)


def cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Running sums along `axis` (vectors need none); `include_initial` puts 0 in front."""
    value = asarray_of(x)
    wanted = accumulated_dtype(value.dtype) if dtype is None else dtype
    return _cumulative("cumulative_sum", cumsum, 0, value, axis, wanted, include_initial)


def cumulative_prod(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Running products along `axis`; `include_initial` puts 1 in front."""
    return _cumulative("cumulative_prod", cumprod, 1, x, axis, dtype, include_initial)


def _cumulative(
    function: str, run: Any, start: int, x: Any, axis: Any, dtype: Any, include_initial: bool
) -> Any:
    value = asarray_of(x)
    if axis is None and value.ndim != 1:
        raise argument_error(f"{function}: axis must be given for {type_text(value)}, which is not a vector")
    place = normalize_axis(function, 0 if axis is None else axis, value.ndim)
    result = run(value, place, dtype)
    if not include_initial:
        return result
    shape = tuple(1 if a == place else n for a, n in enumerate(result.shape))
    first = broadcast(scalar(start, result.dtype), shape)
    return ops.concatenate(first, result, axis=place)


def cummax(x: Any, axis: int = 0) -> Any:
    """Running maxima along `axis`."""
    value = asarray_of(x)
    return ops.cummax(value, axis=normalize_axis("cummax", axis, value.ndim), reverse=False)


def cummin(x: Any, axis: int = 0) -> Any:
    """Running minima along `axis`."""
    value = asarray_of(x)
    return ops.cummin(value, axis=normalize_axis("cummin", axis, value.ndim), reverse=False)


# -- differences -------------------------------------------------------------------------------


def part(x: Any, axis: int, start: Any, stop: Any) -> Any:
    """`x[start:stop]` along `axis`; the bounds count from the front and lie inside."""
    low = tuple(start if a == axis else 0 for a in range(x.ndim))
    high = tuple(stop if a == axis else n for a, n in enumerate(x.shape))
    taken = ops.slice(x, start=low, limit=high, strides=(1,) * x.ndim)
    count = stop - start
    if isinstance(count, int) and not isinstance(start, int):  # the last ones of an axis of a named size
        taken = ops.reshape(taken, shape=tuple(count if a == axis else n for a, n in enumerate(x.shape)))
    return taken


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along `axis`, taken `n` times; of booleans whether they differ."""
    n = integer("diff", n, "n, the number of times,")
    if n < 0:
        raise argument_error(f"diff: n must not be negative, got {n}")
    value = asarray_of(a)
    require_rank("diff", value, 1)
    place = normalize_axis("diff", axis, value.ndim)
    value = _with_ends(value, place, prepend, append)
    while n > 0:
        size = value.shape[place]
        if isinstance(size, int) and size == 0:
            return value
        together = min(n, AT_ONCE, max(size - 1, 1)) if isinstance(size, int) else 1
        parts = [part(value, place, at, size - together + at) for at in range(together + 1)]
        while len(parts) > 1:
            parts = [_difference(ahead, behind) for behind, ahead in pairwise(parts)]
        (value,) = parts
        n -= together
    return value


def _difference(x: Any, y: Any) -> Any:
    return not_equal(x, y) if x.dtype == BOOL else subtract(x, y)


def _with_ends(value: Any, axis: int, prepend: Any, append: Any) -> Any:
    shape = tuple(1 if a == axis else m for a, m in enumerate(value.shape))
    ends = [None if e is None else asarray_of(e) for e in (prepend, append)]
    first, last = ([] if e is None else [e if e.ndim else broadcast(e, shape)] for e in ends)
    parts = [*first, value, *last]
    return ops.concatenate(*promote(*parts), axis=axis) if len(parts) > 1 else value


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours of the flat array, with values put at either end."""
    value, _ = _flat_or_axis("ediff1d", ary, None)
    result = diff(value)
    ends = [to_begin, result, to_end]
    parts = [
        _flat_or_axis("ediff1d", convert(asarray_of(e), result.dtype), None)[0] for e in ends if e is not None
    ]
    return ops.concatenate(*parts, axis=0) if len(parts) > 1 else result


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of samples along `axis` by the trapezoidal rule."""
    value = float_value(y)
    place = normalize_axis("trapezoid", axis, value.ndim)
    if x is None:
        widths = dx
    else:
        value, x = (float_value(v) for v in promote(y, x))
        widths = diff(x)
        if widths.ndim == 1 and value.ndim > 1:
            shape = tuple(widths.shape[0] if a == place else 1 for a in range(value.ndim))
            widths = ops.reshape(widths, shape=shape)
        elif widths.ndim > 1:
            widths = diff(x, axis=place)
    size = value.shape[place]
    middles = divide(add(part(value, place, 1, size), part(value, place, 0, size - 1)), 2.0)
    return sum_of(multiply(widths, middles), axis=place)


def gradient(f: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Central differences inside, one-sided ones (of first or second order) at the edges.

    `spacing` is one number for all axes, or a number or a vector of coordinates for each axis.
    Raises `ShapeError` for coordinates that do not fit their axis, and for an axis of too few elements.
    """
    value = float_value(f)
    axes = normalize_axes("gradient", axis, value.ndim)
    if edge_order not in (1, 2):
        raise argument_error(f"gradient: edge_order is {edge_order}, expected 1 or 2")
    if len(spacing) not in (0, 1, len(axes)):
        raise argument_error(f"gradient: expected 0, 1 or {len(axes)} spacings, got {len(spacing)}")
    steps = spacing * len(axes) if len(spacing) == 1 else spacing or (1.0,) * len(axes)
    for place in axes:
        if isinstance(value.shape[place], int) and value.shape[place] <= edge_order:
            raise shape_error(
                f"gradient: axis {place} of {type_text(value)} needs at least {edge_order + 1} elements"
            )
    results = [_gradient_along(value, place, h, edge_order) for place, h in zip(axes, steps, strict=True)]
    return results[0] if len(axes) == 1 else tuple(results)


def _gradient_along(value: Any, axis: int, step: Any, edge_order: int) -> Any:
    size = value.shape[axis]
    step = step if isinstance(step, (int, float)) else asarray_of(step)
    if isinstance(step, (int, float)) or step.ndim == 0:
        before = after = step
        h0 = h1 = hm = hn = step
    else:
        require_sizes("gradient", "spacing", step, (size,), f"axis {axis}")
        gaps = ops.reshape(
            diff(step), shape=tuple(step.shape[0] - 1 if a == axis else 1 for a in range(value.ndim))
        )
        before, after = part(gaps, axis, 0, size - 2), part(gaps, axis, 1, size - 1)
        h0, h1 = part(gaps, axis, 0, 1), part(gaps, axis, 1, 2) if edge_order == 2 else None
        hm, hn = (
            part(gaps, axis, size - 2, size - 1),
            part(gaps, axis, size - 3, size - 2) if edge_order == 2 else None,
        )

    def at(position: Any) -> Any:
        return part(value, axis, position, position + 1)

    left, middle, right = (
        part(value, axis, 0, size - 2),
        part(value, axis, 1, size - 1),
        part(value, axis, 2, size),
    )
    if before is after:
        inner = divide(subtract(right, left), multiply(2.0, before))
    else:
        a = divide(negative(after), multiply(before, add(before, after)))
        b = divide(subtract(after, before), multiply(before, after))
        c = divide(before, multiply(after, add(before, after)))
        inner = add(add(multiply(a, left), multiply(b, middle)), multiply(c, right))
    if edge_order == 1:
        first = divide(subtract(at(1), at(0)), h0)
        last = divide(subtract(at(size - 1), at(size - 2)), hm)
    else:
        first = _edge(at(0), at(1), at(2), h0, h1)
        last = negative(_edge(at(size - 1), at(size - 2), at(size - 3), hm, hn))
    return ops.concatenate(*promote(first, inner, last), axis=axis)


def _edge(x0: Any, x1: Any, x2: Any, near: Any, far: Any) -> Any:
    """The second-order one-sided difference of three samples, `near` and `far` being their gaps."""
    total = add(near, far)
    a = divide(negative(add(multiply(2.0, near), far)), multiply(near, total))
    b = divide(total, multiply(near, far))
    c = divide(negative(near), multiply(far, total))
    return add(add(multiply(a, x0), multiply(b, x1)), multiply(c, x2))


def unwrap(p: Any, discont: Any = None, axis: int = -1, period: float = 2 * np.pi) -> Any:
    """Angles with jumps larger than half a period taken out along `axis`."""
    value = default_float_value(p)
    place = normalize_axis("unwrap", axis, value.ndim)
    steps = diff(value, axis=place)
    half = period / 2
    wrapped = subtract(remainder(add(steps, half), period), half)
    edge = full_like(wrapped, -half)
    at_edge = ops.and_(
        ops.compare(wrapped, edge, direction="EQ"), ops.compare(steps, full_like(steps, 0), direction="GT")
    )
    wrapped = ops.select(at_edge, ops.add(wrapped, full_like(wrapped, period)), wrapped)
    limit = half if discont is None else discont
    small = ops.compare(ops.abs(steps), full_like(steps, limit), direction="LT")
    correction = ops.select(small, full_like(steps, 0), subtract(wrapped, steps))
    size = value.shape[place]
    moved = add(part(value, place, 1, size), cumsum(correction, axis=place))
    return ops.concatenate(part(value, place, 0, 1), moved, axis=place)
