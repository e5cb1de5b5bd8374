"""The methods of elementwise functions: outer, reduce, accumulate, reduceat, at.

Sums, products, extrema and their like are the reductions and scatters that the dialect has; every other
function runs over the axis in order, as NumPy's does, in one scan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL
from ...control.scans import scan
from ...errors import IndexBoundsError, ShapeError, TraceError, UnsupportedError
from ...tracing.array import Array
from ...tracing.interpreter import ops
from ...tracing.locations import user_location_text
from ...tracing.sizes import Dim
from .arguments import (
    argument_error,
    concrete,
    dtype_of,
    keep_axes,
    normalize_axes,
    normalize_axis,
    refuse_out,
    shape_error,
    static_size,
    type_error,
)
from .cumulative import cummax, cummin, cumprod, cumsum, part
from .joining import concat, stack
from .promotion import asarray_of, broadcast, convert
from .reductions import all as all_of
from .reductions import any as any_of
from .reductions import max, min, prod, sum
from .reshaping import moveaxis, reshape
from .searching import where as choose
from .ufuncs import Ufunc

_SUMS: Final[dict[str, Callable[..., Any]]] = {"add": sum, "multiply": prod}
_EXTREMA: Final[dict[str, Callable[..., Any]]] = {"maximum": max, "minimum": min}
_TRUTHS: Final[dict[str, Callable[..., Any]]] = {"logical_and": all_of, "logical_or": any_of}
_RUNNING: Final[dict[str, Callable[..., Any]]] = {
    "add": cumsum,
    "multiply": cumprod,
    "maximum": cummax,
    "minimum": cummin,
}
_UPDATES: Final = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}


def outer(f: Ufunc, a: Any, b: Any, dtype: Any) -> Any:
    """`f` of each pair of elements."""
    _require_two("outer", f)
    left, right = (_converted(f, asarray_of(v), dtype) for v in (a, b))
    return f(reshape(left, (*left.shape, *(1,) * right.ndim)), right)


def reduce(
    f: Ufunc, array: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any
) -> Any:
    """The reduction of `f` along `axis`."""
    name = _require_two("reduce", f)
    refuse_out(f"{name}.reduce", out)
    value = _converted(f, asarray_of(array), dtype)
    if name in _SUMS:
        return _SUMS[name](value, axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    if name in _EXTREMA:
        return _EXTREMA[name](value, axis, keepdims=keepdims, initial=initial, where=where)
    if name in _TRUTHS and initial is None:
        return _TRUTHS[name](value, axis, keepdims=keepdims, where=where)
    axes = normalize_axes(f"{name}.reduce", axis, value.ndim)
    if len(axes) > 1 and not f.is_reorderable:
        raise shape_error(f"{name}.reduce: the order of elements matters, so it takes one axis, got {axis}")
    if not axes:
        return value
    mask = None if where is None else _axes_first(broadcast(asarray_of(where), value.shape), axes)
    result = _folded(f, _axes_first(value, axes), initial, mask)
    return keep_axes(result, value.shape, axes) if keepdims else result


def accumulate(f: Ufunc, array: Any, axis: int, dtype: Any, out: Any) -> Any:
    """The running reduction of `f` along `axis`."""
    name = _require_two("accumulate", f)
    refuse_out(f"{name}.accumulate", out)
    value = _converted(f, asarray_of(array), dtype)
    place = normalize_axis(f"{name}.accumulate", axis, value.ndim)
    if name in _SUMS:
        return _RUNNING[name](value, place, dtype=dtype)
    if name in _RUNNING and value.dtype != BOOL:
        return _RUNNING[name](value, place)
    rows = moveaxis(value, place, 0)
    kind = _result_dtype(f, rows)
    if _is_empty(rows):
        return value if value.dtype == kind else ops.convert(value, dtype=kind)
    first = convert(rows[0], kind)
    _, running = scan(lambda c, x: (convert(f(c, x), kind),) * 2, first, rows[1:])
    return moveaxis(concat([first[None], running]), 0, place)


def reduceat(f: Ufunc, array: Any, indices: Any, axis: int, dtype: Any, out: Any) -> Any:
    """The reduction of each part of `axis`; a part that ends before it begins is its first element."""
    name = _require_two("reduceat", f)
    refuse_out(f"{name}.reduceat", out)
    value = asarray_of(array)
    place = normalize_axis(f"{name}.reduceat", axis, value.ndim)
    size = static_size(f"{name}.reduceat", value.shape[place], f"axis {place}")
    starts = concrete(f"{name}.reduceat", indices, "the indices")
    if starts.ndim != 1 or starts.dtype.kind not in "iu":
        raise type_error(
            f"{name}.reduceat: expected a vector of integers, got {starts.dtype}{[*starts.shape]}"
        )
    outside = starts[(starts < 0) | (starts >= size)]
    if outside.size:
        message = f"{name}.reduceat: index {outside[0]} is out of bounds for axis {place} of size {size}"
        raise IndexBoundsError(message, where=user_location_text())
    parts = []
    for low, high in zip(starts.tolist(), [*starts[1:].tolist(), size], strict=True):
        piece = part(value, place, low, high if low < high else low + 1)
        parts.append(reduce(f, piece, place, dtype, None, False, None, None))
    if not parts:
        like = reduce(f, part(value, place, 0, 1), place, dtype, None, False, None, None)
        return part(stack([like], axis=place), place, 0, 0)
    return stack(parts, axis=place)


def at(f: Ufunc, a: Any, indices: Any, b: Any, inplace: bool) -> Any:
    """`a` with `f` applied at each index in turn, so that an index that occurs twice counts twice."""
    name = f.__name__
    if inplace:
        update = f"write x = x.at[index].{_UPDATES[name]}(values), or " if name in _UPDATES else "write "
        raise TraceError(
            f"{name}.at writes into its argument, and arrays of adze are immutable",
            where=user_location_text(),
            hint=f"{update}x = {name}.at(x, index, values, inplace=False)",
        )
    if (b is None) != (f.nin == 1):
        raise type_error(
            f"{name}.at: {name} takes {f.nin} operands, {'no' if b is None else 'a'} second one is given"
        )
    value = asarray_of(a)
    if name in _UPDATES:
        return getattr(value.at[indices], _UPDATES[name])(b)
    places = reshape(ops.iota(shape=(value.size,), axis=0, dtype=np.dtype(np.int64)), value.shape)[indices]
    others = () if b is None else (reshape(broadcast(asarray_of(b), places.shape), (-1,)),)

    def step(flat: Any, item: Any) -> Any:
        place, *operands = item
        return flat.at[place].set(convert(f(flat[place], *operands), flat.dtype)), None

    flat, _ = scan(step, reshape(value, (-1,)), (reshape(places, (-1,)), *others))
    return reshape(flat, value.shape)


def _require_two(method: str, f: Ufunc) -> str:
    name: str = f.__name__
    if f.nin != 2 or f.nout != 1:
        raise argument_error(f"{name}.{method}: only functions of two arrays with one result have it")
    return name


def _converted(f: Ufunc, value: Any, dtype: Any) -> Any:
    return value if dtype is None else convert(value, dtype_of(f.__name__, dtype))


def _axes_first(value: Any, axes: tuple[int, ...]) -> Any:
    """`value` with `axes` as one leading axis."""
    if axes == (0,):
        return value
    moved = moveaxis(value, axes, tuple(range(len(axes))))
    return reshape(moved, (-1, *moved.shape[len(axes) :])) if len(axes) > 1 else moved


def _is_empty(rows: Any) -> bool:
    return not isinstance(rows.shape[0], Dim) and rows.shape[0] == 0


def _result_dtype(f: Ufunc, rows: Any) -> np.dtype:
    """The dtype that `f` keeps when it is applied again and again."""
    name = f.__name__
    one = Array(np.ones((), rows.dtype))
    kind = f(one, one).dtype
    if kind == BOOL and rows.dtype != BOOL and name not in ("logical_and", "logical_or", "logical_xor"):
        raise UnsupportedError(
            f"{name} compares, so it has no reductions of {rows.dtype}", where=user_location_text()
        )
    return np.dtype(kind)


def _folded(f: Ufunc, rows: Any, initial: Any, mask: Any) -> Any:
    """`f` over the leading axis, from `initial` on or from the first row on."""
    kind = _result_dtype(f, rows)
    start = f.identity if initial is None and (mask is not None or _is_empty(rows)) else initial
    if start is None:
        if mask is not None or _is_empty(rows):
            name = f.__name__
            raise ShapeError(
                f"{name}.reduce: {name} has no identity: reducing nothing, or with where=, needs initial=",
                where=user_location_text(),
            )
        first, rows = convert(rows[0], kind), rows[1:]
    else:
        first = broadcast(convert(asarray_of(start), kind), rows.shape[1:])

    def step(carry: Any, item: Any) -> Any:
        row, chosen = item if mask is not None else (item, None)
        found = convert(f(carry, row), kind)
        return (found if chosen is None else choose(chosen, found, carry)), None

    return scan(step, first, rows if mask is None else (rows, mask))[0]
