"""Matrices transposed on their way into scratch and out of it, by square blocks in registers.

Input: matrices in memory. Output: code; `strip` is scratch of as many rows as a vector has elements.
The last block, of fewer rows, shares the code of the others: a block is some 250 instructions.
"""

from __future__ import annotations

from ..builder import Number, Place, ceil_divided, least, loop
from .vectors import Lanes, Matrix, copy_row


def used_rows(lanes: Lanes, columns: Place) -> Place:
    """How many rows of scratch so many transposed columns take: a few take no more than they are."""
    return columns if isinstance(columns, int) and columns < lanes.width else lanes.padded(columns)


def transpose_in(
    lanes: Lanes,
    source: Matrix,
    target: Matrix,
    sizes: tuple[Place, Place],
    strip: Matrix,
    start: Place = 0,
    *,
    is_padded: bool = True,
) -> None:
    """Write the columns of `source` as rows of `target`, padded by zeros to whole vectors and panels, or to
    `used_rows`.

    `sizes`: how many rows of `source`, from `start` on, and how many columns. A row of `target` is padded by
    at least one vector more.
    """
    rows, columns = sizes
    width, padded = lanes.width, lanes.padded(columns)
    used = padded if is_padded else used_rows(lanes, columns)
    few = min(used, width) if isinstance(used, int) else width
    zero = lanes.filled(0.0)
    with loop(0, width) as row, loop(columns // width * width, padded, width) as place:
        strip[row, place] = zero

    with loop(0, rows, width) as row:
        count = least(rows - row, width)
        with loop(0, count) as line:
            copy_row(lanes, (source, row + line + start), (strip, line), columns)
        if isinstance(rows, Number) or rows % width:
            with loop(count, width) as line, loop(0, padded, width) as place:
                strip[line, place] = zero
        with loop(0, width if few < width else padded, width) as column:
            vectors = lanes.turned([strip.vector(width, n, column) for n in range(width)])
            for n, vector in enumerate(vectors[:few]):
                target[column + n, row] = vector
    first = ceil_divided(rows, width) * width
    with loop(0, used) as column, loop(first, lanes.stride(rows + width), width) as place:
        target[column, place] = zero


def transpose_out(
    lanes: Lanes, source: Matrix, target: Matrix, sizes: tuple[Place, Place], strip: Matrix
) -> None:
    """Write the rows of `source`, padded to whole vectors, as columns of `target` of these sizes."""
    rows, columns = sizes
    width, used = lanes.width, used_rows(lanes, columns)
    few = min(used, width) if isinstance(used, int) else width
    zeros = [lanes.filled(0.0)] * (width - few)

    with loop(0, rows, width) as row:
        with loop(0, columns, width) as column:
            block = [source.vector(width, column + n, row) for n in range(few)]
            vectors = lanes.turned([*block, *zeros])
            for n, vector in enumerate(vectors):
                strip[n, column] = vector
        with loop(0, least(rows - row, width)) as line:
            copy_row(lanes, (strip, line), (target, row + line), columns)
