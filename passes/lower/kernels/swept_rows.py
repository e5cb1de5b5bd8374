"""The kernel that multiplies a matrix by a vector, and another vector by it, in one sweep over its rows.

Input: a matrix `[m, k]`, a vector `[k]`, arrays `[m]`, and the code of a number for each row. Output: the
sums `[m]` of each row by the vector; for each of the workgroups, which share the rows, the sum `[k]` of its
rows, each multiplied by its number. A row's number may follow from its sum.
Idea: a matrix that no near cache holds takes the time of loading it. A few rows are multiplied by the vector,
and are in a near cache when they are added to the sums. How the rows are shared follows from the sizes alone,
so that results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Value
from ..scalars import Scalars, scalar_code
from ..tuning.sweep_tiles import SweepTiles
from .builder import Array, Number, broadcast, index, local, loop, when
from .executable import Kernel, Kernels, Result, workgroup_id
from .partial_vectors import load_some, store_some, zeros
from .products import multiply_add
from .row_products import RowSums


@dataclass(frozen=True, slots=True)
class Step:
    """An elementwise op on numbers: its operands, among the values, their dtypes, and its attributes."""

    name: str
    operands: tuple[int, ...]
    dtypes: tuple[np.dtype, ...]
    attributes: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class RowCode:
    """What the number of a row is: the last one of the values.

    The values are the row's sum, its elements of `arrays` arrays, constants, and the results of the steps;
    `result` is the number of the last one.
    """

    arrays: int
    constants: tuple[tuple[np.dtype, object], ...]
    steps: tuple[Step, ...]
    result: int

    def emit(self, total: Number, elements: Sequence[Number]) -> Number:
        """The number of a row, computed at the insertion point."""
        scalars = Scalars("cpu")
        values = [number.value for number in (total, *elements)]
        values += [scalars.constant(dtype, value) for dtype, value in self.constants]
        for step in self.steps:
            operands = [values[number] for number in step.operands]
            values.append(scalar_code(step.name)(scalars, step.dtypes, *operands, **dict(step.attributes)))
        return Number(values[self.result])


def sweep_rows(
    kernels: Kernels, matrix: Value, vector: Value, arrays: Sequence[Value], code: RowCode, tiles: SweepTiles
) -> tuple[Value, Value]:
    """The sums `[1, m]` of the rows by the vector, and the sums `[parts, k]` of rows times their numbers.

    `matrix` is `[1, m, k]` and `vector` `[1, k]`, of f32 or of f64; `arrays` are `[m]`.
    """
    type_ = mlir.ir.RankedTensorType(matrix.type)
    _, count, size = type_.shape
    shapes = ((1, count), (tiles.parts, size))
    results = tuple(Result(mlir.ir.RankedTensorType.get(shape, type_.element_type)) for shape in shapes)

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        rows, by, *others = map(Array, given)
        sums, partial = map(Array, written)
        products = RowSums(rows, by, sums, count, size, 1, tiles.rows)
        _Sweep(products, partial, tuple(others), code, tiles).run()

    kernel = Kernel("swept_rows", results, emit, key=(code, tiles), workgroups=(tiles.parts,))
    sums, partial = kernels.call(kernel, [matrix, vector, *arrays])
    return sums, partial


@dataclass(frozen=True, slots=True)
class _Sweep:
    """The code of one workgroup: a part of the rows."""

    products: RowSums
    partial: Array
    arrays: tuple[Array, ...]
    code: RowCode
    tiles: SweepTiles

    def run(self) -> None:
        """Some rows at once, and then those that are left."""
        count, together = self.products.count, self.tiles.rows.rows
        part, whole = Number(workgroup_id(0)), count // together * together
        self._clear(part)
        start = part * self.tiles.rows_of_part
        numbers = local((together,), self.partial.element)
        with loop(start, (start + self.tiles.rows_of_part).least(whole), together) as row:
            self._rows(part, row, together, numbers)
        if count > whole:
            with when(part.equals(index(self.tiles.parts - 1))):
                self._rows(part, index(whole), count - whole, numbers)

    def _clear(self, part: Number) -> None:
        for at, count in self._columns(1):
            store_some(self.partial, zeros(self.tiles.rows.width, self.partial.element), count, part, at)

    def _rows(self, part: Number, row: Number, rows: int, numbers: Array) -> None:
        """Multiply `rows` rows by the vector, and add each times its number to the sums of this part."""
        self.products.sums(index(0), row, rows)
        with loop(0, rows) as at:
            place = row + at
            elements = [array[place] for array in self.arrays]
            numbers[at] = self.code.emit(self.products.out[index(0), place], elements)
        width = self.tiles.rows.width
        type_ = mlir.ir.VectorType.get([width], self.partial.element)
        factors = [broadcast(numbers[index(at)], type_) for at in range(rows)]
        for at, count in self._columns(self.tiles.vectors):
            total = load_some(self.partial, width, count, part, at)
            for number, factor in enumerate(factors):
                some = load_some(self.products.rows, width, count, index(0), row + number, at)
                total = multiply_add(some, factor, total)
            store_some(self.partial, total, count, part, at)

    def _columns(self, vectors: int) -> Iterator[tuple[Number, int]]:
        """Where the vectors of a row begin, `vectors` of them in each step of a loop, and their elements."""
        width, size = self.tiles.rows.width, self.products.size
        whole = size - size % (width * vectors)
        with loop(0, whole, width * vectors) as at:
            for number in range(vectors):
                yield at + number * width, width
        yield from ((index(place), min(width, size - place)) for place in range(whole, size, width))
