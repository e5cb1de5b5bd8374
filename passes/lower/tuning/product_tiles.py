"""Tiles of the kernels that multiply matrices (`kernels/products.py`), and which products get one.

Input: the sizes of a product, the orders of its operands' axes, the target's registers.
Output: `ProductTiles`, or None where IREE's form is as good.
Idea: the sums of a tile stay in registers: 24 of 32, or 12 of 16. With many rows, the time goes into
arithmetic, and panels of the right operand are packed for being loaded in order. With few rows it goes into
loading the right operand: a few of its rows are scanned at once, as they lie, and the sums are in the cache.
The numbers are measured (`docs/kernels.md`).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import FLOAT32, FLOAT64
from ....runtime.targets import Target
from .configuration import has_kernels
from .texts import divisor, has_many_registers, lanes

ARCHITECTURES: Final = ("x86_64", "aarch64")
WORK: Final = 1 << 18  # multiplications that repay a kernel
WORK_OF_UNEVEN: Final = 1 << 14  # the same where no tiles of IREE's divide the sizes
WORK_OF_VECTOR: Final = 1 << 14  # the same for a few rows, whose time goes into loading
WORK_OF_BATCH: Final = 1 << 16  # the same for each matrix of a batch
FEW: Final = 8  # up to so many rows wait for memory
PACKED_ROWS: Final = 32  # rows that repay packing
PACKED_ROWS_OF_CALL: Final = 64  # the same where it shows at the call how many there are
PACKED_BYTES: Final = 1 << 15  # a smaller right operand is in the nearest cache as it lies
DEPTH: Final = 512  # steps along k at most, for panels that the second cache holds
SHALLOW: Final = 8  # rows of the right operand that are scanned at once
BLOCK_ROWS: Final = 96
BLOCK_COLUMNS: Final = 128
SUMS: Final = 1 << 15  # bytes of sums of a workgroup that waits for memory
ROWS_BESIDE: Final = 4  # rows that share the loads of a vector
VECTORS_OF_ROW: Final = 2  # vectors of partial sums of each
ROW_ELEMENTS: Final = 1 << 15  # elements of the rows that one workgroup multiplies by a vector
SIZE_OF_A_CALL: Final = 32  # rows or columns, where it shows at the call how many there are
MATRICES_OF_A_CALL: Final = 8  # the same of matrices
WORK_OF_COUNTED: Final = 1 << 11  # the multiplications of each that repay a kernel then
ROWS_OF_WINDOWS: Final = 8
ROWS_OF_IREE: Final = 4  # that its tiles of vectors have at least
STRIDE: Final = 2048  # rows that begin so many bytes apart compete for places in the cache
PAGE: Final = 4096
SYMMETRIC_ROWS: Final = 64  # of a matrix that is multiplied by its transpose, from which on half is computed
SYMMETRIC_STEPS: Final = 128  # and steps along k, each of which saves what copying the other half costs
STEP_OF_ROWS: Final = (0.0, 3.7, 3.9, 4.2, 4.7, 5.2, 6.0)  # cycles along k of a tile of two vectors of AVX2
PACKED_LEFT_ROWS: Final = 64  # of a left operand with rows across k that repay copying
PACKED_LEFT_VECTORS: Final = 12  # the same of vectors of columns
PACKED_LEFT_COLUMNS: Final = 64  # the same of columns where its steps are on pages of their own


@dataclass(frozen=True, slots=True)
class ProductSizes:
    """`out[b, m, n] = sum_k left[b, m, k] right[b, k, n]`; None for what shows at the call."""

    b: int | None
    m: int | None
    n: int | None
    k: int | None

    @property
    def matrix_work(self) -> int:
        """The multiplications of one matrix of the batch."""
        return prod(SIZE_OF_A_CALL if size is None else size for size in (self.m, self.n, self.k))

    @property
    def work(self) -> int:
        """All multiplications."""
        return (MATRICES_OF_A_CALL if self.b is None else self.b) * self.matrix_work


@dataclass(frozen=True, slots=True)
class ProductTiles:
    """How a product is cut.

    Sums of `rows` by `vectors` of `width` elements are held in registers. A workgroup does a block of
    `block_rows` by `block_columns` (multiples of the tile's), `depth` steps along k at once. `is_packed`: the
    right operand is copied to panels of a tile's columns before, `packed_panels` by each workgroup.
    `packs_left`: the left one, whose rows lie across `k`, is copied to panels of `rows` before.
    `is_symmetric`: tiles below the diagonal of the result are left out.
    """

    width: int
    rows: int
    vectors: int
    depth: int
    block_rows: int
    block_columns: int
    is_packed: bool = False
    packed_panels: int = 4
    packs_left: bool = False
    is_symmetric: bool = False

    @property
    def columns(self) -> int:
        """The columns of a tile."""
        return self.width * self.vectors

    @property
    def of_left(self) -> ProductTiles:
        """The tiles with which a left operand `[b, k, m]` is packed: as a right one with their rows."""
        panels = self.block_rows // self.rows
        return replace(self, width=self.rows, vectors=1, packed_panels=panels)


@dataclass(frozen=True, slots=True)
class RowTiles:
    """How rows are multiplied by a vector: `rows` at once, `vectors` of `width` partial sums for each."""

    width: int
    rows: int
    vectors: int
    block_rows: int


def row_tiles(target: Target, sizes: ProductSizes, dtype: np.dtype, parts: int = 1) -> RowTiles | None:
    """Tiles of a product of `m` rows along `k` by a vector, or by `parts` of them at once."""
    if not has_kernels(target) or target.architecture not in ARCHITECTURES or dtype not in (FLOAT32, FLOAT64):
        return None
    width = lanes(target, dtype)
    if sizes.b is None or sizes.m is None or sizes.k is None or min(sizes.b, sizes.m) == 0:
        return None
    if sizes.k < width or sizes.b * sizes.m * sizes.k < WORK_OF_VECTOR:
        return None
    rows = min(max(ROWS_BESIDE // parts, 1), sizes.m)
    return RowTiles(
        width=width,
        rows=rows,
        vectors=max(min(VECTORS_OF_ROW, sizes.k // width), 1),
        block_rows=max(ROW_ELEMENTS // sizes.k // rows, 1) * rows,
    )


def product_tiles(
    target: Target, sizes: ProductSizes, left_along_k: bool, right_along_k: bool, dtype: np.dtype
) -> ProductTiles | None:
    """Tiles of a product; `left_along_k`: its left operand is `[b, m, k]`, else `[b, k, m]`."""
    if not has_kernels(target) or target.architecture not in ARCHITECTURES or dtype not in (FLOAT32, FLOAT64):
        return None
    if 0 in (sizes.b, sizes.m, sizes.n, sizes.k):
        return None
    width = lanes(target, dtype)
    if sizes.m is None or sizes.n is None or sizes.k is None or sizes.b is None:
        is_large = sizes.matrix_work >= WORK_OF_COUNTED or (sizes.b == 1 and sizes.m is None)
        is_narrow = 1 in (sizes.n, sizes.k) or (sizes.m is not None and sizes.m <= FEW)
        if is_narrow or not is_large:
            return None
        return _many_rows(target, sizes, left_along_k, right_along_k, dtype)
    if (sizes.b > 1 and sizes.matrix_work < WORK_OF_BATCH) or sizes.n < width:
        return None
    if sizes.m <= FEW:
        is_large = sizes.work >= WORK_OF_VECTOR and sizes.k > 1
        return _few_rows(target, sizes.m, sizes.n, sizes.k, dtype) if is_large and not right_along_k else None
    is_even = sizes.m % ROWS_OF_IREE == 0 and sizes.n % width == 0
    if sizes.work < (WORK if is_even else WORK_OF_UNEVEN) or sizes.k < width:
        return None
    return _many_rows(target, sizes, left_along_k, right_along_k, dtype)


def window_tiles(target: Target, sizes: ProductSizes, dtype: np.dtype) -> ProductTiles | None:
    """Tiles of the product of windows that lie in an image by weights.

    Tiles of 12 rows take 1.6 times as long as those of 8, measured where it shows at the call how many rows
    there are (windows of 3 x 3 of 16 features, 32 and 64 columns, AVX-512).
    """
    tiles = product_tiles(target, sizes, True, False, dtype)
    if tiles is None or sizes.n is None or 2 * sizes.n < tiles.width:
        return None
    rows = min(tiles.rows, ROWS_OF_WINDOWS)
    return replace(tiles, rows=rows, block_rows=max(BLOCK_ROWS // rows, 1) * rows)


def computes_half(sizes: ProductSizes) -> bool:
    """Whether of the product of a matrix and its transpose only what is above the diagonal is computed."""
    if sizes.b is None or sizes.m is None or sizes.n is None or sizes.k is None:
        return False
    return sizes.m >= SYMMETRIC_ROWS and sizes.k >= SYMMETRIC_STEPS


def _few_rows(target: Target, m: int, n: int, k: int, dtype: np.dtype) -> ProductTiles:
    width = lanes(target, dtype)
    vectors = 4 if m <= 2 else 2
    together = -(-m // (FEW if has_many_registers(target) else FEW // 2))
    step = width * vectors
    budget = max(SUMS // (m * dtype.itemsize) // step, 1) * step
    quarter = -(-n // 4 // step) * step  # four workgroups at least
    return ProductTiles(
        width=width,
        rows=-(-m // together),
        vectors=vectors,
        depth=min(SHALLOW, k),
        block_rows=-(-m // together) * together,
        block_columns=max(min(budget, quarter), step),
    )


def tiles_of_few_rows(tiles: ProductTiles) -> ProductTiles:
    """Tiles without packing for fewer than `PACKED_ROWS` rows at the call, in the same workgroups.

    They have few rows: there is less to gain than code to compile.
    """
    has_four = tiles.vectors > 1 and tiles.block_columns % (4 * tiles.width) == 0
    vectors = 4 if has_four else tiles.vectors
    depth = min(SHALLOW, tiles.depth)
    return replace(tiles, rows=min(2, tiles.rows), vectors=vectors, depth=depth, is_packed=False)


def _many_rows(
    target: Target, sizes: ProductSizes, left_along_k: bool, right_along_k: bool, dtype: np.dtype
) -> ProductTiles:
    width = lanes(target, dtype)
    vectors = 1 if sizes.n is not None and sizes.n <= width else 2
    rows = _rows(target, sizes, left_along_k, dtype)
    has_rows = sizes.m is None or sizes.m >= PACKED_ROWS
    is_packed = right_along_k or (has_rows and _has_far_rows(sizes, width * vectors, dtype))
    depth = DEPTH
    if sizes.k is not None:
        blocks = -(-sizes.k // DEPTH)
        depth = min((-(-sizes.k // blocks) + 3) // 4 * 4, sizes.k)
    return ProductTiles(
        width=width,
        rows=rows,
        vectors=vectors,
        depth=depth,
        block_rows=max(BLOCK_ROWS // rows, 1) * rows,
        block_columns=max(BLOCK_COLUMNS // (width * vectors), 1) * width * vectors,
        is_packed=is_packed,
        packs_left=_packs_left(target, sizes, left_along_k, dtype),
    )


def _has_far_rows(sizes: ProductSizes, columns: int, dtype: np.dtype) -> bool:
    """Whether rows of a right operand lie so far apart that packing repays."""
    if sizes.n is None or sizes.k is None:
        return sizes.n is None or sizes.n > columns
    return sizes.n * sizes.k * dtype.itemsize > PACKED_BYTES


def _rows(target: Target, sizes: ProductSizes, left_along_k: bool, dtype: np.dtype) -> int:
    """Rows of a tile: as many as registers hold, fewer if they compete in the cache, or divide `m`."""
    if not has_many_registers(target):
        return _rows_of_16(sizes.m)
    most, least = 12, 8
    if left_along_k and sizes.k is not None and sizes.k * dtype.itemsize % STRIDE == 0:
        most = least
    if sizes.m is None:
        return most
    exact = divisor(sizes.m, most, 1) or 1
    tiles = -(-sizes.m // most)
    return exact if exact >= least else -(-sizes.m // tiles)


def _rows_of_16(m: int | None) -> int:
    """Rows of a tile where there are 16 registers: those with which all tiles take the least time.

    A tile of fewer rows waits for sums: with 4 of 6 rows it takes 78 % of the time (`STEP_OF_ROWS`).
    """
    most = len(STEP_OF_ROWS) - 1
    if m is None:
        return most

    def time(rows: int) -> float:
        return m // rows * STEP_OF_ROWS[rows] + STEP_OF_ROWS[m % rows]

    return min(range(min(most, m), 0, -1), key=time)


def _packs_left(target: Target, sizes: ProductSizes, left_along_k: bool, dtype: np.dtype) -> bool:
    """Whether a left operand whose rows lie across `k` is copied to rows along it.

    Measured (Intel Xeon), ms: 480 x 512 x 512 with AVX2 2.73 -> 2.35, with AVX-512 1.63 -> 1.48; 1024^3 59 ->
    22 and 31 -> 18; 512 x 512 x 128 .85 -> .72 and, where it is not packed, .50 -> .54.
    """
    if left_along_k or sizes.m is None or sizes.n is None or sizes.k is None:
        return False
    if sizes.m < PACKED_LEFT_ROWS:
        return False
    has_pages = sizes.m * dtype.itemsize >= PAGE
    columns = PACKED_LEFT_COLUMNS if has_pages else PACKED_LEFT_VECTORS * lanes(target, dtype)
    return sizes.n >= columns
