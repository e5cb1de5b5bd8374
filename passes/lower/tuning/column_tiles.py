"""When the columns of matrices are reduced by a kernel of our own (`kernels/columns.py`), and by how many.

Input: a target, the sizes of a reduction and its dtype. Output: `ColumnTiles`, or None where IREE's own code
is as fast: matrices that the second cache holds, and narrow ones. Of narrow ones, how many rows become one,
so that registers divide it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Final

import numpy as np

from ....dialects.types import COMPLEX, FLOAT32, FLOAT64
from ....runtime.targets import Target, TargetKind
from .configuration import column_strip, has_kernels
from .product_tiles import ARCHITECTURES
from .texts import lanes

LEAST_BYTES: Final = 1 << 21  # of an array: smaller ones IREE reduces as fast
ROW_LEAST: Final = 1 << 10  # bytes of a row
BLOCK_BYTES: Final = 1 << 13  # of the columns of a workgroup
ROWS: Final = 4  # rows at once
VECTORS: Final = 4  # vectors of a row in an iteration
LEAST_JOINED: Final = 1 << 14  # elements of an array whose rows are joined
ROWS_JOINED: Final = 16  # joined rows at least
WIDEST_STORED: Final = 16  # registers of a row that lies in memory
WIDEST_COMPUTED: Final = 8  # registers of a row whose elements are computed


@dataclass(frozen=True, slots=True)
class ColumnTiles:
    """Rows that are scanned at once, vectors of `width` elements in an iteration, columns of a workgroup."""

    width: int
    vectors: int
    rows: int
    block_columns: int


def column_tiles(target: Target, sizes: tuple[int, int, int], dtype: np.dtype) -> ColumnTiles | None:
    """Tiles for the columns of matrices `[b, r, c]`."""
    batches, rows, columns = sizes
    if not has_kernels(target) or target.architecture not in ARCHITECTURES or dtype not in (FLOAT32, FLOAT64):
        return None
    if columns * dtype.itemsize < ROW_LEAST or batches * rows * columns * dtype.itemsize < LEAST_BYTES:
        return None
    if rows < 2 * ROWS:
        return None
    width = lanes(target, dtype)
    step = width * VECTORS
    return ColumnTiles(width, VECTORS, ROWS, max(BLOCK_BYTES // dtype.itemsize // step, 1) * step)


def rows_joined(
    target: Target, sizes: tuple[int, int, int], dtype: np.dtype, *, is_stored: bool
) -> int | None:
    """How many rows of `[b, r, c]` become one before its columns are reduced, None for none.

    A strip of columns has to be a power of two of lanes: of 3 or 20 columns none is. Measured: 64 rows of 3
    columns as one of 192 are reduced 12 times as fast. An operand that is computed on the way is then stored
    first (`is_stored` is false), which repays where there is no strip at all.
    """
    batches, rows, columns = sizes
    if target.kind is not TargetKind.CPU or dtype in COMPLEX or batches * rows * columns < LEAST_JOINED:
        return None
    width = lanes(target, dtype)
    joined = VECTORS * width // gcd(VECTORS * width, columns)
    most = (WIDEST_STORED if is_stored else WIDEST_COMPUTED) * width
    if joined == 1 or not 1 < columns <= most or rows < ROWS_JOINED * joined:
        return None
    if not is_stored and column_strip(target, columns, width) is not None:
        return None
    return joined
