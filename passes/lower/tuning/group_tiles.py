"""Tiles of the kernels that multiply matrices of bfloat16 and int8 in groups (`kernels/grouped_products.py`).

Input: the sizes of a product, the dtypes of its factors and sums, and what the target's processor has.
Output: `GroupTiles`, or None where another form is as good.
Idea: a processor with matrix tiles (Intel's AMX) multiplies two tiles of 16 rows of 64 bytes in the time of
sixteen additions of vectors. Both factors are read tile by tile, so the time goes into packing the right one
where the left one has few rows. Others multiply vectors of groups: four bytes (VNNI), or two integers of 16
bits, to which bytes are widened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import BFLOAT16, FLOAT32, INT32
from ....runtime.targets import Target
from .configuration import has_kernels
from .product_tiles import ProductSizes
from .texts import has_many_registers

INT8: Final = np.dtype(np.int8)
UINT8: Final = np.dtype(np.uint8)
TILE_INSTRUCTIONS: Final = {
    (BFLOAT16, FLOAT32): ("amx_bf16", "tdpbf16ps"),
    (INT8, INT32): ("amx_int8", "tdpbssd"),
    (UINT8, INT32): ("amx_int8", "tdpbuud"),
}
"""By the dtypes of factors and sums: what the processor must have, and its instruction."""
BYTES_OF_GROUP: Final = 4
LEAST_ROWS: Final = 2  # fewer rows do not repay packing
LEAST_ROWS_OF_SHORTS: Final = 4  # the same where bytes are widened
LEAST_COLUMNS: Final = 16
LEAST_STEPS: Final = 16
WORK: Final = 1 << 16  # multiplications of a matrix that repay two kernels
BLOCK_ROWS: Final = 128
BLOCK_PANELS: Final = 4
FEW_ROWS: Final = 32  # up to so many are multiplied by panels that their kernel packs
FEW_PANELS: Final = 8  # of a workgroup then
WINDOWS: Final = 1 << 24  # bytes of the windows of a convolution that are copied at once
FEATURES: Final = 32  # of the image and of the result that repay copying the windows
VECTORS: Final = 2  # of a row of sums, where vectors are multiplied


@dataclass(frozen=True, slots=True)
class GroupTiles:
    """How a product of groups is cut.

    `instruction` multiplies two tiles, in which `group` elements along `k` lie side by side, or vectors of
    so many `lanes`, for which `rows` by `VECTORS` sums are held in registers. A workgroup does a block of
    `block_rows` rows by `block_panels` panels of 32 columns. `is_signed`: whether integers have signs.
    `is_of_few_rows`: whether the right operand is packed where it is multiplied.
    """

    instruction: str
    group: int
    block_rows: int = BLOCK_ROWS
    block_panels: int = BLOCK_PANELS
    is_signed: bool = True
    lanes: int = 0
    rows: int = 0
    is_of_few_rows: bool = False

    @property
    def is_of_vectors(self) -> bool:
        """Whether vectors are multiplied, and no matrix tiles."""
        return self.lanes > 0

    @property
    def has_flipped_panels(self) -> bool:
        """Whether the upper bits of the right operand's bytes are flipped (`kernels/vector_groups.py`)."""
        return self.instruction == "vpdpbusd"


def group_tiles(
    target: Target, sizes: ProductSizes, source: np.dtype, carried: np.dtype
) -> GroupTiles | None:
    """Tiles of a product of factors of dtype `source`, summed in dtype `carried`."""
    tiles = _tiles(target, source, carried) if has_kernels(target) else None
    if tiles is None:
        return None
    is_widened = tiles.group * source.itemsize < BYTES_OF_GROUP
    rows = LEAST_ROWS_OF_SHORTS if is_widened else LEAST_ROWS
    least = {"m": rows, "n": LEAST_COLUMNS, "k": LEAST_STEPS}
    known = {"m": sizes.m, "n": sizes.n, "k": sizes.k}
    if sizes.b == 0 or any(size is not None and size < least[name] for name, size in known.items()):
        return None
    if sizes.matrix_work < WORK:
        return None
    is_of_few_rows = not tiles.is_of_vectors and sizes.m is not None and sizes.m <= FEW_ROWS
    return replace(tiles, is_of_few_rows=True, block_panels=FEW_PANELS) if is_of_few_rows else tiles


def window_parts(
    target: Target, sizes: Sequence[object], window: Sequence[object], channels: object, dtype: np.dtype
) -> int | None:
    """Into how many parts the batch of a convolution is cut, each a product over its copied windows.

    None where the target has no matrix tiles for it, or sizes are not known. `sizes`: those of the result,
    the batch first and the features last.
    """
    known = [n for n in (*sizes, *window, channels) if isinstance(n, int)]
    if len(known) < len(sizes) + len(window) + 1 or min(known[len(sizes) - 1], known[-1]) < FEATURES:
        return None
    batch, rows, steps = known[0], prod(known[: len(sizes) - 1]), prod(known[len(sizes) :])
    tiles = group_tiles(target, ProductSizes(1, rows, known[len(sizes) - 1], steps), dtype, FLOAT32)
    if tiles is None or tiles.is_of_vectors:
        return None
    parts = (d for d in range(1, batch + 1) if batch % d == 0)
    return next((d for d in parts if rows // d * steps * dtype.itemsize <= WINDOWS), None)


def _tiles(target: Target, source: np.dtype, carried: np.dtype) -> GroupTiles | None:
    """What the target's processor has for these dtypes."""
    feature, instruction = TILE_INSTRUCTIONS.get((source, carried), ("", ""))
    if feature in target.required_features:
        return GroupTiles(instruction, BYTES_OF_GROUP // source.itemsize, is_signed=source != UINT8)
    if target.architecture != "x86_64" or source not in (INT8, UINT8) or carried != INT32:
        return None
    lanes = target.vector_bits // (8 * BYTES_OF_GROUP)
    has_bytes = ("avx512_vnni" if lanes == 16 else "avx_vnni") in target.required_features
    return GroupTiles(
        "vpdpbusd" if has_bytes else "vpmaddwd",
        BYTES_OF_GROUP if has_bytes else BYTES_OF_GROUP // 2,
        is_signed=source == INT8,
        lanes=lanes,
        rows=8 if has_many_registers(target) else 4,
    )
