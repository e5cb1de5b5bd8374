"""Arithmetic on numbers, elementwise: signs, sums, products, quotients, powers, extrema.

Integers wrap around. Integer division truncates toward zero and never traps: `x / 0` has all bits set,
`x rem 0` is `x`, and the most negative integer divided by -1 is itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...op import Linear, Operand
from ...protocols import Builder, Cotangents, OneTangent, Tangent, Tangents, Value, Values
from ...types import BFLOAT16, COMPLEX, FLOAT16, FLOAT32, FLOATS, INTEGERS, NUMBERS, REALS
from .family import (
    Binary,
    LinearUnary,
    Unary,
    difference,
    inverse_of,
    is_constant,
    is_same,
    of_windows,
    part_dtype,
    total,
)


class Neg(LinearUnary):
    """``y = -x;  dy = -dx``. Integers wrap around: the most negative one is its own negative."""

    name = "neg"
    operands = (Operand("x", NUMBERS),)
    function = np.negative

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        return b.neg(cotangent)

    @staticmethod
    def simplify(b: Builder, x: Value) -> Value | None:
        return inverse_of(b, "neg", x)


class Abs(Unary):
    """``y = |x|;  dy = sign(x) * dx``; of a complex number its modulus, which is real."""

    name = "abs"
    operands = (Operand("x", NUMBERS),)
    function = np.abs
    result_rule = "an array of the operand's shape and dtype; for a complex one, the dtype of its parts"

    @classmethod
    def result_dtype(cls, dtype: np.dtype) -> np.dtype:
        return part_dtype(dtype) if dtype in COMPLEX else dtype

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: OneTangent, result: Value) -> Tangents:
        if b.tensor_type(primals[0]).dtype in COMPLEX:
            return b.real(b.mul(b.conj(b.sign(primals[0])), tangents[0]))
        return b.mul(tangents[0], b.sign(primals[0]))


class Sign(Unary):
    """``y = x / |x|``, zeros kept as they are (`-0` too);  ``dy = 0`` for real `x`."""

    name = "sign"
    operands = (Operand("x", NUMBERS),)

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        if x.dtype in COMPLEX:  # the modulus of the largest numbers would overflow
            x = np.where(np.isfinite(x) & (np.abs(x) == np.inf), x * x.dtype.type(0.25), x)
        return np.where(x == 0, x, np.sign(x))

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: OneTangent, result: Value) -> Tangents:
        """Real: zero. Complex: the part of the tangent across the direction, `i y Im(conj(y) dx) / |x|`."""
        if b.tensor_type(primals[0]).dtype not in COMPLEX:
            return None
        modulus = b.abs(primals[0])
        across = b.div(b.imag(b.mul(b.conj(result), tangents[0])), modulus)
        return b.mul(result, b.complex(b.full_like(across, 0), across))


class Add(Binary):
    """``z = x + y;  dz = dx + dy``."""

    name = "add"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    function = np.add

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        for one, other in ((x, y), (y, x)):
            subtracted = inverse_of(b, "neg", other)
            if subtracted is not None:
                return b.sub(one, subtracted)
        zero = 0 if b.tensor_type(x).dtype in INTEGERS else -0.0
        if b.tensor_type(x).dtype in COMPLEX:
            return None
        known = x if is_constant(b, y, x, zero) else y if is_constant(b, x, y, zero) else None
        return of_windows(b, "add", x, y) if known is None else known

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value) -> Tangents:
        dx, dy = tangents
        return total(b, dx, dy)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        return [cotangent, cotangent]


class Sub(Binary):
    """``z = x - y;  dz = dx - dy``."""

    name = "sub"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    function = np.subtract

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        return x if is_constant(b, y, x, 0) else of_windows(b, "sub", x, y)

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value) -> Tangents:
        dx, dy = tangents
        return difference(b, dx, dy)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        return [cotangent, b.neg(cotangent) if isinstance(operands[1], Linear) else None]


class Mul(Binary):
    """``z = x * y;  dz = dx * y + x * dy``."""

    name = "mul"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    function = np.multiply

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        if b.tensor_type(x).dtype in COMPLEX:
            return None
        known = x if is_constant(b, y, x, 1) else y if is_constant(b, x, y, 1) else None
        return of_windows(b, "mul", x, y) if known is None else known

    partials = (lambda b, z, x, y: y, lambda b, z, x, y: x)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        x, y = operands
        if isinstance(x, Linear):
            return [b.mul(cotangent, y), None]
        return [None, b.mul(cotangent, x)]


class Div(Binary):
    """``z = x / y;  dz = (dx - z * dy) / y``. Integers: the quotient truncated toward zero."""

    name = "div"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype not in INTEGERS:
            return np.divide(x, y)
        divisor = np.where(y == 0, y.dtype.type(1), y)
        quotient = (x - np.fmod(x, divisor)) // divisor
        return np.where(y == 0, np.invert(np.zeros_like(x)), quotient)

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        if b.tensor_type(x).dtype in COMPLEX:
            return None
        return x if is_constant(b, y, x, 1) else of_windows(b, "div", x, y)

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value) -> Tangents:
        dx, dy = tangents
        numerator = difference(b, dx, None if dy is None else b.mul(dy, result))
        return None if numerator is None else b.div(numerator, primals[1])

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        return [b.div(cotangent, operands[1]), None]


class Rem(Binary):
    """``z = x - y * trunc(x / y);  dz = dx - trunc(x / y) * dy``: exact, with the sign of `x`."""

    name = "rem"
    operands = (Operand("x", REALS), Operand("y", REALS))

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype not in INTEGERS:
            return np.fmod(x, y)
        return np.where(y == 0, x, np.fmod(x, np.where(y == 0, y.dtype.type(1), y)))

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value) -> Tangents:
        (dx, dy), (x, y) = tangents, primals
        if dy is None:
            return dx
        return difference(b, dx, b.mul(dy, b.round(b.div(b.sub(x, result), y))))


class Pow(Binary):
    """``z = x ** y;  dz = y * x ** (y - 1) * dx + log(x) * z * dy``.

    Floats follow C99 (`pow(x, 0) = 1` also for NaN). Integers wrap around; a negative exponent results in 0,
    unless the base is 1 or -1.
    """

    name = "pow"
    element_cost = 64
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype not in INTEGERS or x.dtype.kind == "u":
            return np.power(x, y)
        power = np.power(x, np.maximum(y, 0))
        inverse = np.where(x == 1, 1, np.where(x == -1, np.where(y % 2 == 0, 1, -1), 0))
        return np.where(y < 0, inverse, power)

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        exponent = _whole_exponent(b, x, y)
        if exponent is None:
            return None
        return x if exponent == 1 else _product_of_copies(b, x, exponent)

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value) -> Tangents:
        """With `d/dx = 0` at `x = y = 0` and `d/dy = 0` at `x = 0 < y`, the limits, instead of NaN."""
        (dx, dy), (x, y) = tangents, primals
        zero, one = b.full_like(x, 0), b.full_like(x, 1)
        of_base, of_exponent = None, None
        if dx is not None:
            of_base = b.mul(dx, b.mul(y, falling_power(b, x, y)))
        if dy is not None:
            is_zero = b.compare(x, zero, direction="EQ")
            of_exponent = b.mul(dy, b.mul(b.log(b.select(is_zero, one, x)), result))
        return total(b, of_base, of_exponent)


LARGEST_WHOLE_EXPONENT: Final = 8
"""Of floats: the products of x**8 err by at most 3.5 units in the last place."""


def _whole_exponent(b: Builder, x: Value, y: Value) -> int | None:
    """`y` where `x ** y` is better a product: a known whole number, of complex bases the range of NumPy."""
    known, dtype = b.constant_of(y), b.tensor_type(x).dtype
    if known is None or known.size == 0 or b.type_of(x) != b.type_of(y):
        return None
    first = known.flat[0]
    if known.size > 1 and np.any(known != first):
        return None
    if dtype in INTEGERS:
        return int(first) if first > 0 else None
    number = complex(first)
    if number.imag or not number.real.is_integer():
        return None
    exponent = int(number.real)
    if dtype in COMPLEX:
        return exponent if exponent != 0 and abs(exponent) < 100 else None
    return exponent if 0 < exponent <= LARGEST_WHOLE_EXPONENT or exponent == -1 else None


def _product_of_copies(b: Builder, x: Value, exponent: int) -> Value:
    """`x ** exponent` by repeated squaring (Knuth, TAOCP 2, 4.6.3), of half precision in float32."""
    dtype = b.tensor_type(x).dtype
    factor = b.convert(x, dtype=FLOAT32) if dtype in (FLOAT16, BFLOAT16) else x
    result, bits = None, abs(exponent)
    while bits:
        if bits & 1:
            result = factor if result is None else b.mul(result, factor)
        bits >>= 1
        factor = b.mul(factor, factor) if bits else factor
    assert result is not None
    if exponent < 0:
        result = b.div(b.full_like(result, 1), result)
    return b.convert(result, dtype=dtype) if b.tensor_type(result).dtype != dtype else result


def falling_power(b: Builder, x: Value, y: Value) -> Value:
    """`x ** (y - 1)`, and 1 at `x = y = 0`; the general case only where `y` may be 0."""
    one = b.full_like(x, 1)
    known = b.constant_of(y)
    if known is None or not np.all(known):
        zero = b.full_like(x, 0)
        is_flat = b.and_(b.compare(x, zero, direction="EQ"), b.compare(y, zero, direction="EQ"))
        x = b.select(is_flat, one, x)
    return b.pow(x, b.sub(y, one))


class Max(Binary):
    """``z = max(x, y)``; the tangent of the larger one, at a tie half of both.

    NaN propagates; `+0` is larger than `-0`.
    """

    name = "max"
    operands = (Operand("x", REALS), Operand("y", REALS))

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        return x if is_same(b, x, y) else None

    partials = (
        lambda b, z, x, y: share(b, x, y, "GT"),
        lambda b, z, x, y: share(b, x, y, "LT"),
    )


class Min(Binary):
    """``z = min(x, y)``; the tangent of the smaller one, at a tie half of both.

    NaN propagates; `-0` is smaller than `+0`.
    """

    name = "min"
    operands = (Operand("x", REALS), Operand("y", REALS))

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where((x == 0) & (y == 0), -(-x - y), np.minimum(x, y))

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        return x if is_same(b, x, y) else None

    partials = (
        lambda b, z, x, y: share(b, x, y, "LT"),
        lambda b, z, x, y: share(b, x, y, "GT"),
    )


class Floor(Unary):
    """``y = max {n integer: n <= x};  dy = 0``."""

    name = "floor"
    operands = (Operand("x", FLOATS),)
    function = np.floor


class Ceil(Unary):
    """``y = min {n integer: n >= x};  dy = 0``."""

    name = "ceil"
    operands = (Operand("x", FLOATS),)
    function = np.ceil


class Round(Unary):
    """``y`` = the integer nearest to `x`, of two the even one;  ``dy = 0``."""

    name = "round"
    operands = (Operand("x", FLOATS),)
    function = np.rint


def share(b: Builder, x: Value, y: Value, wins: str) -> Value:
    """The part of the tangent that one operand of an extremum gets: 1 where it wins, 1/2 at a tie, or 0."""
    at_tie = b.select(b.compare(x, y, direction="EQ"), b.full_like(x, 0.5), b.zeros_like(x))
    return b.select(b.compare(x, y, direction=wins), b.full_like(x, 1), at_tie)
