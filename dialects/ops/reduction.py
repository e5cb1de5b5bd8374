"""Reductions: one value from the elements along some axes, and running values along one axis.

Sums and products of f16 and bf16 accumulate in f32 and are rounded once; integers wrap around in their
own dtype; extrema propagate NaN. An empty sum is 0, an empty product 1. The extremum of an axis that is
known to be empty is an error; of one that turns out to be empty, the least or greatest value of the dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from ..factors import Axes, Factors
from ..op import (
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
from ..protocols import Batched, Builder, Cotangents, OneLinear, OneTangent, Size, Tangents, Value, Values
from ..types import (
    BFLOAT16,
    BOOL,
    BOOLS,
    FLOAT16,
    FLOAT32,
    FLOATS,
    INEXACT,
    INT32,
    INTEGERS,
    NUMBERS,
    REALS,
    TensorType,
    dtype_name,
)
from .common import as_one_axis, linear_recurrence, mask_of, moved_along, take_along


def accumulation_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype that sums of `dtype` are carried in: f32 for the short floats, else `dtype` itself."""
    return FLOAT32 if dtype in (FLOAT16, BFLOAT16) else dtype


def least(dtype: np.dtype) -> float:
    """The least value of a real dtype, the identity of `max`."""
    if dtype in FLOATS:
        return -np.inf
    return False if dtype == BOOL else int(np.iinfo(dtype).min)


def greatest(dtype: np.dtype) -> float:
    """The greatest value of a real dtype, the identity of `min`."""
    if dtype in FLOATS:
        return np.inf
    return True if dtype == BOOL else int(np.iinfo(dtype).max)


class Reduction(Op, adds=("function", "identity", "empty_allowed", "combining")):
    """Family of `y = f(x[..., i, ...] for all i along axes)`; the axes disappear from the shape.

    A member states `function`, the NumPy ufunc that is folded, and `identity`, its value on no elements.
    """

    attributes = {"axes": ints("the axes to reduce")}
    function: ClassVar[np.ufunc]
    identity: ClassVar[staticmethod[[np.dtype], float]]
    empty_allowed: ClassVar[bool] = True
    combining: ClassVar[str | None] = None
    """The kind of the collective that combines results of ranks, None where there is none."""

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

    transpose = undefined("this reduction is not linear")

    @classmethod
    def factors(cls, x: TensorType, *, axes: tuple[int, ...]) -> Factors:
        """Along the axes that are kept, and along others where ranks can combine their results."""
        factors = Factors(combining=cls.combining or "sum")
        is_combined = cls.combining is not None and x.dtype in NUMBERS
        reduced = factors.combined if is_combined else factors.undivided
        before: Axes = [
            ((reduced if axis in axes else factors.free)(n),) for axis, n in enumerate(x.static_shape)
        ]
        factors.operands = [before]
        factors.results = [[kept for axis, kept in enumerate(before) if axis not in axes]]
        return factors

    @staticmethod
    def simplify(b: Builder, x: Value, *, axes: tuple[int, ...]) -> Value | None:
        return None if axes else x

    @classmethod
    def batch(
        cls,
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        axes: tuple[int, ...],
    ) -> Batched:
        return b.apply(cls, operands, {"axes": tuple(a + 1 for a in axes)}), [True]


class ReduceSum(Reduction):
    """``y = sum_i x[i]`` along `axes`."""

    name = "reduce_sum"
    combining = "sum"
    operands = (Operand("x", NUMBERS),)
    function = np.add
    identity = staticmethod(lambda dtype: 0)

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: OneTangent, result: Value, *, axes: tuple[int, ...]
    ) -> Tangents:
        return b.reduce_sum(tangents[0], axes=axes)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: OneLinear, *, axes: tuple[int, ...]) -> Cotangents:
        kept = tuple(a for a in range(operands[0].rank) if a not in axes)
        return b.broadcast_in_dim(cotangent, shape=operands[0].sizes, dimensions=kept)


class ReduceProd(Reduction):
    """``y = prod_i x[i]`` along `axes`."""

    name = "reduce_prod"
    operands = (Operand("x", NUMBERS),)
    function = np.multiply
    identity = staticmethod(lambda dtype: 1)

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: OneTangent, result: Value, *, axes: tuple[int, ...]
    ) -> Tangents:
        """`sum_i dx[i] * prod_{j != i} x[j]`: products before and after each element, right at zeros too."""
        x, dx = as_one_axis(b, primals[0], axes), as_one_axis(b, tangents[0], axes)
        last = b.tensor_type(x).rank - 1
        before = b.cumprod(moved_along(b, x, last, 1, 1), axis=last, reverse=False)
        after = b.cumprod(moved_along(b, x, last, -1, 1), axis=last, reverse=True)
        return b.reduce_sum(b.mul(dx, b.mul(before, after)), axes=(last,))


class ReduceMax(Reduction):
    """``y = max_i x[i]`` along `axes`; NaN if any element is. ``dy``: mean of ``dx`` over the greatest."""

    name = "reduce_max"
    combining = "max"
    operands = (Operand("x", REALS),)
    function = np.maximum
    identity = staticmethod(least)
    empty_allowed = False

    @classmethod
    def jvp(
        cls,
        b: Builder,
        primals: Values,
        tangents: OneTangent,
        result: Value,
        *,
        axes: tuple[int, ...],
    ) -> Tangents:
        return shared_by_ties(b, primals[0], tangents[0], result, axes)


class ReduceMin(Reduction):
    """``y = min_i x[i]`` along `axes`; NaN if any element is. ``dy`` is the mean of ``dx`` over the least."""

    name = "reduce_min"
    combining = "min"
    operands = (Operand("x", REALS),)
    function = np.minimum
    identity = staticmethod(greatest)
    empty_allowed = False

    @classmethod
    def jvp(
        cls,
        b: Builder,
        primals: Values,
        tangents: OneTangent,
        result: Value,
        *,
        axes: tuple[int, ...],
    ) -> Tangents:
        return shared_by_ties(b, primals[0], tangents[0], result, axes)


class ReduceAnd(Reduction):
    """``y = x[0] & x[1] & ...`` along `axes`; bit by bit for integers."""

    name = "reduce_and"
    operands = (Operand("x", BOOLS | INTEGERS),)
    function = np.bitwise_and
    identity = staticmethod(lambda dtype: True if dtype == BOOL else -1)
    jvp = undefined("bits have no tangent")


class ReduceOr(Reduction):
    """``y = x[0] | x[1] | ...`` along `axes`; bit by bit for integers."""

    name = "reduce_or"
    operands = (Operand("x", BOOLS | INTEGERS),)
    function = np.bitwise_or
    identity = staticmethod(lambda dtype: False if dtype == BOOL else 0)
    jvp = undefined("bits have no tangent")


class ArgumentExtremum(Op, adds=("function",)):
    """Family of the position of an extremum along one axis: the first one, and the first NaN if any.

    The position along an axis that turns out to be empty when the program runs is 0.
    """

    operands = (Operand("x", REALS | BOOLS),)
    attributes = {
        "axis": integer("the axis to search"),
        "index_dtype": dtype_attribute("the dtype of the position"),
    }
    function: ClassVar[Callable[..., np.ndarray]]

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

    jvp = undefined("a position has no tangent")
    transpose = undefined("a position is not a linear function")

    @classmethod
    def factors(cls, x: TensorType, *, axis: int, index_dtype: np.dtype) -> Factors:
        """Along the other axes."""
        factors = Factors()
        before, _ = factors.shared_but(x, (axis,), x)
        factors.operands, factors.results = [before], [before[:axis] + before[axis + 1 :]]
        return factors

    @classmethod
    def batch(
        cls,
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        axis: int,
        index_dtype: np.dtype,
    ) -> Batched:
        return b.apply(cls, operands, {"axis": axis + 1, "index_dtype": index_dtype}), [True]


class Argmax(ArgumentExtremum):
    """``y = the least i with x[i] = max(x)`` along `axis`."""

    name = "argmax"
    function = np.argmax


class Argmin(ArgumentExtremum):
    """``y = the least i with x[i] = min(x)`` along `axis`."""

    name = "argmin"
    function = np.argmin


class Cumulative(Op, adds=("function", "identity")):
    """Family of `y[i] = f(x[0], ..., x[i])` along one axis, or from its end when `reverse`."""

    attributes = {"axis": integer("the axis to run along"), "reverse": boolean("run from the end")}
    function: ClassVar[np.ufunc]
    identity: ClassVar[staticmethod[[np.dtype], float]]

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

    transpose = undefined("this running value is not linear")

    @classmethod
    def factors(cls, x: TensorType, *, axis: int, reverse: bool) -> Factors:
        """Along the other axes."""
        factors = Factors()
        before, after = factors.shared_but(x, (axis,), x)
        factors.operands, factors.results = [before], [after]
        return factors

    @classmethod
    def batch(
        cls,
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        axis: int,
        reverse: bool,
    ) -> Batched:
        return b.apply(cls, operands, {"axis": axis + 1, "reverse": reverse}), [True]


class Cumsum(Cumulative):
    """``y[i] = x[0] + ... + x[i]`` along `axis`."""

    name = "cumsum"
    operands = (Operand("x", NUMBERS),)
    function = np.add
    identity = staticmethod(lambda dtype: -0.0 if dtype in INEXACT else 0)  # so that -0 stays -0

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: OneTangent, result: Value, *, axis: int, reverse: bool
    ) -> Tangents:
        return b.cumsum(tangents[0], axis=axis, reverse=reverse)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, axis: int, reverse: bool) -> Cotangents:
        return b.cumsum(cotangent, axis=axis, reverse=not reverse)


class Cumprod(Cumulative):
    """``y[i] = x[0] * ... * x[i]`` along `axis`."""

    name = "cumprod"
    operands = (Operand("x", NUMBERS),)
    function = np.multiply
    identity = staticmethod(lambda dtype: 1)

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: OneTangent, result: Value, *, axis: int, reverse: bool
    ) -> Tangents:
        """`dy[i] = x[i] * dy[i - 1] + y[i - 1] * dx[i]`, right at zeros too."""
        x, dx, y = primals[0], tangents[0], result
        if reverse:
            x, dx, y = (b.reverse(v, axes=(axis,)) for v in (x, dx, y))
        terms = b.mul(dx, moved_along(b, y, axis, 1, 1))
        dy = linear_recurrence(b, x, terms, axis)
        return b.reverse(dy, axes=(axis,)) if reverse else dy


class Cummax(Cumulative):
    """``y[i] = max(x[0], ..., x[i])`` along `axis`; NaN from the first NaN on.

    ``dy[i]`` is the tangent of the first of the greatest elements so far.
    """

    name = "cummax"
    operands = (Operand("x", REALS),)
    function = np.maximum
    identity = staticmethod(least)

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: OneTangent, result: Value, *, axis: int, reverse: bool
    ) -> Tangents:
        return of_running_extremum(b, primals[0], tangents[0], result, axis, reverse, "GT")


class Cummin(Cumulative):
    """``y[i] = min(x[0], ..., x[i])`` along `axis`; NaN from the first NaN on.

    ``dy[i]`` is the tangent of the first of the least elements so far.
    """

    name = "cummin"
    operands = (Operand("x", REALS),)
    function = np.minimum
    identity = staticmethod(greatest)

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: OneTangent, result: Value, *, axis: int, reverse: bool
    ) -> Tangents:
        return of_running_extremum(b, primals[0], tangents[0], result, axis, reverse, "LT")


def shared_by_ties(b: Builder, x: Value, dx: Value, extremum: Value, axes: tuple[int, ...]) -> Value:
    """The mean of the tangents of the elements that equal the extremum."""
    kind = b.tensor_type(x)
    kept = tuple(a for a in range(kind.rank) if a not in axes)
    spread = b.broadcast_in_dim(extremum, shape=b.sizes(x), dimensions=kept)
    chosen = mask_of(b, b.compare(x, spread, direction="EQ"), kind)
    return b.div(b.reduce_sum(b.mul(dx, chosen), axes=axes), b.reduce_sum(chosen, axes=axes))


def of_running_extremum(
    b: Builder, x: Value, dx: Value, extremum: Value, axis: int, reverse: bool, direction: str
) -> Value:
    """The tangent at the position where each running extremum was first met."""
    if reverse:
        x, dx, extremum = (b.reverse(v, axes=(axis,)) for v in (x, dx, extremum))
    edge = -np.inf if direction == "GT" else np.inf
    is_new = b.compare(x, moved_along(b, extremum, axis, 1, edge), direction=direction)
    position = b.iota(shape=b.sizes(x), axis=axis, dtype=INT32)
    met = b.cummax(b.select(is_new, position, b.zeros_like(position)), axis=axis, reverse=False)
    tangent = take_along(b, dx, met, axis)
    return b.reverse(tangent, axes=(axis,)) if reverse else tangent
