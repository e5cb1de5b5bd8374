"""Which kernels of rows are loops of our own (`reduced_rows.py`), and how many elements they do at once.

Input: a target, the sizes of a kernel, and how long the code of an element is.
Output: `RowLoops`, or None where IREE's code is as good.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import FLOAT32, FLOAT64
from ....runtime.targets import Target, TargetKind
from .kernel_sizes import LEAST, MOST, SMALL, WORKGROUPS
from .product_tiles import ARCHITECTURES
from .texts import divisor

SHORTEST: Final = 4  # elements of a row
SHORT: Final = 12  # operations of an element that leave time to wait for the last addition
LEAST_VECTOR: Final = 64  # elements that are all that is reduced
KEPT_BYTES: Final = 3 << 14  # of elements of a row on the stack, of which IREE's kernels have 64 KB
QUICK: Final = 4  # vectors at once where the code of an element is short
LONG: Final = 2  # and where it is long
LONGEST: Final = 200  # operations of an element that are not too much code
LONGEST_MOVED: Final = 1000  # and where IREE would do them number by number


@dataclass(frozen=True, slots=True)
class RowLoops:
    """Elements of a vector, vectors at once where the code of an element is short and where it is long, rows
    of a workgroup (None where that shows at the call), and whether a vector is gathered at once."""

    width: int
    short: int
    long: int
    block: int | None
    has_gathers: bool = False

    def vectors(self, operations: int) -> int:
        """How many vectors are done at once in a loop whose elements take so many operations."""
        return self.short if operations <= SHORT else self.long


def row_loops(
    target: Target,
    sizes: Sequence[int | None],
    bits: int,
    operations: int,
    *,
    kept: int,
    longest: int = LONGEST,
    takes_elements: bool = False,
) -> RowLoops | None:
    """The loops of a kernel of rows, the last of `sizes`; its numbers have up to so many bits.

    `sizes`: None for those that show at the call. `operations`: what an element takes in all loops. `kept`:
    how many numbers of each element of a row are kept on the stack from one loop to the next. `longest`: more
    operations than these are too much code. `takes_elements`: from places that are computed, which IREE does
    one by one, so that short rows gain too.
    """
    width = max(target.vector_bits // bits, 1)
    if target.architecture not in ARCHITECTURES or operations > longest or width < 2:
        return None
    gathers = target.has_quick_gathers
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        size = sizes[-1]
        if size is not None and (size < 2 * width or kept * size * bits > 8 * KEPT_BYTES):
            return None
        fit = QUICK if size is None else max(size // width, 1)
        return RowLoops(width, min(QUICK, fit), min(LONG, fit), None, gathers)
    *outer, size = known
    rows = prod(outer)
    least = SMALL if outer else LEAST_VECTOR  # IREE adds the numbers of a vector one by one
    if takes_elements and SHORTEST <= size < 2 * width:
        width = min(width, 1 << (size.bit_length() - 1))
    elif size < 2 * width:
        return None
    if rows * size < least or kept * size * bits > 8 * KEPT_BYTES:
        return None
    fit = max(size // width, 1)
    block = max(min(rows // WORKGROUPS, rows), -(-LEAST // size), 1)
    return RowLoops(width, min(QUICK, fit), min(LONG, fit), min(block, rows), gathers)


def element_loops(target: Target, sizes: Sequence[int | None], bits: int, operations: int) -> RowLoops | None:
    """The loops of a kernel that takes elements from elsewhere, the last of `sizes` along memory.

    `sizes`: None for those that show at the call.
    """
    return row_loops(target, sizes, bits, operations, kept=0, longest=LONGEST_MOVED)


def is_in_pieces(sizes: Sequence[int | None]) -> bool:
    """Whether workgroups share a single row, of which each does a piece: it is long, or shows at the call."""
    return len(sizes) == 1 and (sizes[0] is None or sizes[0] > MOST)


def takes_rows(target: Target, shape: Sequence[object], dtype: np.dtype) -> bool:
    """Whether rows that lie in another order are read by these loops, with what is computed of them."""
    sizes = [n for n in shape if isinstance(n, int)]
    has_loops = target.kind is TargetKind.CPU and target.architecture in ARCHITECTURES
    return has_loops and len(sizes) == len(shape) and prod(sizes) >= SMALL and dtype in (FLOAT32, FLOAT64)


def piece_of(size: int) -> int | None:
    """How much of a single loop is done at once, so that workgroups share it; None for all or nothing."""
    if size <= MOST:
        return None
    return next(
        (found for multiple in (64, 8, 1) if (found := divisor(size, MOST, multiple)) and found >= LEAST),
        None,
    )
