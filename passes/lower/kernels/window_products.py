"""The kernel of convolutions of images whose height or width shows at the call: products of rows by panels.

Input: an image `[b, y, x * c]` with the zeros around it, features last, and weights as the right operand of a
product, `[1, k, n]` or packed, where `k` goes along the window's rows, columns and features. Output: the
positions `[b * y, x, n]`.
Idea: the elements of one row of a window lie side by side in an image. So a row of the result is a product
whose left operand has overlapping rows, one for each row of the window, of which the sums are added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Value
from ..tuning.product_tiles import ProductSizes, ProductTiles
from .builder import Array, Number, Place, ceil_divided, index, loop, opaque
from .executable import Kernel, Kernels, Size, Sizes, workgroup_id
from .products import Block, Product, Strip, place_of, result_of, size_of


@dataclass(frozen=True, slots=True)
class WindowRows:
    """How the rows of a window move: how many there are and how far apart, how far it goes from one position
    to the next along rows and columns of the image, and the features of the image."""

    count: int
    apart: int
    down: int
    right: int
    features: int


def multiply_windows(
    kernels: Kernels,
    image: Value,
    right: Value,
    sizes: ProductSizes,
    tiles: ProductTiles,
    window: WindowRows,
    result: tuple[Size, Size, Size],
    shape: Sizes,
) -> Value:
    """The product of each window by the weights; `result`: the sizes of the positions."""
    out = result_of(result, mlir.ir.RankedTensorType(image.type).element_type)

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        left, weights = map(Array, given)
        _Windows(left, weights, Array(written[0]), sizes, tiles, left_along_k=True, window=window).run()

    lines, rows, columns = result
    workgroups = (
        size_of(ceil_divided(place_of(rows), tiles.block_rows)),
        size_of(ceil_divided(place_of(columns), tiles.block_columns)),
        lines,
    )
    kernel = Kernel("windows", (out,), emit, key=(sizes, tiles, window), workgroups=workgroups)
    (product,) = kernels.call(kernel, [image, right], sizes=shape)
    return product


@dataclass(frozen=True, slots=True)
class _Windows(Product):
    """The code of one workgroup: a block of positions along a row, and a block of columns.

    `image`, `line`: where the row of windows that is multiplied begins; `first`: the step along `k` of its
    first element.
    """

    window: WindowRows = WindowRows(1, 1, 1, 1, 1)
    image: Place = 0
    line: Place = 0
    first: Place = 0

    def run(self) -> None:
        window, batch = self.window, Number(workgroup_id(2))
        lines = (index(self.left.size(1)) - ((window.count - 1) * window.apart + 1)) // window.down + 1
        image, line = batch // lines, batch % lines * window.down
        assert self.sizes.k is not None
        depth = self.sizes.k // window.count
        with loop(0, window.count) as row:
            first = opaque(row * depth)
            at = replace(self, image=image, line=line + row * window.apart, first=first)
            at.columns(batch, Block(first, depth))

    def left_element(self, batch: Place, row: Number, at: Number) -> Number:
        del batch
        place = row * (self.window.right * self.window.features) + (at - self.first)
        return self.left[self.image, self.line, place]

    def right_batch(self, strip: Strip) -> Place:
        del strip
        return 0
