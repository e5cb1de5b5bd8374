"""Division by a number that is known, without a division: two multiplications that round as it does.

Input: a divisor and how many digits its floats have. Output: `high` and `low`, 1 / divisor in two parts, such
that `fma(x, high, x * low)` is the float nearest to `x / divisor` for each x, or None.
Idea: the sum before it is rounded is closer to the quotient than 2^(2 - 2 digits) of it. So both round alike,
but where a quotient lies that close to the middle of two floats. Such a quotient X / Y, with M the odd number
of half units in the last place that the middle is, satisfies 2^k X - M Y = r with a small r that is not 0.
For each r there are few X, which are tried. Both parts have one sign, so that infinities stay what they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final

MOST_REMAINDER: Final = (4, 8)  # of quotients of mantissas from 1 on, and below 1
EXPONENTS: Final = {24: 100, 53: 900}  # of divisors whose reciprocal and its rest are normal floats


@lru_cache(maxsize=1024)
def reciprocal(divisor: float, digits: int) -> tuple[float, float] | None:
    """The two parts of 1 / divisor; None for powers of two, and where no parts round all quotients right.

    Quotients below the least normal float times 2^digits are off by a unit in the last place at most: there
    the product with `low` has fewer digits, or is flushed to zero.
    """
    fraction, exponent = math.frexp(abs(divisor))
    if not math.isfinite(divisor) or abs(exponent) > EXPONENTS[digits] or fraction in (0.0, 0.5):
        return None
    sign = math.copysign(1, divisor)
    mantissa = int(fraction * 2**digits)
    exact = Fraction(1, mantissa)
    for high in (_nearest(exact, digits), _below(exact, digits)):
        low = exact - high
        if low <= 0:
            continue
        for part in (_nearest(low, digits), _below(low, digits)):
            if _is_right(mantissa, digits, high, part):
                scale = sign * math.ldexp(1, digits - exponent)
                return float(high) * scale, float(part) * scale
    return None


def _is_right(divisor: int, digits: int, high: Fraction, low: Fraction) -> bool:
    """Whether the quotients that are close to the middle of two floats are rounded right."""
    return all(
        _nearest(x * high + _nearest(x * low, digits), digits) == _nearest(Fraction(x, divisor), digits)
        for x in _close_to_a_middle(divisor, digits)
    )


def _close_to_a_middle(divisor: int, digits: int) -> Iterator[int]:
    """The mantissas of which the quotient may be rounded wrong."""
    twos = (divisor & -divisor).bit_length() - 1
    odd = divisor >> twos
    least = 1 << digits
    for is_below_one, most in enumerate(MOST_REMAINDER):
        half_units = digits + is_below_one
        modulus = 1 << (half_units - twos)
        for remainder in range(-most, most + 1):
            if remainder == 0 or remainder % (1 << twos):
                continue
            middle = -(remainder >> twos) * pow(odd, -1, modulus) % modulus
            middle += -(-max(least - middle, 0) // modulus) * modulus
            for number in range(middle, 2 * least, modulus):
                x = (number * divisor + remainder) >> half_units
                is_mantissa = least >> 1 <= x < least
                if number % 2 and is_mantissa and (x < divisor) == bool(is_below_one):
                    yield x


def _nearest(value: Fraction, digits: int) -> Fraction:
    """A positive number rounded to floats of any exponent, ties to even."""
    unit = _unit(value, digits)
    return round(value / unit) * unit


def _below(value: Fraction, digits: int) -> Fraction:
    unit = _unit(value, digits)
    return value // unit * unit


def _unit(value: Fraction, digits: int) -> Fraction:
    """The last place of a float that is as large as a positive number."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    return Fraction(2) ** (exponent - digits + 1)
