"""How close a compiled result must be to the evaluated one: the one table, each entry with its reason.

An error is counted in ulps of the expected value in the result's dtype; `absolute` adds that many ulps
of the largest expected magnitude, for results that come out of cancellation. Where the expected value is
subnormal, zero will do: IREE's CPU drivers flush (f16 is computed in f32 and keeps its own subnormals).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np

from adze.dialects.types import COMPLEX, FLOAT16


@dataclass(frozen=True)
class Tolerance:
    """`ulps` for real dtypes, `complex_ulps` for complex ones (the same unless stated).

    `absolute` allows that many ulps of the largest expected magnitude, `near_roots` that many of 1.
    """

    ulps: float
    reason: str
    complex_ulps: float | None = None
    absolute: float = 0.0
    near_roots: float = 0.0

    def of(self, dtype: np.dtype) -> float:
        return self.ulps if self.complex_ulps is None or dtype not in COMPLEX else self.complex_ulps


TOLERANCES: Final[dict[str, Tolerance]] = {
    "exact": Tolerance(0, "moved, selected, or rounded once as IEEE 754 has it"),
    "rounded": Tolerance(1, "one rounding apart: fused multiply-add; complex: four of them", complex_ulps=4),
    "modulus": Tolerance(0, "exact; complex: a square root of a sum of squares", complex_ulps=2),
    "transcendental": Tolerance(4, "polynomials of our own or of IREE against those of the C library"),
    "power": Tolerance(4, "as transcendental; complex: e ** (y log x) magnifies an error", complex_ulps=64),
    "special": Tolerance(8, "our polynomials against SciPy's", near_roots=4),
    "digamma": Tolerance(
        8, "as special; for x < 0 it is a difference of terms near its poles", near_roots=32
    ),
    "sum": Tolerance(16, "terms are added in another order", absolute=16),
    "product": Tolerance(64, "factors are multiplied in another order"),
}
LOOSER_ON_GPUS: Final[dict[str, Tolerance]] = {
    "abs": Tolerance(2, "complex: lavapipe rounds ratio * ratio before it adds 1, CPUs and NumPy do not"),
}
"""What a GPU does less exactly than a CPU, by the name of the op."""


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
    if (tolerance.absolute or tolerance.near_roots) and expected.dtype.kind not in "biu":
        near = _near(expected, actual, tolerance)
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


def _near(expected: np.ndarray, actual: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """Where the error is small beside the largest expected magnitude, or beside 1."""
    wide = expected.astype(np.float64)
    scale = np.max(np.abs(wide), where=np.isfinite(wide), initial=0.0)
    allowed = max(tolerance.absolute * scale, tolerance.near_roots)
    with np.errstate(all="ignore"):
        return np.abs(actual.astype(np.float64) - wide) <= allowed * float(
            ml_dtypes.finfo(expected.dtype).eps
        )


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
    if expected.dtype != FLOAT16:
        flushed = (got == 0) & (size < float(info.tiny)) & (wide != 0)
        distance, unlike = np.where(flushed, 0.0, distance), unlike & ~flushed
    return np.where(unlike | np.isnan(distance), np.inf, distance)
