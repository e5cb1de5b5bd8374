"""Fourier transforms of real rows of an even size, and back, by transforms of half of it.

Input: real arrays `[..., n]`, or the first ``n / 2 + 1`` points of their spectra. Output: these points, or
the real arrays times `n`.
Idea: a real row is one of ``n / 2`` complex numbers as it lies in memory, whose spectrum Z has the spectra of
the even and the odd elements, as ``(Z[k] + conj Z[-k]) / 2`` and ``(Z[k] - conj Z[-k]) / 2i`` (Cooley, Lewis
and Welch 1970). One pass over a row in scratch takes them apart, or puts them together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, constant, index
from ..executable import Kernel, Result, Size
from ..linalg.matrices import MakeKernel, each_matrix, scratch_of, workgroups
from ..linalg.vectors import Machine, lead_of
from .lanes import best_group
from .plans import roots
from .real_lanes import RealGroups
from .row_work import RowWork, lanes_of
from .rows import Mixed, Planar, each_start
from .stages import Parts


def _work(machine: Machine, batch: Size, type_: TensorType, size: int) -> RowWork:
    return RowWork(machine, lanes_of(machine, type_), size, workgroups(batch))


def _groups(work: RowWork, batch: Size, type_: TensorType) -> RealGroups | None:
    """The kernels that do several rows at once, where that is cheaper."""
    width = best_group(work.size, batch, work.machine, work.lanes, work.cost)
    return None if width is None else RealGroups(work.machine, batch, type_, work.size, width)


def _kernel(
    name: str,
    work: RowWork,
    result: Result,
    one: Callable[[_Halves, Array, Array, Callable[[Planar | Mixed, Planar | Mixed], None]], None],
) -> Kernel:
    """A kernel with a row of half the size in scratch; `one(halves, x, y, transform)` does one row."""
    half = work.size
    width = work.width
    while width > max(half - 1, 1):
        width //= 2
    tables = roots(np.arange(half), 2 * half).T.ravel()
    place = sum(len(t) for t in work.tables())

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        x, table, y, *scratch = map(Array, (*operands, *written))

        def each(number: Number, mine: Number) -> None:
            row = work.row(table, scratch, (mine,))
            halves = _Halves(half, width, table, place, scratch[2], mine, number)
            one(halves, x, y, row.run)

        each_matrix(x, 1, each)

    more = [scratch_of(work.count, (2 * half,), work.lanes.element)]
    return work.kernel(name, result, emit, roots=[tables], more=more)


@dataclass(frozen=True, slots=True)
class _Halves:
    """The complex row in scratch, and the roots of the whole size at `place` of the table."""

    half: int
    width: int
    table: Array
    place: int
    scratch: Array
    mine: Number
    number: Number

    def planar(self, width: int, *, is_swapped: bool = False) -> Planar:
        """The row in scratch."""
        return Planar(self.scratch, (self.mine,), self.half, width, is_swapped)

    def mixed(self, array: Array, width: int, *, is_swapped: bool = False) -> Mixed:
        """The row of an operand or result."""
        return Mixed(array, lead_of(array, self.number, 1), width, is_swapped)

    def each(self, body: Callable[[Number], None]) -> None:
        """`body(k)` for vectors that cover the places from 1 to ``half - 1``."""
        if self.half > 1:
            each_start(self.half - 1, self.width, lambda _, start: body(start + 1))

    def around(self, source: Planar | Mixed, k: Number) -> tuple[Parts, Parts]:
        """The vector from `k` on, and the conjugates of the places ``half - k`` on, downwards."""
        re, im = source.read((), index(self.half - self.width + 1) - k)
        order = list(range(self.width - 1, -1, -1))
        back = [Number(mlir.vector.shuffle(n.value, n.value, order)) for n in (re, im)]
        return source.read((), k), (back[0], -back[1])

    def root(self, k: Number) -> Parts:
        """The roots from `k` on."""
        first = k + self.place
        return self.table.vector(self.width, first), self.table.vector(self.width, first + self.half)


def _times(x: Parts, y: Parts) -> Parts:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def _forwards(is_transpose: bool, machine: Machine, batch: Size, type_: TensorType, result: Result) -> Kernel:
    """Real rows to the first half of their spectra and the point behind it.

    As the transpose of the way back: their conjugates, and twice those between the ends.
    """
    name, factor, sign = ("irfft_transposed", 1.0, -1.0) if is_transpose else ("rfft", 0.5, 0.5)
    work = _work(machine, batch, type_, int(type_.static_shape[-1] or 0) // 2)

    def point(mine: Parts, back: Parts, root: Parts) -> Parts:
        (a, b), (c, d) = mine, back
        turned = _times((b - d, c - a), root)  # (Z[k] - conj Z[-k]) / i
        return (a + c + turned[0]) * factor, (b + d + turned[1]) * sign

    groups = _groups(work, batch, type_)
    if groups is not None:
        return groups.forwards(name, result, point)

    def one(halves: _Halves, x: Array, y: Array, transform: Callable[..., None]) -> None:
        transform(halves.mixed(x, work.width), halves.planar(work.width))
        source, target = halves.planar(halves.width), halves.mixed(y, halves.width)

        halves.each(lambda k: target.write((), k, point(*halves.around(source, k), halves.root(k))))
        row = (halves.mine,)
        re, im = source.array[(*row, 0)], source.array[(*row, halves.half)]
        _store(y, target.lead, 0, re + im)
        _store(y, target.lead, halves.half, re - im)

    return _kernel(name, work, result, one)


def _store(array: Array, lead: tuple[Place, ...], place: int, real: Number) -> None:
    """A real number as an element of a complex row."""
    array[(*lead, 2 * place)] = real
    array[(*lead, 2 * place + 1)] = constant(real.type, 0.0)


def _backwards(
    is_transpose: bool, machine: Machine, batch: Size, type_: TensorType, result: Result
) -> Kernel:
    """Such points to the real rows, times their size; the imaginary parts of the ends do not count.

    As the transpose of the way there: of the conjugates, and half of those between the ends.
    """
    name, factor, sign = ("rfft_transposed", 0.5, -0.5) if is_transpose else ("irfft", 1.0, 1.0)
    work = _work(machine, batch, type_, int(type_.static_shape[-1] or 0) - 1)

    def element(mine: Parts, back: Parts, root: Parts) -> Parts:
        (a, b), (c, d) = ((re * factor, im * sign) for re, im in (mine, back))
        odd = _times((a - c, b - d), (root[0], -root[1]))
        return a + c - odd[1], b + d + odd[0]

    groups = _groups(work, batch, type_)
    if groups is not None:
        return groups.backwards(name, result, element)

    def one(halves: _Halves, x: Array, y: Array, transform: Callable[..., None]) -> None:
        source, target = halves.mixed(x, halves.width), halves.planar(halves.width)

        halves.each(lambda k: target.write((), k, element(*halves.around(source, k), halves.root(k))))
        first, last = x[(*source.lead, 0)], x[(*source.lead, 2 * halves.half)]
        target.array[(halves.mine, 0)] = first + last
        target.array[(halves.mine, halves.half)] = first - last
        transform(halves.planar(work.width, is_swapped=True), halves.mixed(y, work.width, is_swapped=True))

    return _kernel(name, work, result, one)


def _made(
    make: Callable[[bool, Machine, Size, TensorType, Result], Kernel], is_transpose: bool
) -> MakeKernel:
    return lambda machine, batch, types, results: make(is_transpose, machine, batch, types[0], results[0])


KERNELS: Final[Mapping[str, MakeKernel]] = {
    "rfft": _made(_forwards, False),
    "irfft_transposed": _made(_forwards, True),
    "irfft": _made(_backwards, False),
    "rfft_transposed": _made(_backwards, True),
}
