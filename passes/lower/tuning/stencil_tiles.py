"""Which elementwise kernels that read each other at other places are one, and how much a workgroup does.

Input: a target, and the sizes and distances of the kernels. Output: `StencilLoops`, or None where IREE's
kernels are as good.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from .kernel_sizes import LEAST, SMALL, WORKGROUPS
from .product_tiles import ARCHITECTURES
from .row_tiles import LONG, LONGEST, QUICK, RowLoops

FIRST_CACHE: Final = 20 << 10  # bytes of rows that are kept, beside which the first cache holds some more
SECOND_CACHE: Final = 3 << 17  # bytes of rows that are kept where rows are not cut
ROW_HALOS: Final = 16  # rows of a workgroup for each that it computes beyond its own
COLUMN_HALOS: Final = 4  # the same along a row
FAR: Final = 3 << 22  # bytes of a result that goes through memory, not from one cache to the next
EXTRA: Final = 10  # operations an element that are done again rather than a stage's rows kept
FAR_EXTRA: Final = 40  # and of a result that goes through memory, which waits for nothing but that


@dataclass(frozen=True, slots=True)
class StencilShape:
    """The sizes of the result, the shortest row of all kernels, how many rows and columns beyond its own a
    workgroup computes, and the bytes that are kept of each column."""

    sizes: Sequence[int]
    shortest: int
    halo: int
    margin: int
    column_bytes: int


@dataclass(frozen=True, slots=True)
class StencilLoops:
    """The loops along rows, and how many places of the first axis and how many columns a workgroup does."""

    rows: RowLoops
    block: int
    columns: int


def are_computed_again(stages: int, extra: int, result_bytes: int) -> bool:
    """Whether so many stages are computed wherever they are read, for `extra` more operations an element.

    What is kept is stored and loaded, in loops of its own, in which memory waits for computing.
    """
    return extra <= stages * (FAR_EXTRA if result_bytes >= FAR else EXTRA)


def stencil_loops(target: Target, shape: StencilShape, bits: int, operations: int) -> StencilLoops | None:
    """The loops of kernels of so many bits and, at most, so many operations an element."""
    width = max(target.vector_bits // bits, 1)
    rows, *inner, columns = shape.sizes
    if target.architecture not in ARCHITECTURES or operations > LONGEST or width < 2:
        return None
    if shape.shortest < 2 * width or prod(shape.sizes) < SMALL:
        return None
    tile = columns
    if not prod(inner) > 1 and shape.column_bytes:
        most = max(FIRST_CACHE // shape.column_bytes, COLUMN_HALOS * shape.margin, 8 * width)
        parts = max(round(columns / most), 1)
        tile = min(-(-columns // (parts * width)) * width, columns)
    if (tile + shape.margin) * shape.column_bytes > SECOND_CACHE:
        return None
    parts = -(-columns // tile)
    block = max(-(-rows * parts // WORKGROUPS), ROW_HALOS * shape.halo, -(-LEAST // (prod(inner) * tile)))
    fit = min(tile, shape.shortest) // width
    return StencilLoops(RowLoops(width, min(QUICK, fit), min(LONG, fit), None), min(block, rows), tile)
