"""Tiles of the kernels that multiply matrices of bfloat16 and int8 in groups (`kernels/grouped_products.py`).

Input: the sizes of a product, the dtypes of its factors and sums, and what the target's processor has.
Output: `GroupTiles`, or None where another form is as good.
Idea: a processor with matrix tiles (Intel's AMX) multiplies two tiles of 16 rows of 64 bytes in the time of
sixteen additions of vectors. Both factors are read tile by tile, so the time goes into packing the right one
where the left one has few rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ....dialects.types import BFLOAT16, FLOAT32, INT32
from ....runtime.targets import Target
from .configuration import has_kernels
from .product_tiles import ProductSizes

INT8: Final = np.dtype(np.int8)
UINT8: Final = np.dtype(np.uint8)
TILE_INSTRUCTIONS: Final = {
    (BFLOAT16, FLOAT32): ("amx_bf16", "tdpbf16ps"),
    (INT8, INT32): ("amx_int8", "tdpbssd"),
    (UINT8, INT32): ("amx_int8", "tdpbuud"),
}
"""By the dtypes of factors and sums: what the processor must have, and its instruction."""
LEAST_ROWS: Final = 2  # fewer rows do not repay packing
LEAST_COLUMNS: Final = 16
LEAST_STEPS: Final = 16
WORK: Final = 1 << 16  # multiplications of a matrix that repay two kernels
BLOCK_ROWS: Final = 128
BLOCK_PANELS: Final = 4


@dataclass(frozen=True, slots=True)
class GroupTiles:
    """How a product of groups is cut.

    `instruction` multiplies two tiles, in which `group` elements along `k` lie side by side. A workgroup does
    a block of `block_rows` rows by `block_panels` panels of 32 columns.
    """

    instruction: str
    group: int
    block_rows: int
    block_panels: int


def group_tiles(
    target: Target, sizes: ProductSizes, source: np.dtype, carried: np.dtype
) -> GroupTiles | None:
    """Tiles of a product of factors of dtype `source`, summed in dtype `carried`."""
    feature, instruction = TILE_INSTRUCTIONS.get((source, carried), ("", ""))
    if not has_kernels(target) or feature not in target.required_features:
        return None
    least = {"m": LEAST_ROWS, "n": LEAST_COLUMNS, "k": LEAST_STEPS}
    known = {"m": sizes.m, "n": sizes.n, "k": sizes.k}
    if sizes.b == 0 or any(size is not None and size < least[name] for name, size in known.items()):
        return None
    if sizes.matrix_work < WORK:
        return None
    return GroupTiles(instruction, 4 // source.itemsize, BLOCK_ROWS, BLOCK_PANELS)
