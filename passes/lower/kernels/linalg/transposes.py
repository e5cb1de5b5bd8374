"""Matrices transposed on their way into scratch and out of it, by square blocks in registers.

Input: matrices in memory. Output: code; `strip` is scratch of as many rows as a vector has elements.
"""

from __future__ import annotations

from ..builder import Number, Place, index, loop
from .vectors import Lanes, Matrix, copy_row, transposed


def transpose_in(lanes: Lanes, source: Matrix, target: Matrix, sizes: tuple[int, int], strip: Matrix) -> None:
    """Write the columns of `source` as rows of `target`, padded by zeros to whole vectors and panels.

    A row of `target` is padded by at least one vector more.
    """
    rows, columns = sizes
    width, padded = lanes.width, lanes.padded(columns)
    zero = lanes.filled(0.0)
    with loop(0, width) as row, loop(columns // width * width, padded, width) as place:
        strip[row, place] = zero

    def block(row: Place, count: int) -> None:
        for n in range(width):
            if n < count:
                copy_row(lanes, (source, index(row) + n), (strip, n), columns)
            else:
                with loop(0, padded, width) as place:
                    strip[n, place] = zero
        with loop(0, padded, width) as column:
            vectors = transposed([strip.vector(width, n, column) for n in range(width)])
            for n, vector in enumerate(vectors):
                target[column + n, row] = vector

    whole = rows // width * width
    with loop(0, whole, width) as row:
        block(row, width)
    if rows > whole:
        block(whole, rows - whole)
    first = -(-rows // width) * width
    with loop(0, padded) as column, loop(first, lanes.stride(rows + width), width) as place:
        target[column, place] = zero


def transpose_out(
    lanes: Lanes, source: Matrix, target: Matrix, sizes: tuple[int, int], strip: Matrix
) -> None:
    """Write the rows of `source`, padded to whole vectors, as columns of `target` of these sizes."""
    rows, columns = sizes
    width = lanes.width

    def block(row: Number, count: int) -> None:
        with loop(0, columns, width) as column:
            vectors = transposed([source.vector(width, column + n, row) for n in range(width)])
            for n, vector in enumerate(vectors[:count]):
                strip[n, column] = vector
        for n in range(count):
            copy_row(lanes, (strip, n), (target, row + n), columns)

    whole = rows // width * width
    with loop(0, whole, width) as row:
        block(row, width)
    if rows > whole:
        block(index(whole), rows - whole)
