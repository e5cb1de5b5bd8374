"""The numbers of Fourier transforms: cosines and sines of fractions of the circle, exact to rounding.

Input: integers. Output: float64 arrays.
"""

from __future__ import annotations

import numpy as np


def angles(numerators: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine of ``-2 pi numerators / n``, from the first octant, so exact to rounding."""
    eighth, rest = np.divmod(8 * (numerators.astype(np.int64) % n), n)
    odd = eighth % 2 == 1
    small = np.where(odd, n - rest, rest) * (np.pi / (4 * n))
    cos, sin = np.cos(small), np.sin(small)
    cos, sin = np.where(odd, sin, cos), np.where(odd, cos, sin)  # an angle within its quarter turn
    quarter = eighth // 2
    real = np.choose(quarter, [cos, -sin, -cos, sin])
    imaginary = np.choose(quarter, [sin, cos, -sin, -cos])
    return real, -imaginary
