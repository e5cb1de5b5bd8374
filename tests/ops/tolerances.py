"""How close a compiled result must be to the evaluated one: the one table, each entry with its reason.

An error is counted in ulps of the expected value in the result's dtype; `absolute` adds that many ulps
of the largest expected magnitude, for results that come out of cancellation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np

from adze.dialects.types import COMPLEX, dtype_name


@dataclass(frozen=True)
class Tolerance:
    """`ulps` for every inexact dtype; `by_dtype` (MLIR names) overrides it."""

    ulps: float
    reason: str
    absolute: float = 0.0
    by_dtype: Mapping[str, float] | None = None

    def of(self, dtype: np.dtype) -> float:
        return (self.by_dtype or {}).get(dtype_name(dtype), self.ulps)


TOLERANCES: Final[dict[str, Tolerance]] = {
    "exact": Tolerance(0, "moved, selected, or rounded once as IEEE 754 has it"),
    "rounded": Tolerance(1, "one rounding apart: fused multiply-add, or a narrow type computed in f32"),
    "transcendental": Tolerance(4, "polynomials of the compiler against those of the C library"),
    "modulus": Tolerance(2, "complex: a square root of rounded squares", by_dtype={"f32": 0, "f64": 0}),
    "special": Tolerance(8, "our polynomials against SciPy's"),
    "sum": Tolerance(16, "terms are added in another order", absolute=16),
    "product": Tolerance(64, "factors are multiplied in another order"),
}


def difference(expected: np.ndarray, actual: np.ndarray, tolerance: Tolerance) -> str:
    """Empty when `actual` is close enough; otherwise what differs most, in one sentence."""
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return f"expected {expected.dtype}{expected.shape}, got {actual.dtype}{actual.shape}"
    if expected.dtype in COMPLEX:
        return _difference(*(_as_reals(a) for a in (expected, actual)), tolerance, expected, actual)
    return _difference(expected, actual, tolerance, expected, actual)


def _as_reals(z: np.ndarray) -> np.ndarray:
    return np.stack([z.real, z.imag], axis=-1)


def _difference(expected: np.ndarray, actual: np.ndarray, tolerance: Tolerance, whole: Any, got: Any) -> str:
    error = ulps(expected, actual, whole)
    allowed = tolerance.of(whole.dtype)
    if tolerance.absolute and error.size:
        near = _near(expected, actual, tolerance.absolute)
        error = np.where((error <= allowed) | near, 0.0, error)
    bad = ~(error <= allowed)
    if not bad.any():
        return ""
    worst = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
    place = worst[: whole.ndim]
    return (
        f"{int(bad.sum())} of {bad.size} elements differ by more than {allowed} ulps; worst at {place}: "
        f"expected {whole[place]!r}, got {got[place]!r} ({error[worst]:.3g} ulps)"
    )


def _near(expected: np.ndarray, actual: np.ndarray, allowed: float) -> np.ndarray:
    """Where the error is below `allowed` ulps of the largest expected magnitude."""
    wide = expected.astype(np.float64)
    scale = np.max(np.abs(wide), where=np.isfinite(wide), initial=0.0)
    unit = scale * float(ml_dtypes.finfo(expected.dtype).eps)
    with np.errstate(all="ignore"):
        return np.abs(actual.astype(np.float64) - wide) <= allowed * unit


def ulps(expected: np.ndarray, actual: np.ndarray, whole: np.ndarray | None = None) -> np.ndarray:
    """The distance in ulps of `expected`; infinite where a NaN, an infinity or the sign of zero differs.

    For parts of complex numbers (`whole`) the ulp is that of the larger part.
    """
    if expected.dtype.kind in "biu":
        return np.where(expected == actual, 0.0, np.inf)
    wide, got = expected.astype(np.float64), actual.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.abs(wide)
        if whole is not None and whole.dtype in COMPLEX:
            size = np.max(size, axis=-1, keepdims=True)
        info: Any = ml_dtypes.finfo(expected.dtype)
        exponent = np.floor(np.log2(np.maximum(size, float(info.tiny))))
        unit = np.exp2(np.where(np.isfinite(exponent), exponent, 0.0)) * float(info.eps)
        distance = np.abs(got - wide) / unit
    same = (wide == got) & (np.signbit(wide) == np.signbit(got))
    distance = np.where(same | (np.isnan(wide) & np.isnan(got)), 0.0, distance)
    unlike = (np.isnan(wide) != np.isnan(got)) | (np.isinf(wide) != np.isinf(got))
    unlike |= (wide == 0) & (got == 0) & ~same
    return np.where(unlike | np.isnan(distance), np.inf, distance)
