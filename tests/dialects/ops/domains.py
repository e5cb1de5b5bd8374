"""Where the values of op cases come from: named families of random and special values.

A domain is a function of a generator, a shape and a dtype. `special` starts with the values on which
implementations differ (NaN, infinities, both zeros, extreme numbers) and goes on at random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np

from adze.dialects.types import BOOL, COMPLEX, FLOAT16


def _info(dtype: np.dtype) -> Any:
    return ml_dtypes.finfo(dtype) if dtype.kind in "fV" else np.iinfo(dtype)


def _specials(dtype: np.dtype) -> list[Any]:
    if dtype == BOOL:
        return [False, True]
    info = _info(dtype)
    if dtype.kind in "iu":
        return [0, 1, info.max, info.min, info.max - 1, info.min + 1, 2, 3, 7]
    big, tiny = float(info.max), float(info.tiny)
    integers = [1.0, 2.0, 3.0, 0.5, 1.5, 2.5]
    small = [tiny / 4] if dtype == FLOAT16 else []  # the others' subnormals are flushed to zero by IREE
    finite = [0.0, *integers, *small, big, tiny, float(info.eps), 100.5]
    return [np.nan, *(s * v for v in [*finite, np.inf] for s in (1.0, -1.0))]


def _fill(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, head: list[Any]) -> np.ndarray:
    """`head` in a random order, then random values, as many as the shape holds."""
    count = int(np.prod(shape))
    start = np.array(head, dtype) if dtype.kind in "iu" else np.array(head).astype(dtype)
    start = rng.permutation(start)
    rest = spread(rng, (max(count - len(start), 0),), dtype)
    return np.concatenate([start, rest])[:count].reshape(shape)


def special(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The special values of the dtype, then random ones; two operands meet in many combinations."""
    if dtype in COMPLEX:
        part = np.dtype(f"f{dtype.itemsize // 2}")
        result = np.empty(shape, dtype)
        result.real, result.imag = spread(rng, shape, part), spread(rng, shape, part)
        return result
    with np.errstate(all="ignore"):
        values = _fill(rng, shape, dtype, _specials(dtype))
    return rng.permutation(values.reshape(-1)).reshape(shape)


def spread(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Random values over several magnitudes; integers over the whole range and small ones."""
    if dtype == BOOL:
        return rng.integers(0, 2, shape).astype(BOOL)
    if dtype.kind in "iu":
        info = _info(dtype)
        wide = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        small = rng.integers(-9 if dtype.kind == "i" else 0, 10, shape).astype(dtype)
        return np.where(rng.random(shape) < 0.5, wide, small).astype(dtype)
    if dtype in COMPLEX:
        return (
            spread(rng, shape, np.dtype(np.float64)) + 1j * spread(rng, shape, np.dtype(np.float64))
        ).astype(dtype)
    return (rng.standard_normal(shape) * 4.0 ** rng.integers(-3, 3, shape)).astype(dtype)


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Well-behaved values near one: what sums and products are tested with; small integers."""
    if dtype == BOOL:
        return rng.integers(0, 2, shape).astype(BOOL)
    if dtype.kind in "iu":
        return rng.integers(-5 if dtype.kind == "i" else 0, 6, shape).astype(dtype)
    if dtype in COMPLEX:
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def positive(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Finite values above zero."""
    if dtype.kind in "iu":
        return rng.integers(1, 6, shape).astype(dtype)
    return np.exp2(rng.uniform(-5, 5, shape)).astype(dtype)


def unit(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Values in [-1, 1], the ends and zeros among them."""
    if dtype in COMPLEX:
        return (rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
    count = int(np.prod(shape))
    values = np.concatenate([[-1.0, 1.0, 0.0, -0.0], rng.uniform(-1, 1, count)])[:count]
    return rng.permutation(values).reshape(shape).astype(dtype)


def distinct(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Values of which no two are equal (as far as the dtype has so many)."""
    count = int(np.prod(shape))
    values = rng.permutation(count) - (count // 2 if dtype.kind != "u" else 0)
    return values.reshape(shape).astype(dtype)


def few(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Few different values, NaN and both zeros among them: two operands are often equal."""
    values = [0, 1, 2] if dtype.kind in "biu" else [0.0, -0.0, 1.0, np.nan, np.inf, -np.inf]
    return rng.choice(np.array(values).astype(dtype), shape)


def halves(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Special values, and numbers around those where a conversion rounds, saturates or wraps."""
    if dtype.kind not in "fV":
        return special(rng, shape, dtype)
    values = special(rng, shape, dtype).reshape(-1)
    edges = [
        s * 2.0**k + d for k in (0, 7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1) for d in (-0.5, 0, 0.5)
    ]
    with np.errstate(all="ignore"):
        head = np.array(edges).astype(dtype)[: max(values.size // 2, 0)]
    values[: head.size] = head
    return values.reshape(shape)


def powers(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Bases of powers: complex ones away from the branch cut, where tiny differences turn the sign."""
    if dtype not in COMPLEX:
        return special(rng, shape, dtype)
    return (rng.uniform(0.5, 2, shape) + 1j * rng.uniform(-1, 1, shape)).astype(dtype)


def shifts(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Amounts to shift by: within the width, at it, above it, and negative."""
    width = 8 * dtype.itemsize
    amounts = rng.integers(0, width + 2, shape)
    return np.where(rng.random(shape) < 0.1, spread(rng, shape, dtype), amounts.astype(dtype)).astype(dtype)


def below(limit: int) -> Callable[[np.random.Generator, tuple[int, ...], np.dtype], np.ndarray]:
    """Integers in [0, limit): indices in range."""

    def domain(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return rng.integers(0, limit, shape).astype(dtype)

    return domain


DOMAINS: Final = {
    "special": special,
    "spread": spread,
    "normal": normal,
    "positive": positive,
    "unit": unit,
    "distinct": distinct,
}
