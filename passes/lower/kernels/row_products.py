"""The kernel that multiplies the rows of a matrix by a vector: any sizes, several rows at once.

Input: rows `[b, m, k]` and a vector `[b, k]` for each batch. Output: the sums `[b, m]`.
Idea: a few rows share the loads of the vector, and each has several vectors of partial sums, which hide the
latency of an addition and are added at the end. So the order of a sum is another one than that of `k`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from ....dialects import mlir
from ...ir.aliases import Value
from ..tuning.product_tiles import RowTiles
from .builder import Array, Number, Place, broadcast, carried, constant, index, loop, when
from .executable import Kernel, Kernels, Result, workgroup_id
from .products import load_some, multiply_add


def multiply_rows(kernels: Kernels, rows: Value, vector: Value, tiles: RowTiles) -> Value:
    """`out[b, m] = sum_k rows[b, m, k] vector[b, k]` of tensors of f32 or of f64 with static sizes."""
    type_ = mlir.ir.RankedTensorType(rows.type)
    batches, count, size = type_.shape
    out = mlir.ir.RankedTensorType.get([batches, count], type_.element_type)

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        _Rows(Array(given[0]), Array(given[1]), Array(written[0]), count, size, tiles).run()

    workgroups = (-(-count // tiles.block_rows), batches)
    kernel = Kernel("rows_by_vector", (Result(out),), emit, key=tiles, workgroups=workgroups)
    (sums,) = kernels.call(kernel, [rows, vector])
    return sums


@dataclass(frozen=True, slots=True)
class _Rows:
    """The code of one workgroup: a block of rows of one batch."""

    rows: Array
    vector: Array
    out: Array
    count: int
    size: int
    tiles: RowTiles

    def run(self) -> None:
        """Some rows at once, and then those that are left."""
        together, block = self.tiles.rows, self.tiles.block_rows
        place, batch = Number(workgroup_id(0)), Number(workgroup_id(1))
        whole = self.count // together * together
        if whole:
            start = place * block
            with loop(start, (start + block).least(whole), together) as row:
                self._sums(batch, row, together)
        if self.count > whole:
            with when(place.equals(index((self.count - 1) // block))):
                self._sums(batch, index(whole), self.count - whole)

    def _sums(self, batch: Number, row: Place, rows: int) -> None:
        """The sums of `rows` rows."""
        width, vectors = self.tiles.width, self.tiles.vectors
        type_ = mlir.ir.VectorType.get([width], self.out.element)
        zero = broadcast(constant(self.out.element, 0.0), type_)
        step = width * vectors
        whole = self.size // step * step

        def body(at: Place, *sums: Number) -> list[Number]:
            return self._added(batch, row, rows, at, [width] * vectors, sums)

        sums = [zero] * (rows * vectors)
        if whole:
            sums = carried(0, whole, sums, body, step)
        left = self.size - whole
        if left:
            counts = [min(left - at, width) for at in range(0, left, width)]
            sums = self._added(batch, row, rows, index(whole), counts, sums)
        for r in range(rows):
            total = reduce(add, sums[r * vectors : (r + 1) * vectors])
            fast = mlir.ir.Attribute.parse("#arith.fastmath<reassoc>")
            scalar = mlir.vector.reduction(
                self.out.element, mlir.vector.CombiningKind.ADD, total.value, fastmath=fast
            )
            self.out[batch, index(row) + r] = Number(scalar)

    def _added(
        self, batch: Number, row: Place, rows: int, at: Place, counts: Sequence[int], sums: Sequence[Number]
    ) -> list[Number]:
        """`sums` and the products of one vector of each row for each of `counts`, of so many elements."""
        width, following = self.tiles.width, list(sums)
        for number, count in enumerate(counts):
            place = index(at) + number * width
            x = load_some(self.vector, width, count, batch, place)
            for r in range(rows):
                y = load_some(self.rows, width, count, batch, index(row) + r, place)
                position = r * self.tiles.vectors + number
                following[position] = multiply_add(x, y, following[position])
        return following
