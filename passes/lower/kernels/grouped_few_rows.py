"""The kernel that multiplies few rows by a matrix that it packs itself, with matrix tiles.

Input: rows of groups, as they lie or packed, and a right operand `[b, k, n]` or `[b, n, k]`. Output: the
products `[b, m, n]`.
Idea: the time goes into reading the right operand, which is used once. Some of its steps along `k`, of many
columns, are packed into the nearest cache and multiplied at once. The sums of a panel are loaded, added to
and stored, where the result has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ..tuning.group_tiles import GroupTiles
from .builder import Array, Number, index, local, loop, when
from .executable import workgroup_id
from .group_packing import GROUPS, PanelPacking
from .grouped_vectors import GROUP_BYTES, PANEL
from .matrix_tiles import ROWS, allow_tiles, load_tile, multiply_tiles, release_tiles, store_tile, zero_tile
from .partial_vectors import store_some

DEPTH: Final = 2  # tiles along k that are packed at once


@dataclass(frozen=True, slots=True)
class FewRows:
    """The code of one workgroup: one batch, all rows, and a block of panels.

    `packed`: a place for the groups of a few steps; `rest`: one for the sums of a panel that is not whole.
    """

    left: Array
    out: Array
    packing: PanelPacking
    packed: Array
    rest: Array

    @classmethod
    def of(cls, left: Array, right: Array, out: Array, tiles: GroupTiles, *, along_k: bool) -> FewRows:
        """The code that multiplies these arrays."""
        rows, word = out.size(1), mlir.ir.IntegerType.get_signless(32)
        assert isinstance(rows, int)
        packed = local([tiles.block_panels, DEPTH * GROUPS, PANEL], word)
        rest = local([1, rows, PANEL], out.element)
        return cls(left, out, PanelPacking(right, packed, along_k, tiles), packed, rest)

    def run(self) -> None:
        """All sums of the block of panels, some steps along `k` after the others."""
        allow_tiles()
        group, depth = self.packing.tiles.group, DEPTH * GROUPS
        steps = self.packing.source.size(2 if self.packing.along_k else 1)
        assert isinstance(steps, int)
        whole = steps // (depth * group) * depth
        self._for_panels(lambda _, sums, *places: self._begin(sums, *places))
        with loop(0, whole, depth) as at:
            self._for_panels(lambda panel, *sums: self._add(panel, at, depth * group, *sums))
        if steps > whole * group:
            left = steps - whole * group
            self._for_panels(lambda panel, *sums: self._add(panel, index(whole), left, *sums))
        if self._columns % PANEL:
            self._store_rest()
        release_tiles()

    @property
    def _columns(self) -> int:
        columns = self.out.size(2)
        assert isinstance(columns, int)
        return columns

    @property
    def _tiles(self) -> list[tuple[int, int, int]]:
        """The first row, the rows and the first column of the tiles of sums of a panel."""
        rows = self.out.size(1)
        assert isinstance(rows, int)
        return [(r, min(rows - r, ROWS), c) for r in range(0, rows, ROWS) for c in (0, GROUPS)]

    def _for_panels(self, do: Callable[..., None]) -> None:
        """`do(panel, sums, *places)` for each panel of the workgroup: where its sums are."""
        batch, panels = Number(workgroup_id(1)), self.packing.tiles.block_panels
        first = Number(workgroup_id(0)) * panels
        whole = self._columns // PANEL
        with loop(first, (first + panels).least(whole)) as panel:
            do(panel, self.out, batch, index(0), panel * PANEL)
        if self._columns % PANEL:
            with when((first <= whole) & (first + panels > whole)):
                do(index(whole), self.rest, index(0), index(0), index(0))

    def _begin(self, sums: Array, batch: Number, row: Number, column: Number) -> None:
        for r, count, c in self._tiles:
            store_tile(zero_tile(count), sums, batch, row + r, column + c, rows=count)

    def _add(
        self, panel: Number, at: Number, steps: int, sums: Array, batch: Number, row: Number, column: Number
    ) -> None:
        """Pack `steps` steps of a panel, from the group `at` on, and add their products to its sums."""
        group = self.packing.tiles.group
        mine = panel % self.packing.tiles.block_panels
        for first in range(0, steps, GROUPS * group):
            to = (mine, index(first // group))
            left = min(steps - first, GROUPS * group)
            self.packing.pack(Number(workgroup_id(1)), panel, at * group + first, left, to)
        places = [(batch, row + r, column + c) for r, _, c in self._tiles]
        totals = [
            load_tile(sums, *place, rows=count)
            for place, (_, count, _) in zip(places, self._tiles, strict=True)
        ]
        for first in range(0, -(-steps // group), GROUPS):
            totals = self._multiplied(totals, at + first, (mine, index(first)))
        for total, place, (_, count, _) in zip(totals, places, self._tiles, strict=True):
            store_tile(total, sums, *place, rows=count)

    def _multiplied(self, totals: list[Number], at: Number, packed: tuple[Number, Number]) -> list[Number]:
        """Sums with the products of 16 groups of each row."""
        elements = 8 * GROUP_BYTES // self.left.element.width  # of a group: one where the left one is packed
        batch, instruction = Number(workgroup_id(1)), self.packing.tiles.instruction
        right = {c: load_tile(self.packed, *packed, index(c)) for c in (0, GROUPS)}
        left = {
            r: load_tile(self.left, batch, index(r), at * elements, rows=count)
            for r, count, _ in self._tiles[::2]
        }
        return [
            multiply_tiles(total, left[r], right[c], instruction, count)
            for total, (r, count, c) in zip(totals, self._tiles, strict=True)
        ]

    def _store_rest(self) -> None:
        """Store the sums of the last panel, which is not whole."""
        whole, batch = self._columns // PANEL, Number(workgroup_id(1))
        is_mine = Number(workgroup_id(0)).equals(whole // self.packing.tiles.block_panels)
        with when(is_mine), loop(0, self.out.size(1)) as row:
            for c in range(0, self._columns % PANEL, GROUPS):
                count = min(self._columns % PANEL - c, GROUPS)
                total = self.rest.vector(GROUPS, 0, row, c)
                store_some(self.out, total, count, batch, row, index(whole * PANEL + c))
