"""Cholesky factors on NVIDIA's GPUs: a workgroup factors one matrix, whose lower triangle is in its memory.

Input: symmetric real matrices `[..., n, n]`, of which the lower triangle is used. Output: the lower factors;
NaN in the lower triangle of a matrix that is not positive definite.
Idea: column by column, what a column contributes is taken off all later ones (outer products, as in
`frontend/library/linalg/cholesky.py`). Warps share rows, and lanes the columns of a row. The squares of the
diagonal are kept, so that nobody waits for a root.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from .....dialects.dataclass import dataclass
from .....dialects.routine_arrays import DTYPES
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ...tuning.gpu_facts import WARP
from ..builder import Array, Number, Place, branches, carried, choose, constant, index, loop, of_workgroup
from ..executable import Kernel, Result, Size, barrier, thread_id, workgroup_id
from .matrices import MakeKernel
from .vectors import Machine, lead_of, root

MEMORY: Final = 48 << 10  # bytes of a triangle
MOST_WARPS: Final = 8
ROWS: Final = 8  # of a warp, at least


def fits(name: str, operands: Sequence[TensorType]) -> bool:
    """Whether the routine of a name is one kernel for such arrays."""
    type_ = operands[0]
    if name not in KERNELS or type_.dtype not in DTYPES or not type_.is_static or 0 in type_.shape:
        return False
    return _triangle(_size(type_)) * type_.dtype.itemsize <= MEMORY


def _size(type_: TensorType) -> int:
    return int(type_.static_shape[-1] or 0)


def _triangle(rows: int) -> int:
    """The elements of so many rows of a lower triangle, one row behind the other."""
    return rows * (rows + 1) // 2


def cholesky(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
    """The kernel of a routine: matrices to their lower factors."""
    size = _size(types[0])
    warps = min(-(-size // ROWS), MOST_WARPS)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        source, factor = Array(operands[0]), Array(written[0])
        number = Number(workgroup_id())
        triangle = of_workgroup(_triangle(size), source.element)
        _Factor(size, warps, triangle, lead_of(source, number, 2)).run(source, factor)

    return Kernel("cholesky", (results[0],), emit, ("gpu", warps), (batch,), threads=warps * WARP)


KERNELS: Final[Mapping[str, MakeKernel]] = {"cholesky": cholesky}


@dataclass(frozen=True, slots=True)
class _Factor:
    """The code of a thread: rows of its warp, columns of its lane."""

    size: int
    warps: int
    triangle: Array
    lead: tuple[Place, ...]

    def run(self, source: Array, factor: Array) -> None:
        """Take the matrix, factor it and write the result."""

        def take(row: Number, column: Number) -> None:
            self.triangle[_place(row, column)] = source[(*self.lead, row, column)]

        self._each(0, take)
        barrier()
        with loop(0, self.size) as k:
            self._take_off(k)
        self._write(factor)

    def _take_off(self, k: Number) -> None:
        """Scale a column, and take its products off the later ones."""
        pivot = root(self.triangle[_place(k, k)])
        with loop(k + 1 + Number(thread_id()), self.size, self.warps * WARP) as row:
            place = _place(row, k)
            self.triangle[place] = self.triangle[place] / pivot
        barrier()

        def update(row: Number, column: Number) -> None:
            place = _place(row, column)
            off = self.triangle[_place(row, k)] * self.triangle[_place(column, k)]
            self.triangle[place] = self.triangle[place] - off

        self._each(k + 1, update)
        barrier()

    def _each(self, first: Place, body: Callable[[Number, Number], None]) -> None:
        """`body` for what a thread has of the triangle from a row and column on."""
        own = Number(thread_id())
        with loop(own // WARP + first, self.size, self.warps) as row:
            self._columns(own, first, row, body)

    def _columns(
        self, own: Number, first: Place, row: Number, body: Callable[[Number, Number], None]
    ) -> None:
        with loop(own % WARP + first, row + 1, WARP) as column:
            body(row, column)

    def _write(self, factor: Array) -> None:
        """The factor with zeros above the diagonal."""
        element = factor.element
        zero, none = constant(element, 0.0), constant(element, float("nan"))

        def step(k: Number, is_good: Number) -> Sequence[Number]:
            return [is_good & (self.triangle[_place(k, k)] > zero)]

        (is_good,) = carried(0, self.size, [zero.equals(0.0)], step)
        own = Number(thread_id())
        with loop(own // WARP, self.size, self.warps) as row, loop(own % WARP, self.size, WARP) as column:

            def below() -> Sequence[Number]:
                number = self.triangle[_place(row, column)]
                return [choose(column.equals(row), root(number), number)]

            (number,) = branches(column <= row, [element], below, lambda: [zero])
            factor[(*self.lead, row, column)] = choose(is_good | (column > row), number, none)


def _place(row: Place, column: Place) -> Number:
    """Where an element of the lower triangle lies."""
    first = index(row)
    return first * (first + 1) // 2 + column
