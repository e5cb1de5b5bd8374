"""The elementwise family: one scalar function applied to each element of equally shaped arrays.

A member states its name, its dtypes and its NumPy function; the family derives the rest. Its compiled code is
the method of `Scalars` (`passes/lower/scalars/`) that has its name. There is no implicit broadcasting and no
implicit promotion here: the frontend inserts both. Half-precision floats are computed in float32 and rounded
once, in `evaluate` as in compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import ClassVar

import numpy as np

from ...factors import Factors, aligned
from ...op import Op, Operand, family_rule, require_same_dtype, require_same_shape, undefined
from ...protocols import Batched, Builder, Partial, Size, Tangent, Tangents, Value, Values
from ...types import ANY, BFLOAT16, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, TensorType

HALVES = frozenset({FLOAT16, BFLOAT16})
NOT_LINEAR = undefined("it is not linear in its operands")
INTEGERS_ARE_DISCRETE = undefined("its result is discrete and carries no tangent")


class Elementwise(Op, adds=("function", "partials", "result_dtype")):
    """Family of `y[i] = f(x[i], ...)`; operands have equal dtypes and shapes, and so has the result."""

    is_aligned = True
    is_elementwise = True
    function: ClassVar[Callable[..., np.ndarray]]
    result_rule = "an array of the operands' common shape and dtype"

    partials: ClassVar[tuple[Partial | None, ...]] = (None, None, None)
    """For each operand the function `(b, result, *operands) -> partial derivative`; None where it is zero."""

    @classmethod
    def result_dtype(cls, dtype: np.dtype) -> np.dtype:
        """The dtype of the result for operands of type `dtype`."""
        return dtype

    @classmethod
    @family_rule
    def infer(cls, *types: TensorType) -> TensorType:
        dtype = require_same_dtype(cls.name, *types)
        return TensorType(require_same_shape(cls.name, *types), cls.result_dtype(dtype))

    @classmethod
    @family_rule
    def evaluate(cls, *arrays: np.ndarray) -> np.ndarray:
        dtype = arrays[0].dtype
        if dtype in HALVES:
            arrays = tuple(a.astype(FLOAT32) for a in arrays)
        with np.errstate(all="ignore"):
            result = cls.function(*arrays)
            return np.asarray(result).astype(cls.result_dtype(dtype), copy=False)

    @classmethod
    @family_rule
    def jvp(
        cls,
        /,
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        result: Value,
        **attributes: object,
    ) -> Tangents:
        """The sum of `partial * tangent` over the operands that have both."""
        tangent: Tangent = None
        for partial, dx in zip(cls.partials, tangents, strict=False):
            if dx is not None and partial is not None:
                tangent = total(b, tangent, b.mul(dx, partial(b, result, *primals)))
        return tangent

    transpose = NOT_LINEAR

    @classmethod
    def factors(cls, *types: TensorType, **attributes: object) -> Factors:
        """Along any axis."""
        return aligned(len(types), types[0])

    @classmethod
    def batch(
        cls, b: Builder, size: Size, operands: Values, batched: Sequence[bool], **attributes: object
    ) -> Batched:
        """An operand that is not batched is repeated: a broadcast fuses with what reads it."""
        spread = [x if has else repeated(b, x, size) for x, has in zip(operands, batched, strict=True)]
        return b.apply(cls, spread, attributes), [True]


class Unary(Elementwise):
    """Family of `y = f(x)`."""

    operands = (Operand("x", ANY),)


class Binary(Elementwise):
    """Family of `z = f(x, y)`."""

    operands = (Operand("x", ANY), Operand("y", ANY))


class LinearUnary(Unary):
    """Family of functions that are linear (complex ones over the reals): the tangent goes through the op."""

    @classmethod
    @family_rule
    def jvp(
        cls, /, b: Builder, primals: Values, tangents: Values, result: Value, **attributes: object
    ) -> Tangents:
        return b.apply(cls, tangents, attributes)[0]


def repeated(b: Builder, x: Value, size: Size) -> Value:
    """`x` with a new axis 0 of `size` along which it does not change."""
    shape = b.sizes(x)
    return b.broadcast_in_dim(x, shape=(size, *shape), dimensions=tuple(range(1, len(shape) + 1)))


def difference(b: Builder, x: Tangent, y: Tangent) -> Tangent:
    """`x - y` of tangents."""
    if y is None:
        return x
    return b.neg(y) if x is None else b.sub(x, y)


def total(b: Builder, x: Tangent, y: Tangent) -> Tangent:
    """`x + y` of tangents."""
    return y if x is None else x if y is None else b.add(x, y)


def scaled(b: Builder, x: Value, factor: float) -> Value:
    """`x * factor`."""
    return b.mul(x, b.full_like(x, factor))


def shifted(b: Builder, x: Value, term: float) -> Value:
    """`x + term`."""
    return b.add(x, b.full_like(x, term))


def over(b: Builder, number: float, x: Value) -> Value:
    """`number / x`."""
    return b.div(b.full_like(x, number), x)


def indicator(b: Builder, condition: Value, like: Value) -> Value:
    """1 where `condition`, else 0, in the dtype of `like`."""
    return b.convert(condition, dtype=b.tensor_type(like).dtype)


def part_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the real part of a complex dtype."""
    return FLOAT32 if dtype == COMPLEX64 else FLOAT64


def is_same(b: Builder, x: Value, y: Value) -> bool:
    """Whether two operands are one and the same value of one type."""
    return x is y or (type(x) is type(y) and not isinstance(x, np.ndarray) and bool(x == y))


def is_constant(b: Builder, x: Value, like: Value, value: float) -> bool:
    """Whether `x` is known to hold `value` everywhere (the sign of zero counts) and is typed as `like`."""
    constant = b.constant_of(x)
    if constant is None or constant.size == 0:
        return False
    # Most constants differ in their first element, and may be large.
    wanted = np.asarray(value).astype(constant.dtype)[()]
    if constant.flat[0] != wanted or b.type_of(x) != b.type_of(like):
        return False
    if constant.size > 1 and not np.all(constant == wanted):
        return False
    has_zeros = value == 0 or constant.dtype.kind == "c"
    return not has_zeros or bool(np.all(_sign(constant) == _sign(np.asarray(wanted))))


def inverse_of(b: Builder, op: str, x: Value) -> Value | None:
    """`y` where `x` is known to be `op(y)`, else None; for ops that undo themselves."""
    application = b.defining(x)
    return application.operands[0] if application is not None and application.op.name == op else None


def of_windows(b: Builder, op: str, x: Value, y: Value) -> Value | None:
    """`op(x, y)` of the same windows of two arrays as those windows of `op` of the arrays, if that is less.

    An element of the arrays is then computed once, however many windows it is in.
    """
    first, second = b.defining(x), b.defining(y)
    if first is None or second is None or {first.op.name, second.op.name} != {"gather"}:
        return None
    (one, indices), (other, same) = first.operands, second.operands
    if indices != same or b.type_of(one) != b.type_of(other) or first.attributes["mode"] == "fill":
        return None
    given = {name: value for name, value in first.attributes.items() if name != "fill_value"}
    if given != {name: value for name, value in second.attributes.items() if name != "fill_value"}:
        return None
    whole, part = (prod(inf if n is None else n for n in b.tensor_type(v).static_shape) for v in (one, x))
    if whole > part or part == inf:
        return None
    return b.gather(getattr(b, op)(one, other), indices, **first.attributes)


def _sign(array: np.ndarray) -> np.ndarray | bool:
    """The sign bits of the floats in `array`, False for other dtypes."""
    if array.dtype.kind == "c":
        return np.signbit(array.real) | np.signbit(array.imag)
    return np.signbit(array.astype(FLOAT64)) if array.dtype.kind in "fV" else False
