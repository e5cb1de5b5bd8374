"""Remainders of floats are exact for every pair of operands, with fused operations and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze.runtime.targets import parse_target

HOST = parse_target("cpu")
WITHOUT = "cpu:x86-64-v2"


def pairs(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all exponents, near multiples, few digits, and special ones."""
    rng = np.random.default_rng(0)
    bits, count = np.dtype(f"i{np.dtype(dtype).itemsize}"), 20_000
    every = np.iinfo(bits)
    x, y = (rng.integers(every.min, every.max, count, dtype=bits).view(dtype) for _ in range(2))
    divisors = rng.standard_normal(count).astype(dtype)
    multiples = (divisors * rng.integers(-1000, 1000, count)).astype(dtype)
    multiples[::2] = np.nextafter(multiples[::2], dtype(np.inf))
    digits = np.array([1, 1.5, np.nextafter(dtype(2), dtype(0)), np.nextafter(dtype(1), dtype(2))], dtype)
    few = [np.ldexp(rng.choice(digits, count), rng.integers(-100, 120, count)) for _ in range(2)]
    info = np.finfo(dtype)
    special = np.array([0, -0.0, np.inf, np.nan, 1, -2.5, info.max, info.tiny], dtype)
    ends = np.repeat(special, len(special)), np.tile(special, len(special))
    left, right = zip((x, y), (multiples, divisors), few, ends, strict=True)
    return np.concatenate(left).astype(dtype), np.concatenate(right).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("target", ["cpu", WITHOUT])
def test_remainders_are_exact(target: str, dtype: Any) -> None:
    if target == WITHOUT and HOST.architecture != "x86_64":
        pytest.skip("every other processor that adze compiles for has fused operations")
    assert parse_target(target).multiplies_and_adds is (target != WITHOUT and HOST.multiplies_and_adds)
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        want = np.fmod(x, y)
    tiny = np.finfo(dtype).tiny
    # Processors may take subnormal numbers for zeros.
    is_normal = [(np.abs(numbers) >= tiny) | (numbers == 0) | np.isnan(numbers) for numbers in (x, y, want)]
    kept = np.logical_and.reduce(is_normal)
    assert kept.mean() > 0.9
    spec = adze.ShapeDtype(x.shape, dtype)
    program = adze.trace(lax.rem, spec, spec).lower(target).compile()
    got = np.asarray(program(x, y))
    np.testing.assert_array_equal(got[kept], want[kept])
    known = kept & ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))
