"""Forms and tiles of matrix products that IREE compiles.

Input: what is known of the target, the sizes of a product by letter, the orders of its operands' axes, its
dtype. Output: `ProductForm`, the text of a `compilation_info` attribute, sizes that tiles divide; or None.
Products that get a kernel of adze's own are not decided here (`product_tiles.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import BFLOAT16, FLOAT32, FLOAT64
from ....runtime.targets import Target, TargetKind
from . import gpu_products
from .configuration import SMALL, Size, reduction_tiles
from .gpu_facts import is_tiled
from .texts import divisor, has_many_registers, lanes, tiles_text

ROUNDED_FROM: Final = 1 << 18  # multiplications that repay copies of the operands to sizes that tiles divide


@dataclass(frozen=True, slots=True)
class Packing:
    """From which size and for how many rows a right operand is packed, and steps of k in a row then.

    One for targets with 32 vector registers, one for those with 16.
    """

    from_bytes: int
    from_rows: int
    step: int


# The stride of the right operand stalls the tiles: sooner with few registers.
PACKING_32: Final = Packing(1 << 18, 64, 4)
PACKING_16: Final = Packing(1 << 14, 32, 4)


def vector_product(
    target: Target, sizes: Mapping[str, Size], orders: tuple[str, str], loops: Sequence[str], dtype: np.dtype
) -> str | None:
    """Tiles of a product of a matrix and a vector whose loops are `loops`; the orders are the operands'."""
    if target.kind is not TargetKind.CPU or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    free = next((letter for letter in loops if letter in "mn"), None)
    matrix = orders[0] if free == "m" else orders[1]
    if free is None or "k" not in loops or prod(sizes[letter] for letter in matrix) < SMALL:
        return None
    return reduction_tiles(target, [sizes[c] for c in loops], len(loops) - 1, matrix.endswith("k"), dtype)


@dataclass(frozen=True, slots=True)
class ProductForm:
    """How a static matrix product is done: register tiles, and what becomes of the right operand first.

    `panel` is the width of the panels (k, panel) that the right operand is repacked into, None for none;
    `transpose` says that it is to be copied from (n, k) to (k, n).
    """

    tiles: str
    panel: int | None = None
    transpose: bool = False


def matrix_product(
    target: Target, sizes: Mapping[str, Size], right_order: str, loops: Sequence[str], dtype: np.dtype
) -> ProductForm | None:
    """Register tiles of two vectors by as many rows as divide `m`, swept over blocks that stay in cache.

    The right operand is read along n. One too large for the cache is first cut into panels, so that it is
    read in order; one that lies along k is first transposed: both copies are cheap beside the product.
    """
    if target.kind is not TargetKind.CPU or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    width = lanes(target, dtype)
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    rows = next((t for t in row_tiles(target) if m % t == 0), None)
    if rows is None or n % width or min(m, n, k) == 0:
        return None
    if n % (2 * width) and not has_many_registers(target) and _is_rounded(m, n, k, width):
        return None  # to two registers: half a tile would take as long
    columns = 2 * width if n % (2 * width) == 0 else width
    batched = "b" in loops
    ones, zeros = ([1], [0]) if batched else ([], [])
    block_rows = divisor(m, 64 if batched else 128, rows) or rows
    packing = PACKING_32 if has_many_registers(target) else PACKING_16
    if n * k * dtype.itemsize > packing.from_bytes and m >= packing.from_rows:
        tiles = tiles_text(
            distribution=[*ones, block_rows, divisor(n // columns, 4, 1) or 1, columns, 0],
            vector_common_parallel=[*ones, rows, 1, columns, 0],
            vector_reduction=[*zeros, 0, 0, 0, packing.step if k % packing.step == 0 else 1],
        )
        return ProductForm(tiles, panel=columns)
    tiles = tiles_text(
        distribution=[*ones, block_rows, divisor(n, 64 if batched else 256, columns) or columns, 0],
        vector_common_parallel=[*ones, rows, columns, 0],
        vector_reduction=[*zeros, 0, 0, 1],
    )
    return ProductForm(tiles, transpose=right_order.endswith("nk"))


def rounded_product(
    target: Target, sizes: Mapping[str, Size], loops: Sequence[str], dtype: np.dtype
) -> dict[str, Size] | None:
    """Sizes a little larger that register tiles divide, where the copies to get there repay; else None."""
    if is_tiled(target) and dtype in gpu_products.TILED:
        return gpu_products.rounded(sizes, loops)
    if target.kind is not TargetKind.CPU or dtype not in (FLOAT32, FLOAT64):
        return None
    if not all(isinstance(sizes[letter], int) for letter in loops):
        return None
    width = lanes(target, dtype)
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    if not _repays_rounding(m, n, k, width):
        return None
    rows = row_tiles(target)[0]
    has_rows = any(m % t == 0 for t in row_tiles(target) if t > rows // 2)
    columns = 2 * width if n > 8 * width else width
    whole = width if has_many_registers(target) else columns
    larger = m if has_rows else -(-m // rows) * rows, n if n % whole == 0 else -(-n // columns) * columns
    return None if larger == (m, n) else {**sizes, "m": larger[0], "n": larger[1]}


def widens_factors(target: Target, dtype: np.dtype) -> bool:
    """Whether factors are converted to the dtype of the sums before a product, and sums after it.

    Observed on Vulkan: large products of bfloat16 are refused ("failed to legalize operation
    'vector.bitcast'", from four of them to two floats). On Metal those of 8-bit integers are, since IREE adds
    up four products at once ("Capability 'DotProduct' requires min version v1.6").
    """
    if dtype in (np.int8, np.uint8):
        return target.kind is TargetKind.METAL
    return target.kind in (TargetKind.VULKAN, TargetKind.METAL) and dtype == BFLOAT16


def _repays_rounding(m: int, n: int, k: int, width: int) -> bool:
    """Whether the product is large enough for copies of the operands to other sizes."""
    return min(m, n, k) >= width and m * n * k >= ROUNDED_FROM


def _is_rounded(m: int, n: int, k: int, width: int) -> bool:
    """Whether `n` is to be rounded to two registers: it is wide, and the product is large."""
    return n > 8 * width and _repays_rounding(m, n, k, width)


def row_tiles(target: Target) -> tuple[int, ...]:
    """Rows of a register tile, the best first: 32 vector registers hold twice as many as 16."""
    return (8, 12, 10, 9, 7, 6, 5, 4, 3, 2) if has_many_registers(target) else (4, 6, 5, 3, 2)
