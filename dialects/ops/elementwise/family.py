"""The elementwise family: one scalar function applied to each element of equally shaped arrays.

A member states its name, its dtypes, its NumPy function and its scalar lowering (`scalar`, a method of
the lowering's `Scalars` of the same name unless overridden); the family derives the rest. There is no
implicit broadcasting and no implicit promotion here: the frontend inserts both. Half-precision floats
are computed in float32 and rounded once, in `evaluate` as in compiled code.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...op import Op, Operand, require_same_dtype, require_same_shape, undefined
from ...types import ANY, BFLOAT16, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, TensorType

HALVES = frozenset({FLOAT16, BFLOAT16})
NOT_LINEAR = undefined("it is not linear in its operands")
INTEGERS_ARE_DISCRETE = undefined("its result is discrete and carries no tangent")


class Elementwise(Op):
    """Family of `y[i] = f(x[i], ...)`; operands have equal dtypes and shapes, and so has the result."""

    is_aligned = True
    is_elementwise = True
    function: ClassVar[Any]
    result_rule: ClassVar[str] = "an array of the operands' common shape and dtype"

    partials: ClassVar[tuple[Any, ...]] = (None, None, None)
    """For each operand the function `(b, result, *operands) -> partial derivative`; None where it is zero."""

    @classmethod
    def result_dtype(cls, dtype: np.dtype) -> np.dtype:
        """The dtype of the result for operands of type `dtype`."""
        return dtype

    @classmethod
    def infer(cls, *types: TensorType) -> TensorType:
        dtype = require_same_dtype(cls.name, *types)
        return TensorType(require_same_shape(cls.name, *types), cls.result_dtype(dtype))

    @classmethod
    def evaluate(cls, *arrays: np.ndarray) -> np.ndarray:
        dtype = arrays[0].dtype
        with np.errstate(all="ignore"):
            result = cls.function(*(a.astype(FLOAT32) if dtype in HALVES else a for a in arrays))
            return np.asarray(result).astype(cls.result_dtype(dtype), copy=False)

    @classmethod
    def lower(cls, l: Any, *operands: Any) -> Any:
        return l.elementwise(cls.scalar, *operands)

    @classmethod
    def scalar(cls, s: Any, dtypes: tuple[np.dtype, ...], *operands: Any) -> Any:
        """The scalar code of one element, by default the method of `Scalars` that has the op's name."""
        method = getattr(s, cls.name, None) or getattr(s, cls.name + "_")
        return method(dtypes[0], *operands)

    @classmethod
    def jvp(cls, b: Any, primals: Any, tangents: Any, result: Any, **attributes: Any) -> Any:
        """The sum of `partial * tangent` over the operands that have both."""
        total = None
        for partial, tangent in zip(cls.partials, tangents, strict=False):
            if tangent is None or partial is None:
                continue
            term = b.mul(tangent, partial(b, result, *primals))
            total = term if total is None else b.add(total, term)
        return total

    transpose = NOT_LINEAR

    @classmethod
    def batch(cls, b: Any, size: Any, operands: Any, batched: Any, **attributes: Any) -> Any:
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
    def jvp(cls, b: Any, primals: Any, tangents: Any, result: Any, **attributes: Any) -> Any:
        return b.apply(cls, tangents, attributes)[0]


def repeated(b: Any, x: Any, size: Any) -> Any:
    """`x` with a new axis 0 of `size` along which it does not change."""
    shape = b.sizes(x)
    return b.broadcast_in_dim(x, shape=(size, *shape), dimensions=tuple(range(1, len(shape) + 1)))


def scaled(b: Any, x: Any, factor: float) -> Any:
    """`x * factor`."""
    return b.mul(x, b.full_like(x, factor))


def shifted(b: Any, x: Any, term: float) -> Any:
    """`x + term`."""
    return b.add(x, b.full_like(x, term))


def over(b: Any, number: float, x: Any) -> Any:
    """`number / x`."""
    return b.div(b.full_like(x, number), x)


def indicator(b: Any, condition: Any, like: Any) -> Any:
    """1 where `condition`, else 0, in the dtype of `like`."""
    return b.convert(condition, dtype=b.tensor_type(like).dtype)


def part_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the real part of a complex dtype."""
    return FLOAT32 if dtype == COMPLEX64 else FLOAT64


def is_same(b: Any, x: Any, y: Any) -> bool:
    """Whether two operands are one and the same value of one type."""
    return x is y or (type(x) is type(y) and not isinstance(x, np.ndarray) and bool(x == y))


def is_constant(b: Any, x: Any, like: Any, value: float) -> bool:
    """Whether `x` is known to hold `value` everywhere (the sign of zero counts) and is typed as `like`."""
    constant = b.constant_of(x)
    if constant is None or constant.size == 0 or b.type_of(x) != b.type_of(like):
        return False
    wanted = np.asarray(value).astype(constant.dtype)
    return bool(np.all(constant == wanted) and np.all(_sign(constant) == _sign(wanted)))


def inverse_of(b: Any, op: str, x: Any) -> Any:
    """`y` where `x` is known to be `op(y)`, else None; for ops that undo themselves."""
    application = b.defining(x)
    return application.operands[0] if application is not None and application.op.name == op else None


def _sign(array: np.ndarray) -> Any:
    """The sign bits of the floats in `array`, False for other dtypes."""
    if array.dtype.kind == "c":
        return np.signbit(array.real) | np.signbit(array.imag)
    return np.signbit(array.astype(FLOAT64)) if array.dtype.kind in "fV" else False
