"""Elements put at flat positions or where a mask is true, functions over several axes, and indices of masks.

Input and output: as NumPy's functions of the names, but arrays are immutable: `put` and `place` return the
array that they change, when `inplace=False` says that this is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....dialects.types import COMPLEX64, FLOATS, INT64, INTEGERS
from ...errors import TraceError
from ...tracing.default_dtypes import floating_of
from ...tracing.interpreter import ops
from ...tracing.locations import user_location_text
from .arguments import argument_error, concrete, integer, normalize_axis, shape_error
from .arithmetic import clip, remainder, subtract
from .arithmetic import nextafter as next_after
from .creation import arange, asarray
from .cumulative import cumsum
from .logic import isinf, truth
from .promotion import asarray_of, convert, type_text
from .reshaping import expand_dims, ravel, reshape
from .searching import where
from .sorting import sort
from .taking import take


def _refuse_in_place(function: str, inplace: bool) -> None:
    if inplace:
        raise TraceError(
            f"{function} writes into its argument, and arrays of adze are immutable",
            where=user_location_text(),
            hint=f"write x = adze.numpy.{function}(x, ..., inplace=False)",
        )


def _is_empty(x: Any) -> bool:
    return any(isinstance(n, int) and n == 0 for n in x.shape)


def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
    """`a` with the values `v`, repeated as needed, at the flat positions `ind`; with `inplace=False` only.

    `mode` says what positions out of bounds do: they are dropped (None), or `clip` or `wrap`.
    """
    _refuse_in_place("put", inplace)
    value, places, values = asarray_of(a), ravel(asarray_of(ind)), ravel(asarray_of(v))
    if mode not in (None, "clip", "wrap"):
        raise argument_error(f"put: mode is {mode!r}, expected None, 'clip' or 'wrap'")
    if _is_empty(places) or _is_empty(values):
        return value
    count = places.shape[0]
    places = convert(places, INT64) if places.dtype in INTEGERS else places
    if mode == "clip":
        places = clip(places, 0, value.size - 1)
    if mode == "wrap":
        places = remainder(places, value.size)
    repeated = take(values, remainder(arange(count), values.shape[0]))
    flat = ravel(value).at[places].set(convert(repeated, value.dtype), mode="drop")
    return reshape(flat, value.shape)


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """`arr` with the values `vals`, repeated as needed, one after the other where `mask` is true; with
    `inplace=False` only."""
    _refuse_in_place("place", inplace)
    value, chosen, values = asarray_of(arr), truth(mask), ravel(asarray_of(vals))
    if chosen.size != value.size:
        raise shape_error(f"place: the mask {type_text(chosen)} has not the size of {type_text(value)}")
    if _is_empty(values):
        raise shape_error("place: there are no values to put")
    if _is_empty(value):
        return value
    flags = ravel(chosen)
    order = subtract(cumsum(convert(flags, np.dtype(np.int64))), 1)
    new = take(values, remainder(order, values.size))
    return reshape(where(flags, convert(new, value.dtype), ravel(value)), value.shape)


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: int | Sequence[int]) -> Any:
    """`func(array, axis)` for each of `axes`, one after the other; an axis that it removes comes back with
    size 1."""
    value = asarray_of(a)
    rank = value.ndim
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        at = normalize_axis("apply_over_axes", axis, rank)
        result = asarray_of(func(value, at))
        if result.ndim == rank - 1:
            result = expand_dims(result, at)
        if result.ndim != rank:
            raise shape_error(
                f"apply_over_axes: the function returns {type_text(result)} for {type_text(value)}, "
                "expected the same rank, or one less"
            )
        value = result
    return value


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """The indices of the main diagonal of an array whose sizes are equal, of rank 2 or more."""
    value = asarray_of(arr)
    if value.ndim < 2 or len(set(value.shape)) != 1:
        raise shape_error(
            f"diag_indices_from: expected equal sizes and rank 2 or more, got {type_text(value)}"
        )
    return (asarray(np.arange(value.shape[0])),) * value.ndim


def mask_indices(
    n: int, mask_func: Callable[[Any, int], Any], k: int = 0, *, size: int | None = None
) -> tuple[Any, Any]:
    """The indices of an `n` by `n` matrix where `mask_func(matrix, k)`, such as `triu`, is not zero.

    The mask must be known while tracing. `size` cuts the indices, or pads them with 0.
    """
    n = integer("mask_indices", n, "n, the size of the matrix,")
    mask = concrete("mask_indices", mask_func(np.ones((n, n), np.int32), k), "the mask")
    rows, columns = np.nonzero(mask)
    if size is not None:
        missing = max(size - rows.size, 0)
        rows, columns = (np.pad(v[:size], (0, missing)) for v in (rows, columns))
    return asarray(rows), asarray(columns)


def sort_complex(a: Any) -> Any:
    """The elements sorted along the last axis by real, then by imaginary parts, as complex numbers."""
    value = sort(a)
    if value.dtype.kind == "c":
        return value
    return convert(value, np.dtype(np.complex128) if value.dtype == np.float64 else COMPLEX64)


def spacing(x: Any, /) -> Any:
    """The distance from `x` to the next number away from zero, with the sign of `x`; integers are floats."""
    value = asarray_of(x)
    value = value if value.dtype in FLOATS else convert(value, floating_of(value.dtype))
    far = where(ops.compare(value, ops.zeros_like(value), direction="LT"), -np.inf, np.inf)
    step = subtract(next_after(value, convert(far, value.dtype)), value)
    return where(isinf(value), np.nan, step)
