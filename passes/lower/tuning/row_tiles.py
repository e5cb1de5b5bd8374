"""Which kernels of rows are loops of our own (`kernels/rows.py`), and how many elements they do at once.

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
LONGEST: Final = 200  # operations of an element that are not too much code


@dataclass(frozen=True, slots=True)
class RowLoops:
    """Elements of a vector, vectors at once where a row is reduced and stored, and rows of a workgroup."""

    width: int
    sums: int
    stores: int
    block: int


def row_loops(target: Target, sizes: Sequence[int], bits: int, operations: int) -> RowLoops | None:
    """The loops of a kernel of rows, the last of `sizes`; its numbers have up to so many bits.

    `operations`: what an element takes in all loops.
    """
    width = max(target.vector_bits // bits, 1)
    *outer, size = sizes
    rows = prod(outer)
    if target.architecture not in ARCHITECTURES or operations > LONGEST:
        return None
    if width < 2 or size < 2 * width or rows * size < SMALL:
        return None
    fit = max(size // width, 1)
    together = 4 if operations <= SHORT else 2
    block = max(min(rows // WORKGROUPS, rows), -(-LEAST // size), 1)
    return RowLoops(width, min(together, fit), min(together, fit), min(block, rows))
