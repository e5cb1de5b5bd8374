"""Elementary operations of f32 and f64 terms that need care beyond one `arith` op.

NaN and signed zeros follow NumPy and C99. fmod is exact for every pair of operands without a loop:
the significand of x times a power of two is taken modulo that of y by repeated squaring, in 64-bit (f32:
32-bit) integers, with quotients estimated in floating point and corrected, or in float64, where a processor
multiplies and adds with one rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Final

from ....dialects import mlir
from .terms import (
    FORMATS,
    Term,
    arithmetic,
    choose,
    float_type,
    nearest_integer,
    power_of_two,
    scale,
    small_to_float,
    word,
)

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
    if not arithmetic().multiplies_and_adds:
        return _fmod(x, y, _integer_remainder)
    if x.width == 64:
        return _fmod(x, y, _float_remainder)
    wide, narrow = float_type(64), x.type
    a, b = (Term(mlir.arith.extf(wide, each.value)) for each in (x, y))
    return Term(mlir.arith.truncf(narrow, _fmod(a, b, _float_remainder_of_single).value))


def _fmod(x: Term, y: Term, remainder_of: Callable[[Term, Term, Term], Term]) -> Term:
    """fmod, where `remainder_of(m, n, e)` is m 2**e modulo n of two significands, as a float."""
    a, b = x.absolute(), y.absolute()
    (m, m_exponent), (n, n_exponent) = _significand(a), _significand(b)
    difference = m_exponent - n_exponent
    remainder = remainder_of(m, n, choose(difference < 0, 0, difference))
    result = choose(a < b, a, scale(remainder, n_exponent)).with_sign_bits(x.sign_bits())
    usable = (a < inf) & (b > 0.0)
    result = choose(b.equals(inf) & (a < inf), x, choose(usable, result, nan))
    return choose(x.is_nan() | y.is_nan(), x + y, result)


def _integer_remainder(m: Term, n: Term, exponent: Term) -> Term:
    power = _power_of_two_modulo(exponent, n)
    return _to_float(_multiply_modulo(_modulo_once(m, n), power, n))


def _float_remainder(m: Term, n: Term, exponent: Term) -> Term:
    """As `_integer_remainder`, in floats that a processor multiplies and adds with one rounding."""
    digits = m.format.mantissa
    return _by_squares(_as_float(m, digits), _as_float(n, digits), exponent, 6, _multiply_float_modulo)


def _float_remainder_of_single(m: Term, n: Term, exponent: Term) -> Term:
    """The same in float64 of significands of float32, whose products are exact."""
    digits, dropped = FORMATS[32].mantissa, FORMATS[64].mantissa - FORMATS[32].mantissa
    short = _as_float(m, digits), _as_float(n, digits)
    return _by_squares(*short, exponent, 4, _multiply_short_modulo) * 2.0**dropped


def _by_squares(
    m: Term, n: Term, exponent: Term, squares: int, multiply: Callable[[Term, Term, Term, Term], Term]
) -> Term:
    """m 2**exponent modulo n by repeated squaring; the exponent's first power is below n."""
    inverse = 1.0 / n
    power = power_of_two(exponent >> squares)
    for bit in reversed(range(squares)):
        power = multiply(power, power, n, inverse)
        doubled = choose(((exponent >> bit) & 1).differs(0), power + power, power)
        power = _modulo_once(doubled, n)
    return multiply(_modulo_once(m, n), power, n, inverse)


def _as_float(m: Term, digits: int) -> Term:
    """A significand with its top bit at the implicit one's place as a float from 2**digits on."""
    form = FORMATS[m.width]
    return ((m & ((1 << form.mantissa) - 1)) | ((form.bias + digits) << form.mantissa)).as_float()


def _multiply_short_modulo(x: Term, y: Term, n: Term, inverse: Term) -> Term:
    """x y modulo n for integers x, y < n of less than half of a float's digits."""
    product = x * y
    rest = product - _nearest(product * inverse) * n
    return choose(rest < 0.0, rest + n, rest)


def _multiply_float_modulo(x: Term, y: Term, n: Term, inverse: Term) -> Term:
    """x y modulo n for integers x, y < n, n having all digits; `inverse` is near 1 / n.

    The product is head + tail without error. Of the head's quotient the upper half and the lower one are
    rounded to integers: what each leaves has few enough digits to be exact.
    """
    head = x * y
    tail = _multiply_add(x, y, -head)
    half = 2.0 ** (n.format.mantissa // 2 + 1)
    upper = _nearest(head * (inverse * (1.0 / half))) * half
    rest = _multiply_add(-upper, n, head)
    rest = _multiply_add(-_nearest(rest * inverse), n, rest) + tail
    for _ in range(2):
        rest = choose(rest < 0.0, rest + n, rest)
    return _modulo_once(rest, n)


def _multiply_add(x: Term, y: Term, z: Term) -> Term:
    """x y + z with one rounding."""
    return Term(mlir.math.fma(x.value, y.value, z.value))


def _nearest(x: Term) -> Term:
    """The nearest integer of a float below 2**(mantissa - 2)."""
    magic = x.format.magic
    return (x + magic) - magic


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
