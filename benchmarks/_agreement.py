"""Whether two libraries computed the same.

Input: the results of a case in two libraries, and what must be equal.
Output: the largest difference in units of the tolerance; above 1, they disagree.
"""

from typing import Any

import ml_dtypes
import numpy as np
from _case import Agreement
from _peers import leaves

# Of the largest magnitude in an array. Sums of many numbers are in another order in each library.
TOLERANCE = {
    np.dtype(ml_dtypes.bfloat16): 2e-2,
    np.dtype(np.float16): 4e-3,
    np.dtype(np.float32): 2e-4,
    np.dtype(np.float64): 1e-8,
}


def disagreement(ours: Any, theirs: Any, agreement: Agreement, factor: float = 1.0) -> float:
    """The largest difference of two results divided by the tolerance; infinity for other shapes."""
    ours, theirs = list(leaves(ours)), list(leaves(theirs))
    if len(ours) != len(theirs):
        return float("inf")
    if agreement is Agreement.FIRST:
        ours, theirs = ours[:1], theirs[:1]
    differences = (
        of_arrays(np.asarray(one), np.asarray(other), agreement)
        for one, other in zip(ours, theirs, strict=True)
    )
    return float(max(differences, default=0.0)) / factor


def of_arrays(one: Any, other: Any, agreement: Agreement) -> float:
    if one.shape != other.shape:
        return float("inf")
    if one.size == 0:
        return 0.0
    if agreement is Agreement.MOMENTS:
        return of_moments(one.astype(np.float64), other.astype(np.float64))
    wide = np.complex128 if np.iscomplexobj(one) else np.float64
    tolerance = max(tolerance_of(one), tolerance_of(other))
    one, other = one.astype(wide), other.astype(wide)
    if agreement is Agreement.MAGNITUDES:
        one, other = np.abs(one), np.abs(other)
    if not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return float("inf")
    finite = np.isfinite(one)
    if not np.array_equal(one[~finite].astype(str), other[~finite].astype(str)):
        return float("inf")
    if not finite.any():
        return 0.0
    difference = float(np.abs(one[finite] - other[finite]).max())
    scale = max(float(np.abs(other[finite]).max()), 1e-30)
    if tolerance == 0.0:
        return 0.0 if difference == 0.0 else float("inf")
    return difference / (scale * tolerance)


def tolerance_of(array: Any) -> float:
    """Zero for integers and booleans: they are equal."""
    return TOLERANCE.get(array.real.dtype, 0.0)


def of_moments(one: Any, other: Any) -> float:
    """The difference of means and deviations in units of six standard errors of the mean."""
    error = 6.0 * max(float(other.std()), 1e-12) / np.sqrt(other.size) * np.sqrt(2.0)
    return max(abs(one.mean() - other.mean()), abs(one.std() - other.std())) / error
