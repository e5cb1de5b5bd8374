"""Fourier transforms of many real rows of an even size, and back: rows as lanes of vectors.

Input: how the spectra of halves are taken apart or put together, as functions of two opposite places. Output:
kernels.
Idea: a group of real rows is one of complex rows of half the size as it lies (`lanes.py`); opposite places
are read and written together, in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, index, loop
from ..executable import Kernel, Result, Size
from ..linalg.matrices import each_part, scratch_of
from ..linalg.vectors import Machine
from .lanes import Group, LanePlan, each_vector, group_workgroups, lane_plan, most_of, part_count, rows_of
from .plans import roots
from .row_work import lanes_of, table_of
from .stages import Parts, Stages

Opposite: TypeAlias = Callable[[Parts, Parts, Parts], Parts]
"""A new element of a place, the conjugate of the opposite one, and the root of the place."""


@dataclass(frozen=True, slots=True)
class RealGroups:
    """Kernels for `rows` of `2 * half` real numbers, of which `width` are done at once."""

    machine: Machine
    rows: Size
    type_: TensorType
    half: int
    width: int

    @property
    def _plan(self) -> LanePlan:
        return lane_plan(self.half, most_of(self.machine))

    def forwards(self, name: str, result: Result, apart: Opposite) -> Kernel:
        """Real rows to the points of half of their spectra and one more."""
        where = self._plan.result_half

        def one(rows: _Rows) -> None:
            rows.of(rows.x).load(1)
            rows.transform()
            rows.opposite(where, apart)
            re, im = rows.place(where, 0)
            zero = re - re
            rows.put(where, 0, (re + im, zero))
            rows.put(where, self.half, (re - im, zero))
            rows.of(rows.y).store(where)

        return self._kernel(name, result, one)

    def backwards(self, name: str, result: Result, together: Opposite) -> Kernel:
        """Points to real rows; the parts are exchanged, as the inverse transform takes them."""

        def one(rows: _Rows) -> None:
            rows.of(rows.x).load(1)
            rows.opposite(1, lambda *given: together(*given)[::-1])
            first, last = rows.place(1, 0)[0], rows.place(1, self.half)[0]
            rows.put(1, 0, (first - last, first + last))
            rows.transform()
            rows.of(rows.y, is_swapped=True).store(self._plan.result_half)

        return self._kernel(name, result, one)

    def _kernel(self, name: str, result: Result, one: Callable[[_Rows], None]) -> Kernel:
        plan, width = self._plan, self.width
        lanes = lanes_of(self.machine, self.type_)
        tables = plan.tables()
        turns = roots(np.arange(self.half), 2 * self.half).ravel()
        count = group_workgroups(self.rows, width)

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            x, table, *order, y, work = map(Array, (*operands, *written))
            x, y = rows_of(x), rows_of(y)
            rows = x.size(0)

            def each(number: Number, mine: Number) -> None:
                transform = plan.transform(width, self.machine.is_fused, table, order, work, (mine,))
                stages = transform if isinstance(transform, Stages) else transform.stages
                offset = sum(len(t) for t in tables)

                def run() -> None:
                    transform.run(transform.reader(1), transform.writer(plan.result_half))

                def group(first: Number) -> None:
                    one(_Rows(x, y, first, stages, self.half, offset, run))

                each_vector(rows, width, index(number), group)

            each_part(part_count(rows, width), each)

        return Kernel(
            name,
            (result, scratch_of(count, (2, max(plan.length, self.half + 1), 2 * width), lanes.element)),
            emit,
            (self.machine, "groups"),
            (count,),
            constants=(table_of(np.concatenate([*tables, turns]), lanes), *plan.powers()),
            has_parts=True,
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    """A group of rows in scratch; the roots of the whole size are at `turns` of the table."""

    x: Array
    y: Array
    first: Number
    stages: Stages
    half: int
    turns: int
    transform: Callable[[], None]

    def of(self, array: Array, *, is_swapped: bool = False) -> Group:
        """The group as rows of an array."""
        stages = self.stages
        return Group(array, self.first, stages.width, stages.work, stages.lead, is_swapped)

    def place(self, where: int, place: Place) -> Parts:
        """The vector of a place of a half of the scratch."""
        return self.stages.reader(where)(place)

    def put(self, where: int, place: Place, parts: Parts) -> None:
        """Write it."""
        self.stages.writer(where)(place, parts)

    def opposite(self, where: int, new: Opposite) -> None:
        """New elements of all places but the first, those of `k` and ``half - k`` together."""
        with loop(1, self.half // 2 + 1) as k:
            places = [k, index(self.half) - k]
            given = [self.place(where, place) for place in places]
            for place, mine, other in zip(places, given, reversed(given), strict=True):
                root = self.stages.root(place * 2 + self.turns)
                self.put(where, place, new(mine, (other[0], -other[1]), root))
