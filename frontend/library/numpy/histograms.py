"""Counting: bincount and histograms over bins whose number is static, and their edges."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, FLOAT32, FLOAT64, INEXACT, INT32, INT64, INTEGERS
from ...tracing.array import Array
from ...tracing.default_dtypes import floating_of, integral
from ...tracing.frames import known_value
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from .arguments import (
    argument_error,
    concretization_error,
    count_array,
    dtype_error,
    float_value,
    full_like,
    possible,
    require_sizes,
    scalar,
    shape_error,
    type_error,
)
from .arithmetic import add, divide, multiply, subtract
from .creation import linspace
from .cumulative import diff
from .dtypes import finfo
from .logic import greater, greater_equal, less, less_equal, logical_and
from .promotion import asarray_of, convert, operands, promote, type_text
from .reductions import max as max_of
from .reductions import min as min_of
from .reductions import sum as sum_of
from .reshaping import ravel
from .searching import places_among, where
from .taking import join_positions, take

SPARE_BITS: Final = 3
"""Of an edge's fraction, beside those that number the bins: then a computed place is at most one off. NumPy
corrects by one as well, of any number of bins."""


def scatter_count(positions: list[Any], shape: tuple[int, ...], amounts: Any) -> Any:
    """An array of `shape` with `amounts` added at positions; those outside are dropped."""
    zeros = ops.broadcast_in_dim(scalar(0, amounts.dtype), shape=shape, dimensions=())
    axes = tuple(range(len(shape)))
    return ops.scatter(
        zeros,
        join_positions(positions),
        amounts,
        kind="add",
        update_window_dims=(),
        inserted_window_dims=axes,
        scatter_dims_to_operand_dims=axes,
        operand_batching_dims=(),
        scatter_indices_batching_dims=(),
        mode="drop",
        unique_indices=False,
        indices_are_sorted=False,
    )


def bincount(x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    """How often each of 0, 1, ... occurs, or the sum of its weights. Traced arrays need `length`."""
    value = asarray_of(x)
    value = convert(value, INT32) if value.dtype == BOOL else value
    if value.ndim != 1 or value.dtype not in INTEGERS:
        mistake = shape_error if value.ndim != 1 else dtype_error
        raise mistake(f"bincount: expected a vector of integers, got {type_text(value)}")
    if length is None:
        known = value.numpy() if isinstance(value, Array) else known_value(value)
        if known is None:
            raise concretization_error(
                f"bincount of a traced array {type_text(value)} has a length that depends on values",
                "state it: bincount(x, length=n)",
            )
        if known.size and known.min() < 0:
            raise argument_error("bincount: elements must not be negative")
        length = max(minlength, int(known.max()) + 1 if known.size else 0)
    if weights is None:
        amounts = full_like(value, 1, integral())
    else:  # NumPy adds floats, JAX what the weights are
        amounts = asarray_of(weights) if follows_jax() else float_value(weights)
    require_sizes("bincount", "weights", amounts, value.shape, "x")
    positions = value if value.dtype == INT32 else ops.convert(value, dtype=INT64)
    return scatter_count([positions], (length,), amounts)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of `bins` equal bins over `range` (by default from least to greatest); or `bins` itself."""
    if isinstance(bins, str):
        raise argument_error(
            f"histogram: bins={bins!r} chooses a number from values; state a number or edges"
        )
    if not isinstance(bins, (int, np.integer)):
        edges = asarray_of(bins)
        if edges.ndim != 1:
            raise type_error(f"histogram: bins must be an integer or a vector of edges, got {bins!r}")
        return edges
    value, bins = asarray_of(a), int(bins)
    if bins <= 0:
        raise argument_error(f"histogram: bins must be positive, got {bins}")
    wanted = value.dtype if value.dtype in INEXACT else floating_of(value.dtype)
    if range is not None:
        low, high = range
        if all(isinstance(v, (int, float)) for v in (low, high)):
            if low > high:
                raise argument_error(f"histogram: range {range} must ascend")
            low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
            edges = np.linspace(low, high, possible("histogram", bins + 1, FLOAT64))
            return Array(edges.astype(np.result_type(low, high, wanted)))
        first, last = convert(asarray_of(low), wanted), convert(asarray_of(high), wanted)
    elif 0 in tuple(n for n in value.shape if isinstance(n, int)):
        first, last = scalar(0, wanted), scalar(1, wanted)
    else:
        first, last = convert(min_of(value), wanted), convert(max_of(value), wanted)
    same = ops.compare(first, last, direction="EQ")
    half = full_like(first, 0.5)
    first, last = (where(same, subtract(first, half), first), where(same, add(last, half), last))
    return linspace(first, last, bins + 1)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, Any]:
    """Counts (or sums of `weights`) of the elements in each bin, and the edges.

    A bin holds its lower edge; the last one its upper edge too. NaNs and elements outside are in none. Counts
    are int64, in programs written for JAX floating.
    """
    if weights is not None:
        require_sizes("histogram", "weights", asarray_of(weights), asarray_of(a).shape, "a")
    value = ravel(asarray_of(a))
    value = convert(value, np.dtype(np.uint8)) if value.dtype == BOOL else value
    edges = histogram_bin_edges(value, bins, range)
    count = edges.shape[0] - 1
    one = edges.dtype if follows_jax() else integral()
    amounts = full_like(value, 1, one) if weights is None else ravel(asarray_of(weights))
    amounts = promote(edges, amounts)[1] if follows_jax() else amounts
    result = scatter_count([_bin_of(value, edges, bins)], (count,), amounts)
    if not density:
        return result, edges
    return divide(divide(float_value(result), diff(edges)), sum_of(result)), edges


def _bin_of(value: Any, edges: Any, bins: Any) -> Any:
    """The bin of each element; their number, which is dropped, for those in none."""
    count = edges.shape[0] - 1
    if isinstance(bins, (int, np.integer)) and count.bit_length() + SPARE_BITS <= finfo(edges.dtype).nmant:
        return _computed_bin_of(value, edges)
    place = subtract(places_among(edges, value, side="right"), 1)
    last = edges[-1]
    at_end = ops.compare(*operands(value, last), direction="EQ")
    place = where(at_end, count_array(count - 1, INT64), place)
    beyond = ops.compare(*operands(value, last), direction="GT")
    is_number = ops.compare(value, value, direction="EQ")
    outside = where(is_number, beyond, True)
    # A scatter drops what lies outside on either side; -1 would be counted from nowhere, not from the end.
    return where(outside, count_array(count, INT64), place)


def _computed_bin_of(value: Any, edges: Any) -> Any:
    """As `_bin_of`, of bins of one width: the place is computed, then compared with the edges on both sides.

    A search in the edges takes 10 times as long (1000 bins). The algorithm is NumPy's
    (`numpy.lib._histograms_impl`).
    """
    count = edges.shape[0] - 1
    value, edges = promote(value, edges)
    if value.dtype not in (FLOAT32, FLOAT64):
        value, edges = convert(value, FLOAT32), convert(edges, FLOAT32)
    first, last = edges[0], edges[-1]
    inside = logical_and(greater_equal(value, first), less_equal(value, last))
    place = multiply(divide(subtract(value, first), subtract(last, first)), count)
    place = where(less(place, count), place, count - 1)  # NaN too
    place = ops.convert(where(greater(place, 0), place, full_like(place, 0)), dtype=INT32)
    below = less(value, take(edges, place, mode="clip"))
    above = logical_and(greater_equal(value, take(edges, add(place, 1), mode="clip")), less(place, count - 1))
    place = where(below, subtract(place, 1), where(above, add(place, 1), place))
    return where(inside, place, count_array(count, INT32))


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, list[Any]]:
    """The histogram of points `[n, d]` (or of d vectors) over a grid of bins, and the edges of each axis."""
    if isinstance(sample, (list, tuple)):
        columns = [ravel(asarray_of(s)) for s in sample]
    else:
        points = asarray_of(sample)
        if points.ndim != 2 or not isinstance(points.shape[1], int):
            raise shape_error(f"histogramdd: expected points [n, d], got {type_text(points)}")
        columns = [points[:, k] for k in _counting(points.shape[1])]
    each = [bins] * len(columns) if isinstance(bins, (int, np.integer)) else list(bins)
    ranges = [None] * len(columns) if range is None else list(range)
    edges = [histogram_bin_edges(c, b, r) for c, b, r in zip(columns, each, ranges, strict=True)]
    places = [_bin_of(c, e, b) for c, e, b in zip(columns, edges, each, strict=True)]
    shape = tuple(e.shape[0] - 1 for e in edges)
    one = integral() if follows_jax() and not density else edges[0].dtype
    amounts = full_like(columns[0], 1, one) if weights is None else ravel(float_value(weights))
    for place, column in enumerate(columns[1:], 1):
        require_sizes("histogramdd", f"vector {place}", column, columns[0].shape, "the first")
    require_sizes("histogramdd", "weights", amounts, columns[0].shape, "the points")
    counts = scatter_count(places, shape, amounts)
    if density:
        counts = divide(counts, sum_of(counts))
        for axis, edge in enumerate(edges):
            widths = ops.reshape(diff(edge), shape=tuple(n if a == axis else 1 for a, n in enumerate(shape)))
            counts = divide(counts, widths)
    return counts, edges


def _counting(n: int) -> Any:
    return np.arange(n).tolist()


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    """The histogram of pairs `(x, y)` over a grid of bins, and the edges of both axes."""
    if not isinstance(bins, (int, np.integer)) and not (isinstance(bins, (list, tuple)) and len(bins) == 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
