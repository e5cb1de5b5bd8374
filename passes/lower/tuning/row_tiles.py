"""Which kernels of rows are loops of our own (`reduced_rows.py`), and how many elements they do at once.

Input: a target, the sizes of a kernel, and how long the code of an element is.
Output: `RowLoops`, or None where IREE's code is as good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from ....runtime.targets import Target
from .kernel_sizes import LEAST, SMALL, WORKGROUPS
from .product_tiles import ARCHITECTURES

SHORT: Final = 12  # operations of an element that leave time to wait for the last addition
KEPT_BYTES: Final = 3 << 14  # of elements of a row on the stack, of which IREE's kernels have 64 KB
QUICK: Final = 4  # vectors at once where the code of an element is short
LONG: Final = 2  # and where it is long
LONGEST: Final = 200  # operations of an element that are not too much code


@dataclass(frozen=True, slots=True)
class RowLoops:
    """Elements of a vector, vectors at once where the code of an element is short and where it is long, rows
    of a workgroup."""

    width: int
    short: int
    long: int
    block: int

    def vectors(self, operations: int) -> int:
        """How many vectors are done at once in a loop whose elements take so many operations."""
        return self.short if operations <= SHORT else self.long


def row_loops(
    target: Target, sizes: Sequence[int], bits: int, operations: int, *, kept: int
) -> RowLoops | None:
    """The loops of a kernel of rows, the last of `sizes`; its numbers have up to so many bits.

    `operations`: what an element takes in all loops. `kept`: how many numbers of each element of a row are
    kept on the stack from one loop to the next.
    """
    width = max(target.vector_bits // bits, 1)
    *outer, size = sizes
    rows = prod(outer)
    if target.architecture not in ARCHITECTURES or operations > LONGEST:
        return None
    if width < 2 or size < 2 * width or rows * size < SMALL or kept * size * bits > 8 * KEPT_BYTES:
        return None
    fit = max(size // width, 1)
    block = max(min(rows // WORKGROUPS, rows), -(-LEAST // size), 1)
    return RowLoops(width, min(QUICK, fit), min(LONG, fit), min(block, rows))
