"""Arithmetic on numbers, elementwise: signs, sums, products, quotients, powers, extrema.

Integers wrap around. Integer division truncates toward zero and never traps: `x / 0` has all bits set,
`x rem 0` is `x`, and the most negative integer divided by -1 is itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declaration import DIFFERENTIATION_LATER, Operand
from ..types import COMPLEX, FLOATS, INTEGERS, NUMBERS, REALS
from .elementwise import Binary, Unary, is_constant, is_same, part_dtype


class Neg(Unary):
    """``y = -x;  dy = -dx``. Integers wrap around: the most negative one is its own negative."""

    name = "neg"
    operands = (Operand("x", NUMBERS),)
    function = np.negative
    transpose = DIFFERENTIATION_LATER


class Abs(Unary):
    """``y = |x|;  dy = sign(x) * dx``; of a complex number its modulus, which is real."""

    name = "abs"
    operands = (Operand("x", NUMBERS),)
    function = np.abs
    result_rule = "an array of the operand's shape and dtype; for a complex one, the dtype of its parts"

    @classmethod
    def result_dtype(cls, dtype: np.dtype) -> np.dtype:
        return part_dtype(dtype) if dtype in COMPLEX else dtype


class Sign(Unary):
    """``y = x / |x|``, zeros kept as they are (`-0` too);  ``dy = 0`` for real `x`."""

    name = "sign"
    operands = (Operand("x", NUMBERS),)

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        return np.where(x == 0, x, np.sign(x))


class Add(Binary):
    """``z = x + y;  dz = dx + dy``."""

    name = "add"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    function = np.add
    transpose = DIFFERENTIATION_LATER

    @staticmethod
    def simplify(b: Any, x: Any, y: Any) -> Any:
        zero = 0 if b.tensor_type(x).dtype in INTEGERS else -0.0
        if b.tensor_type(x).dtype in COMPLEX:
            return None
        return x if is_constant(b, y, x, zero) else y if is_constant(b, x, y, zero) else None


class Sub(Binary):
    """``z = x - y;  dz = dx - dy``."""

    name = "sub"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    function = np.subtract
    transpose = DIFFERENTIATION_LATER

    @staticmethod
    def simplify(b: Any, x: Any, y: Any) -> Any:
        return x if is_constant(b, y, x, 0) else None


class Mul(Binary):
    """``z = x * y;  dz = dx * y + x * dy``."""

    name = "mul"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    function = np.multiply
    transpose = DIFFERENTIATION_LATER

    @staticmethod
    def simplify(b: Any, x: Any, y: Any) -> Any:
        if b.tensor_type(x).dtype in COMPLEX:
            return None
        return x if is_constant(b, y, x, 1) else y if is_constant(b, x, y, 1) else None


class Div(Binary):
    """``z = x / y;  dz = (dx - z * dy) / y``. Integers: the quotient truncated toward zero."""

    name = "div"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    transpose = DIFFERENTIATION_LATER

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype not in INTEGERS:
            return np.divide(x, y)
        divisor = np.where(y == 0, y.dtype.type(1), y)
        quotient = (x - np.fmod(x, divisor)) // divisor
        return np.where(y == 0, np.invert(np.zeros_like(x)), quotient)

    @staticmethod
    def simplify(b: Any, x: Any, y: Any) -> Any:
        if b.tensor_type(x).dtype in COMPLEX:
            return None
        return x if is_constant(b, y, x, 1) else None


class Rem(Binary):
    """``z = x - y * trunc(x / y);  dz = dx - trunc(x / y) * dy``: exact, with the sign of `x`."""

    name = "rem"
    operands = (Operand("x", REALS), Operand("y", REALS))

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype not in INTEGERS:
            return np.fmod(x, y)
        return np.where(y == 0, x, np.fmod(x, np.where(y == 0, y.dtype.type(1), y)))


class Pow(Binary):
    """``z = x ** y;  dz = y * x ** (y - 1) * dx + log(x) * z * dy``.

    Floats follow C99 (`pow(x, 0) = 1` also for NaN). Integers wrap around; a negative exponent gives 0,
    unless the base is 1 or -1.
    """

    name = "pow"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype not in INTEGERS or x.dtype.kind == "u":
            return np.power(x, y)
        power = np.power(x, np.maximum(y, 0))
        inverse = np.where(x == 1, 1, np.where(x == -1, np.where(y % 2 == 0, 1, -1), 0))
        return np.where(y < 0, inverse, power)

    @staticmethod
    def simplify(b: Any, x: Any, y: Any) -> Any:
        if b.tensor_type(x).dtype in COMPLEX:
            return None
        return x if is_constant(b, y, x, 1) else None


class Max(Binary):
    """``z = max(x, y)``; the tangent of the larger one. NaN propagates; `+0` is larger than `-0`."""

    name = "max"
    operands = (Operand("x", REALS), Operand("y", REALS))

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))

    @staticmethod
    def simplify(b: Any, x: Any, y: Any) -> Any:
        return x if is_same(b, x, y) else None


class Min(Binary):
    """``z = min(x, y)``; the tangent of the smaller one. NaN propagates; `-0` is smaller than `+0`."""

    name = "min"
    operands = (Operand("x", REALS), Operand("y", REALS))

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where((x == 0) & (y == 0), -(-x - y), np.minimum(x, y))

    @staticmethod
    def simplify(b: Any, x: Any, y: Any) -> Any:
        return x if is_same(b, x, y) else None


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
