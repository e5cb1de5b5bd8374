"""Tiles of the kernel that multiplies a matrix and two vectors in one sweep (`kernels/swept_rows.py`).

Input: the sizes of the matrix, its dtype and the target. Output: `SweepTiles`, or None where two kernels are
as good. Idea: one sweep saves loading a matrix that no near cache holds, as long as the rows that are done at
once stay in one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from .product_tiles import ProductSizes, RowTiles, row_tiles

LEAST_BYTES: Final = 1 << 18
"""Of a matrix whose second sweep costs more than adding the sums of the parts."""
MOST_BYTES: Final = 1 << 18
"""Of the rows that are done at once: they are in the second cache when they are needed again."""
BYTES_OF_PART: Final = 1 << 18
MOST_PARTS: Final = 16
LEAST_VECTORS: Final = 4
"""Of a row."""
LEAST_ROWS: Final = 8
"""Of a part, times those done at once."""
ELEMENTS_OF_FUNCTION: Final = 128
"""Elements of a row that take as long as a function of one number, which has no vectors here."""
VECTORS: Final = 2
"""Of sums that are loaded and stored for some rows."""


@dataclass(frozen=True, slots=True)
class SweepTiles:
    """The tiles of rows by a vector; how many `parts` share the rows; vectors of sums at once."""

    rows: RowTiles
    parts: int
    rows_of_part: int
    vectors: int


def sweep_tiles(
    target: Target, rows: int, size: int, dtype: np.dtype, functions: int = 0
) -> SweepTiles | None:
    """The tiles of a matrix of `rows` rows of `size` elements; `functions` are computed for each row."""
    tiles = row_tiles(target, ProductSizes(1, rows, 1, size), dtype)
    if tiles is None or size < max(LEAST_VECTORS * tiles.width, functions * ELEMENTS_OF_FUNCTION):
        return None
    row = size * dtype.itemsize
    if rows * row < LEAST_BYTES or tiles.rows * row > MOST_BYTES or rows < LEAST_ROWS * tiles.rows:
        return None
    wanted = min(max(rows * row // BYTES_OF_PART, 1), MOST_PARTS, rows // (LEAST_ROWS * tiles.rows))
    together = -(-rows // (wanted * tiles.rows))
    of_part = together * tiles.rows
    return SweepTiles(replace(tiles, block_rows=of_part), -(-rows // of_part), of_part, VECTORS)
