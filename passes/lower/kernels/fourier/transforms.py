"""Fourier transforms along the last axis or the one before it, by one kernel.

Input: complex arrays `[..., n]` or `[..., n, columns]`, seen as arrays of their parts. Output: their spectra,
without a factor; forwards, or backwards with the parts exchanged before and after.
Idea: columns are lanes of vectors as they lie; where vectors do not divide them, the last one overlaps the
one before it. Rows are `rows.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.types import TensorType
from ....ir.aliases import Type, Value
from ..builder import Array, Number, Place, choose, index, loop
from ..executable import Emit, Kernel, Result
from ..linalg.matrices import each_matrix, workgroups
from ..linalg.vectors import Lanes, Machine, lead_of
from .plans import WIDE, Split, best_split, column_roots, radices, stage_roots
from .rows import Mixed, Row
from .stages import Parts, Stages

MakeKernel = Callable[[Machine, Sequence[TensorType], Sequence[Type]], Kernel]


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

    def make(machine: Machine, types: Sequence[TensorType], results: Sequence[Type]) -> Kernel:
        return (_columns if form.of_columns else _rows)(form, machine, types[0], results[0])

    return make


KERNELS: Final[Mapping[str, MakeKernel]] = {form.name: _transform(form) for form in FORMS}


def most_of(machine: Machine) -> int:
    """The radix of powers of two that the registers hold."""
    return 8 if machine.vector_bits >= WIDE else 4


def lanes_of(machine: Machine, type_: TensorType) -> Lanes:
    is_complex = type_.dtype.kind == "c"
    dtype = np.dtype(f"f{type_.dtype.itemsize // (2 if is_complex else 1)}")
    return Lanes(dtype, machine.vector_bits // 8 // dtype.itemsize, 0, machine.is_fused)


def scratch_of(lanes: Lanes, *shape: int) -> Result:
    return Result(mlir.ir.RankedTensorType.get(list(shape), lanes.element))


def _columns(form: Form, machine: Machine, type_: TensorType, result: Type) -> Kernel:
    size, columns = (int(n or 0) for n in type_.static_shape[-2:])
    full = lanes_of(machine, type_)
    width = min(full.width, 1 << (columns.bit_length() - 1))
    steps = radices(size, most_of(machine))
    parts = columns // width
    count = workgroups(type_, 2, parts)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        x, table, y, work = map(Array, (*operands, *written))

        def one(number: Number, mine: Number) -> None:
            batch, part = index(number) // parts, index(number) % parts
            source, target = (Mixed(a, lead_of(a, batch, 2), width, form.is_inverse) for a in (x, y))
            stages = Stages(size, steps, width, machine.is_fused, table, 0, work, (mine,))
            # One workgroup has the last two vectors, which may overlap.
            is_last = part.equals(parts - 1) if columns % width else index(0).differs(0)
            with loop(part, choose(is_last, part + 2, part + 1)) as place:
                start = (place * width).least(columns - width)
                stages.run(partial(_read, source, start), partial(_write, target, start))

        each_matrix(type_, 2, one, parts)

    return Kernel(
        form.name,
        (Result(result), scratch_of(full, count, 2, size, 2 * width)),
        emit,
        (machine,),
        (count,),
        constants=(table_of(stage_roots(size, steps), full),),
        has_parts=True,
    )


def _read(source: Mixed, start: Number, row: Place) -> Parts:
    return source.read((row,), start)


def _write(target: Mixed, start: Number, row: Place, parts: Parts) -> None:
    target.write((row,), start, parts)


def table_of(numbers: np.ndarray, lanes: Lanes) -> np.ndarray:
    """Roots in the dtype of the transform; at least one, since arrays without elements have no buffer."""
    return np.concatenate([numbers, np.zeros(1)]).astype(lanes.dtype)


def _rows(form: Form, machine: Machine, type_: TensorType, result: Type) -> Kernel:
    size = int(type_.static_shape[-1] or 0)
    lanes = lanes_of(machine, type_)
    work = RowWork(machine, lanes, size, workgroups(type_, 1))

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        x, table, y, *scratch = map(Array, (*operands, *written))

        def one(number: Number, mine: Number) -> None:
            source, target = (Mixed(a, lead_of(a, number, 1), work.width, form.is_inverse) for a in (x, y))
            work.row(table, scratch, (mine,)).run(source, target)

        each_matrix(type_, 1, one)

    return work.kernel(form.name, result, emit)


@dataclass(frozen=True, slots=True)
class RowWork:
    """What the kernels of rows of `size` elements have in common: steps, roots, scratch, workgroups."""

    machine: Machine
    lanes: Lanes
    size: int
    count: int

    @property
    def split(self) -> Split:
        """The factors of the size."""
        return best_split(self.size, self.lanes.width, most_of(self.machine))

    @property
    def width(self) -> int:
        """How many elements a vector has."""
        return self.split.width

    def _steps(self) -> list[tuple[int, ...]]:
        return [radices(n, most_of(self.machine)) for n in (self.split.first, self.split.second)]

    def tables(self) -> list[np.ndarray]:
        """The roots of the first steps, of the second ones, and those between."""
        sizes = (self.split.first, self.split.second)
        stages = [stage_roots(n, s) for n, s in zip(sizes, self._steps(), strict=True)]
        return [*stages, *column_roots(self.split)]

    def row(self, table: Array, scratch: Sequence[Array], lead: tuple[Place, ...]) -> Row:
        """The transform of a row, with scratch of its own; the table begins with `tables`."""
        split, work = self.split, scratch[0]
        lengths = [len(t) for t in self.tables()]
        offsets = [sum(lengths[:n]) for n in range(4)]
        first, second = (
            Stages(n, s, split.width, self.machine.is_fused, table, o, work, lead)
            for n, s, o in zip((split.first, split.second), self._steps(), offsets, strict=False)
        )
        return Row(split, first, second, scratch[1], lead, offsets[2], offsets[3])

    def kernel(
        self,
        name: str,
        result: Type,
        emit: Emit,
        *,
        roots: Sequence[np.ndarray] = (),
        more: Sequence[Result] = (),
    ) -> Kernel:
        """A kernel with the tables, `roots` behind them, and scratch."""
        split = self.split
        longest = max(split.first, split.second)
        return Kernel(
            name,
            (
                Result(result),
                scratch_of(self.lanes, self.count, 2, longest, 2 * split.width),
                scratch_of(self.lanes, self.count, split.second, 2 * split.first),
                *more,
            ),
            emit,
            (self.machine,),
            (self.count,),
            constants=(table_of(np.concatenate([*self.tables(), *roots]), self.lanes),),
            has_parts=True,
        )
