"""The kernel that multiplies rows and panels of groups by vectors, where the target has no matrix tiles.

Input: rows of groups, as they lie or packed, and panels `[b, p, g, 32]` (`grouped_products.py`). Output: the
products `[b, m, n]`.
Idea: some rows by two vectors of sums stay in registers while `k` is scanned: a step loads two vectors of
groups, and one group of each row for all lanes. Where bytes are multiplied, those of the panels are flipped
(`vector_groups.py`), and each row begins with its own sum, by which it will be too great or small.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type
from ..tuning.group_tiles import VECTORS, GroupTiles
from .builder import Array, Number, Place, broadcast, carried, choose, constant, index, loop, when
from .executable import workgroup_id
from .partial_vectors import store_some, zeros
from .vector_groups import OFFSET, multiply_bytes, multiply_shorts

PANEL: Final = 32  # columns
UNROLLED: Final = 2  # groups of a row in an iteration
GROUP_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class VectorProduct:
    """The code of one workgroup: one batch, a block of rows, and a block of panels."""

    left: Array
    right: Array
    out: Array
    tiles: GroupTiles

    def run(self) -> None:
        """Every tile of the workgroup, panel by panel."""
        batch, place = Number(workgroup_id(2)), Number(workgroup_id(0))
        start = place * self.tiles.block_rows
        stop = (start + self.tiles.block_rows).least(self.out.size(1))
        first = Number(workgroup_id(1)) * self.tiles.block_panels
        last = (first + self.tiles.block_panels).least(self.right.size(1))
        rows, step = self.out.size(1), self.tiles.rows
        with loop(first, last) as panel, loop(0, PANEL, VECTORS * self.tiles.lanes) as column:
            rest = (
                rows % step if isinstance(rows, int) else 0
            )  # rows that are not known are packed to whole tiles
            whole = stop.least(index(rows) - rest) if rest else stop
            with loop(start, whole, step) as row:
                self._tile(batch, row, step, panel, column)
            if rest:
                with when(stop.equals(rows)):
                    self._tile(batch, whole, rest, panel, column)

    def _tile(self, batch: Number, row: Number, rows: int, panel: Number, column: Number) -> None:
        """The sums of some rows and of two vectors of columns; what is beyond the ends is not stored."""
        sums = self._sums(batch, row, rows, panel, column)
        for r, v in product(range(rows), range(VECTORS)):
            at = panel * PANEL + column + v * self.tiles.lanes
            count = self._count(row + r, at)
            store_some(self.out, sums[r * VECTORS + v], count, batch, row + r, at)

    def _count(self, row: Number, column: Number) -> Place:
        """How many elements of a vector of sums are there."""
        lanes, rows, columns = self.tiles.lanes, self.out.size(1), self.out.size(2)
        is_whole = isinstance(columns, int) and columns % PANEL == 0
        count: Place = lanes if is_whole else (index(columns) - column).most(0).least(lanes)
        return count if isinstance(rows, int) else choose(rows > row, index(count), 0)

    def _sums(self, batch: Number, row: Number, rows: int, panel: Number, column: Number) -> list[Number]:
        lanes = self.tiles.lanes
        firsts = [self._first(batch, row + r) for r in range(rows)]

        def step(at: Number, sums: Sequence[Number]) -> list[Number]:
            columns = [self.right.vector(lanes, batch, panel, at, column + v * lanes) for v in range(VECTORS)]
            following = []
            for r in range(rows):
                group = broadcast(self._group(batch, row + r, at), self._vector)
                for v in range(VECTORS):
                    following.append(self._multiplied(sums[r * VECTORS + v], group, columns[v]))
            return following

        def body(at: Number, *sums: Number) -> Sequence[Number]:
            for number in range(UNROLLED):
                sums = tuple(step(at + number, sums))
            return sums

        return carried(0, self.right.size(2), [s for s in firsts for _ in range(VECTORS)], body, UNROLLED)

    def _multiplied(self, total: Number, left: Number, right: Number) -> Number:
        if self.tiles.instruction == "vpmaddwd":
            return multiply_shorts(total, left, right)
        if self.tiles.is_signed:
            return multiply_bytes(total, right, left)
        return multiply_bytes(total, left, right)

    def _first(self, batch: Number, row: Number) -> Number:
        """What the sums of a row begin with."""
        zero = zeros(self.tiles.lanes, self.out.element)
        if self.tiles.instruction != "vpdpbusd":
            return zero
        lanes = self.tiles.lanes
        ones = broadcast(constant(self.out.element, 0x01010101), self._vector)

        def body(at: Number, total: Number) -> Sequence[Number]:
            groups = self._groups(lanes, batch, row, at)
            factors = (ones, groups) if self.tiles.is_signed else (groups, ones)
            return [multiply_bytes(total, *factors)]

        (total,) = carried(0, self.right.size(2), [zero], body, lanes)
        added = mlir.vector.reduction(self.out.element, mlir.vector.CombiningKind.ADD, total.value)
        return broadcast(Number(added) * (-OFFSET if self.tiles.is_signed else OFFSET), self._vector)

    def _group(self, batch: Number, row: Number, at: Number) -> Number:
        """One group of a row."""
        return Number(mlir.vector.extract(self._groups(1, batch, row, at).value, [], [0]))

    def _groups(self, count: int, batch: Number, row: Number, at: Number) -> Number:
        """Some groups of a row, which is packed or has bytes."""
        if self.left.element.width == 8 * GROUP_BYTES:
            return self.left.vector(count, batch, row, at)
        raw = self.left.vector(GROUP_BYTES * count, batch, row, at * GROUP_BYTES)
        type_: Type = mlir.ir.VectorType.get([count], self.out.element)
        return Number(mlir.vector.bitcast(type_, raw.value))

    @property
    def _vector(self) -> Type:
        return mlir.ir.VectorType.get([self.tiles.lanes], self.out.element)
