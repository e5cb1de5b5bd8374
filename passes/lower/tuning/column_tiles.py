"""Which kernels of columns are loops of our own (`kernels/reduced_columns.py`), and what they do at once.

Input: a target, the sizes of a kernel, how long the code of an element is, how often the rows are scanned,
and how many numbers are kept of each column.
Output: `ColumnLoops`, or None where IREE's code is as good.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

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
KEPT_BYTES: Final = 3 << 14  # of what is kept of the columns of a block


@dataclass(frozen=True, slots=True)
class ColumnLoops:
    """Elements of a vector, vectors of a block, whether they are unrolled, rows that are scanned at once, and
    how many groups of rows that are summed apart a workgroup does."""

    width: int
    vectors: int
    is_unrolled: bool
    rows: int
    outer: int


def column_loops(
    target: Target, sizes: tuple[int, int, int], bits: int, operations: int, *, scans: int, kept: int
) -> ColumnLoops | None:
    """The loops of a kernel that reduces the rows of `[outer, rows, columns]`.

    `operations`: what an element takes in all scans.
    """
    outer, rows, columns = sizes
    width = max(target.vector_bits // bits, 1)
    while NARROWEST < width > columns:
        width //= 2
    if target.architecture not in ARCHITECTURES or operations > LONGEST:
        return None
    if width < 2 or columns < width or prod(sizes) < SMALL:
        return None
    vectors = -(-columns // width)
    is_unrolled = vectors <= UNROLLED
    if not is_unrolled:
        is_cached = scans == 1 or rows * BLOCK_BYTES <= CACHED_BYTES
        block = min(BLOCK_BYTES if is_cached else AGAIN_BYTES, KEPT_BYTES // kept)
        vectors = min(vectors, max(block * 8 // (width * bits), 1))
    together = min(ROWS if operations <= SHORT else 1, rows)
    apart = max(min(outer // WORKGROUPS, outer), -(-LEAST // (rows * columns)), 1)
    return ColumnLoops(width, vectors, is_unrolled, together, min(apart, outer))
