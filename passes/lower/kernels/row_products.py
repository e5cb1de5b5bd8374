"""The kernel that multiplies the rows of a matrix by a vector: any sizes, several rows at once.

Input: rows `[b, m, k]` and a vector `[b, k]` for each batch. Output: the sums `[b, m]`. Complex rows are rows
of their parts `[b, m, 2 k]`, by two vectors `[b, 2, 2 k]`: one for the real parts of the sums, and one for
the imaginary parts.
Idea: a few rows share the loads of the vector, and each has several vectors of partial sums, which hide the
latency of an addition and are added at the end. So the order of a sum is another one than that of `k`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import add

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Value
from ..tuning.product_tiles import RowTiles
from .builder import Array, Number, Place, broadcast, carried, constant, index, loop, when
from .executable import Kernel, Kernels, Result, workgroup_id
from .partial_vectors import load_some
from .products import multiply_add


def multiply_rows(kernels: Kernels, rows: Value, vector: Value, tiles: RowTiles) -> Value:
    """`out[b, m] = sum_k rows[b, m, k] vector[b, k]` of tensors with static sizes.

    Both are of f32 or of f64, or the rows are complex and the vectors `[b, 4 k]` real: for each element `z`
    the numbers `re z, -im z`, and then for each `im z, re z`.
    """
    type_ = mlir.ir.RankedTensorType(rows.type)
    batches, count, size = type_.shape
    out = mlir.ir.RankedTensorType.get([batches, count], type_.element_type)
    parts = 2 if isinstance(type_.element_type, mlir.ir.ComplexType) else 1

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        arrays = Array(given[0]), Array(given[1]), Array(written[0])
        RowSums(*arrays, count, parts * size, parts, tiles).run()

    workgroups = (-(-count // tiles.block_rows), batches)
    kernel = Kernel(
        "rows_by_vector", (Result(out),), emit, key=tiles, workgroups=workgroups, has_parts=parts > 1
    )
    (sums,) = kernels.call(kernel, [rows, vector])
    return sums


@dataclass(frozen=True, slots=True)
class RowSums:
    """The code of one workgroup: a block of rows of one batch, by `parts` vectors."""

    rows: Array
    vector: Array
    out: Array
    count: int
    size: int
    parts: int
    tiles: RowTiles

    def run(self) -> None:
        """Some rows at once, and then those that are left."""
        together, block = self.tiles.rows, self.tiles.block_rows
        place, batch = Number(workgroup_id(0)), Number(workgroup_id(1))
        whole = self.count // together * together
        if whole:
            start = place * block
            with loop(start, (start + block).least(whole), together) as row:
                self.sums(batch, row, together)
        if self.count > whole:
            with when(place.equals(index((self.count - 1) // block))):
                self.sums(batch, index(whole), self.count - whole)

    def sums(self, batch: Number, row: Place, rows: int) -> None:
        """The sums of `rows` rows of a batch, from `row` on."""
        width, vectors = self.tiles.width, self.tiles.vectors
        type_ = mlir.ir.VectorType.get([width], self.out.element)
        zero = broadcast(constant(self.out.element, 0.0), type_)
        step = width * vectors
        whole = self.size // step * step

        def body(at: Place, *sums: Number) -> list[Number]:
            return self._added(batch, row, rows, at, [width] * vectors, sums)

        sums = [zero] * (rows * self.parts * vectors)
        if whole:
            sums = carried(0, whole, sums, body, step)
        left = self.size - whole
        if left:
            counts = [min(left - at, width) for at in range(0, left, width)]
            sums = self._added(batch, row, rows, index(whole), counts, sums)
        for r, part in product(range(rows), range(self.parts)):
            first = (r * self.parts + part) * vectors
            total = reduce(add, sums[first : first + vectors])
            fast = mlir.ir.Attribute.parse("#arith.fastmath<reassoc>")
            scalar = mlir.vector.reduction(
                self.out.element, mlir.vector.CombiningKind.ADD, total.value, fastmath=fast
            )
            self.out[batch, (index(row) + r) * self.parts + part] = Number(scalar)

    def _added(
        self, batch: Number, row: Place, rows: int, at: Place, counts: Sequence[int], sums: Sequence[Number]
    ) -> list[Number]:
        """`sums` and the products of one vector of each row for each of `counts`, of so many elements."""
        width, following = self.tiles.width, list(sums)
        for number, count in enumerate(counts):
            place = index(at) + number * width
            vectors = [
                load_some(self.vector, width, count, batch, place + part * self.size)
                for part in range(self.parts)
            ]
            for r in range(rows):
                y = load_some(self.rows, width, count, batch, index(row) + r, place)
                for part, x in enumerate(vectors):
                    position = (r * self.parts + part) * self.tiles.vectors + number
                    following[position] = multiply_add(x, y, following[position])
        return following
