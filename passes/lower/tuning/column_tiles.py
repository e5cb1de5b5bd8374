"""When the columns of matrices are reduced by a kernel of our own (`kernels/columns.py`), and by how many.

Input: a target, the sizes of a reduction and its dtype. Output: `ColumnTiles`, or None where IREE's own code
is as fast: matrices that the second cache holds, and narrow ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ....dialects.types import FLOAT32, FLOAT64
from ....runtime.targets import Target
from .configuration import has_kernels
from .product_tiles import ARCHITECTURES
from .texts import lanes

LEAST_BYTES: Final = 1 << 21  # of an array: smaller ones IREE reduces as fast
ROW_LEAST: Final = 1 << 10  # bytes of a row
BLOCK_BYTES: Final = 1 << 13  # of the columns of a workgroup
ROWS: Final = 4  # rows at once
VECTORS: Final = 4  # vectors of a row in an iteration


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
