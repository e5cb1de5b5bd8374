"""New arrays: from Python and NumPy objects, of one value, counting, spaced, and by shape of another.

Floats default to float32 and integers to int64; everything else keeps the dtype it is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....dialects.types import (
    BFLOAT16,
    COMPLEX,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INEXACT,
    INTEGERS,
    as_dtype,
)
from ...errors import ZeroStepError
from ...tracing.array import Array
from ...tracing.default_dtypes import complex_floating, floating, floating_of, integral, narrowed, yields
from ...tracing.exchange import of_dlpack
from ...tracing.frames import Tracer
from ...tracing.interpreter import as_value, as_weak, ops
from ...tracing.locations import user_location_text
from ...tracing.sizes import Dim, maximum
from ...tracing.specs import ShapeDtype
from .arguments import (
    argument_error,
    concretization_error,
    count_array,
    dtype_of,
    normalize_axis,
    possible,
    shape_of,
    type_error,
)
from .arguments import full_like as constant_like
from .arithmetic import add, divide, multiply, power, subtract
from .promotion import (
    PYTHON_SCALARS,
    asarray_of,
    broadcast,
    broadcast_together,
    coerce,
    common_dtype,
    convert,
    is_weak,
    promote,
    promote_types,
    result_type,
    weak_dtype,
)
from .reshaping import expand_dims
from .transcendental import exp, log


def asarray(
    a: Any, dtype: Any = None, *, copy: bool | None = None, device: Any = None, order: Any = None
) -> Any:
    """`a` (array, scalar, nested list, traced values among them) as an array.

    Lists of Python floats become float32, as new arrays do; NumPy arrays keep their dtype. A NumPy array that
    can be written to is copied, as an array of adze never changes; with `copy=False` its memory is shared,
    and the caller sees to it that nobody writes to it. Raises `ArgumentError` where that is not possible.
    """
    wanted = None if dtype is None else dtype_of("asarray", dtype)
    if type(a) in PYTHON_SCALARS:
        return convert(a, wanted or weak_dtype(type(a)))
    if isinstance(a, (list, tuple, range)):
        return _from_sequence([*a] if isinstance(a, range) else a, wanted)
    if copy is False and isinstance(a, np.ndarray):
        return _shared(a, wanted)
    value = asarray_of(a)
    value = value if wanted is None else convert(value, wanted)
    return value.copy() if copy and value is a else value


def _shared(obj: np.ndarray, wanted: np.dtype | None) -> Array:
    """An array in the memory of `obj`."""
    have = as_dtype(obj.dtype)
    if obj.dtype == have and wanted in (None, have):
        return Array(obj)
    raise argument_error(
        f"asarray(copy=False): an array of dtype {obj.dtype} cannot become {wanted or have} without a copy",
        hint="leave copy out",
    )


def array(
    object: Any, dtype: Any = None, *, copy: bool | None = True, ndmin: int = 0, order: Any = None
) -> Any:
    """`asarray` under NumPy's name; `ndmin` puts axes of size 1 in front."""
    value = asarray(object, dtype, copy=copy or None)
    missing = ndmin - value.ndim
    return ops.reshape(value, shape=(1,) * missing + tuple(value.shape)) if missing > 0 else value


asanyarray = ascontiguousarray = asarray


def _from_sequence(items: Any, dtype: np.dtype | None) -> Any:
    if dtype is None and _is_plain(items):
        kinds = {k: None for k in _kinds(items)}
        if any(k in PYTHON_SCALARS for k in kinds) and not _is_all_python(items):
            dtype = narrowed(result_type(*kinds))
    value = as_value(items) if _is_plain(items) else _stacked(items, dtype)
    if dtype is None and value.dtype == FLOAT64 and _is_all_python(items):
        dtype = floating()
    if dtype is None and value.dtype == COMPLEX128 and _is_all_python(items):
        dtype = complex_floating()
    if dtype is None and narrowed(value.dtype) == value.dtype:
        return value
    dtype = dtype or narrowed(value.dtype)
    # Converted from the Python numbers themselves, not from what they were rounded to.
    return _of_numbers(np.asarray(items), dtype) if _is_all_python(items) else convert(value, dtype)


def _of_numbers(numbers: np.ndarray, dtype: np.dtype) -> Array:
    """Python's numbers in a dtype; raises `OutOfRangeError` for an integer that it cannot hold."""
    if dtype in INTEGERS and numbers.dtype in INTEGERS and numbers.size:
        for end in (numbers.min(), numbers.max()):
            convert(int(end), dtype)
    return Array(numbers.astype(dtype))


def _is_plain(items: Any) -> bool:
    """Whether nothing in nested sequences is an array of adze's."""
    if isinstance(items, (list, tuple)):
        return all(_is_plain(i) for i in items)
    return type(items) in PYTHON_SCALARS or isinstance(items, (np.generic, np.ndarray))


def _kinds(items: Any) -> Iterator[Any]:
    """What the items of nested sequences of numbers are: Python's types, and dtypes of others."""
    for item in items if isinstance(items, (list, tuple)) else ():
        if isinstance(item, (list, tuple)):
            yield from _kinds(item)
        else:
            yield type(item) if type(item) in PYTHON_SCALARS else as_dtype(item.dtype)


def _is_all_python(items: Any) -> bool:
    """Whether nothing in nested sequences has a dtype of its own."""
    if isinstance(items, (list, tuple)):
        return all(_is_all_python(i) for i in items)
    return type(items) in PYTHON_SCALARS or (isinstance(items, np.generic) and yields(items.dtype))


def _stacked(items: Any, dtype: np.dtype | None) -> Any:
    parts = [_stacked(i, dtype) if isinstance(i, (list, tuple)) else coerce(i) for i in items]
    promoted = promote(*parts) if dtype is None else [convert(p, dtype) for p in parts]
    if len({tuple(map(str, p.shape)) for p in promoted}) > 1:
        raise argument_error(f"asarray: items have different shapes: {[tuple(p.shape) for p in promoted]}")
    rows = [ops.reshape(p, shape=(1, *p.shape)) for p in promoted]
    return ops.concatenate(*rows, axis=0)


def copy(a: Any, order: Any = None) -> Any:
    """The same elements as an array of its own, which lives on when `a` is donated or deleted."""
    return asarray(a, copy=True)


def from_dlpack(external_array: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array over the memory that an array exports, on the CUDA device where it lies there."""
    return as_value(of_dlpack(external_array))


# -- one value ---------------------------------------------------------------------------------


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None, order: Any = None) -> Any:
    """An array of `shape` filled with `fill_value`, which broadcasts to it."""
    return _filled("full", shape, fill_value, dtype)


def zeros(shape: Any, dtype: Any = FLOAT32, *, device: Any = None, order: Any = None) -> Any:
    """Zeros; float32 unless said otherwise."""
    return _filled("zeros", shape, 0, FLOAT32 if dtype is None else dtype)


def ones(shape: Any, dtype: Any = FLOAT32, *, device: Any = None, order: Any = None) -> Any:
    """Ones; float32 unless said otherwise."""
    return _filled("ones", shape, 1, FLOAT32 if dtype is None else dtype)


def empty(shape: Any, dtype: Any = FLOAT32, *, device: Any = None, order: Any = None) -> Any:
    """Zeros: adze has no uninitialised memory."""
    return _filled("empty", shape, 0, FLOAT32 if dtype is None else dtype)


def _filled(function: str, shape: Any, value: Any, dtype: Any) -> Any:
    """The array of a function, whose name its errors have."""
    filling = asarray(value) if dtype is None else asarray(value, dtype_of(function, dtype))
    return broadcast(filling, shape_of(function, shape))


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, **_: Any
) -> Any:
    """`fill_value` in the shape and dtype of `a`."""
    like = a if isinstance(a, ShapeDtype) else asarray_of(a)
    wanted = like.dtype if dtype is None else dtype_of("full_like", dtype)
    return broadcast(
        convert(coerce(fill_value), wanted), like.shape if shape is None else shape_of("full_like", shape)
    )


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, **_: Any) -> Any:
    """Zeros in the shape and dtype of `a`."""
    return full_like(a, 0, dtype, shape=shape)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, **_: Any) -> Any:
    """Ones in the shape and dtype of `a`."""
    return full_like(a, 1, dtype, shape=shape)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, **_: Any) -> Any:
    """Zeros in the shape and dtype of `prototype`."""
    return full_like(prototype, 0, dtype, shape=shape)


# -- counting and spacing ----------------------------------------------------------------------


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None) -> Any:
    """`start, start + step, ...` before `stop`. Integers give int64, floats float32.

    `stop` may be a dynamic dimension when `start` is 0 and `step` 1; traced values are an error.
    """
    if stop is None:
        start, stop = 0, start
    wanted = None if dtype is None else dtype_of("arange", dtype)
    if isinstance(stop, Dim) and type(start) is int and step == 1:
        length = stop if start == 0 else stop - start
        counted = ops.iota(shape=(length,), axis=0, dtype=wanted or integral())
        return counted if start == 0 else add(counted, start)
    numbers = [_number("arange", v) for v in (start, stop, step)]
    if numbers[2] == 0:
        raise ZeroStepError("arange: the step must not be 0", where=user_location_text())
    if wanted is None:
        strong = [n for n in numbers if isinstance(n, np.generic) and not yields(n.dtype)]
        wanted = (
            narrowed(np.result_type(*strong))
            if strong
            else FLOAT32
            if any(isinstance(n, float) for n in numbers)
            else integral()
        )
    if wanted in INTEGERS and numbers[0] == 0 and numbers[2] == 1:
        length = max(0, math.ceil(numbers[1]))
        convert(max(0, length - 1), wanted)  # raises where the last number does not fit
        return ops.iota(shape=(length,), axis=0, dtype=wanted)
    plain = [n.item() if isinstance(n, np.generic) else n for n in numbers]
    span = (plain[1] - plain[0]) / plain[2] if plain[2] else 0
    if math.isfinite(span):
        possible("arange", max(0, math.ceil(span)), wanted)
    counted = np.arange(*plain)
    for end in counted[[0, -1]].tolist() if counted.size else ():
        convert(end, wanted)
    return Array(counted.astype(wanted))


def _number(function: str, value: Any) -> Any:
    if type(value) in PYTHON_SCALARS or isinstance(value, np.generic):
        return value
    if isinstance(value, (Array, np.ndarray)) and value.ndim == 0:
        return np.asarray(value)[()]
    mistake = concretization_error if isinstance(value, (Tracer, Dim)) else type_error
    raise mistake(
        f"{function}: bounds and step must be numbers known while tracing, got {value!r}",
        "the length of the result must not depend on traced values; use static_argnums",
    )


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` numbers evenly spaced from `start` to `stop`.

    `num` may be a dynamic dimension, `start` and `stop` may be traced arrays.
    """
    (num,) = shape_of("linspace", (num,))
    is_known = not isinstance(num, Dim)
    default, carried = _spaced_dtypes(start, stop, dtype=dtype)
    wanted = default if dtype is None else dtype_of("linspace", dtype)
    intervals = (possible("linspace", num, wanted) if is_known else num) - bool(endpoint)
    if is_known and all(type(v) in PYTHON_SCALARS for v in (start, stop)):
        samples = np.linspace(start, stop, num, endpoint=endpoint, dtype=carried)
        if wanted in INTEGERS:
            samples = np.floor(samples)
        result: Any = Array(samples.astype(wanted))
        step: Any = as_weak(as_value((stop - start) / intervals if intervals else math.nan))
        return (result, step) if retstep else result
    first, last = broadcast_together([convert(coerce(v), carried) for v in (start, stop)])
    spread = subtract(last, first)
    last_place = max(intervals, 1) if is_known else count_array(maximum(intervals, 1), carried)
    step = divide(spread, last_place)
    position = ops.iota(shape=(num,), axis=0, dtype=carried)
    position = ops.reshape(position, shape=(num,) + (1,) * spread.ndim)
    samples = add(first, multiply(position, step))
    if endpoint and not (is_known and num <= 1):  # the last sample is `stop` exactly
        is_last = constant_like(position, last_place) if is_known else broadcast(last_place, position.shape)
        at_end = broadcast(ops.compare(position, is_last, direction="EQ"), samples.shape)
        samples = ops.select(at_end, broadcast(last, samples.shape), samples)
    if wanted in INTEGERS:
        samples = ops.floor(samples)
    if axis not in (0, -samples.ndim):
        place = normalize_axis("linspace", axis, samples.ndim)
        order = list(range(1, samples.ndim))
        order.insert(place, 0)
        samples = ops.transpose(samples, permutation=tuple(order))
    result = convert(samples, wanted)
    if not retstep:
        return result
    return result, as_weak(step) if all(is_weak(coerce(v)) for v in (start, stop)) else step


def _spaced_dtypes(*ends: Any, dtype: Any) -> tuple[np.dtype, np.dtype]:
    """The dtype of spaced numbers when none is asked for, and the one to compute them in: not narrower than
    either, float32 at least, and 64 bits for Python numbers alone."""
    met, weak = common_dtype(*map(coerce, ends))
    default = met if met in INEXACT else floating_of(met)
    if weak:
        return default, COMPLEX128 if default in COMPLEX else FLOAT64
    wanted = default if dtype is None else dtype_of("linspace", dtype)
    carried = promote_types(default, wanted) if wanted in INEXACT else default
    return default, FLOAT32 if carried in (FLOAT16, BFLOAT16) else carried


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """`base ** linspace(start, stop, num)`."""
    default, carried = _spaced_dtypes(start, stop, base, dtype=dtype)
    exponents = linspace(start, stop, num, endpoint=endpoint, dtype=carried, axis=axis)
    result = power(convert(coerce(base), carried), exponents)
    return convert(result, default if dtype is None else dtype_of("logspace", dtype))


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """`num` numbers from `start` to `stop` in geometric progression."""
    if type(start) in PYTHON_SCALARS and type(stop) in PYTHON_SCALARS:
        samples = np.geomspace(start, stop, num, endpoint=endpoint, axis=axis)
        return Array(samples.astype(FLOAT32 if dtype is None else dtype_of("geomspace", dtype)))
    default, carried = _spaced_dtypes(start, stop, dtype=dtype)
    first, last = (convert(coerce(v), carried) for v in (start, stop))
    ratio = log(divide(last, first))
    exponents = linspace(full_like(ratio, 0), ratio, num, endpoint=endpoint, dtype=carried, axis=axis)
    result = multiply(expand_dims(first, axis) if exponents.ndim > 1 else first, exp(exponents))
    return convert(result, default if dtype is None else dtype_of("geomspace", dtype))


def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: Any = FLOAT32, **kwargs: Any) -> Any:
    """`function` called with one array of coordinates for each axis of `shape`."""
    return asarray(function(*indices(shape, dtype), **kwargs))


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Coordinates of a grid: `indices((m, n))[0]` counts rows, `[1]` columns."""
    shape = shape_of("indices", dimensions)
    wanted = dtype_of("indices", dtype)
    if sparse:
        return tuple(
            ops.reshape(
                ops.iota(shape=(n,), axis=0, dtype=wanted),
                shape=tuple(n if a == k else 1 for a in range(len(shape))),
            )
            for k, n in enumerate(shape)
        )
    if not shape:
        return Array(np.zeros((0,), wanted))
    grids = [ops.iota(shape=(1, *shape), axis=k + 1, dtype=wanted) for k in range(len(shape))]
    return ops.concatenate(*grids, axis=0)


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    """1 at the position that each integer of `x` names along a new axis, 0 elsewhere; float32 by default."""
    value = asarray_of(x)
    place = normalize_axis("one_hot", axis, value.ndim + 1)
    (classes,) = shape_of("one_hot", num_classes)
    shape = (*value.shape[:place], classes, *value.shape[place:])
    counted = ops.iota(shape=shape, axis=place, dtype=value.dtype)
    dimensions = tuple(a for a in range(len(shape)) if a != place)
    spread = ops.broadcast_in_dim(value, shape=shape, dimensions=dimensions)
    return convert(
        ops.compare(spread, counted, direction="EQ"),
        floating() if dtype is None else dtype_of("one_hot", dtype),
    )
