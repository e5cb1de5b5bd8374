"""The kernels that multiply matrices of bfloat16 and int8, whose sums are of float32 and int32.

Input: a left operand `[b, m, k]` or `[b, k, m]`, a right one `[b, k, n]` or `[b, n, k]`. Output: the
products `[b, m, n]`.
Idea: instructions multiply groups of elements that are neighbours along `k`, four bytes of each factor, and
add up their products. The right operand is packed into panels `[b, p, g, 32]` of 32 columns, whose elements
are groups; a left one whose rows are not whole tiles is packed into rows `[b, m', g]` of groups. What is
beyond the ends is zero. A tile of 32 by 32 sums stays in the registers while `k` is scanned.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from ..tuning.group_tiles import GroupTiles
from .builder import Array, Number, carried, ceil_divided, index, local, loop, when
from .executable import Kernel, Kernels, Size, Sizes, tensor_sizes, workgroup_id
from .group_packing import GROUPS
from .grouped_few_rows import FewRows
from .grouped_vectors import GROUP_BYTES, PANEL, VectorProduct
from .matrix_tiles import ROWS, allow_tiles, load_tile, multiply_tiles, release_tiles, store_tile, zero_tile
from .partial_vectors import store_some
from .products import place_of, result_of, size_of


def multiply_groups(
    kernels: Kernels,
    left: Value,
    panels: Value,
    tiles: GroupTiles,
    *,
    rows: Size,
    columns: Size,
    shape: Sizes = tensor_sizes,
) -> Value:
    """The products `[b, rows, columns]` of `left`, `[b, m, k]` or rows of groups, and panels of groups.

    Rows of `left` are whole tiles, and there are 16 or more; where more than `rows`, or not a multiple of 16,
    the surplus is not used.
    """
    batches = shape(left)[0]
    element = _sum_type(tiles)
    block = tiles.block_rows
    form = VectorProduct if tiles.is_of_vectors else _Product
    kernel = Kernel(
        "grouped_product",
        (result_of([batches, rows, columns], element),),
        lambda given, written: form(Array(given[0]), Array(given[1]), Array(written[0]), tiles).run(),
        key=tiles,
        workgroups=(
            size_of(ceil_divided(place_of(rows), block)),
            size_of(ceil_divided(ceil_divided(place_of(columns), PANEL), tiles.block_panels)),
            batches,
        ),
    )
    (product,) = kernels.call(kernel, [left, panels], sizes=shape)
    return product


def multiply_few_rows(
    kernels: Kernels, left: Value, right: Value, tiles: GroupTiles, *, rows: int, along_k: bool
) -> Value:
    """The products `[b, rows, n]` of `left`, as `multiply_groups` takes it, and `right` as it lies.

    That is `[b, k, n]`, or `[b, n, k]` if `along_k`. There are up to 32 rows; sizes are known.
    """
    batches, *axes = mlir.ir.RankedTensorType(right.type).shape
    columns = axes[0 if along_k else 1]
    element = _sum_type(tiles)
    kernel = Kernel(
        "product_of_few_rows",
        (result_of([batches, rows, columns], element),),
        lambda given, written: FewRows.of(
            Array(given[0]), Array(given[1]), Array(written[0]), tiles, along_k=along_k
        ).run(),
        key=(tiles, along_k),
        workgroups=(ceil_divided(ceil_divided(columns, PANEL), tiles.block_panels), batches),
        has_bits=True,  # vectors of bfloat16 become scalar code
    )
    (product,) = kernels.call(kernel, [left, right])
    return product


def _sum_type(tiles: GroupTiles) -> Type:
    is_float = tiles.instruction == "tdpbf16ps"
    return mlir.ir.F32Type.get() if is_float else mlir.ir.IntegerType.get_signless(32)


@dataclass(frozen=True, slots=True)
class _Product:
    """The code of one workgroup: one batch, a block of rows, and a block of panels."""

    left: Array
    right: Array
    out: Array
    tiles: GroupTiles

    def run(self) -> None:
        """Every tile of the workgroup."""
        allow_tiles()
        batch = Number(workgroup_id(2))
        scratch = local([self._tile_rows, PANEL], self.out.element)
        start = Number(workgroup_id(0)) * self.tiles.block_rows
        stop = (start + self.tiles.block_rows).least(self.out.size(1))
        first = Number(workgroup_id(1)) * self.tiles.block_panels
        last = (first + self.tiles.block_panels).least(self.right.size(1))
        with loop(first, last) as panel, loop(start, stop, self._tile_rows) as row:
            self._tile(scratch, batch, row, panel)
        release_tiles()

    @property
    def _tile_rows(self) -> int:
        """The rows of a tile of sums: two tiles below one another where the left operand has them."""
        rows = self.left.size(1)
        return ROWS if isinstance(rows, int) and rows < 2 * ROWS else 2 * ROWS

    def _tile(self, scratch: Array, batch: Number, row: Number, panel: Number) -> None:
        """The sums of a tile; the last one begins so early that all of its rows are there."""
        rows = range(0, self._tile_rows, ROWS)
        first = row.least(index(self.left.size(1)) - self._tile_rows)
        sums = self._sums(batch, first, panel, len(rows))
        column = panel * PANEL
        places = [(r, c) for r in rows for c in (0, GROUPS)]
        is_whole = (index(self.out.size(2)) - column >= PANEL) & first.equals(row)
        is_whole = is_whole & (index(self.out.size(1)) - row >= self._tile_rows)
        with when(is_whole):
            for (r, c), total in zip(places, sums, strict=True):
                store_tile(total, self.out, batch, row + r, column + c)
        with when(is_whole ^ 1):
            for (r, c), total in zip(places, sums, strict=True):
                store_tile(total, scratch, r, c)
            surplus = row - first
            count = (index(self.out.size(1)) - row).least(index(self._tile_rows) - surplus)
            with loop(0, count) as at:
                for c in (0, GROUPS):
                    here = (index(self.out.size(2)) - (column + c)).most(0).least(GROUPS)
                    total = scratch.vector(GROUPS, surplus + at, c)
                    store_some(self.out, total, here, batch, row + at, column + c)

    def _sums(self, batch: Number, row: Number, panel: Number, count: int) -> list[Number]:
        """The tiles of sums, row by row."""
        elements = (
            8 * GROUP_BYTES // self.left.element.width
        )  # of a group: one where the left operand is packed

        def body(at: Number, *sums: Number) -> Sequence[Number]:
            left = [load_tile(self.left, batch, row + ROWS * r, at * elements) for r in range(count)]
            right = [load_tile(self.right, batch, panel, at, GROUPS * c) for c in range(2)]
            pairs = ((a, b) for a in left for b in right)
            return [
                multiply_tiles(total, a, b, self.tiles.instruction)
                for total, (a, b) in zip(sums, pairs, strict=True)
            ]

        return carried(0, self.right.size(2), [zero_tile() for _ in range(2 * count)], body, GROUPS)
