"""Division by constants with two multiplications: the quotients are those of a division, to the bit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import adze
from adze.passes.lower.reciprocals import _close_to_a_middle, reciprocal

NUMBERS = (255.0, 0.2, 0.9, 0.02, 81.0, 50.0, 3.0, 7.0, -0.3, 12544.0, 1e-3, 0.05, 1e20, -3e-25)
DIGITS = {np.float32: 24, np.float64: 53}


def rounded(value: Fraction, digits: int) -> Fraction:
    """To the nearest of so many digits, ties to even."""
    if not value:
        return value
    exponent = 0
    while abs(value) >= Fraction(2) ** (exponent + digits):
        exponent += 1
    while abs(value) < Fraction(2) ** (exponent + digits - 1):
        exponent -= 1
    return round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent


def quotients(x: int, divisor: float, parts: tuple[float, float], digits: int) -> tuple[Fraction, Fraction]:
    """The quotient by two multiplications, and by a division."""
    high, low = map(Fraction, parts)
    return rounded(x * high + rounded(x * low, digits), digits), rounded(x / Fraction(divisor), digits)


@pytest.mark.parametrize("digits", DIGITS.values())
def test_quotients_are_those_of_a_division(digits: int) -> None:
    dtype = {24: np.float32, 53: np.float64}[digits]
    random = np.random.default_rng(digits)
    divisors = [*NUMBERS, *random.uniform(1, 2, 30)]
    found = 0
    for divisor in map(float, map(dtype, divisors)):
        parts = reciprocal(divisor, digits)
        if parts is None:
            continue
        found += 1
        assert parts == tuple(map(float, map(dtype, parts)))
        assert parts[0] * parts[1] > 0, "an infinity times one part plus the other would be NaN"
        mantissa = int(np.frexp(abs(divisor))[0] * 2**digits)
        close = list(_close_to_a_middle(mantissa, digits))
        others = [int(n) for n in random.integers(2 ** (digits - 1), 2**digits, 40)]
        for x in (*close, *others, mantissa, mantissa - 1, mantissa + 1):
            got, want = quotients(x, divisor, parts, digits)
            assert got == want, (divisor, x)
    assert found > 0.8 * len(divisors)


def test_divisors_without_parts() -> None:
    for divisor in (0.0, -0.0, 1.0, 2.0, -0.25, float("inf"), float("nan"), 1e38, 1e-38):
        assert reciprocal(divisor, 24) is None
    assert reciprocal(float(np.float32(0.95)), 24) is None  # some quotients would be rounded wrong
    assert reciprocal(0.95, 53) is not None


def test_all_mantissas_of_a_divisor() -> None:
    """By doubles: they hold the sum before it is rounded, since `low` is not much less than it may be."""
    divisor = np.float32(0.9)
    parts = reciprocal(float(divisor), 24)
    assert parts is not None
    high, low = map(np.float32, parts)
    assert low > high * np.float32(2**-27)
    x = np.arange(2**23, 2**24, dtype=np.int32).astype(np.float32)
    total = x.astype(np.float64) * np.float64(high) + (x * low).astype(np.float64)
    np.testing.assert_array_equal(total.astype(np.float32), x / divisor)


@pytest.mark.parametrize("dtype", DIGITS)
def test_kernels_divide_by_constants(dtype: type) -> None:
    random = np.random.default_rng(0)
    x = (random.standard_normal(6000) * 10.0 ** random.integers(-20, 20, 6000)).astype(dtype)
    x[:6] = np.inf, -np.inf, np.nan, 0.0, -0.0, np.finfo(dtype).max
    divisors = [dtype(n) for n in (*NUMBERS[:11], 0.95)]

    def divided(x: Any) -> list[Any]:
        return [x / n for n in divisors]

    with np.errstate(all="ignore"):
        want = divided(x)
    for got, expected, n in zip(adze.jit(divided)(x), want, divisors, strict=True):
        np.testing.assert_array_equal(got, expected, str(n))
        is_number = ~np.isnan(np.asarray(expected))
        np.testing.assert_array_equal(np.signbit(got)[is_number], np.signbit(expected)[is_number], str(n))
    kernels = adze.trace(divided, x).lower("cpu:x86-64-v3").kernels()
    assert kernels.count("math.fma") >= len(NUMBERS[:11])
