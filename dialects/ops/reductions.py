"""Reductions: one value from the elements along some axes, and running values along one axis.

Sums and products of f16 and bf16 accumulate in f32 and are rounded once; integers wrap around in their
own dtype; extrema propagate NaN. An empty sum is 0, an empty product 1. The extremum of an axis that is
known to be empty is an error; of one that turns out to be empty, the least or greatest value of the dtype.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..declaration import (
    BATCHING_LATER,
    DIFFERENTIATION_LATER,
    Op,
    Operand,
    boolean,
    dtype_attribute,
    integer,
    ints,
    require,
    require_axes,
    require_axis,
    undefined,
)
from ..types import (
    BFLOAT16,
    BOOL,
    BOOLS,
    FLOAT16,
    FLOAT32,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REALS,
    TensorType,
    dtype_name,
)


def accumulation_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype that sums of `dtype` are carried in: f32 for the short floats, else `dtype` itself."""
    return FLOAT32 if dtype in (FLOAT16, BFLOAT16) else dtype


def least(dtype: np.dtype) -> Any:
    """The least value of a real dtype, the identity of `max`."""
    if dtype in FLOATS:
        return -np.inf
    return False if dtype == BOOL else int(np.iinfo(dtype).min)


def greatest(dtype: np.dtype) -> Any:
    """The greatest value of a real dtype, the identity of `min`."""
    if dtype in FLOATS:
        return np.inf
    return True if dtype == BOOL else int(np.iinfo(dtype).max)


class Reduction(Op):
    """Family of `y = f(x[..., i, ...] for all i along axes)`; the axes disappear from the shape.

    A member states `function`, the NumPy ufunc that is folded, and `identity`, its value on no elements.
    """

    attributes = {"axes": ints("the axes to reduce")}
    function: ClassVar[np.ufunc]
    identity: ClassVar[Any]  # of a dtype
    empty_allowed: ClassVar[bool] = True

    @classmethod
    def infer(cls, x: TensorType, *, axes: tuple[int, ...]) -> TensorType:
        require_axes(cls.name, "axes", axes, x.rank)
        for axis in axes:
            require(
                cls.empty_allowed or x.shape[axis] != 0,
                f"{cls.name}: axis {axis} of {x} is empty, and no elements have no extremum",
            )
        return x.with_shape(n for axis, n in enumerate(x.shape) if axis not in axes)

    @classmethod
    def evaluate(cls, x: np.ndarray, *, axes: tuple[int, ...]) -> np.ndarray:
        carried = x.astype(accumulation_dtype(x.dtype), copy=False)
        initial = np.asarray(cls.identity(x.dtype)).astype(carried.dtype)
        with np.errstate(all="ignore"):
            folded = cls.function.reduce(carried, axis=axes, dtype=carried.dtype, initial=initial)
        return np.asarray(folded).astype(x.dtype)

    jvp = DIFFERENTIATION_LATER
    transpose = undefined("this reduction is not linear")
    batch = BATCHING_LATER

    @classmethod
    def lower(cls, l: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
        return l.reduce(cls.name, x, axes, cls.identity(l.result_type.dtype))

    @staticmethod
    def simplify(b: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
        return None if axes else x


class ReduceSum(Reduction):
    """``y = sum_i x[i]`` along `axes`."""

    name = "reduce_sum"
    operands = (Operand("x", NUMBERS),)
    function = np.add
    identity = staticmethod(lambda dtype: 0)
    transpose = DIFFERENTIATION_LATER


class ReduceProd(Reduction):
    """``y = prod_i x[i]`` along `axes`."""

    name = "reduce_prod"
    operands = (Operand("x", NUMBERS),)
    function = np.multiply
    identity = staticmethod(lambda dtype: 1)


class ReduceMax(Reduction):
    """``y = max_i x[i]`` along `axes`; NaN if any element is."""

    name = "reduce_max"
    operands = (Operand("x", REALS),)
    function = np.maximum
    identity = staticmethod(least)
    empty_allowed = False


class ReduceMin(Reduction):
    """``y = min_i x[i]`` along `axes`; NaN if any element is."""

    name = "reduce_min"
    operands = (Operand("x", REALS),)
    function = np.minimum
    identity = staticmethod(greatest)
    empty_allowed = False


class ReduceAnd(Reduction):
    """``y = x[0] & x[1] & ...`` along `axes`; bit by bit for integers."""

    name = "reduce_and"
    operands = (Operand("x", BOOLS | INTEGERS),)
    function = np.bitwise_and
    identity = staticmethod(lambda dtype: True if dtype == BOOL else -1)
    jvp = undefined("bits have no derivative")


class ReduceOr(Reduction):
    """``y = x[0] | x[1] | ...`` along `axes`; bit by bit for integers."""

    name = "reduce_or"
    operands = (Operand("x", BOOLS | INTEGERS),)
    function = np.bitwise_or
    identity = staticmethod(lambda dtype: False if dtype == BOOL else 0)
    jvp = undefined("bits have no derivative")


class ArgumentExtremum(Op):
    """Family of the position of an extremum along one axis: the first one, and the first NaN if any.

    The position along an axis that turns out to be empty when the program runs is 0.
    """

    operands = (Operand("x", REALS | BOOLS),)
    attributes = {
        "axis": integer("the axis to search"),
        "index_dtype": dtype_attribute("the dtype of the position"),
    }
    function: ClassVar[Any]

    @classmethod
    def infer(cls, x: TensorType, *, axis: int, index_dtype: np.dtype) -> TensorType:
        require_axis(cls.name, "axis", axis, x.rank)
        require(x.shape[axis] != 0, f"{cls.name}: axis {axis} of {x} is empty, and has no extremum")
        require(
            index_dtype in INTEGERS,
            f"{cls.name}: index_dtype must be an integer dtype, got {dtype_name(index_dtype)}",
        )
        return TensorType(x.shape[:axis] + x.shape[axis + 1 :], index_dtype)

    @classmethod
    def evaluate(cls, x: np.ndarray, *, axis: int, index_dtype: np.dtype) -> np.ndarray:
        shape = x.shape[:axis] + x.shape[axis + 1 :]
        if x.shape[axis] == 0:
            return np.zeros(shape, index_dtype)
        x = x.astype(accumulation_dtype(x.dtype), copy=False)
        return np.asarray(cls.function(x, axis=axis)).astype(index_dtype)

    jvp = undefined("a position has no derivative")
    transpose = undefined("a position is not a linear function")
    batch = BATCHING_LATER

    @classmethod
    def lower(cls, l: Any, x: Any, *, axis: int, index_dtype: np.dtype) -> Any:
        return l.argument_extremum(cls.name, x, axis, index_dtype)


class Argmax(ArgumentExtremum):
    """``y = the least i with x[i] = max(x)`` along `axis`."""

    name = "argmax"
    function = np.argmax


class Argmin(ArgumentExtremum):
    """``y = the least i with x[i] = min(x)`` along `axis`."""

    name = "argmin"
    function = np.argmin


class Cumulative(Op):
    """Family of `y[i] = f(x[0], ..., x[i])` along one axis, or from its end when `reverse`."""

    attributes = {"axis": integer("the axis to run along"), "reverse": boolean("run from the end")}
    function: ClassVar[np.ufunc]
    identity: ClassVar[Any]  # of a dtype

    @classmethod
    def infer(cls, x: TensorType, *, axis: int, reverse: bool) -> TensorType:
        require_axis(cls.name, "axis", axis, x.rank)
        return x

    @classmethod
    def evaluate(cls, x: np.ndarray, *, axis: int, reverse: bool) -> np.ndarray:
        carried = np.flip(x, axis) if reverse else x
        carried = carried.astype(accumulation_dtype(x.dtype), copy=False)
        with np.errstate(all="ignore"):
            running = cls.function.accumulate(carried, axis=axis, dtype=carried.dtype)
        return (np.flip(running, axis) if reverse else running).astype(x.dtype)

    jvp = DIFFERENTIATION_LATER
    transpose = undefined("this running value is not linear")
    batch = BATCHING_LATER

    @classmethod
    def lower(cls, l: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        return l.cumulative(cls.name, x, axis, reverse, cls.identity(l.result_type.dtype))


class Cumsum(Cumulative):
    """``y[i] = x[0] + ... + x[i]`` along `axis`."""

    name = "cumsum"
    operands = (Operand("x", NUMBERS),)
    function = np.add
    identity = staticmethod(lambda dtype: -0.0 if dtype in INEXACT else 0)  # so that -0 stays -0
    transpose = DIFFERENTIATION_LATER


class Cumprod(Cumulative):
    """``y[i] = x[0] * ... * x[i]`` along `axis`."""

    name = "cumprod"
    operands = (Operand("x", NUMBERS),)
    function = np.multiply
    identity = staticmethod(lambda dtype: 1)


class Cummax(Cumulative):
    """``y[i] = max(x[0], ..., x[i])`` along `axis`; NaN from the first NaN on."""

    name = "cummax"
    operands = (Operand("x", REALS),)
    function = np.maximum
    identity = staticmethod(least)


class Cummin(Cumulative):
    """``y[i] = min(x[0], ..., x[i])`` along `axis`; NaN from the first NaN on."""

    name = "cummin"
    operands = (Operand("x", REALS),)
    function = np.minimum
    identity = staticmethod(greatest)
