"""The kernel that packs the right operand of a product into panels (`products.py`).

Input: the operand `[b, k, n]`, or `[b, n, k]`. Output: panels `[b, p, k, t]` of `t` columns, the last one
filled up with zeros.
Idea: a panel lies in the order in which a product loads it. Rows that lie along `k` are transposed in
registers, a square of as many vectors as each has elements at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Value
from ..tuning.product_tiles import PACKED_ROWS_OF_CALL, ProductSizes, ProductTiles
from .builder import Array, Number, Place, ceil_divided, choose, index, least, loop, most, when
from .executable import Kernel, Kernels, Size, Sizes, tensor_sizes, workgroup_id
from .partial_vectors import load_some
from .products import place_of, result_of, size_of


def pack(
    kernels: Kernels,
    right: Value,
    sizes: ProductSizes,
    tiles: ProductTiles,
    *,
    along_k: bool,
    rows: Size | None = None,
    shape: Sizes = tensor_sizes,
) -> Value:
    """The right operand `[b, k, n]`, or `[b, n, k]` if `along_k`, as panels `[b, p, k, t]` of columns.

    `rows`: how many rows of the left one are multiplied by it, if nothing is to be packed for few.
    """
    batches, *axes = shape(right)
    steps, columns = reversed(axes) if along_k else axes
    panels = ceil_divided(place_of(columns), tiles.columns)
    element = mlir.ir.RankedTensorType(right.type).element_type

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        _Packing(Array(given[0]), Array(written[0]), sizes, tiles, along_k).run()

    count = ceil_divided(panels, tiles.packed_panels)
    if rows is not None and not isinstance(rows, int):
        count = choose(Number(rows) < PACKED_ROWS_OF_CALL, index(0), index(count))
    kernel = Kernel(
        "pack",
        (result_of([batches, size_of(panels), steps, tiles.columns], element),),
        emit,
        key=(sizes, tiles, along_k),
        workgroups=(size_of(count), batches),
    )
    (packed,) = kernels.call(kernel, [right], sizes=shape)
    return packed


def packed_array(right: np.ndarray, tiles: ProductTiles, *, along_k: bool) -> np.ndarray:
    """What `pack` makes of a right operand that is known."""
    columns = np.swapaxes(right, 1, 2) if along_k else right
    batches, k, n = columns.shape
    panels = -(-n // tiles.columns)
    packed = np.zeros((batches, k, panels * tiles.columns), right.dtype)
    packed[..., :n] = columns
    divided = packed.reshape(batches, k, panels, tiles.columns)
    return np.ascontiguousarray(np.swapaxes(divided, 1, 2))


@dataclass(frozen=True, slots=True)
class _Square:
    """As many columns of a panel as steps along `k`: the first one; `count` of the panel are the source's."""

    batch: Number
    panel: Number
    place: Place
    width: int
    count: Place

    def depth_of(self, column: int, depth: Place) -> Place:
        """`depth`, where the source has this one of the columns, else 0."""
        if isinstance(self.place, int):  # of a panel that has all
            return depth
        return choose(index(self.count) - self.place > column, index(depth), 0)


@dataclass(frozen=True, slots=True)
class _Packing:
    """The code of one workgroup: some panels of one batch."""

    source: Array
    packed: Array
    sizes: ProductSizes
    tiles: ProductTiles
    along_k: bool

    def run(self) -> None:
        """Whole panels, and then the last one if it has fewer columns."""
        columns, together = self.tiles.columns, self.tiles.packed_panels
        n = self.source.size(1 if self.along_k else 2)
        batch, place = Number(workgroup_id(1)), Number(workgroup_id(0))
        whole = n // columns
        copied = self._transposed if self.along_k else self._rows
        if not isinstance(whole, int) or whole:
            start = place * together
            copied(batch, start, (start + together).least(whole), columns)
        if not isinstance(n, int) or not isinstance(whole, int):
            left = index(n) % columns
            with when(left.differs(0) & place.equals(whole // together)):
                copied(batch, index(whole), index(whole) + 1, left)
        elif n % columns:
            with when(place.equals(index(whole // together))):
                copied(batch, index(whole), index(whole + 1), n % columns)

    def _rows(self, batch: Number, first: Number, stop: Number, count: Place) -> None:
        """`count` columns of each panel, row by row."""
        width = self.tiles.width
        with loop(0, self.source.size(1)) as at, loop(first, stop) as panel:
            for place in range(0, self.tiles.columns, width):
                here = least(most(count - place if place else count, 0), width)
                column = panel * self.tiles.columns + place
                self.packed[batch, panel, at, place] = load_some(self.source, width, here, batch, at, column)

    def _transposed(self, batch: Number, first: Place, stop: Place, count: Place) -> None:
        """The same from rows that lie along `k`: squares are transposed in registers."""
        width = min(self.tiles.width, 8)
        k = self.source.size(2)
        whole = k // width * width
        with loop(first, stop) as panel:

            def squares(at: Number, depth: Place) -> None:
                if isinstance(count, int) and (count, depth) == (self.tiles.columns, width):
                    for place in range(0, self.tiles.columns, width):
                        self._square(_Square(batch, panel, place, width, count), at, depth)
                    return
                with loop(0, self.tiles.columns, width) as at_column:  # what is left gets little code
                    self._square(_Square(batch, panel, at_column, width, count), at, depth)

            if not isinstance(whole, int) or whole:
                with loop(0, whole, width) as at:
                    squares(at, width)
            if not isinstance(k, int) or not isinstance(whole, int):
                with when(index(k) > whole):
                    squares(index(whole), index(k) - whole)
            elif k > whole:
                squares(index(whole), k - whole)

    def _square(self, square: _Square, at: Number, depth: Place) -> None:
        """Pack some rows of the source, `depth` elements of each."""
        column = square.panel * self.tiles.columns + square.place
        rows = [
            load_some(self.source, square.width, square.depth_of(row, depth), square.batch, column + row, at)
            for row in range(square.width)
        ]
        for step, row in enumerate(transposed(rows)):
            places = square.batch, square.panel, at + step, square.place
            if isinstance(depth, Number):
                with when(depth > step):
                    self.packed[places] = row
            elif step < depth:
                self.packed[places] = row


def transposed(rows: Sequence[Number]) -> list[Number]:
    """The columns of a square of as many vectors as each has elements, a power of two."""
    width, values = len(rows), list(rows)
    distance = 1
    while distance < width:
        for i in range(width):
            if i & distance:
                continue
            a, b = values[i], values[i + distance]
            low = [j if not j & distance else width + j - distance for j in range(width)]
            high = [j + distance if not j & distance else width + j for j in range(width)]
            values[i], values[i + distance] = _shuffled(a, b, low), _shuffled(a, b, high)
        distance *= 2
    return values


def _shuffled(a: Number, b: Number, mask: Sequence[int]) -> Number:
    return Number(mlir.vector.shuffle(a.value, b.value, list(mask)))
