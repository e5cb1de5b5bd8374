"""What the kernels of rows have in common, whose vectors lie along a row: steps, roots, scratch, workgroups.

Input: a machine, the size, and among how many workgroups rows are divided. Output: kernels, and the transform
of a row within them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ..builder import Array, Place
from ..executable import Emit, Kernel, Result, Size
from ..linalg.matrices import scratch_of
from ..linalg.vectors import Lanes, Machine
from .chirped_rows import ChirpedRow
from .cyclic_plans import Cyclic, best_chirp
from .lanes import most_of
from .plans import Split, best_split, column_roots, is_smooth, radices, speed, stage_roots
from .rows import Row
from .stages import Stages


def lanes_of(machine: Machine, type_: TensorType) -> Lanes:
    is_complex = type_.dtype.kind == "c"
    dtype = np.dtype(f"f{type_.dtype.itemsize // (2 if is_complex else 1)}")
    return Lanes(dtype, machine.vector_bits // 8 // dtype.itemsize, 0, machine.is_fused)


def table_of(numbers: np.ndarray, lanes: Lanes) -> np.ndarray:
    """Roots in the dtype of the transform; at least one, since arrays without elements have no buffer."""
    return np.concatenate([numbers, np.zeros(1)]).astype(lanes.dtype)


@dataclass(frozen=True, slots=True)
class RowWork:
    """What the kernels of rows of `size` elements have in common: steps, roots, scratch, workgroups."""

    machine: Machine
    lanes: Lanes
    size: int
    count: Size

    @property
    def cyclic(self) -> Cyclic | None:
        """The convolution by which a size with a large prime factor is transformed."""
        if is_smooth(self.size):
            return None
        return best_chirp(self.size, lambda length: self._split(length).cost)

    @property
    def split(self) -> Split:
        """The factors of the size, or of the length of the convolution."""
        cyclic = self.cyclic
        return self._split(self.size if cyclic is None else cyclic.length)

    def _split(self, length: int) -> Split:
        return best_split(length, self.lanes.width, most_of(self.machine))

    @property
    def cost(self) -> float:
        """What a row costs, in the units of `plans.speed`."""
        split = self.split
        unit = speed(split.width, self.lanes.dtype.itemsize)
        if self.cyclic is None:
            return split.cost * unit
        return (2 * split.cost + 4 * self.cyclic.length / split.width) * unit

    @property
    def width(self) -> int:
        """How many elements a vector has."""
        return self.split.width

    def _steps(self) -> list[tuple[int, ...]]:
        return [radices(n, most_of(self.machine)) for n in (self.split.first, self.split.second)]

    def tables(self) -> list[np.ndarray]:
        """The roots of the first steps, of the second ones, those between, and what a convolution needs."""
        return _tables(self.split, most_of(self.machine), self.cyclic)

    def row(self, table: Array, scratch: Sequence[Array], lead: tuple[Place, ...]) -> Row | ChirpedRow:
        """The transform of a row, with scratch of its own; the table begins with `tables`."""
        split, work, cyclic = self.split, scratch[0], self.cyclic
        lengths = [len(t) for t in self.tables()]
        offsets = [sum(lengths[:n]) for n in range(5)]
        first, second = (
            Stages(n, s, split.width, self.machine.is_fused, table, o, work, lead)
            for n, s, o in zip((split.first, split.second), self._steps(), offsets, strict=False)
        )
        row = Row(split, first, second, scratch[1], lead, offsets[2], offsets[3])
        return row if cyclic is None else ChirpedRow(cyclic, row, scratch[-1], lead, offsets[4])

    def kernel(
        self,
        name: str,
        result: Result,
        emit: Emit,
        *,
        roots: Sequence[np.ndarray] = (),
        more: Sequence[Result] = (),
    ) -> Kernel:
        """A kernel with the tables, `roots` behind them, and scratch."""
        split, cyclic = self.split, self.cyclic
        longest = max(split.first, split.second)
        chirped = [] if cyclic is None else [scratch_of(self.count, (2 * cyclic.length,), self.lanes.element)]
        return Kernel(
            name,
            (
                result,
                scratch_of(self.count, (2, longest, 2 * split.width), self.lanes.element),
                scratch_of(self.count, (split.second, 2 * split.first), self.lanes.element),
                *more,
                *chirped,
            ),
            emit,
            (self.machine,),
            (self.count,),
            constants=(table_of(np.concatenate([*self.tables(), *roots]), self.lanes),),
            has_parts=True,
        )


@lru_cache(maxsize=2)
def _tables(split: Split, most: int, cyclic: Cyclic | None) -> list[np.ndarray]:
    stages = [stage_roots(n, radices(n, most)) for n in (split.first, split.second)]
    chirps = [] if cyclic is None else [cyclic.chirp().T.ravel(), cyclic.response().T.ravel()]
    return [*stages, *column_roots(split), *chirps]
