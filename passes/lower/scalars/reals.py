"""Elementary operations of f32 and f64 terms that need care beyond one `arith` op.

NaN and signed zeros follow NumPy and C99. fmod is exact for every pair of operands without a loop:
the significand of x times a power of two is taken modulo that of y by repeated squaring in 64-bit (f32:
32-bit) integers, with quotients estimated in floating point and corrected.
"""

from __future__ import annotations

from math import inf, nan
from typing import Final

from ....dialects import mlir
from .terms import Term, choose, nearest_integer, scale, small_to_float, word

HALVES: Final = frozenset({-3, -1, 1, 3, 5})
"""The exponents, times two, whose powers are a square root and at most two products or quotients."""


def maximum(x: Term, y: Term) -> Term:
    return Term(mlir.arith.maximumf(x.value, y.value))


def minimum(x: Term, y: Term) -> Term:
    return Term(mlir.arith.minimumf(x.value, y.value))


def sign(x: Term) -> Term:
    one = x.lift(1.0).with_sign_bits(x.sign_bits())
    return choose(x.is_nan() | x.equals(0.0), x, one)


def ceil(x: Term) -> Term:
    return -((-x).floor())


def rsqrt(x: Term) -> Term:
    return 1.0 / x.sqrt()


def power_of_halves(halves: int, x: Term) -> Term:
    """x**(halves / 2) for `HALVES`, with the special cases of C99: +0 and infinity for -0 and -infinity.

    Powers of magnitudes, so that the root sees no -0 and no -infinity. Each order of the factors overflows
    and vanishes where the power does, not before.
    """
    magnitude = x.absolute()
    root = magnitude.sqrt()
    if halves < 0:
        root = 1.0 / root
    result = root / magnitude if halves == -3 else root
    for _ in range(halves // 2 if halves > 0 else 0):
        result = result * magnitude
    return choose((x < 0.0) & (magnitude < inf), nan, result)


def is_finite(x: Term) -> Term:
    return x.absolute() < inf


def next_after(x: Term, y: Term, x_wide: Term, y_wide: Term) -> Term:
    """The bits of the neighbour of x towards y, from their bits (integers) and their values."""
    sign_mask = 1 << (x.width - 1)
    away = choose(x_wide < y_wide, x >= 0, x < 0)
    stepped = x + choose(away, x.lift(1), -1)
    moved = choose((x & ~sign_mask).equals(0), (y & sign_mask) | 1, stepped)
    # compared by bits where both are zero, since a flushed denormal equals zero too
    same = x.equals(y) | ((x | y) & ~sign_mask).equals(0)
    result = choose(same, y, moved)
    return choose(x_wide.is_nan(), x, choose(y_wide.is_nan(), y, result))


def fmod(x: Term, y: Term) -> Term:
    a, b = x.absolute(), y.absolute()
    (m, m_exponent), (n, n_exponent) = _significand(a), _significand(b)
    difference = m_exponent - n_exponent
    steps = choose(difference < 0, 0, difference)
    power = _power_of_two_modulo(steps, n)
    remainder = _multiply_modulo(_modulo_once(m, n), power, n)
    remainder = choose(difference < 0, m, remainder)
    fraction = _to_float(remainder)
    lower = choose(difference < 0, m_exponent, n_exponent)
    scaled = scale(fraction, lower)
    result = choose(a < b, a, scaled).with_sign_bits(x.sign_bits())
    result = choose(remainder.equals(0) & ~(a < b), x.lift(0.0).with_sign_bits(x.sign_bits()), result)
    usable = (a < inf) & (b > 0.0)
    result = choose(b.equals(inf) & (a < inf), x, choose(usable, result, nan))
    return choose(x.is_nan() | y.is_nan(), x + y, result)


def fmod_by_power_of_two(x: Term, y: Term) -> Term:
    """The same for |y| = 1, 2, 4, ...: the quotient and what it leaves are exact."""
    divisor = y.absolute()
    magnitude = x.absolute()
    rest = (magnitude - (magnitude / divisor).floor() * divisor).absolute()
    return choose(magnitude < divisor, magnitude, rest).with_sign_bits(x.sign_bits())


def _significand(a: Term) -> tuple[Term, Term]:
    """(m, e) with a = m 2**e and m an integer with its top bit at the implicit one's place."""
    form = a.format
    small = a < form.smallest
    scaled = choose(small, a * 2.0 ** (form.mantissa + 2), a)
    bits = scaled.bits()
    exponent = (bits >> form.mantissa) - (form.bias + form.mantissa)
    exponent = choose(small, exponent - (form.mantissa + 2), exponent)
    return (bits & ((1 << form.mantissa) - 1)) | (1 << form.mantissa), exponent


def _modulo_once(m: Term, n: Term) -> Term:
    """m modulo n for m < 2 n."""
    return choose(m < n, m, m - n)


def _to_float(x: Term) -> Term:
    """A non-negative integer of at most the significand's width, exactly."""
    form = x.as_float().format
    half = form.mantissa // 2
    upper, lower = x >> half, x & ((1 << half) - 1)
    return small_to_float(upper) * 2.0**half + small_to_float(lower)


def _multiply_modulo(x: Term, y: Term, n: Term) -> Term:
    """x y modulo n for x, y < n: the quotient in floating point is off by at most three."""
    quotient = _to_float(x) * _to_float(y) / _to_float(n)
    estimate = _from_float(quotient)
    rest = x * y - estimate * n
    for _ in range(3):
        rest = choose(rest < 0, rest + n, rest)
    for _ in range(3):
        rest = choose(rest < n, rest, rest - n)
    return rest


def _from_float(x: Term) -> Term:
    """An integer near a non-negative float below 2**(mantissa + 1)."""
    half = 2.0 ** (x.format.mantissa // 2 + 1)
    upper, upper_float = nearest_integer(x * (1.0 / half))
    lower, _ = nearest_integer(x - upper_float * half)
    return (upper << (x.format.mantissa // 2 + 1)) + lower


def _power_of_two_modulo(exponent: Term, n: Term) -> Term:
    """2**exponent modulo n, for n with its top bit at the implicit one's place."""
    bits = exponent.width
    low_bits = int(word(bits, 4, 7))
    power = exponent.lift(1) << (exponent >> low_bits)
    for bit in reversed(range(low_bits)):
        power = _multiply_modulo(power, power, n)
        doubled = choose(((exponent >> bit) & 1).differs(0), power + power, power)
        power = _modulo_once(doubled, n)
    return power
