"""Sets: distinct elements and what two arrays have in common, with a static number of results.

Of concrete arrays the number of distinct elements is known; of traced ones `size` must state it. Then
results are sorted, cut off at `size`, and filled up with `fill_value` (by default the least element).
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from ....dialects.types import INT32
from ...tracing.array import Array
from ...tracing.default_dtypes import integral
from ...tracing.frames import current_frame, known_value
from ...tracing.interpreter import ops
from .arguments import concretization_error, count_array, full_like, normalize_axis
from .cumulative import cumsum, part
from .joining import concat
from .logic import logical_not
from .promotion import asarray_of, broadcast, convert, promote, type_text
from .reductions import sum as sum_of
from .reshaping import moveaxis, ravel, reshape
from .searching import nonzero, places_among, where
from .sorting import argsort, lexsort, sort
from .taking import take

FEW: Final = 32  # candidates that each element is compared with, instead of a search among them


class UniqueAll(NamedTuple):
    """Distinct values, where each first occurs, which one each element is, and how often each occurs."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Distinct values and how often each occurs."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Distinct values and which one each element is."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """Distinct values, their first positions, the inverse and the counts; traced arrays need `size`."""
    return _unique("unique_all", x, size, fill_value)


def _unique(function: str, x: Any, size: int | None, fill_value: Any, equal_nan: bool = False) -> UniqueAll:
    value = asarray_of(x)
    if size is None:
        known = _concrete(function, value)
        values, indices, inverse, counts = np.unique(
            known, return_index=True, return_inverse=True, return_counts=True, equal_nan=equal_nan
        )
        # A traced array has a derivative, which the values that NumPy picked have not.
        distinct = Array(values) if isinstance(value, Array) else take(ravel(value), indices, axis=0)
        places = (indices, inverse.reshape(known.shape), counts)
        return UniqueAll(distinct, *(Array(place.astype(integral())) for place in places))
    found = _unique_of_size(ravel(value), size, fill_value, equal_nan)
    return found._replace(inverse_indices=reshape(found.inverse_indices, value.shape))


def _unique_slices(
    value: Any, axis: int, size: int | None, fill_value: Any, equal_nan: bool
) -> tuple[UniqueAll, int]:
    """Distinct slices along `axis`, which comes first in them, in the order of their elements."""
    place = normalize_axis("unique", axis, value.ndim)
    slices = moveaxis(value, place, 0)
    count, *inner = slices.shape
    rows = reshape(slices, (count, math.prod(inner))) if inner else slices
    if size is None:
        size = _number_of_distinct(_concrete("unique", rows), equal_nan)
    found = _unique_of_size(rows, size, fill_value, equal_nan)
    return found._replace(values=reshape(found.values, (size, *inner))), place


def _number_of_distinct(rows: np.ndarray, equal_nan: bool) -> int:
    """How many of the numbers, or rows of a matrix, differ from each other."""
    table = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    ordered = table[np.lexsort(table.T[::-1])] if table.size else table
    before, after = ordered[:-1], ordered[1:]
    differs = before != after
    if equal_nan:
        differs &= (before == before) | (after == after)
    return min(len(rows), 1 + int(np.count_nonzero(differs.any(axis=1))))


def _order(rows: Any) -> Any:
    """The positions that sort numbers, or the rows of a matrix by their elements."""
    if rows.ndim == 1:
        return argsort(rows)
    if rows.shape[1] == 0:
        return ops.iota(shape=rows.shape[:1], axis=0, dtype=integral())
    return lexsort([rows[:, k] for k in reversed(range(rows.shape[1]))])


def _unique_of_size(flat: Any, size: int, fill_value: Any, equal_nan: bool) -> UniqueAll:
    """Distinct numbers of a vector, or rows of a matrix; the inverse is a vector."""
    order = _order(flat)
    ordered = take(flat, order, axis=0, mode="clip")
    # One element more, so that there is one to take where the array is empty.
    table = concat([ordered, broadcast(convert(count_vector(0), flat.dtype), (1, *flat.shape[1:]))])
    count = flat.shape[0]
    is_first = _begins_a_run(ordered, table, equal_nan)
    (starts,) = nonzero(is_first, size=size + 1)  # one more than asked for: where the last of these ends
    distinct = sum_of(is_first)
    number = ops.iota(shape=(size + 1,), axis=0, dtype=integral())
    exists = ops.compare(number, broadcast(distinct, (size + 1,)), direction="LT")
    starts = where(exists, starts, count_array(count, integral()))
    starts, ends = part(starts, 0, 0, size), part(starts, 0, 1, size + 1)
    exists = part(exists, 0, 0, size)
    picked = take(table, starts, axis=0, mode="clip")
    filler = (
        take(table, 0, axis=0, mode="clip")
        if fill_value is None
        else convert(asarray_of(fill_value), flat.dtype)
    )
    values = where(reshape(exists, (size,) + (1,) * (flat.ndim - 1)), picked, filler)
    positions = concat([order, count_vector(0)])
    indices = take(positions, where(exists, starts, count_array(0, integral())), axis=0, mode="clip")
    counts = where(exists, ops.sub(ends, starts), count_array(0, integral()))
    rank = ops.sub(cumsum(is_first), full_like(order, 1))
    inverse = take(rank, argsort(order), axis=0, mode="clip")
    return UniqueAll(values, indices, inverse, counts)


def _begins_a_run(ordered: Any, table: Any, equal_nan: bool) -> Any:
    """Where a sorted element (or row) is no repetition of the one before it; `table` has one more."""
    places = ops.iota(shape=ordered.shape[:1], axis=0, dtype=integral())
    before = take(table, ops.sub(places, full_like(places, 1)), axis=0, mode="clip")
    differs = ops.compare(ordered, before, direction="NE")
    if equal_nan and ordered.dtype.kind in "fcV":
        both = [ops.compare(x, x, direction="NE") for x in (ordered, before)]
        differs = ops.and_(differs, ops.not_(ops.and_(*both)))
    differs = ops.reduce_or(differs, axes=(1,)) if ordered.ndim == 2 else differs
    return ops.or_(differs, ops.compare(places, full_like(places, 0), direction="EQ"))


def count_vector(count: Any) -> Any:
    """A size as a vector of one element."""
    return ops.reshape(count_array(count, integral()), shape=(1,))


def _concrete(function: str, value: Any) -> np.ndarray:
    known = value.numpy() if isinstance(value, Array) else known_value(value)
    if known is not None:
        return known
    raise concretization_error(
        f"{function} of a traced array {type_text(value)} has a shape that depends on values",
        f"state how many distinct values there are at most: {function}(x, size=n)",
    )


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """Distinct values and how often each occurs; traced arrays need `size`."""
    result = _unique("unique_counts", x, size, fill_value)
    return UniqueCounts(result.values, result.counts)


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """Distinct values and which one each element is; traced arrays need `size`."""
    result = _unique("unique_inverse", x, size, fill_value)
    return UniqueInverse(result.values, result.inverse_indices)


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Distinct values, sorted; traced arrays need `size`."""
    return _unique("unique_values", x, size, fill_value).values


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """Distinct values, and on request first positions, inverse and counts; traced arrays need `size`.

    Of several NaN one remains, with `equal_nan=False` all. Of more values than `size` the least are returned.
    With `axis` the distinct slices along it, sorted by their elements; the inverse is a vector then. They are
    in order whatever `sorted` says.
    """
    if axis is None:
        result = _unique("unique", ar, size, fill_value, equal_nan)
    else:
        result, place = _unique_slices(asarray_of(ar), axis, size, fill_value, equal_nan)
        result = result._replace(values=moveaxis(result.values, 0, place))
    wanted = (True, return_index, return_inverse, return_counts)
    parts = tuple(p for p, w in zip(result, wanted, strict=True) if w)
    return parts[0] if len(parts) == 1 else parts


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Any:
    """Whether each element occurs among `test_elements`; `assume_unique` and `method` are hints."""
    value, candidates = promote(element, test_elements)
    flat = ravel(candidates)
    count = flat.shape[0]
    if isinstance(count, int) and (count == 0 or (count <= FEW and current_frame() is not None)):
        # One kernel compares with all of them; integers, since a processor has few registers of bits.
        found, one = full_like(value, 0, INT32), full_like(value, 1, INT32)
        for k in range(count):
            is_this = ops.compare(value, broadcast(flat[k], value.shape), direction="EQ")
            found = ops.select(is_this, one, found)
        is_member = ops.compare(found, one, direction="EQ")
    else:
        ordered = sort(flat)
        place = places_among(ordered, value)
        is_member = ops.compare(take(ordered, place, axis=0, mode="clip"), value, direction="EQ")
    return logical_not(is_member) if invert else is_member


def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Sorted distinct values that occur in both; traced arrays need `size`. `assume_unique` is a hint.

    With `return_indices` also where each of them comes first in either array; of fewer than `size` values the
    places behind the last one hold the length of that array, which is no position of it.
    """
    value, other = (ravel(v) for v in promote(ar1, ar2))
    is_common = isin(value, other)
    common = _selected("intersect1d", value, is_common, size, fill_value)
    if not return_indices:
        return common
    is_new = ops.compare(_first_positions(value, value), counted(value.shape[0]), direction="EQ")
    number = sum_of(ops.and_(is_new, is_common))
    return common, *(_where_found(v, common, number) for v in (value, other))


def _first_positions(values: Any, wanted: Any) -> Any:
    """Where each of `wanted` comes first in a vector that has it."""
    order = argsort(values)
    place = places_among(take(values, order, axis=0, mode="clip"), wanted)
    return take(order, place, axis=0, mode="clip")


def _where_found(values: Any, wanted: Any, number: Any) -> Any:
    """The first positions of the first `number` of `wanted`; the length of `values` for the others."""
    length, size = values.shape[0], wanted.shape[0]
    if size == 0 or (isinstance(length, int) and length == 0):
        return full_like(counted(size), length)
    is_there = ops.compare(counted(size), broadcast(number, (size,)), direction="LT")
    return where(is_there, _first_positions(values, wanted), count_array(length, integral()))


def counted(size: Any) -> Any:
    """The positions of a vector."""
    return ops.iota(shape=(size,), axis=0, dtype=integral())


def setdiff1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """Sorted distinct values of `ar1` that do not occur in `ar2`; traced arrays need `size`.

    `assume_unique` is a hint: what is unique is sorted all the same.
    """
    value = ravel(asarray_of(ar1))
    return _selected("setdiff1d", value, isin(value, ar2, invert=True), size, fill_value)


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Sorted distinct values of both; traced arrays need `size`."""
    joined = concat([ravel(v) for v in promote(ar1, ar2)])
    return _unique("union1d", joined, size, fill_value, equal_nan=True).values


def setxor1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """Sorted distinct values that occur in one of the two only; traced arrays need `size`.

    `assume_unique` is a hint: what is unique is sorted all the same.
    """
    value, other = (ravel(v) for v in promote(ar1, ar2))
    joined = concat([value, other])
    both = concat([isin(value, other), isin(other, value)])
    return _selected("setxor1d", joined, logical_not(both), size, fill_value)


def _selected(function: str, values: Any, mask: Any, size: int | None, fill_value: Any) -> Any:
    if size is None:
        return Array(np.unique(_concrete(function, values)[_concrete(function, mask)]))
    count = values.shape[0]
    if isinstance(count, int) and count == 0:
        return broadcast(convert(asarray_of(0 if fill_value is None else fill_value), values.dtype), (size,))
    # Rejected elements become copies of a chosen one, so that they add nothing to the distinct ones.
    (first,) = nonzero(mask, size=1, fill_value=0)
    kept = where(mask, values, take(values, first, axis=0, mode="clip"))
    return unique_all(kept, size=size, fill_value=fill_value).values
