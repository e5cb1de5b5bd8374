"""The Schur form of real square matrices by one kernel: Hessenberg form, then Francis's steps.

Input: matrices `[..., n, n]` of finite numbers, the largest of size 1. Output: quasi-triangular matrices,
whose blocks of two rows are as the steps leave them, and orthogonal `z` with ``a = z t z^T``, or the blocks
on the diagonal alone; NaN where the steps do not converge.
Idea: reflections make a matrix Hessenberg; a step with two shifts chases reflections of three rows down the
active block (Golub and Van Loan 2013, section 7.5; exceptional shifts each tenth step). Rows are vectors, and
so are the columns of `z`, which is transposed; of three columns four elements of a row are one. Where the
diagonal alone is wanted, nothing outside of the active block is reflected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, branches, broadcast, carried, choose, index, loop, repeated, when
from ..executable import Kernel, Result, Size
from .matrices import MakeKernel, each_matrix, parts_of, stacked, workgroups
from .reflections import Reflections
from .transposes import transpose_out
from .vectors import Lanes, Machine, Matrix, copy_row, fill_row, lead_of, magnitude, root, total

FOUR: Final = 4  # elements of a row, of which three are reflected
MOST: Final = 30  # steps for each row
PATIENCE: Final = 10  # steps on a block without success before shifts are others


def real_schur(*, with_vectors: bool) -> MakeKernel:
    """The kernel of a routine: matrices to forms and `z`, or to forms whose blocks alone are right."""

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        (type_,) = types
        size = int(type_.static_shape[-1] or 0)
        lanes = Lanes.of(machine, type_.dtype, max(size, FOUR))
        length = lanes.stride(size + FOUR + lanes.width)
        count = workgroups(batch)
        rows = [size + FOUR, 1, lanes.width, *([lanes.padded(size) + FOUR] if with_vectors else [])]

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            source, *outputs = (Array(x) for x in (*operands, *written[: len(results)]))

            def one(number: Number, mine: Number) -> None:
                lead = lead_of(source, number, 2)
                form, line, strip, *turned = parts_of(Matrix(Array(written[-1]), (mine,)), rows)
                work = _Schur(lanes, size, length, form, line, turned[0] if with_vectors else None)
                work.take(Matrix(source, lead))
                work.reduce()
                work.iterate()
                with loop(0, size) as row:
                    copy_row(lanes, (form, row), (Matrix(outputs[0], lead), row), size)
                if with_vectors:
                    transpose_out(lanes, turned[0], Matrix(outputs[1], lead), (size, size), strip)

            each_matrix(source, 2, one)

        name = "real_schur" if with_vectors else "real_schur_blocks"
        kept = stacked(count, rows, length, lanes)
        return Kernel(name, (*results, kept), emit, (machine,), (count,))

    return make


@dataclass(frozen=True, slots=True)
class _Schur:
    """One matrix, which becomes `form`, the vector of a reflection in `line`, and perhaps `z` transposed."""

    lanes: Lanes
    size: int
    length: int
    form: Matrix
    line: Matrix
    turned: Matrix | None

    def take(self, matrix: Matrix) -> None:
        """Copy the matrix, with zeros beside it; `z` is an identity."""
        lanes, size = self.lanes, self.size
        with loop(0, size + FOUR) as row:
            fill_row(lanes, self.form, row, 0, self.length)
        with loop(0, size) as row:
            copy_row(lanes, (matrix, row), (self.form, row), size)
        if self.turned is not None:
            with loop(0, lanes.padded(size) + FOUR) as row:
                fill_row(lanes, self.turned, row, 0, self.length)
            with loop(0, size) as row:
                self.turned[row, row] = lanes.number(1.0)

    def reduce(self) -> None:
        """Make the matrix Hessenberg."""
        lanes, size, line, form = self.lanes, self.size, self.line, self.form
        reflections = Reflections(lanes, size, size, size, line, line, line, line, line, line)
        with loop(0, max(size - 2, 0)) as column:
            head = column + 1
            fill_row(lanes, line, 0, 0, self.length)
            with loop(head, size) as row:
                line[0, row] = form[row, column]
                form[row, column] = lanes.number(0.0)
            tau = reflections.reflection(index(0), head)
            form[head, column] = line[0, head]
            line[0, head] = lanes.number(1.0)
            self._reflect_rows(form, head, head, tau)
            if self.turned is not None:
                self._reflect_rows(self.turned, head, index(0), tau)
            with loop(0, size) as row:
                self._reflect_row(row, head, tau)

    def _reflect_rows(self, matrix: Matrix, head: Number, start: Number, tau: Number) -> None:
        """Reflect the columns from `start` on by the vector in the line."""
        lanes, width, line = self.lanes, self.lanes.width, self.line
        with loop(start, self.size, width) as place:

            def add(row: Number, so_far: Number) -> list[Number]:
                return [lanes.add_product(line[0, row], matrix.vector(width, row, place), so_far)]

            (sums,) = carried(head, self.size, [lanes.filled(0.0)], add)
            with loop(head, self.size) as row:
                vector = matrix.vector(width, row, place)
                matrix[row, place] = lanes.sub_product(tau * line[0, row], sums, vector)

    def _reflect_row(self, row: Number, head: Number, tau: Number) -> None:
        lanes, width, line, form = self.lanes, self.lanes.width, self.line, self.form

        def add(place: Number, so_far: Number) -> list[Number]:
            return [lanes.add_product(line.vector(width, 0, place), form.vector(width, row, place), so_far)]

        (sums,) = carried(head, self.size, [lanes.filled(0.0)], add, width)
        share = tau * total(sums)
        with loop(head, self.size, width) as place:
            vector = form.vector(width, row, place)
            form[row, place] = lanes.sub_product(share, line.vector(width, 0, place), vector)

    def iterate(self) -> None:
        """Steps until all blocks have one row or two; NaN in all if there are too many."""
        form, lanes = self.form, self.lanes
        epsilon = float(np.finfo(lanes.dtype).eps)

        def is_joined(row: Number) -> Number:
            near = magnitude(form[row - 1, row - 1]) + magnitude(form[row, row])
            near = choose(near.equals(0.0), lanes.number(1.0), near)
            return magnitude(form[row, row - 1]) > near * epsilon

        def goes_on(last: Number, stuck: Number, done: Number) -> Number:
            return (last > 0) & (done <= MOST * self.size)

        def again(last: Number, stuck: Number, done: Number) -> list[Number]:
            (first,) = repeated(
                [last],
                lambda row: branches(
                    row > 0,
                    [mlir.ir.IntegerType.get_signless(1)],
                    lambda: [is_joined(row)],
                    lambda: [row > 0],
                )[0],
                lambda row: [row - 1],
            )
            with when(first > 0):
                form[first, first - 1] = lanes.number(0.0)

            def step() -> list[Number]:
                self._step(first, last, ((stuck % PATIENCE).equals(PATIENCE - 1)))
                return [last, stuck + 1, done + 1]

            types = [last.type] * 3
            return branches(last - first < 2, types, lambda: [first - 1, index(0), done], step)

        last, _, _ = repeated([index(self.size - 1), index(0), index(0)], goes_on, again)
        with when(last > 0):
            nan = float("nan")
            for matrix in (form, self.turned):
                if matrix is not None:
                    with loop(0, self.size) as row:
                        fill_row(lanes, matrix, row, 0, self.length, nan)

    def _step(self, first: Number, last: Number, is_exceptional: Number) -> None:
        """Two shifts at once on a block of three rows or more."""
        h, lanes = self.form, self.lanes
        a, b, c, d = h[last - 1, last - 1], h[last - 1, last], h[last, last - 1], h[last, last]
        size = magnitude(c) + magnitude(h[last - 1, last - 2])
        trace = choose(is_exceptional, size * 1.5, a + d)
        product = choose(is_exceptional, size * size, a * d - b * c)
        h00, h01, h10 = h[first, first], h[first, first + 1], h[first + 1, first]
        x = (h00 - trace) * h00 + h01 * h10 + product
        y = h10 * (h00 + h[first + 1, first + 1] - trace)
        z = h10 * h[first + 2, first + 1]

        def chase(row: Number, *head: Number) -> list[Number]:
            vector, factor = self._reflector(head)
            start = choose(row > first, row - 1, row)
            end = index(last + 1 if self.turned is None else self.size)
            self._move_rows(h, row, (start, end), vector, factor)
            with when(row > first):
                for beyond in (1, 2):
                    h[row + beyond, row - 1] = lanes.number(0.0)
            rows = first if self.turned is None else index(0), (row + 4).least(last + 1)
            self._move_columns(rows, row, vector, factor)
            if self.turned is not None:
                self._move_rows(self.turned, row, (index(0), index(self.size)), vector, factor)
            following = row + 3
            third = choose(following <= last, h[following.least(last), row], lanes.number(0.0))
            second = choose(row + 2 <= last, h[(row + 2).least(last), row], lanes.number(0.0))
            return [h[row + 1, row], second, third]

        carried(first, last, [x, y, z], chase)

    def _reflector(self, head: Sequence[Number]) -> tuple[list[Number], Number]:
        """The vector whose reflection moves three numbers onto the first axis, and its factor."""
        lanes = self.lanes
        zero, one = lanes.number(0.0), lanes.number(1.0)
        size = zero
        for number in head:
            size = choose(magnitude(number) > size, magnitude(number), size)
        is_zero = size.equals(0.0)
        inverse = choose(is_zero, zero, one / choose(is_zero, one, size))
        x, y, z = (number * inverse for number in head)
        tail = y * y + z * z
        length = root(x * x + tail)
        x = choose(x < 0.0, x - length, x + length)
        squares = x * x + tail
        factor = choose(squares > 0.0, 2.0 / choose(squares > 0.0, squares, one), zero)
        return [x, y, z], factor

    def _move_rows(
        self, matrix: Matrix, row: Number, places: tuple[Number, Number], vector: list[Number], factor: Number
    ) -> None:
        """Reflect three rows, in these places and some behind them."""
        lanes, width = self.lanes, self.lanes.width
        scaled = [factor * part for part in vector]
        with loop(*places, width) as place:
            rows = [matrix.vector(width, row + r, place) for r in range(3)]
            along = rows[0] * scaled[0]
            for part, each in zip(scaled[1:], rows[1:], strict=True):
                along = lanes.add_product(part, each, along)
            for r, (part, each) in enumerate(zip(vector, rows, strict=True)):
                matrix[row + r, place] = lanes.sub_product(part, along, each)

    def _move_columns(
        self, rows: tuple[Number, Number], column: Number, vector: list[Number], factor: Number
    ) -> None:
        """Reflect three columns, in these rows."""
        lanes, form = self.lanes, self.form
        type_ = mlir.ir.VectorType.get([FOUR], lanes.element)
        first, second, third, zero = (broadcast(part, type_).value for part in (*vector, lanes.number(0.0)))
        mine = Number(
            mlir.vector.shuffle(
                mlir.vector.shuffle(first, second, [0, 4, 0, 4]),
                mlir.vector.shuffle(third, zero, [0, 4, 0, 4]),
                [0, 1, 4, 5],
            )
        )
        scaled = mine * broadcast(factor, type_)
        with loop(*rows) as row:
            four = form.vector(FOUR, row, column)
            share = _sum_of_four(four * scaled)
            form[row, column] = lanes.sub_product(share, mine, four)


def _sum_of_four(vector: Number) -> Number:
    """The sum of four elements, in each element."""
    for order in ([2, 3, 0, 1], [1, 0, 3, 2]):
        vector = vector + Number(mlir.vector.shuffle(vector.value, vector.value, order))
    return vector
