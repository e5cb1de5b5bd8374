"""Reading along axes at integer positions: `take`, `take_along_axis`, and the gather that indexing uses.

Positions that are out of bounds are clamped unless `mode` says otherwise: `clip`, `wrap`, or `fill`
(`fill_value`, by default NaN for floats and the least integer otherwise), which is the default of programs
that are written for JAX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects.types import BOOL, INEXACT, INT32, INT64, INTEGERS, storage
from ...errors import IndexBoundsError, IndexingError
from ...tracing.array import Array
from ...tracing.default_dtypes import integral
from ...tracing.frames import known_value
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from ...tracing.locations import user_location_text
from ...tracing.sizes import Dim
from .arguments import (
    argument_error,
    concrete,
    concretization_error,
    count_array,
    count_of,
    dtype_of,
    normalize_axis,
    refuse_out,
    shape_error,
)
from .arithmetic import add, clip, floor_divide, multiply, remainder
from .index_expressions import wrapped
from .promotion import (
    asarray_of,
    broadcast,
    broadcast_shapes,
    broadcast_together,
    convert,
    key_of,
    promote_keys,
    type_text,
)

MODES = (None, "clip", "fill", "wrap", "raise", "promise_in_bounds")


def default_fill(dtype: np.dtype) -> Any:
    """What `mode="fill"` reads out of bounds when no value is named."""
    if dtype in INEXACT:
        return np.nan
    return True if dtype == BOOL else np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max


def join_positions(positions: Sequence[Any]) -> Any:
    """Position arrays of one shape as index vectors along a new last axis."""
    narrow = all(p.dtype == INT32 for p in positions)
    columns = []
    for position in positions:
        position = position if narrow or position.dtype == INT64 else ops.convert(position, dtype=INT64)
        columns.append(ops.reshape(position, shape=(*position.shape, 1)))
    return ops.concatenate(*columns, axis=columns[0].ndim - 1) if len(columns) > 1 else columns[0]


def gather_at(
    x: Any,
    axes: Sequence[int],
    positions: Sequence[Any],
    place: int,
    mode: str | None = None,
    fill_value: Any = None,
) -> Any:
    """`x` at nonnegative `positions` (arrays of one shape) along `axes`.

    The axes are replaced by those of the positions, which come at `place` among the remaining ones.
    """
    count = positions[0].ndim
    require_elements(x, axes, positions[0].shape, mode)
    rest = x.ndim - len(axes)
    fill = default_fill(x.dtype) if fill_value is None else fill_value
    with np.errstate(all="ignore"):
        bits = storage(np.asarray(fill if mode == "fill" else 0).astype(x.dtype))
    order = sorted(range(len(axes)), key=axes.__getitem__)
    return ops.gather(
        x,
        join_positions([positions[k] for k in order]),
        offset_dims=tuple(d if d < place else d + count for d in range(rest)),
        collapsed_slice_dims=tuple(sorted(axes)),
        start_index_map=tuple(sorted(axes)),
        operand_batching_dims=(),
        start_indices_batching_dims=(),
        slice_sizes=tuple(1 if a in axes else n for a, n in enumerate(x.shape)),
        mode="fill" if mode == "fill" else "clip",
        fill_value=bits,
    )


def require_elements(x: Any, axes: Sequence[int], wanted: Sequence[Any], mode: str | None) -> None:
    """Raise `IndexBoundsError` where elements are wanted of an empty axis: none is there to clip to."""
    empty = [a for a in axes if not isinstance(x.shape[a], Dim) and x.shape[a] == 0]
    if not empty or mode == "fill" or any(isinstance(n, Dim) or n == 0 for n in wanted):
        return
    raise _bounds_error(
        f"indices of shape {tuple(wanted)} take elements of {type_text(x)}, whose axis {empty[0]} has none"
    )


def normalized(position: Any, size: Any, mode: str | None) -> Any:
    """Positions counted from the front, under `mode`."""
    if mode not in MODES:
        raise argument_error(f"mode is {mode!r}, expected one of {', '.join(str(m) for m in MODES)}")
    if mode == "wrap":
        value = asarray_of(position)
        value = ops.convert(value, dtype=INT64) if value.dtype != INT64 else value
        return remainder(value, count_array(size, INT64))
    if mode == "clip":
        value = asarray_of(position)
        if value.dtype.kind == "i":  # as NumPy: negative positions are clipped too, not wrapped
            zero = broadcast(Array(np.zeros((), value.dtype)), value.shape)
            return ops.max(value, zero)
    return wrapped(asarray_of(position), size)


def _require_integers(function: str, indices: Any) -> Any:
    value = asarray_of(indices)
    if isinstance(indices, (list, tuple)) and not len(indices):
        value = Array(np.zeros(0, np.int64))
    if value.dtype not in INTEGERS:
        message = f"{function}: indices must be integers, got {type_text(value)}"
        raise IndexingError(message, where=user_location_text())
    return value


def _bounds_error(message: str) -> IndexBoundsError:
    return IndexBoundsError(message, where=user_location_text())


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: Any = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Any:
    """Elements of `a` at `indices` along `axis` (of the flat array when None).

    `unique_indices` and `indices_are_sorted` are hints.
    """
    refuse_out("take", out)
    value, positions = asarray_of(a), _require_integers("take", indices)
    if axis is None:
        value, axis = ops.reshape(value, shape=(count_of(value.shape, range(value.ndim)),)), 0
    place = normalize_axis("take", axis, value.ndim)
    size = value.shape[place]
    mode = _mode_of(mode, positions, size)
    outside = _outside(positions, size) if mode in (None, "raise") else None
    if outside is not None and outside.size:
        raise _bounds_error(
            f"take: index {int(outside.flat[0])} is out of bounds for axis {place} of {type_text(value)}"
        )
    if positions.ndim == 0:
        result = gather_at(
            value, (place,), [_vector(normalized(positions, size, mode))], place, mode, fill_value
        )
        return ops.reshape(result, shape=tuple(n for number, n in enumerate(value.shape) if number != place))
    return gather_at(value, (place,), [normalized(positions, size, mode)], place, mode, fill_value)


def _mode_of(mode: str | None, positions: Any, size: Any) -> str | None:
    """`mode`; where none is given and positions may be out of bounds, the one of programs written for JAX."""
    if mode is not None:
        return mode
    outside = _outside(positions, size)
    return "fill" if (outside is None or outside.size) and follows_jax() else None


def _outside(positions: Any, size: Any) -> np.ndarray | None:
    """Which positions are out of bounds; None where they or the size are not known yet."""
    if not isinstance(positions, Array) or not isinstance(size, int):
        return None
    known = positions.numpy()
    return known[(known < -size) | (known >= size)] if known.size else known


def _vector(scalar: Any) -> Any:
    return ops.reshape(scalar, shape=(1,))


def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    mode: str | None = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Any:
    """Elements of `arr` at the positions that `indices`, of the same rank, names along `axis`.

    Negative ones count from the end, unless `wrap_negative_indices` is false: they are out of bounds then.
    """
    value, positions = asarray_of(arr), _require_integers("take_along_axis", indices)
    if axis is None:
        value, axis = ops.reshape(value, shape=(count_of(value.shape, range(value.ndim)),)), 0
    value, positions, place = _aligned("take_along_axis", value, positions, axis)
    is_plain = wrap_negative_indices is False and mode != "wrap"
    mode = "fill" if is_plain and mode is None else _mode_of(mode, positions, value.shape[place])
    require_elements(value, (place,), positions.shape, mode)
    chosen = positions if is_plain else normalized(positions, value.shape[place], mode)
    others = tuple(a for a in range(value.ndim) if a != place)
    fill = default_fill(value.dtype) if fill_value is None else fill_value
    with np.errstate(all="ignore"):
        bits = storage(np.asarray(fill if mode == "fill" else 0).astype(value.dtype))
    return ops.gather(
        value,
        join_positions([chosen]),
        offset_dims=(),
        collapsed_slice_dims=(place,),
        start_index_map=(place,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
        slice_sizes=(1,) * value.ndim,
        mode="fill" if mode == "fill" else "clip",
        fill_value=bits,
    )


def _aligned(function: str, value: Any, positions: Any, axis: int) -> tuple[Any, Any, int]:
    """Array and positions broadcast to each other along all axes but `axis`."""
    if value.ndim != positions.ndim:
        raise shape_error(
            f"{function}: indices {type_text(positions)} must have as many dimensions as {type_text(value)}"
        )
    place = normalize_axis(function, axis, value.ndim)
    others = [tuple(1 if a == place else n for a, n in enumerate(v.shape)) for v in (value, positions)]
    common = broadcast_shapes(*others)
    wanted = [
        tuple(v.shape[a] if a == place else n for a, n in enumerate(common)) for v in (value, positions)
    ]
    return broadcast(value, wanted[0]), broadcast(positions, wanted[1]), place


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int, inplace: bool = False, *, mode: str | None = None
) -> Any:
    """`arr` with `values` at the positions that `indices` names along `axis`: a new array.

    Raises `ArgumentError` with `inplace=True`: arrays do not change.
    """
    if inplace:
        raise argument_error("put_along_axis: arrays of adze do not change", "use the array that it returns")
    value, positions = asarray_of(arr), _require_integers("put_along_axis", indices)
    value, positions, place = _aligned("put_along_axis", value, positions, axis)
    chosen = wrapped(positions, value.shape[place])
    updates = broadcast(convert(asarray_of(values), value.dtype), chosen.shape)
    others = tuple(a for a in range(value.ndim) if a != place)
    return ops.scatter(
        value,
        join_positions([chosen]),
        updates,
        kind="set",
        update_window_dims=(),
        inserted_window_dims=(place,),
        scatter_dims_to_operand_dims=(place,),
        operand_batching_dims=others,
        scatter_indices_batching_dims=others,
        mode="clip" if mode == "clip" else "drop",
        unique_indices=False,
        indices_are_sorted=False,
    )


# -- indices -----------------------------------------------------------------------------------


def ix_(*vectors: Any) -> tuple[Any, ...]:
    """Index arrays that together pick the grid of the vectors' positions."""
    grids = []
    for k, vector in enumerate(vectors):
        value = asarray_of(vector)
        if value.ndim != 1:
            raise shape_error(f"ix_: expected vectors, got {type_text(value)}")
        if value.dtype == BOOL:
            value = Array(concrete("ix_", value, "a mask").nonzero()[0])
        shape = tuple(value.shape[0] if a == k else 1 for a in range(len(vectors)))
        grids.append(ops.reshape(value, shape=shape))
    return tuple(grids)


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The coordinates, in an array of `shape`, of positions in its flat form."""
    value = _require_integers("unravel_index", indices)
    coordinates: list[Any] = []
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    for n in reversed(tuple(sizes)):
        coordinates.append(remainder(value, n))
        value = floor_divide(value, n)
    return tuple(reversed(coordinates))


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: str = "raise", order: str = "C", dtype: Any = None
) -> Any:
    """Positions in the flat form of an array of shape `dims`, of `dtype` (by default int64).

    Coordinates out of bounds are an error (`mode` 'raise'; traced ones are clipped, and refused in programs
    written for JAX), or they are clipped ('clip'), wrapped ('wrap') or used as they are ('ignore'). `order`
    'F' counts along the first axis fastest.
    """
    name = "ravel_multi_index"
    if mode not in ("raise", "clip", "wrap", "ignore"):
        raise argument_error(f"{name}: mode is {mode!r}, expected 'raise', 'clip', 'wrap' or 'ignore'")
    if order not in ("C", "F"):
        raise argument_error(f"{name}: order is {order!r}, expected 'C' or 'F'")
    given = [_require_integers(name, i) for i in multi_index]
    positions = integral() if dtype is None else dtype_of(name, dtype)
    if dtype is None and follows_jax() and given:
        positions = promote_keys(tuple(key_of(c) for c in given))[0]
    if positions not in INTEGERS:
        raise argument_error(f"{name}: dtype is {positions}, expected one of integers")
    if len(given) != len(dims):
        raise shape_error(f"{name}: {len(given)} index arrays for shape {tuple(dims)}")
    if mode == "raise":
        for coordinate, n in zip(given, dims, strict=True):
            _require_inside(coordinate, n)
    coordinates = broadcast_together([convert(c, positions) for c in given])
    pairs = [*zip(coordinates, dims, strict=True)]
    total: Any = None
    for coordinate, n in pairs if order == "C" else reversed(pairs):
        inside = _coordinate(coordinate, n, mode)
        total = inside if total is None else add(multiply(total, n), inside)
    return total


def _coordinate(coordinate: Any, n: Any, mode: str) -> Any:
    if mode == "ignore":
        return coordinate
    return remainder(coordinate, n) if mode == "wrap" else clip(coordinate, 0, n - 1)


def _require_inside(coordinate: Any, size: Any) -> None:
    known = coordinate.numpy() if isinstance(coordinate, Array) else known_value(coordinate)
    if known is None:
        if follows_jax():
            raise concretization_error(
                f"ravel_multi_index: mode 'raise' needs known coordinates, got {type_text(coordinate)}",
                "write mode='clip' or mode='wrap'",
            )
    elif isinstance(size, int) and known.size and (known.min() < 0 or known.max() >= size):
        raise argument_error(
            f"ravel_multi_index: coordinate {known[(known < 0) | (known >= size)].flat[0]} is out of bounds "
            f"for an axis of size {size}"
        )
