"""The kernel that scatters rows: each update meets the row that its position names, in the updates' order.

Input: updates `[count, size]`, or `[1, 1]` where all are one number; a position of each (an integer); and the
rows `[rows, size]`, whose buffer becomes that of the result. Output: the updated rows.
Idea: one loop over the updates, vectors along the rows; updates whose position names no row are dropped. Long
rows are divided among workgroups, so that each element has its updates in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Value
from .builder import Array, Number, Place, broadcast, constant, index, loop, when
from .executable import Kernel, Kernels, Result, Size, workgroup_count, workgroup_id

WIDTH: Final = 8  # elements of a vector
STRIP: Final = 512  # elements of a row that one workgroup updates at once
MOST_WORKGROUPS: Final = 16


@dataclass(frozen=True, slots=True)
class Meeting:
    """What becomes of an element and an update: `combine(present, update)`, also of vectors if `has_vectors`.

    `name` stands for both: equal names are equal functions. With `clips` a position outside is moved to the
    first or the last row; `is_signed` says how positions count.
    """

    name: str
    combine: Callable[[Value, Value], Value]
    has_vectors: bool
    clips: bool
    is_signed: bool


def scatter_rows(
    kernels: Kernels,
    rows: Value,
    positions: Value,
    updates: Value,
    how: Meeting,
    shape_of: Callable[[Value], Sequence[Size]],
) -> Value:
    """`rows` after all updates, in their own buffer."""
    count, row = shape_of(rows)
    sizes = tuple(n for n in (count, row) if not isinstance(n, int))

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        _Scatter(how, Array(written[0]), Array(given[0]), Array(given[1])).run()

    workgroups = min(max(-(-row // STRIP), 1), MOST_WORKGROUPS) if isinstance(row, int) else 1
    result = Result(rows.type, sizes, tied=2)
    key = (how.name, how.clips, how.is_signed)
    kernel = Kernel("scatter", (result,), emit, key=key, workgroups=(workgroups,))
    (updated,) = kernels.call(kernel, [updates, positions, rows], sizes=shape_of)
    return updated


@dataclass(frozen=True, slots=True)
class _Scatter:
    """The code of one workgroup."""

    how: Meeting
    rows: Array
    updates: Array
    positions: Array

    def run(self) -> None:
        """Every so many strips of all rows."""
        size = self.rows.size(1)
        if isinstance(size, int) and size <= STRIP:
            self._strip(0, size)
            return
        step = Number(workgroup_count()) * STRIP
        with loop(Number(workgroup_id()) * STRIP, size, step) as first:
            self._strip(first, (first + STRIP).least(size))

    def _strip(self, first: Place, end: Place) -> None:
        """All updates of the columns from `first` to `end`."""
        single = self.updates[0, 0] if self.updates.type.shape == [1, 1] else None
        with loop(0, self.positions.size(0)) as which:
            position, is_inside = self._position(self.positions[which])
            with when(is_inside):
                self._along(
                    first, end, lambda place, width: self._meet(position, which, place, width, single)
                )

    def _meet(self, position: Number, which: Number, place: Place, width: int, single: Number | None) -> None:
        if single is None:
            update = _read(self.updates, which, place, width)
        elif width > 1:
            update = broadcast(single, mlir.ir.VectorType.get([width], single.type))
        else:
            update = single
        present = _read(self.rows, position, place, width)
        self.rows[position, place] = Number(self.how.combine(present.value, update.value))

    def _along(self, first: Place, end: Place, body: Callable[[Place, int], None]) -> None:
        """`body` for vectors of columns and for the columns that are left."""
        widths = [16, 8, 4, 2] if self.how.has_vectors else []
        if isinstance(first, int) and isinstance(end, int) and end - first <= 4 * WIDTH:
            while first < end:
                width = next((w for w in widths if w <= end - first), 1)
                body(first, width)
                first += width
            return
        whole = index(first)
        if self.how.has_vectors:
            count = (index(end) - first) // WIDTH * WIDTH
            whole = index(first) + count
            with loop(first, whole, WIDTH) as place:
                body(place, WIDTH)
        with loop(whole, end) as place:
            body(place, 1)

    def _position(self, position: Number) -> tuple[Number, Number]:
        """A position as an index, and whether it names a row."""
        i64 = mlir.ir.IntegerType.get_signless(64)
        wide = position
        if position.type != i64:
            extend = mlir.arith.extsi if self.how.is_signed else mlir.arith.extui
            wide = Number(extend(i64, position.value))
        count = index(self.rows.size(0)).as_integer(i64)
        if self.how.clips:
            last = count - 1
            least = mlir.arith.minsi if self.how.is_signed else mlir.arith.minui
            wide = Number(least(wide.value, last.value))
            if self.how.is_signed:
                wide = Number(mlir.arith.maxsi(wide.value, constant(i64, 0).value))
        return Number(mlir.arith.index_cast(mlir.ir.IndexType.get(), wide.value)), wide.below(count)


def _read(array: Array, row: Number, place: Place, width: int) -> Number:
    return array.vector(width, row, place) if width > 1 else array[row, place]
