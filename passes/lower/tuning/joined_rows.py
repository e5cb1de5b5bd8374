"""Of matrices of few columns, how many rows become one before their columns are reduced.

Input: a target, the sizes of a reduction and its dtype. Output: how many rows, None for one.
Idea: IREE reduces a strip of columns that is a power of two of lanes: of 3 columns there is none.
"""

from __future__ import annotations

from math import gcd
from typing import Final

import numpy as np

from ....dialects.types import COMPLEX, FLOAT32, FLOAT64
from ....runtime.targets import Target, TargetKind
from .column_tiles import NARROWEST
from .configuration import column_strip
from .product_tiles import ARCHITECTURES
from .texts import lanes

VECTORS: Final = 4  # vectors of a row in an iteration
LEAST_JOINED: Final = 1 << 14  # elements of an array whose rows are joined
ROWS_JOINED: Final = 16  # joined rows at least
WIDEST_STORED: Final = 16  # registers of a row that lies in memory
WIDEST_COMPUTED: Final = 8  # registers of a row whose elements are computed


def rows_joined(
    target: Target, sizes: tuple[int, int, int], dtype: np.dtype, *, is_stored: bool
) -> int | None:
    """How many rows of `[b, r, c]` become one before its columns are reduced, None for none.

    Measured: 64 rows of 3 columns as one of 192 are reduced 12 times as fast. An operand that is computed on
    the way is then stored first (`is_stored` is false), which repays where there is no strip at all.
    """
    batches, rows, columns = sizes
    if target.kind is not TargetKind.CPU or dtype in COMPLEX or batches * rows * columns < LEAST_JOINED:
        return None
    if columns >= NARROWEST and target.architecture in ARCHITECTURES and _has_scans(dtype):
        return None  # kernels of columns take them, with what is computed around
    width = lanes(target, dtype)
    # A rest would be summed by itself, and IREE copies the other rows.
    several = [count * width // gcd(count * width, columns) for count in range(VECTORS, 0, -1)]
    joined = next((n for n in several if rows % n == 0), several[0])
    most = (WIDEST_STORED if is_stored else WIDEST_COMPUTED) * width
    if joined == 1 or not 1 < columns <= most or rows < ROWS_JOINED * joined:
        return None
    if not is_stored and column_strip(target, columns, width) is not None:
        return None
    return joined


def _has_scans(dtype: np.dtype) -> bool:
    """Whether kernels of columns compute with a dtype (`kernels/reduction_programs.py`)."""
    return dtype in (FLOAT32, FLOAT64) or dtype.kind in "biu"
