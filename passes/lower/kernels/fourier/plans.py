"""Which steps a Fourier transform of a size is done in, and the roots of unity that they need.

Input: a size and the registers of a machine. Output: radices, a split of the size in two factors, tables.
Idea: everything here is numbers; the code of the kernel is in `stages.py` and `transforms.py`. Roots are
computed in float64 from exact integers modulo the size, and rounded once.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, isqrt, pi
from typing import Final

import numpy as np

from .....dialects.dataclass import dataclass

LARGEST_RADIX: Final = 31  # a prime factor up to here is one step
WIDE: Final = 512  # bits of registers of which there are 32: enough for a step of 8 complex vectors

# What one element costs in a step of a radix, in units of a load and a store.
_COSTS: Final = {2: 1.4, 3: 1.9, 4: 1.7, 5: 2.6, 8: 2.2}


@lru_cache(maxsize=256)
def radices(size: int, most: int) -> tuple[int, ...]:
    """The radices of the steps of a transform, large ones first; powers of two make steps of up to `most`."""
    found: list[int] = []
    for prime in (p for p in range(3, LARGEST_RADIX + 1, 2)):
        while size % prime == 0:
            found.append(prime)
            size //= prime
    assert size & (size - 1) == 0, "a prime factor that no step has"
    bits = size.bit_length() - 1
    while bits:
        step = min(bits, most.bit_length() - 1)
        if bits > step and bits - step == 1 and step > 2:
            step -= 1  # 4 and 4 rather than 8 and 2
        found.append(1 << step)
        bits -= step
    return tuple(sorted(found, reverse=True))


def is_smooth(size: int) -> bool:
    """Whether every prime factor has a step."""
    for prime in range(2, LARGEST_RADIX + 1):
        while size % prime == 0:
            size //= prime
    return size == 1


def cost(size: int, most: int) -> float:
    """What one element costs in all steps of a transform."""
    return sum(_COSTS.get(r, 1 + r / 3) for r in radices(size, most))


def speed(width: int, itemsize: int) -> float:
    """What a load and a store of a vector of so many elements cost: narrow ones are hardly faster."""
    return 0.4 + 0.6 * width * itemsize / 64


def _divisors(size: int) -> list[int]:
    small = [d for d in range(1, isqrt(size) + 1) if size % d == 0]
    return sorted({*small, *(size // d for d in small)})


@dataclass(frozen=True, slots=True)
class Split:
    """A size as `first * second`, and how many elements a vector has: at most the smaller factor.

    `cost`: that of the transform, in units of a load and a store of a vector.
    """

    first: int
    second: int
    width: int
    cost: float


@lru_cache(maxsize=256)
def best_split(size: int, lanes: int, most: int) -> Split:
    """The cheapest split: vectors that a factor is no multiple of do some of the work twice."""
    best = Split(1, size, 1, inf)
    for first in _divisors(size):
        second = size // first
        width = lanes
        while width > 1 and width > min(first, second):
            width //= 2
        columns = -(-second // width) * first * (cost(first, most) + 1.5)
        rows = -(-first // width) * second * (cost(second, most) + 0.5)
        if columns + rows < best.cost:
            best = Split(first, second, width, columns + rows)
    return best


def starts(count: int, width: int) -> list[int]:
    """Where vectors begin that cover so many elements: the last one may overlap the one before it."""
    return [min(place, count - width) for place in range(0, count, width)]


def roots(numerators: np.ndarray, size: int) -> np.ndarray:
    """``exp(-2 pi i numerators / size)`` as an array with a last axis of the two parts, exact to rounding."""
    eighth, rest = np.divmod(8 * (numerators.astype(np.int64) % size), size)
    is_odd = eighth % 2 == 1
    angle = np.where(is_odd, size - rest, rest) * (pi / (4 * size))
    cos, sin = np.cos(angle), np.sin(angle)
    cos, sin = np.where(is_odd, sin, cos), np.where(is_odd, cos, sin)
    quarter = eighth // 2
    real = np.choose(quarter, [cos, -sin, -cos, sin])
    imaginary = np.choose(quarter, [sin, cos, -sin, -cos])
    return np.stack([real, -imaginary], axis=-1)


def stage_roots(size: int, steps: tuple[int, ...]) -> np.ndarray:
    """The roots of all steps but the last: for each step, place `p` and output `j` from 1 on."""
    tables, rest = [np.zeros(0)], size
    for radix in steps[:-1]:
        places = np.outer(np.arange(rest // radix), np.arange(1, radix))
        tables.append(roots(places, rest).ravel())
        rest //= radix
    return np.concatenate(tables)


def column_roots(split: Split) -> tuple[np.ndarray, np.ndarray]:
    """The roots between the two factors, ``w ** (k * (start + lane))``, as products of two.

    The first has a row of real and one of imaginary parts for each `k`, by lanes; the second a root for each
    start and each `k`.
    """
    size, places = split.first * split.second, np.arange(split.first)
    lanes = np.moveaxis(roots(np.outer(places, np.arange(split.width)), size), -1, 1)
    begins = np.asarray(starts(split.second, split.width))
    return lanes.ravel(), roots(np.outer(begins, places), size).ravel()
