"""Transforms of sizes with a large prime factor, as cyclic convolutions of a length that has steps.

Input: a size, and what transforms of a length cost. Output: the length, the numbers that the convolution
needs, and, for a prime, the order in which it takes the elements.
Idea: ``2 j k = j^2 + k^2 - (k - j)^2`` makes any transform a convolution with a chirp, of a length of at
least ``2 n - 1`` (Bluestein 1970). The powers of a generator number the elements of a prime `n` from 1 on so
that the products of places become sums: a convolution of length ``n - 1`` itself (Rader 1968). The spectra of
what is convolved with are computed in the longest float of the machine and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from .....dialects.dataclass import dataclass
from .plans import is_smooth, roots


@dataclass(frozen=True, slots=True)
class Cyclic:
    """A transform of `size` elements by a convolution, `in_powers` of a generator or with a chirp."""

    size: int
    length: int
    in_powers: bool

    def chirp(self) -> np.ndarray:
        """``exp(-pi i k^2 / n)`` for each place: the two parts along the last axis."""
        order = np.arange(self.size, dtype=np.int64)
        return roots(order * order, 2 * self.size)

    def response(self) -> np.ndarray:
        """The spectrum of what the elements are convolved with, divided by the length; parts last."""
        if self.in_powers:
            kernel = _complex(roots(self.powers()[::-1], self.size))
            kernel = np.roll(kernel, 1)  # of the powers 0, -1, -2, ...
        else:
            half = _complex(self.chirp()).conj()
            kernel = np.zeros(self.length, half.dtype)
            kernel[: self.size] = half
            kernel[self.length - self.size + 1 :] = half[:0:-1]
        spectrum = np.fft.fft(kernel) / self.length
        return np.stack([spectrum.real, spectrum.imag], axis=-1).astype(np.float64)

    def powers(self) -> np.ndarray:
        """The powers of a generator modulo the size, from 0 on."""
        found = [1]
        generator = _generator(self.size)
        while len(found) < self.length:
            found.append(found[-1] * generator % self.size)
        return np.asarray(found, np.int64)


def _complex(parts: np.ndarray) -> np.ndarray:
    return parts[..., 0].astype(np.longdouble) + 1j * parts[..., 1].astype(np.longdouble)


def best_cyclic(size: int, cost: Callable[[int], float]) -> Cyclic:
    """The convolution that costs least, where `cost(length)` is what a transform costs."""
    best = best_chirp(size, cost)
    if _is_prime(size) and is_smooth(size - 1) and cost(size - 1) <= cost(best.length):
        return Cyclic(size, size - 1, True)
    return best


def best_chirp(size: int, cost: Callable[[int], float]) -> Cyclic:
    """The convolution with a chirp that costs least."""
    return Cyclic(size, min(_chirp_lengths(2 * size - 1), key=cost), False)


@lru_cache(maxsize=256)
def _chirp_lengths(least: int) -> tuple[int, ...]:
    """The lengths from `least` to half more whose prime factors are 2, 3 and 5."""
    most = least + least // 2
    threes = [3**a * 5**b for a in range(4) for b in range(4)]
    found = {odd << (-(-least // odd) - 1).bit_length() for odd in threes}
    return tuple(sorted(n for n in found if least <= n <= most))


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def _generator(prime: int) -> int:
    """The least number whose powers are all numbers from 1 to ``prime - 1``."""
    factors = [d for d in range(2, prime) if (prime - 1) % d == 0 and _is_prime(d)]
    return next(g for g in range(2, prime) if all(pow(g, (prime - 1) // f, prime) != 1 for f in factors))
