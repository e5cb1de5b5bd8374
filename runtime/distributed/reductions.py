"""Sums, maxima and minima of the arrays of several ranks: in the order of the ranks, so that all agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def reduced(kind: str, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The elementwise sum, max or min; halves are added in float32 and rounded once, NaN stays NaN."""
    first = arrays[0]
    if kind != "sum":
        step = np.maximum if kind == "max" else np.minimum
        total = first.copy()
        for other in arrays[1:]:
            total = np.asarray(step(total, other), first.dtype)
        return total
    is_half = first.dtype.itemsize == 2 and first.dtype.kind in "fV"
    total = first.astype(np.float32) if is_half else first.copy()
    with np.errstate(all="ignore"):
        for other in arrays[1:]:
            total = np.asarray(np.add(total, other.astype(total.dtype)), total.dtype)
        return total.astype(first.dtype, copy=False)
