"""Order statistics: quantiles, percentiles, medians, with and without NaNs, by sorting."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT64
from ...tracing.array import Array
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from .arguments import (
    argument_error,
    count_array,
    count_of,
    dtype_error,
    float_value,
    full_like,
    normalize_axes,
    refuse_out,
    shape_error,
)
from .arithmetic import add, divide, multiply, subtract
from .cumulative import cumsum, part
from .logic import isnan, logical_not
from .promotion import asarray_of, broadcast, convert, promote, type_text
from .reductions import any as any_of
from .reductions import mean
from .reductions import sum as sum_of
from .searching import where
from .sorting import sort
from .taking import gather_at

METHODS: Final = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """The `q`-quantiles (0 to 1) over `axis`; several `q` make a new leading axis. NaN if an element is.

    `overwrite_input` only allows NumPy to use the memory of `a`. `weights`, of the shape of `a` or of the
    reduced axes, say how often each element counts; the method is 'inverted_cdf' then.
    """
    refuse_out("quantile", out)
    return _quantile("quantile", a, q, axis, method, keepdims, weights, skip_nan=False)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """The `q`-percentiles (0 to 100) over `axis`."""
    refuse_out("percentile", out)
    return quantile(a, _hundredth(q), axis, method=method, keepdims=keepdims, weights=weights)


def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Quantiles of the numbers; NaN where there are none."""
    refuse_out("nanquantile", out)
    return _quantile("nanquantile", a, q, axis, method, keepdims, weights, skip_nan=True)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Percentiles of the numbers; NaN where there are none."""
    refuse_out("nanpercentile", out)
    return nanquantile(a, _hundredth(q), axis, method=method, keepdims=keepdims, weights=weights)


def _hundredth(q: Any) -> Any:
    """Percents as fractions; a Python number stays one, which asks for no dtype."""
    if isinstance(q, (list, tuple, np.ndarray)):
        return np.true_divide(q, 100)
    return q / 100 if type(q) in (int, float) else divide(q, 100.0)


def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The middle of the sorted elements over `axis`, the mean of two where there is no one middle."""
    refuse_out("median", out)
    joined, along, axes, shape = _one_axis("median", a, axis)
    count = joined.shape[along]
    if not isinstance(count, int):
        return quantile(a, 0.5, axis, keepdims=keepdims)
    ordered = sort(joined, axis=along)
    low, high = (count - 1) // 2, count // 2
    rest = (*joined.shape[:along], *joined.shape[along + 1 :])
    result = mean(part(ordered, along, low, high + 1) if count else ordered, axis=along)
    if count:
        # They come last: it is the greatest element that says whether there are any.
        greatest = ops.reshape(part(ordered, along, count - 1, count), shape=rest)
        result = where(isnan(greatest), full_like(result, np.nan), result)
    return ops.reshape(result, shape=_kept(shape, axes)) if keepdims else result


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The median of the numbers; NaN where there are none."""
    refuse_out("nanmedian", out)
    return nanquantile(a, 0.5, axis, keepdims=keepdims)


def _kept(shape: Any, axes: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(1 if a in axes else n for a, n in enumerate(shape))


def _one_axis(function: str, x: Any, axis: Any) -> tuple[Any, int, tuple[int, ...], Any]:
    """`x` as floats with the reduced axes joined into one, where they lie if they are neighbours."""
    value = _real_floats(function, x)
    axes = normalize_axes(function, axis, value.ndim)
    first = axes[0] if axes else 0
    if not axes or axes != tuple(range(first, first + len(axes))):
        flat, axes, shape = _last_axis(function, value, axis)
        return flat, flat.ndim - 1, axes, shape
    shape = (*value.shape[:first], count_of(value.shape, axes), *value.shape[first + len(axes) :])
    return ops.reshape(value, shape=shape), first, axes, value.shape


def _real_floats(function: str, x: Any) -> Any:
    value = float_value(x)
    if value.dtype.kind == "c":
        raise dtype_error(f"{function}: complex numbers have no order, got {type_text(value)}")
    return value


def _last_axis(function: str, x: Any, axis: Any) -> tuple[Any, tuple[int, ...], Any]:
    """`x` as floats with the reduced axes joined into the last one."""
    value = _real_floats(function, x)
    axes = normalize_axes(function, axis, value.ndim)
    rest = tuple(a for a in range(value.ndim) if a not in axes)
    moved = ops.transpose(value, permutation=(*rest, *axes))
    joined = (*(value.shape[a] for a in rest), count_of(value.shape, axes))
    return ops.reshape(moved, shape=joined), axes, value.shape


def _quantile(
    function: str,
    x: Any,
    q: Any,
    axis: Any,
    method: str,
    keepdims: bool,
    weights: Any,
    skip_nan: bool,
) -> Any:
    if method not in METHODS:
        raise argument_error(f"{function}: method is {method!r}, expected one of {', '.join(METHODS)}")
    if weights is not None and method != "inverted_cdf":
        raise argument_error(f"{function}: weights need method='inverted_cdf', got {method!r}")
    flat, axes, shape = _last_axis(function, x, axis)
    if method == "inverted_cdf":
        masses = full_like(flat, 1) if weights is None else _masses(function, weights, x, axis)
        flat, masses = promote(flat, masses)
    final = flat.dtype
    work = FLOAT32 if final in (FLOAT16, BFLOAT16) else final
    fraction = asarray_of(q)
    if isinstance(fraction, Array) and fraction.numpy().size:
        low, high = fraction.numpy().min(), fraction.numpy().max()
        if not (low >= 0 and high <= 1):
            raise argument_error(f"{function}: quantiles must be in the range [0, 1], got {q!r}")
    if not (fraction.weak_type or fraction.dtype == work or follows_jax()):
        final = FLOAT64 if FLOAT64 in (fraction.dtype, work) else work
    ordered = convert(sort(flat), work)
    points = convert(
        asarray_of(np.asarray(q, np.float64)) if isinstance(q, (int, float)) else fraction, FLOAT64
    )
    row = ordered.shape[:-1]
    counts = (
        sum_of(logical_not(isnan(flat)), axis=-1)
        if skip_nan
        else broadcast(count_array(flat.shape[-1], INT64), row)
    )
    broken = (
        ops.compare(counts, full_like(counts, 0), direction="EQ")
        if skip_nan
        else any_of(isnan(flat), axis=-1)
    )
    # One leading axis for the points, then the rows.
    table = (*points.shape, *row)
    if method == "inverted_cdf":
        result, is_bad = _by_mass(convert(flat, work), convert(masses, work), points, counts, table)
        broken = ops.or_(broken, is_bad)
    else:
        result = _by_place(method, ordered, points, counts, table, FLOAT64 if final == FLOAT64 else work)
    result = where(broadcast(broken, table), full_like(result, np.nan), result)
    result = convert(result, final)
    return ops.reshape(result, shape=(*points.shape, *_kept(shape, axes))) if keepdims else result


def _by_place(method: str, ordered: Any, points: Any, counts: Any, table: Any, work: Any) -> Any:
    """The elements (or what lies between two) that so large parts of each sorted row come before."""
    last = ops.convert(ops.max(ops.sub(counts, full_like(counts, 1)), full_like(counts, 0)), dtype=FLOAT64)
    last = broadcast(last, table)
    at = ops.broadcast_in_dim(points, shape=table, dimensions=tuple(range(points.ndim)))
    place = multiply(at, last)
    below, above = ops.floor(place), ops.ceil(place)
    low = _pick(ordered, below, table, points.ndim)
    high = _pick(ordered, above, table, points.ndim)
    return _between(method, low, high, place, below, work)


def _masses(function: str, weights: Any, x: Any, axis: Any) -> Any:
    """The weights as the elements lie in `_last_axis`: those of one element each, or of the reduced axes."""
    value, elements = float_value(weights), asarray_of(x)
    axes = normalize_axes(function, axis, elements.ndim)
    if tuple(value.shape) != tuple(elements.shape):
        if tuple(value.shape) != tuple(elements.shape[a] for a in axes) or axis is None:
            raise shape_error(
                f"{function}: weights are {type_text(value)}, expected the shape of {type_text(elements)} or "
                f"of its axes {axes}"
            )
        value = ops.broadcast_in_dim(value, shape=elements.shape, dimensions=axes)
    return _last_axis(function, value, axis)[0]


def _by_mass(flat: Any, masses: Any, points: Any, counts: Any, table: Any) -> tuple[Any, Any]:
    """The first element of each sorted row up to which so large parts of its weight lie, and for each row
    whether a weight is negative or NaN."""
    along = flat.ndim - 1
    ordered, masses = ops.sort(flat, masses, axis=along, num_keys=1, is_stable=True)
    is_bad = logical_not(ops.compare(masses, full_like(masses, 0), direction="GE"))
    running = cumsum(where(ops.or_(is_bad, isnan(ordered)), full_like(masses, 0), masses), axis=along)
    total = ops.reshape(
        part(running, along, flat.shape[along] - 1, flat.shape[along]), shape=table[points.ndim :]
    )
    at = ops.broadcast_in_dim(
        convert(points, masses.dtype), shape=table, dimensions=tuple(range(points.ndim))
    )
    wanted = multiply(at, broadcast(total, table))
    grid = (*table, flat.shape[along])
    rows = ops.broadcast_in_dim(running, shape=grid, dimensions=tuple(range(points.ndim, len(grid))))
    before = ops.compare(
        rows, ops.broadcast_in_dim(wanted, shape=grid, dimensions=tuple(range(len(table)))), direction="LT"
    )
    place = ops.reduce_sum(ops.convert(before, dtype=INT64), axes=(len(table),))
    last = broadcast(ops.max(ops.sub(counts, full_like(counts, 1)), full_like(counts, 0)), table)
    return _pick(ordered, ops.min(place, convert(last, INT64)), table, points.ndim), any_of(is_bad, axis=-1)


def _pick(ordered: Any, place: Any, table: Any, leading: int) -> Any:
    """The elements of each row at the places of that row."""
    position = ops.convert(place, dtype=INT64)
    axes = [*range(ordered.ndim)]
    rows = [ops.iota(shape=table, axis=leading + a, dtype=INT64) for a in axes[:-1]]
    return gather_at(ordered, axes, [*rows, position], 0)


def _between(method: str, low: Any, high: Any, place: Any, below: Any, work: Any) -> Any:
    if method == "lower":
        return low
    if method == "higher":
        return high
    if method == "midpoint":
        return multiply(add(low, high), 0.5)
    weight = convert(subtract(place, below), work)
    if method == "nearest":
        nearest = ops.round(place)
        return ops.select(ops.compare(nearest, below, direction="EQ"), low, high)
    # From the nearer end, as NumPy does: exact at both.
    difference = subtract(high, low)
    up = add(low, multiply(difference, weight))
    down = subtract(high, multiply(difference, subtract(1.0, weight)))
    result = where(ops.compare(weight, full_like(weight, 0.5), direction="GE"), down, up)
    is_infinite = ops.compare(ops.abs(low), full_like(low, np.inf), direction="EQ")
    return where(ops.and_(is_infinite, ops.compare(low, high, direction="EQ")), low, result)
