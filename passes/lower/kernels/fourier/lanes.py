"""Transforms of vectors of lanes, of any size: their plan, their tables, and groups of rows as lanes.

Input: a size, the registers of a machine. Output: what a kernel needs to transform as many arrays at once
as a vector has elements.
Idea: rows become lanes by square blocks of floats that are transposed, which also takes the parts of complex
numbers apart. Where vectors do not divide the rows, the last group overlaps the one before it, or has its
last row several times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import inf, prod
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ..builder import Array, Number, Place, ceil_divided, choose, index, loop
from ..executable import Size
from ..linalg.matrices import workgroups
from ..linalg.vectors import Lanes, Machine, transposed
from .cyclic import Cycle
from .cyclic_plans import Cyclic, best_cyclic
from .plans import WIDE, cost, is_smooth, radices, speed, stage_roots
from .stages import Stages

_EXCHANGE: Final = 2.5  # what it costs to make an element of rows one of lanes, and back
_CACHE: Final = 24 * 1024  # bytes of scratch that stay in the first cache
_BEYOND: Final = 1.45  # how much longer steps take whose scratch does not


def most_of(machine: Machine) -> int:
    """The radix of powers of two that the registers hold."""
    return 8 if machine.vector_bits >= WIDE else 4


@dataclass(frozen=True, slots=True)
class LanePlan:
    """How vectors of transforms of a size are done: by steps, or by a convolution that is."""

    size: int
    steps: tuple[int, ...]
    cyclic: Cyclic | None

    @property
    def length(self) -> int:
        """The places of scratch that a transform needs."""
        return self.size if self.cyclic is None else max(self.size, self.cyclic.length)

    @property
    def result_half(self) -> int:
        """The half of the scratch where the spectrum can be written, if half 1 had the elements."""
        return (len(self.steps) - 1) % 2 if self.cyclic is None else 1

    def cost(self, most: int) -> float:
        """What a vector of transforms costs, in units of a load and a store of a complex vector."""
        if self.cyclic is None:
            return self.size * cost(self.size, most)
        length = self.cyclic.length
        passes = 2 if self.cyclic.in_powers else 4
        return length * (2 * cost(length, most) + passes)

    def tables(self) -> list[np.ndarray]:
        """The roots of the steps; of a convolution, the response and the chirp behind them."""
        if self.cyclic is None:
            return [stage_roots(self.size, self.steps)]
        chirp = np.zeros(0) if self.cyclic.in_powers else self.cyclic.chirp().ravel()
        return [stage_roots(self.cyclic.length, self.steps), self.cyclic.response().ravel(), chirp]

    def powers(self) -> list[np.ndarray]:
        """The order of the elements, if the plan has one."""
        has_order = self.cyclic is not None and self.cyclic.in_powers
        return [self.cyclic.powers().astype(np.int32)] if self.cyclic is not None and has_order else []

    def transform(
        self,
        width: int,
        is_fused: bool,
        table: Array,
        powers: Sequence[Array],
        work: Array,
        lead: tuple[Place, ...],
    ) -> Stages | Cycle:
        """The transform of vectors of `width` lanes, whose scratch has the leading places `lead`."""
        stages = Stages(self.size, self.steps, width, is_fused, table, 0, work, lead)
        if self.cyclic is None:
            return stages
        roots, response, _ = (len(t) for t in self.tables())
        stages = Stages(self.cyclic.length, self.steps, width, is_fused, table, 0, work, lead)
        return Cycle(self.cyclic, stages, roots, roots + response, powers[0] if powers else None)


@lru_cache(maxsize=256)
def lane_plan(size: int, most: int) -> LanePlan:
    """The plan of a size, of steps of powers of two up to `most`."""
    if is_smooth(size):
        return LanePlan(size, radices(size, most), None)
    cyclic = best_cyclic(size, lambda length: length * (2 * cost(length, most) + 2))
    return LanePlan(size, radices(cyclic.length, most), cyclic)


def power_of_two(most: int) -> int:
    """The greatest power of two up to a number."""
    return 1 << (most.bit_length() - 1)


def best_group(size: int, rows: Size, machine: Machine, lanes: Lanes, by_row: float) -> int | None:
    """How many rows to transform at once; None if one at a time, which costs `by_row`, is cheaper.

    Where it shows at the call how many there are, they may be fewer than are done at once: then that much of
    the work is for nothing, which must be little.
    """
    plan, itemsize = lane_plan(size, most_of(machine)), lanes.dtype.itemsize
    best, least = None, by_row
    width = min(lanes.width, power_of_two(2 * size))
    if isinstance(rows, int):
        width = min(width, power_of_two(rows))
    while width > 1:
        each = (plan.cost(most_of(machine)) + _EXCHANGE * size) / width * speed(width, itemsize)
        is_beyond = 4 * plan.length * width * itemsize > _CACHE
        if isinstance(rows, int):
            each *= -(-rows // width) * width / rows
        elif is_beyond:
            each = inf
        if is_beyond:
            each *= _BEYOND
        if each < least:
            best, least = width, each
        width //= 2
    return best


def part_count(count: Place, width: int) -> Place:
    """Into how many parts so many lanes are divided: those of a part are a vector."""
    return count // width if isinstance(count, int) else ceil_divided(count, width)


def group_workgroups(rows: Size, width: int) -> Size:
    """How many workgroups share so many rows, of which a group is transformed at once."""
    parts = part_count(rows if isinstance(rows, int) else Number(rows), width)
    return workgroups(parts if isinstance(parts, int) else parts.value)


def each_vector(count: Place, width: int, part: Number, one: Callable[[Number], None]) -> None:
    """`one(start)` for each vector of a part of so many lanes.

    The last part has two where vectors do not divide a known count: they overlap. A count that shows at the
    call may be less than a vector has: the last vector goes beyond it.
    """
    if isinstance(count, Number):
        one(part * width)
        return
    parts = part_count(count, width)
    is_last = part.equals(parts - 1) if count % width else index(0).differs(0)
    with loop(part, choose(is_last, part + 2, part + 1)) as place:
        one((place * width).least(count - width))


def rows_of(array: Array) -> Array:
    """An array with all axes but the last one as one."""
    rank = len(array.type.shape)
    if rank <= 2:
        return array
    sizes = [array.size(axis) for axis in range(rank - 1)]
    is_known = all(isinstance(size, int) for size in sizes)
    rows = prod(array.type.shape[:-1]) if is_known else mlir.ir.ShapedType.get_dynamic_size()
    type_ = mlir.ir.MemRefType.get([rows, array.type.shape[-1]], array.element)
    return Array(mlir.memref.collapse_shape(type_, array.memref, [list(range(rank - 1)), [rank - 1]]))


@dataclass(frozen=True, slots=True)
class Group:
    """As many rows as vectors have lanes, from `row` on, as vectors in scratch `work`.

    Lanes beyond the last row have the last row too.
    """

    array: Array
    row: Number
    width: int
    work: Array
    lead: tuple[Place, ...]
    is_swapped: bool

    def load(self, half: int) -> None:
        """Rows of an array to vectors of scratch."""
        rows = self._rows()
        with self._each_start() as start:
            block = [self.array.vector(self.width, row, start) for row in rows]
            for number, vector in enumerate(transposed(block)):
                self.work[self._place(half, start, number)] = vector

    def store(self, half: int) -> None:
        """Vectors of scratch to rows of an array."""
        rows = self._rows()
        with self._each_start() as start:
            places = [self._place(half, start, number) for number in range(self.width)]
            block = [self.work.vector(self.width, *place) for place in places]
            for row, vector in zip(rows, transposed(block), strict=True):
                self.array[row, start] = vector

    def _rows(self) -> list[Number]:
        """The row of each lane."""
        rows, count = [self.row + lane for lane in range(self.width)], self.array.size(0)
        return rows if isinstance(count, int) else [row.least(count - 1) for row in rows]

    @contextmanager
    def _each_start(self) -> Iterator[Number]:
        """A loop over where vectors begin that cover a row of floats."""
        count = int(self.array.type.shape[-1])
        with loop(0, -(-count // self.width)) as number:
            yield (number * self.width).least(count - self.width)

    def _place(self, half: int, start: Number, number: int) -> tuple[Place, ...]:
        """Where the vector of a float of the rows lies."""
        part = (number % 2) ^ self.is_swapped
        return (*self.lead, half, start // 2 + number // 2, part * self.width)
