"""The kernel that completes symmetric matrices of which what lies below the diagonal was not computed.

Input: matrices `[b, m, m]` whose squares on the diagonal and beyond it are filled. Output: the same, each
element below the diagonal a copy of the one across it.
Idea: squares of as many rows as a vector has elements are transposed in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Value
from .builder import Array, Number, Place, choose, index, loop, when
from .executable import Kernel, Kernels, tensor_sizes, workgroup_id
from .panels import transposed
from .partial_vectors import first_of, load_some, store_some
from .products import result_of

ROWS: Final = 64  # of a workgroup


def mirror(kernels: Kernels, matrices: Value, width: int) -> Value:
    """The matrices, symmetric, copied by vectors of `width`; their size is known."""
    batches, size, _ = tensor_sizes(matrices)
    assert isinstance(size, int)

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        _Mirror(Array(given[0]), Array(written[0]), size, width, Number(workgroup_id(1))).run()

    result = result_of([batches, size, size], mlir.ir.RankedTensorType(matrices.type).element_type)
    groups = -(-size // ROWS), batches
    (mirrored,) = kernels.call(Kernel("mirror", (result,), emit, key=width, workgroups=groups), [matrices])
    return mirrored


@dataclass(frozen=True, slots=True)
class _Mirror:
    """The code of one workgroup: some rows of one batch."""

    source: Array
    out: Array
    size: int
    width: int
    batch: Number

    def run(self) -> None:
        """Rows by the square, the last ones in part."""
        place = Number(workgroup_id(0))
        whole, rest = self.size // self.width * self.width, self.size % self.width
        if whole:
            start = place * ROWS
            with loop(start, (start + ROWS).least(whole), self.width) as row:
                self._rows(row, self.width)
        if rest:
            with when(place.equals(whole // ROWS)):
                self._rows(index(whole), rest)

    def _rows(self, row: Number, count: int) -> None:
        """`count` rows: what was across the diagonal, the square on it, and what is beyond it."""
        with loop(0, row, self.width) as column:
            lines = [self._load(column + step, row, count) for step in range(self.width)]
            for step, line in enumerate(transposed(lines)[:count]):
                self.out[self.batch, row + step, column] = line
        lines = [self._load(row + step, row, count) for step in range(count)]
        square = transposed([*lines, *lines[:1] * (self.width - count)])
        for step, (line, across) in enumerate(zip(lines, square, strict=False)):
            self._store(choose(first_of(step, self.width), across, line), row + step, row, count)
        if count < self.width:
            return
        whole, rest = self.size // self.width * self.width, self.size % self.width
        for step in range(count):
            with loop(row + self.width, whole, self.width) as column:
                self.out[self.batch, row + step, column] = self._load(row + step, column, self.width)
            if rest:
                self._store(self._load(row + step, whole, rest), row + step, whole, rest)

    def _load(self, row: Place, column: Place, count: int) -> Number:
        return load_some(self.source, self.width, count, self.batch, row, column)

    def _store(self, line: Number, row: Place, column: Place, count: int) -> None:
        store_some(self.out, line, count, self.batch, row, column)
