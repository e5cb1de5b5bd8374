"""Functions of analysis, elementwise: roots, exponentials, logarithms, circular and hyperbolic functions.

Complex arguments take the principal branch, as NumPy and C99 have it.
"""

from __future__ import annotations

import math

import numpy as np

from ...op import Operand
from ...protocols import Builder, OneTangent, Tangents, Value, Values
from ...types import COMPLEX, FLOATS, INEXACT
from .family import Binary, Unary, over, scaled, shifted


class OfFloat(Unary):
    """Family of functions of a real number."""

    operands = (Operand("x", FLOATS),)
    element_cost = 64


class OfInexact(Unary):
    """Family of functions of a real or complex number."""

    operands = (Operand("x", INEXACT),)
    element_cost = 64


class Sqrt(OfInexact):
    """``y = sqrt x;  dy = dx / (2 y)``."""

    name = "sqrt"
    element_cost = 8
    function = np.sqrt
    partials = (lambda b, y, x: over(b, 0.5, y),)


class Rsqrt(OfInexact):
    """``y = 1 / sqrt x;  dy = -y^3 / 2 * dx``."""

    name = "rsqrt"
    element_cost = 8

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        return x.dtype.type(1) / np.sqrt(x)

    partials = (lambda b, y, x: b.div(scaled(b, y, -0.5), x),)


class Cbrt(OfFloat):
    """``y = x ** (1/3), real also for negative x;  dy = dx / (3 y^2)``."""

    name = "cbrt"
    function = np.cbrt
    partials = (lambda b, y, x: scaled(b, square_of(b, over(b, 1, y)), 1 / 3),)


class Exp(OfInexact):
    """``y = e ** x;  dy = y * dx``."""

    name = "exp"
    function = np.exp
    partials = (lambda b, y, x: y,)


class Exp2(OfFloat):
    """``y = 2 ** x;  dy = log(2) * y * dx``."""

    name = "exp2"
    function = np.exp2
    partials = (lambda b, y, x: scaled(b, y, math.log(2)),)


class Expm1(OfInexact):
    """``y = e ** x - 1, accurate near 0;  dy = (y + 1) * dx``."""

    name = "expm1"
    partials = (lambda b, y, x: shifted(b, y, 1),)

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        return _complex_expm1(x) if x.dtype.kind == "c" else np.expm1(x)


class Log(OfInexact):
    """``y = log x;  dy = dx / x``."""

    name = "log"
    function = np.log

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: OneTangent, result: Value) -> Tangents:
        return b.div(tangents[0], primals[0])


class Log2(OfFloat):
    """``y = log2 x;  dy = dx / (x log 2)``."""

    name = "log2"
    function = np.log2
    partials = (lambda b, y, x: over(b, 1 / math.log(2), x),)


class Log1p(OfInexact):
    """``y = log(1 + x), accurate near 0;  dy = dx / (1 + x)``."""

    name = "log1p"

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        if x.dtype not in COMPLEX:
            return np.log1p(x)
        # NumPy's real part cancels where |1 + x| is near 1
        near = 0.5 * np.log1p(x.real * (2 + x.real) + x.imag * x.imag)
        logarithm = np.log1p(x)
        logarithm = np.where((logarithm.real == np.inf) & np.isfinite(x), np.log(x), logarithm)
        return np.where(np.abs(x) < 0.5, near + 1j * logarithm.imag, logarithm).astype(x.dtype)

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: OneTangent, result: Value) -> Tangents:
        return b.div(tangents[0], shifted(b, primals[0], 1))


class Sin(OfInexact):
    """``y = sin x;  dy = cos x * dx``."""

    name = "sin"
    function = np.sin
    partials = (lambda b, y, x: b.cos(x),)


class Cos(OfInexact):
    """``y = cos x;  dy = -sin x * dx``."""

    name = "cos"
    function = np.cos
    partials = (lambda b, y, x: b.neg(b.sin(x)),)


class Tan(OfInexact):
    """``y = tan x;  dy = (1 + y^2) * dx``."""

    name = "tan"
    function = np.tan
    partials = (lambda b, y, x: shifted(b, b.mul(y, y), 1),)


class Asin(OfInexact):
    """``y = arcsin x;  dy = dx / sqrt(1 - x^2)``."""

    name = "asin"
    function = np.arcsin
    partials = (lambda b, y, x: b.rsqrt(one_minus_square_to_ends(b, x)),)


class Acos(OfInexact):
    """``y = arccos x;  dy = -dx / sqrt(1 - x^2)``."""

    name = "acos"
    function = np.arccos
    partials = (lambda b, y, x: b.neg(b.rsqrt(one_minus_square_to_ends(b, x))),)


class Atan(OfInexact):
    """``y = arctan x;  dy = dx / (1 + x^2)``."""

    name = "atan"
    function = np.arctan
    partials = (lambda b, y, x: over(b, 1, shifted(b, b.mul(x, x), 1)),)


class Sinh(OfInexact):
    """``y = sinh x;  dy = cosh x * dx``."""

    name = "sinh"
    function = np.sinh
    partials = (lambda b, y, x: b.cosh(x),)


class Cosh(OfInexact):
    """``y = cosh x;  dy = sinh x * dx``."""

    name = "cosh"
    function = np.cosh
    partials = (lambda b, y, x: b.sinh(x),)


class Tanh(OfInexact):
    """``y = tanh x;  dy = (1 - y^2) * dx``."""

    name = "tanh"
    function = np.tanh
    partials = (lambda b, y, x: one_minus_square(b, y),)


class Asinh(OfInexact):
    """``y = arsinh x;  dy = dx / sqrt(x^2 + 1)``."""

    name = "asinh"
    function = np.arcsinh
    partials = (lambda b, y, x: b.rsqrt(shifted(b, b.mul(x, x), 1)),)


class Acosh(OfInexact):
    """``y = arcosh x;  dy = dx / (sqrt(x - 1) sqrt(x + 1))``."""

    name = "acosh"
    function = np.arccosh
    partials = (lambda b, y, x: rsqrt_of_square_minus_one(b, x),)


class Atanh(OfInexact):
    """``y = artanh x;  dy = dx / (1 - x^2)``."""

    name = "atanh"
    function = np.arctanh
    partials = (lambda b, y, x: over(b, 1, one_minus_square_to_ends(b, x)),)


class Logistic(OfInexact):
    """``y = 1 / (1 + e ** -x);  dy = y * (1 - y) * dx``."""

    name = "logistic"

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        if x.dtype in COMPLEX:
            return 1 / (1 + np.exp(-x))
        small = np.exp(-np.abs(x))  # never overflows, so that neither tail is lost
        return np.where(x >= 0, x.dtype.type(1), small) / (1 + small)

    partials = (lambda b, y, x: b.mul(y, b.sub(b.full_like(y, 1), y)),)


class Atan2(Binary):
    """``z = arg(y + i x)``, the angle of the point `(y, x)`;  ``dz = (y * dx - x * dy) / (x^2 + y^2)``.

    The first operand is the ordinate, as in C.
    """

    name = "atan2"
    element_cost = 64
    operands = (Operand("x", FLOATS), Operand("y", FLOATS))
    function = np.arctan2
    partials = (
        lambda b, z, x, y: b.div(y, b.add(b.mul(x, x), b.mul(y, y))),
        lambda b, z, x, y: b.neg(b.div(x, b.add(b.mul(x, x), b.mul(y, y)))),
    )


def square_of(b: Builder, x: Value) -> Value:
    """`x^2`."""
    return b.mul(x, x)


def one_minus_square(b: Builder, x: Value) -> Value:
    """`1 - x^2` as `(1 - x) (1 + x)`, which does not cancel near 1."""
    one = b.full_like(x, 1)
    return b.mul(b.sub(one, x), b.add(one, x))


def one_minus_square_to_ends(b: Builder, x: Value) -> Value:
    """`one_minus_square` under a root or in a denominator, whose derivatives are infinite at 1 and -1.

    Its own derivative is that of `1 - x^2`: a factor of the product is zero there, and times infinity NaN.
    """
    direct = b.sub(b.full_like(x, 1), square_of(b, x))
    return b.add(direct, b.stop_gradient(b.sub(one_minus_square(b, x), direct)))


def rsqrt_of_square_minus_one(b: Builder, x: Value) -> Value:
    """`1 / sqrt(x^2 - 1)` by two roots: one would leave the principal branch, and overflow."""
    return b.mul(b.rsqrt(shifted(b, x, -1)), b.rsqrt(shifted(b, x, 1)))


def _complex_expm1(x: np.ndarray) -> np.ndarray:
    """NumPy's values, and at infinities, NaN and on the real line those of C99 for `exp(x) - 1`."""
    y = np.array(np.expm1(x))
    real = np.expm1(x.real)
    on_line = x.imag == 0
    y.real = np.where(on_line | np.isinf(x.real) & ~np.isfinite(x.imag), real, y.real)
    y.imag = np.where(on_line, x.imag, y.imag)
    y.imag = np.where((x.real == -np.inf) & ~np.isfinite(x.imag), 0, y.imag)
    return y
