"""Fourier transforms along the last axis or the one before it, by one kernel.

Input: complex arrays `[..., n]` or `[..., n, columns]`, seen as arrays of their parts. Output: their spectra,
without a factor; forwards, or backwards with the parts exchanged before and after.
Idea: columns are lanes of vectors as they lie; where vectors do not divide them, the last one overlaps the
one before it. Of many rows, those of a group become lanes (`lanes.py`); the vectors of others lie along the
row (`row_work.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, index
from ..executable import Kernel, Result, Size
from ..linalg.matrices import MakeKernel, each_matrix, each_part, scratch_of, workgroups
from ..linalg.vectors import Machine, lead_of
from .lanes import (
    Group,
    best_group,
    each_vector,
    group_workgroups,
    lane_plan,
    most_of,
    part_count,
    power_of_two,
    rows_of,
)
from .row_work import RowWork, lanes_of, table_of
from .rows import Mixed
from .stages import Parts


@dataclass(frozen=True, slots=True)
class Form:
    """Which transform: backwards or forwards, of the columns or of the rows."""

    is_inverse: bool
    of_columns: bool

    @property
    def name(self) -> str:
        """The name of the routine."""
        return ("ifft" if self.is_inverse else "fft") + ("_columns" if self.of_columns else "")


FORMS: Final = [Form(inverse, columns) for inverse in (False, True) for columns in (False, True)]


def _transform(form: Form) -> MakeKernel:
    """The kernel of a routine: complex arrays to their transforms."""

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        return (_columns if form.of_columns else _rows)(form, machine, batch, types[0], results[0])

    return make


KERNELS: Final[Mapping[str, MakeKernel]] = {form.name: _transform(form) for form in FORMS}


def _columns(form: Form, machine: Machine, batch: Size, type_: TensorType, result: Result) -> Kernel:
    size, columns = (int(n or 0) for n in type_.static_shape[-2:])
    full = lanes_of(machine, type_)
    width = min(full.width, power_of_two(columns))
    plan = lane_plan(size, most_of(machine))
    powers = plan.powers()
    parts = columns // width
    count = workgroups(batch, parts)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        x, table, *order, y, work = map(Array, (*operands, *written))

        def one(number: Number, mine: Number) -> None:
            item, part = index(number) // parts, index(number) % parts
            source, target = (Mixed(a, lead_of(a, item, 2), width, form.is_inverse) for a in (x, y))
            transform = plan.transform(width, machine.is_fused, table, order, work, (mine,))
            each_vector(
                columns,
                width,
                part,
                lambda start: transform.run(partial(_read, source, start), partial(_write, target, start)),
            )

        each_matrix(x, 2, one, parts)

    return Kernel(
        form.name,
        (result, scratch_of(count, (2, plan.length, 2 * width), full.element)),
        emit,
        (machine,),
        (count,),
        constants=(table_of(np.concatenate(plan.tables()), full), *powers),
        has_parts=True,
    )


def _read(source: Mixed, start: Number, row: Place) -> Parts:
    return source.read((row,), start)


def _write(target: Mixed, start: Number, row: Place, parts: Parts) -> None:
    target.write((row,), start, parts)


def _rows(form: Form, machine: Machine, batch: Size, type_: TensorType, result: Result) -> Kernel:
    size = int(type_.static_shape[-1] or 0)
    lanes = lanes_of(machine, type_)
    work = RowWork(machine, lanes, size, workgroups(batch))
    width = best_group(size, batch, machine, lanes, work.cost)
    if width is not None:
        return _groups(form, machine, batch, type_, result, width)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        x, table, y, *scratch = map(Array, (*operands, *written))

        def one(number: Number, mine: Number) -> None:
            source, target = (Mixed(a, lead_of(a, number, 1), work.width, form.is_inverse) for a in (x, y))
            work.row(table, scratch, (mine,)).run(source, target)

        each_matrix(x, 1, one)

    return work.kernel(form.name, result, emit)


def _groups(
    form: Form, machine: Machine, batch: Size, type_: TensorType, result: Result, width: int
) -> Kernel:
    """Rows, as many at once as a vector has elements."""
    size = int(type_.static_shape[-1] or 0)
    lanes = lanes_of(machine, type_)
    plan = lane_plan(size, most_of(machine))
    count = group_workgroups(batch, width)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        x, table, *order, y, work = map(Array, (*operands, *written))
        x, y = rows_of(x), rows_of(y)
        rows = x.size(0)

        def one(number: Number, mine: Number) -> None:
            transform = plan.transform(width, machine.is_fused, table, order, work, (mine,))

            def group(first: Number) -> None:
                source, target = (Group(a, first, width, work, (mine,), form.is_inverse) for a in (x, y))
                source.load(1)
                transform.run(transform.reader(1), transform.writer(plan.result_half))
                target.store(plan.result_half)

            each_vector(rows, width, index(number), group)

        each_part(part_count(rows, width), one)

    return Kernel(
        form.name,
        (result, scratch_of(count, (2, plan.length, 2 * width), lanes.element)),
        emit,
        (machine, "groups"),
        (count,),
        constants=(table_of(np.concatenate(plan.tables()), lanes), *plan.powers()),
        has_parts=True,
    )
