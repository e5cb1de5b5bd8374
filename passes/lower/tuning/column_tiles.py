"""Which kernels of columns are loops of our own (`kernels/reduced_columns.py`), and what they do at once.

Input: a target, the sizes of a kernel, how long the code of an element is, how often the rows are scanned,
and how many numbers are kept of each column.
Output: `ColumnLoops`, or None where IREE's code is as good.
"""

from __future__ import annotations

from math import prod
from typing import Final

from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from .kernel_sizes import LEAST, SMALL, WORKGROUPS
from .product_tiles import ARCHITECTURES
from .row_tiles import LONGEST, SHORT

ROWS: Final = 4  # rows at once
NARROWEST: Final = 4  # elements of a vector, of fewer columns than the registers have
UNROLLED: Final = 8  # vectors of a block whose columns stay in registers
BLOCK_BYTES: Final = 1 << 12  # of a row that a workgroup scans: threads have some each, and pages are few
AGAIN_BYTES: Final = 1 << 10  # the same where rows are scanned again, and the cache does not hold them
CACHED_BYTES: Final = 1 << 22  # of a block that the cache does hold
FEW: Final = 4  # blocks of columns: fewer leave threads without work
SHARED: Final = 1 << 18  # elements of a block of columns that repay kernels of their own for each scan
MOST_PARTS: Final = 16  # of the rows of a block
KEPT_BYTES: Final = 3 << 14  # of what is kept of the columns of a block


@dataclass(frozen=True, slots=True)
class ColumnLoops:
    """Elements of a vector, vectors of a block, whether they are unrolled, rows that are scanned at once, and
    how many groups of rows that are summed apart a workgroup does (None where that shows at the call)."""

    width: int
    vectors: int
    is_unrolled: bool
    rows: int
    outer: int | None


def column_loops(
    target: Target,
    sizes: tuple[int | None, int | None, int | None],
    bits: int,
    operations: int,
    *,
    scans: int,
    kept: int,
) -> ColumnLoops | None:
    """The loops of a kernel that reduces the rows of `[outer, rows, columns]`, None for what the call shows.

    `operations`: what an element takes in all scans.
    """
    outer, rows, columns = sizes
    width = max(target.vector_bits // bits, 1)
    while columns is not None and NARROWEST < width > columns:
        width //= 2
    if target.architecture not in ARCHITECTURES or operations > LONGEST or width < 2:
        return None
    known = [size for size in sizes if size is not None]
    if (columns is not None and columns < width) or (len(known) == len(sizes) and prod(known) < SMALL):
        return None
    is_cached = scans == 1 or (rows is not None and rows * BLOCK_BYTES <= CACHED_BYTES)
    block = min(BLOCK_BYTES if is_cached else AGAIN_BYTES, KEPT_BYTES // kept)
    vectors = max(block * 8 // (width * bits), 1)
    is_unrolled = columns is not None and -(-columns // width) <= UNROLLED
    if columns is not None:
        vectors = -(-columns // width) if is_unrolled else min(-(-columns // width), vectors)
    together = ROWS if operations <= SHORT else 1
    if rows is not None:
        together = min(together, rows)
    return ColumnLoops(width, vectors, is_unrolled, together, _apart(outer, rows, columns))


def _apart(outer: int | None, rows: int | None, columns: int | None) -> int | None:
    """How many groups of rows a workgroup does, None where that shows at the call."""
    if outer == 1:
        return 1
    if outer is None or rows is None or columns is None:
        return None
    return min(max(outer // WORKGROUPS, -(-LEAST // (rows * columns)), 1), outer)


def row_parts(loops: ColumnLoops, outer: int, rows: int, columns: int) -> int:
    """In how many equal parts workgroups share the rows of `[outer, rows, columns]`, 1 for no parts."""
    block = min(loops.width * loops.vectors, columns)
    if outer > 1 or -(-columns // block) >= FEW or rows * block < SHARED:
        return 1
    return next((count for count in range(MOST_PARTS, 1, -1) if rows % count == 0), 1)
