"""Arguments that name axes, shapes and dtypes: the one place that checks and normalises them.

Input: what users write (`axis=-1`, `shape=3`, a tuple). Output: tuples of non-negative integers and of sizes.
Errors carry the function's name, the value seen, what was allowed, and the user's line.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ....dialects.errors import TypeCheckError
from ....dialects.types import INEXACT, TensorType, require_possible
from ...errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    ConcretizationError,
    DtypeError,
    OutArgumentError,
    ShapeError,
)
from ...tracing.array import Array
from ...tracing.default_dtypes import floating, floating_of, stated_dtype
from ...tracing.frames import Tracer, known_value
from ...tracing.function_scope import check_sizes
from ...tracing.interpreter import as_weak, ops, wide_of
from ...tracing.jax_rules import follows_jax
from ...tracing.locations import located, user_location_text
from ...tracing.sizes import Dim
from .promotion import asarray_of, is_one, type_text


def shape_error(message: str, hint: str | None = None) -> ShapeError:
    """A `ShapeError` at the user's line."""
    return ShapeError(message, where=user_location_text(), hint=hint)


def argument_error(message: str, hint: str | None = None) -> ArgumentError:
    """An `ArgumentError` at the user's line."""
    return ArgumentError(message, where=user_location_text(), hint=hint)


def type_error(message: str, hint: str | None = None) -> ArgumentTypeError:
    """An `ArgumentTypeError` at the user's line."""
    return ArgumentTypeError(message, where=user_location_text(), hint=hint)


def concretization_error(message: str, hint: str | None = None) -> ConcretizationError:
    """A `ConcretizationError` at the user's line."""
    return ConcretizationError(message, where=user_location_text(), hint=hint)


def require_sizes(function: str, what: str, value: Any, shape: Sequence[Any], whose: str) -> None:
    """Raise a `ShapeError` unless `value` has the sizes of `shape`; open ones are compared in the program."""
    pairs = list(zip(value.shape, shape, strict=False))
    if value.ndim != len(shape) or any(m != n for m, n in pairs if isinstance(m, int) and isinstance(n, int)):
        wanted = ",".join(map(str, shape))
        raise shape_error(f"{function}: {what} {type_text(value)} must have the shape [{wanted}] of {whose}")
    check_sizes(value, shape, f"{function}: {what} must have the shape of {whose}")


def integer(function: str, value: Any, what: str) -> int:
    """`value` as a Python integer; a traced one has an error of its own."""
    try:
        return operator.index(value)
    except ConcretizationError:
        raise
    except TypeError:
        raise type_error(f"{function}: {what} must be an integer, got {value!r}") from None


def dtype_error(message: str, hint: str | None = None) -> DtypeError:
    """A `DtypeError` at the user's line."""
    return DtypeError(message, where=user_location_text(), hint=hint)


def refuse_out(function: str, out: Any) -> None:
    """Raise `OutArgumentError` for NumPy's `out=`: it has its place in signatures, and no use here."""
    if out is not None:
        raise OutArgumentError(
            f"{function}: out= writes into an array in place, and arrays of adze are immutable",
            where=user_location_text(),
            hint="use the result instead",
        )


def normalize_axis(function: str, axis: Any, rank: int) -> int:
    """`axis` as a number from 0 to `rank - 1`."""
    index = integer(function, axis, "axis")
    if not -rank <= index < rank:
        message = f"{function}: axis {index} is out of range for an array of {rank} dimensions"
        raise AxisError(message, where=user_location_text())
    return index % rank


def normalize_axes(function: str, axis: Any, rank: int) -> tuple[int, ...]:
    """`axis` (an integer, several, or None for all) as distinct non-negative axes."""
    if axis is None:
        return tuple(range(rank))
    is_list = isinstance(axis, Iterable) and not isinstance(axis, (Tracer, Array, np.ndarray, str))
    entries = axis if is_list else (axis,)
    axes = tuple(normalize_axis(function, a, rank) for a in entries)
    if len(set(axes)) != len(axes):
        raise shape_error(f"{function}: axis {axis} names an axis twice")
    return axes


def size(function: str, n: Any) -> Any:
    """One size of a shape: an integer or a dynamic dimension."""
    if isinstance(n, Dim):
        return n
    if isinstance(n, Tracer) and known_value(n) is None:
        raise n.has_no_value(
            f"a size for {function}()",
            "sizes are part of types: take them from x.shape, or pass the number through static_argnums",
        )
    return integer(function, n, "a size")


def possible(function: str, length: int, dtype: np.dtype) -> int:
    """`length`, if an array of so many elements is possible: for what NumPy itself makes."""
    with located():
        require_possible(function, [TensorType((length,), dtype)])
    return length


def shape_of(function: str, shape: Any) -> tuple[Any, ...]:
    """`shape` (a size or a sequence of sizes) as a tuple; no size may be negative."""
    entries: Any = shape
    if isinstance(shape, np.ndarray):
        entries = shape.tolist()
    elif isinstance(shape, Iterable) and not isinstance(shape, (Tracer, Array, str)):
        entries = tuple(shape)  # such as a TensorShape
    if not isinstance(entries, (tuple, list)):
        entries = (entries,)
    result = tuple(size(function, n) for n in entries)
    if any(not isinstance(n, Dim) and n < 0 for n in result):
        raise shape_error(f"{function}: shape {result} has a negative size")
    return result


def dtype_of(function: str, dtype: Any) -> np.dtype:
    """`dtype` as a supported one; Python's int is int64, as in NumPy."""
    try:
        return stated_dtype(dtype)
    except TypeCheckError as error:
        raise dtype_error(f"{function}: {error.message}") from None


def reduced_shape(shape: Sequence[Any], axes: Sequence[int]) -> tuple[Any, ...]:
    """`shape` with size 1 at `axes`: what keepdims returns."""
    return tuple(1 if axis in axes else n for axis, n in enumerate(shape))


def keep_axes(value: Any, shape: Sequence[Any], axes: Sequence[int]) -> Any:
    """A reduced value with its reduced axes back as size 1."""
    return ops.reshape(value, shape=reduced_shape(shape, axes)) if axes else value


def count_of(shape: Sequence[Any], axes: Sequence[int]) -> Any:
    """How many elements the axes hold."""
    total: Any = 1
    for axis in axes:
        total = shape[axis] * total if isinstance(shape[axis], Dim) else total * shape[axis]
    return total


def count_array(count: Any, dtype: np.dtype) -> Any:
    """A size as a 0-d array."""
    if isinstance(count, Dim):
        if dtype.kind == "c":
            real = np.dtype(f"f{dtype.itemsize // 2}")
            return ops.convert(ops.size_to_array(count, dtype=real), dtype=dtype)
        return ops.size_to_array(count, dtype=dtype)
    return Array(np.asarray(count).astype(dtype))


def scalar(value: Any, dtype: np.dtype) -> Array:
    """A 0-d constant."""
    with np.errstate(all="ignore"):
        return Array(np.asarray(value).astype(dtype))


def full_like(x: Any, value: Any, dtype: np.dtype | None = None) -> Any:
    """A constant in the shape of `x`."""
    constant = scalar(value, x.dtype if dtype is None else dtype)
    return ops.broadcast_in_dim(constant, shape=x.shape, dimensions=()) if x.ndim else constant


def float_value(x: Any) -> Any:
    """`x` in its own dtype if that is inexact, else in the floats that its integers become, float32."""
    value = asarray_of(x)
    if value.dtype in INEXACT:
        return value
    return ops.convert(value, dtype=floating_of(value.dtype))


def default_float_value(x: Any) -> Any:
    """`float_value`, whose integers have the default float dtype in programs written for JAX."""
    value = asarray_of(x)
    if value.dtype in INEXACT or not follows_jax():
        return float_value(value)
    return ops.convert(value, dtype=floating())


def static_size(function: str, n: Any, what: str) -> int:
    """A size that must be known while tracing."""
    if isinstance(n, Dim):
        raise shape_error(
            f"{function}: {what} must be static, got the dynamic dimension {n}",
            "trace the function with a number in place of this name",
        )
    return int(n)


def require_rank(function: str, x: Any, least: int) -> None:
    """Raise `ShapeError` unless `x` has at least `least` dimensions."""
    if x.ndim < least:
        raise shape_error(f"{function}: expected an array of at least {least} dimensions, got {type_text(x)}")


def concrete(function: str, x: Any, what: str) -> np.ndarray:
    """The elements of an argument that must be known while tracing."""
    if isinstance(x, np.ndarray):
        return x
    if isinstance(x, Array):
        return x.numpy()
    return _concrete_sequence(function, x, what)


def _concrete_sequence(function: str, x: Any, what: str) -> np.ndarray:
    value = asarray_of(x)
    if isinstance(value, Array) or known_value(value) is not None:
        return np.asarray(value)
    raise concretization_error(
        f"{function}: {what} must be known while tracing, got a traced array {type_text(value)}",
        hint="pass it as a NumPy array made outside, or through static_argnums",
    )


def reshaped(value: Any, shape: Sequence[Any]) -> Any:
    """`value` in another shape, weakly typed where it was."""
    result = ops.reshape(wide_of(value), shape=tuple(shape))
    return as_weak(result) if value.weak_type else result


def insert_unit_axes(value: Any, axes: Sequence[int]) -> Any:
    """`value` with axes of size 1 put in, so that they end up at `axes`."""
    shape = list(value.shape)
    for axis in sorted(axes):
        shape.insert(axis, 1)
    return reshaped(value, shape) if axes else value


def drop_unit_axes(function: str, value: Any, axes: Sequence[int]) -> Any:
    """`value` without `axes`, which must have size 1."""
    for axis in axes:
        if not is_one(value.shape[axis]) and not isinstance(value.shape[axis], Dim):
            raise shape_error(
                f"{function}: axis {axis} of {type_text(value)} has size {value.shape[axis]}, expected 1"
            )
    shape = tuple(n for axis, n in enumerate(value.shape) if axis not in axes)
    return reshaped(value, shape) if axes else value
