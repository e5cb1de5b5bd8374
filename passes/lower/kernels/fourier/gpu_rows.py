"""Fourier transforms on NVIDIA's GPUs: rows that fit in the memory of a workgroup, by one kernel.

Input: complex arrays `[..., n]` or `[..., n, columns]`. Output: their spectra, as of `transforms.py`.
Idea: the steps of Stockham's algorithm, as in `stages.py`. A thread does one butterfly of each step: it has
read all of its numbers before others write theirs to the same memory. The first step reads the array itself,
and the last one writes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Final

import numpy as np

from .....dialects.dataclass import dataclass
from .....dialects.types import COMPLEX, TensorType
from ....ir.aliases import Value
from ...tuning.gpu_fourier import LARGEST_PRIME, RowShare, largest_radix, row_share
from ..builder import Array, Number, Place, index, of_workgroup, when
from ..executable import Kernel, Result, Size, barrier, thread_id, workgroup_id
from ..linalg.matrices import MakeKernel
from ..linalg.vectors import Machine, lead_of
from .plans import is_smooth, radices, stage_roots
from .stages import Parts, Stages
from .transforms import FORMS, Form

Write = Callable[[Place, Parts], None]


def fits(name: str, operands: Sequence[TensorType]) -> bool:
    """Whether the routine of a name is one kernel for such arrays."""
    form = _BY_NAME.get(name)
    return form is not None and _plan(form, operands[0]) is not None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The steps of the rows of an array, how workgroups share them, and how many there are."""

    size: int
    steps: tuple[int, ...]
    count: int
    columns: int
    share: RowShare

    @property
    def workgroups(self) -> int:
        return -(-self.count // self.share.rows)


def _plan(form: Form, type_: TensorType) -> _Plan | None:
    if not type_.is_static or type_.dtype not in COMPLEX or 0 in type_.static_shape:
        return None
    sizes = [int(n or 0) for n in type_.static_shape]
    columns = sizes.pop() if form.of_columns else 1
    size = sizes.pop()
    itemsize = type_.dtype.itemsize // 2
    if size < 2 or not is_smooth(size):
        return None
    steps = radices(size, largest_radix(itemsize))
    if any(step > LARGEST_PRIME for step in steps):
        return None
    count = prod(sizes) * columns
    share = row_share(size, count, itemsize, steps, of_columns=form.of_columns)
    return None if share is None else _Plan(size, steps, count, columns, share)


def _kernel(form: Form) -> MakeKernel:
    """The kernel of a routine: complex arrays to their transforms."""

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        plan = _plan(form, types[0])
        assert plan is not None, "a routine that was to be expanded"
        part = np.dtype(f"f{types[0].dtype.itemsize // 2}")
        table = np.concatenate([stage_roots(plan.size, plan.steps), np.zeros(1)]).astype(part)

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            _Rows.of(form, plan, *map(Array, (*operands, *written))).run()

        return Kernel(
            form.name,
            (results[0],),
            emit,
            (plan.share, "gpu"),
            (plan.workgroups,),
            constants=(table,),
            has_parts=True,
            threads=plan.share.threads,
        )

    return make


KERNELS: Final[Mapping[str, MakeKernel]] = {form.name: _kernel(form) for form in FORMS}
_BY_NAME: Final[Mapping[str, Form]] = {form.name: form for form in FORMS}


@dataclass(frozen=True, slots=True)
class _Rows:
    """The code of a thread: `own` is its butterfly of row `row`, the `place`-th of the workgroup."""

    form: Form
    plan: _Plan
    stages: Stages
    source: Array
    target: Array
    parts: tuple[Array, Array]
    own: Number
    place: Number
    row: Number

    @classmethod
    def of(cls, form: Form, plan: _Plan, source: Array, table: Array, target: Array) -> _Rows:
        number, share = Number(thread_id()), plan.share
        # Threads that are neighbours have neighbours in memory.
        own, place = (
            (number // share.rows, number % share.rows)
            if form.of_columns
            else (number % share.lanes, number // share.lanes)
        )
        row = Number(workgroup_id()) * share.rows + place
        re, im = (of_workgroup(share.rows * plan.size, table.element) for _ in range(2))
        stages = Stages(plan.size, plan.steps, 1, True, table, 0, table, ())
        return cls(form, plan, stages, source, target, (re, im), own, place, row)

    def run(self) -> None:
        """All steps."""
        done, offset, last = 1, 0, len(self.plan.steps) - 1
        for number, radix in enumerate(self.plan.steps):
            count = self.plan.size // radix
            mine = self.own.least(count - 1)
            results = self._butterfly(radix, done, offset, mine, is_first=number == 0)
            if 0 < number < last:
                barrier()  # all have read
            write = self._write if number == last else self._keep
            with when((self.own < count) & (self.row < self.plan.count)):
                for j, result in enumerate(results):
                    write(mine // done * (done * radix) + mine % done + done * j, result)
            if number < last:
                barrier()  # all have written
            offset += 2 * (count // done) * (radix - 1)
            done *= radix

    def _butterfly(self, radix: int, done: int, offset: int, mine: Number, *, is_first: bool) -> list[Parts]:
        """The numbers of a butterfly, transformed and turned by the roots of the step."""
        count = self.plan.size // radix
        read = self._read if is_first else self._kept
        results = self.stages.butterfly([read(mine + count * j) for j in range(radix)])
        if count == done:
            return results
        first = mine // done * (2 * (radix - 1)) + offset
        turned = [self.stages.times(x, self._root(first + 2 * j)) for j, x in enumerate(results[1:])]
        return [results[0], *turned]

    def _root(self, place: Number) -> Parts:
        return self.stages.table[place], self.stages.table[place + 1]

    # -- the memory of the workgroup --

    def _kept(self, at: Place) -> Parts:
        re, im = (part[self.place * self.plan.size + at] for part in self.parts)
        return re, im

    def _keep(self, at: Place, number: Parts) -> None:
        for array, part in zip(self.parts, number, strict=True):
            array[self.place * self.plan.size + at] = part

    # -- the arrays, whose parts lie side by side --

    def _places(self, array: Array, row: Number, at: Place) -> list[tuple[Place, ...]]:
        first = [*lead_of(array, row, 1), index(at) * 2]
        if self.form.of_columns:
            columns = self.plan.columns
            first = [*lead_of(array, row // columns, 2), at, row % columns * 2]
        *lead, last = first
        parts = [(*lead, last), (*lead, index(last) + 1)]
        return parts[::-1] if self.form.is_inverse else parts

    def _read(self, at: Place) -> Parts:
        row = self.row.least(self.plan.count - 1)
        re, im = (self.source[places] for places in self._places(self.source, row, at))
        return re, im

    def _write(self, at: Place, number: Parts) -> None:
        for places, part in zip(self._places(self.target, self.row, at), number, strict=True):
            self.target[places] = part
