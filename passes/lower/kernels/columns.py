"""The kernel that reduces the columns of matrices: it scans the rows as they lie in memory.

Input: matrices `[b, r, c]`. Output: the sum, the greatest or the least element of each column, `[b, c]`.
Idea: what a strip of columns has so far stays in the first cache, and some rows are added to it at once, so
that every row is loaded in order, and the strip once for each of these rows. A tile whose columns stay in
registers loads few lines of each row instead, and rows that are a power of two apart compete for the cache.
Each column is added up in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from ....dialects import mlir
from ...ir.aliases import Value
from ..tuning.column_tiles import ColumnTiles
from .builder import Array, Number, Place, broadcast, constant, index, loop, when
from .executable import Kernel, Kernels, Result, workgroup_id
from .products import load_some, store_some


class Combination(NamedTuple):
    """How two elements become one, and what changes none."""

    combine: Callable[[Number, Number], Number]
    identity: float


COMBINATIONS: Final[Mapping[str, Combination]] = {
    "reduce_sum": Combination(Number.__add__, 0.0),
    "reduce_max": Combination(lambda x, y: Number(mlir.arith.maximumf(x.value, y.value)), -inf),
    "reduce_min": Combination(lambda x, y: Number(mlir.arith.minimumf(x.value, y.value)), inf),
}
"""The reductions that the kernel knows, by the names of their ops."""


def reduce_columns(kernels: Kernels, x: Value, name: str, tiles: ColumnTiles) -> Value:
    """The columns of `x`, `[b, r, c]` of f32 or f64 with static sizes, none of them 0, reduced by `name`."""
    type_ = mlir.ir.RankedTensorType(x.type)
    batches, rows, columns = type_.shape
    out = mlir.ir.RankedTensorType.get([batches, columns], type_.element_type)

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        _Columns(Array(given[0]), Array(written[0]), rows, columns, COMBINATIONS[name], tiles).run()

    workgroups = (-(-columns // tiles.block_columns), batches)
    kernel = Kernel("columns", (Result(out),), emit, key=(name, tiles), workgroups=workgroups)
    (reduced,) = kernels.call(kernel, [x])
    return reduced


@dataclass(frozen=True, slots=True)
class _Columns:
    """The code of one workgroup: a block of columns of one batch."""

    source: Array
    out: Array
    rows: int
    columns: int
    combination: Combination
    tiles: ColumnTiles

    def run(self) -> None:
        """The first rows, which begin the results, then the others, as many at once as the tiles say."""
        together = min(self.tiles.rows, self.rows)
        whole = self.rows // together * together
        self._scan(index(0), together, is_first=True)
        if whole > together:
            with loop(together, whole, together) as row:
                self._scan(row, together, is_first=False)
        if self.rows > whole:
            self._scan(index(whole), self.rows - whole, is_first=False)

    def _scan(self, row: Number, count: int, *, is_first: bool) -> None:
        """Combine `count` rows with what the columns of the block have so far."""
        place, batch = Number(workgroup_id(0)), Number(workgroup_id(1))
        block, width = self.tiles.block_columns, self.tiles.width
        step = width * self.tiles.vectors
        whole = self.columns // step * step
        if whole:
            start = place * block
            with loop(start, (start + block).least(whole), step) as column:
                for at in range(0, step, width):
                    self._combined(batch, row, count, column + at, width, is_first)
        if self.columns > whole:
            with when(place.equals((self.columns - 1) // block)):
                for at in range(whole, self.columns, width):
                    self._combined(batch, row, count, at, min(width, self.columns - at), is_first)

    def _combined(
        self, batch: Number, row: Number, count: int, column: Place, present: int, is_first: bool
    ) -> None:
        """Combine one vector of each of `count` rows, of which `present` elements are there."""
        width = self.tiles.width
        if is_first:
            vector = mlir.ir.VectorType.get([width], self.out.element)
            total = broadcast(constant(self.out.element, self.combination.identity), vector)
        else:
            total = load_some(self.out, width, present, batch, column)
        for step in range(count):
            element = load_some(self.source, width, present, batch, row + step, column)
            total = self.combination.combine(total, element)
        store_some(self.out, total, present, batch, column)
