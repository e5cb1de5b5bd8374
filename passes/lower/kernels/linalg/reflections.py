"""QR factors by Householder reflections, by one kernel: a workgroup factors every so many matrices.

Input: matrices `[..., m, n]`, real or complex. Output: the first columns of `q`, as many as the result has,
and as many rows of `r`. Signs are those of LAPACK.
Idea: the matrix is transposed, so that columns are contiguous. A panel of columns is reflected one by one,
then its reflections are applied to the columns right of it together, as ``I - v t v^H`` (Golub and Van Loan,
section 5.2.3), in register tiles; `q` follows from the panels in reverse, applied to an identity. Where there
is one panel, `q` gets its reflections one by one too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import (
    Array,
    Number,
    Place,
    branches,
    carried,
    ceil_divided,
    choose,
    index,
    least,
    loop,
    most,
)
from ..executable import Kernel, Result, Size
from .complex_lanes import lanes_for
from .matrices import MakeKernel, each_matrix, known, own_sizes, scratch, workgroups
from .tiles import Tile
from .transposes import transpose_in, transpose_out, used_rows
from .vectors import (
    ROWS,
    Lanes,
    Machine,
    Matrix,
    element_of,
    lead_of,
    magnitude,
    root,
    total,
)

PANEL: Final = 16  # columns, at most
USUAL: Final = {4: (1e-26, 1e30), 8: (1e-280, 1e290)}
"""Between which sums of squares lose no digits, and have a root's reciprocal, by the bytes of a float."""
LARGE: Final = 64  # rows of matrices whose register tiles have two vectors, where both sides are reflected


def vector_columns(size: Place) -> int:
    """How many columns vectors are for, of square matrices: tiles have a diagonal."""
    return 2 * PANEL if known(size) >= LARGE else min(PANEL, max(known(size), ROWS))


def reflections(*, is_complete: bool = False, with_q: bool = True) -> MakeKernel:
    """The kernel of a routine: matrices to `q`, which is square if it is complete, and `r`, or to `r` alone.

    Without `q` it is still told what `q` is, and `r` may be that of a complete one.
    """

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        (type_,) = types
        (rows, width), (_, columns) = (own_sizes(result) for result in results)
        lanes = lanes_for(machine, type_.dtype, min(PANEL, known(most(rows, columns))))
        panel = lanes.panel
        is_one_panel = known(columns) <= panel and (not is_complete or known(width) <= panel)
        count = workgroups(batch)
        sizes = _scratch_sizes(lanes, (rows, columns), width, with_q=with_q, is_one_panel=is_one_panel)
        buffers = [scratch(count, *size, lanes) for size in sizes]

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            source, *outputs = Array(operands[0]), *(Array(each) for each in written[: 1 + with_q])
            q, r = outputs[0], outputs[-1]
            rows = source.size(type_.rank - 2)
            columns = lanes.elements(source.size(type_.rank - 1))
            width = r.size(type_.rank - 2)
            reflected = least(rows, columns)

            def one(number: Number, mine: Number) -> None:
                lead = lead_of(source, number, 2)
                parts = [lanes.kept(Matrix(Array(memref), (mine,))) for memref in written[1 + with_q :]]
                if not with_q:
                    parts.insert(1, parts[0])  # a basis that is not used
                copy, basis, factors, strip, *others = parts
                vectors, turned, sums = others or (copy, copy, copy)  # not used of one panel
                work = Reflections(
                    lanes, rows, reflected, width, copy, basis, vectors, turned, factors, sums,
                    others=columns - reflected, is_one_panel=is_one_panel,
                )  # fmt: skip
                transpose_in(
                    lanes, lanes.stored(Matrix(source, lead)), copy, (rows, columns), strip, is_padded=False
                )
                work.reduce()
                if with_q:
                    work.build()
                    transpose_out(lanes, basis, lanes.stored(Matrix(q, lead)), (rows, width), strip)
                work.clear_below()
                transpose_out(lanes, copy, lanes.stored(Matrix(r, lead)), (width, columns), strip)

            each_matrix(source, 2, one)

        name, kept = ("qr", results) if with_q else ("qr_r", results[1:])
        return Kernel(name, (*kept, *buffers), emit, (machine,), (count,), has_parts=lanes.parts > 1)

    return make


def _scratch_sizes(
    lanes: Lanes, sizes: tuple[Place, Place], width: Place, *, with_q: bool, is_one_panel: bool
) -> list[tuple[Place, Place]]:
    """The rows and columns of the scratch of one matrix of these sizes, `q` having `width` columns: a copy, a
    basis with `q`, factors, a strip, and what panels are applied with."""
    rows, columns = sizes
    panel, length = lanes.panel, lanes.stride(rows + lanes.width)
    found = [
        (lanes.padded(columns), length),
        (2 * lanes.padded(columns), panel),
        (lanes.width, lanes.stride(most(width, columns))),
    ]
    if with_q:
        found.insert(1, (lanes.padded(width), length))
    return (
        found if is_one_panel else [*found, (panel, length), (lanes.padded(rows), panel), (2 * ROWS, panel)]
    )


@dataclass(frozen=True, slots=True)
class Reflections:
    """The factors of one matrix: `work` has its columns as rows, `basis` those of `q`.

    `panel` has the vectors of a panel's reflections as rows, `turned` their conjugates as columns; `factors`
    has the conjugate of `t` of each panel, then the transposes of `t`; `sums` is for the rows that are being
    reflected. The vector of a column has its 1 `shift` places after the diagonal. `others` columns follow
    those that reflections are made of. `is_one_panel`: there are few columns, and few rows of
    the basis.
    """

    lanes: Lanes
    rows: Place
    columns: Place
    width: Place
    work: Matrix
    basis: Matrix
    panel: Matrix
    turned: Matrix
    factors: Matrix
    sums: Matrix
    shift: int = 0
    others: Place = 0
    is_one_panel: bool = False

    def reduce(self) -> None:
        """Reflect all columns: `r` is on and above the diagonal, the vectors are below it."""
        size = self.lanes.panel
        with loop(0, self.columns, size) as first:
            end = (first + size).least(index(self.columns))
            with loop(0, size) as row:
                self.factors[first + row, row] = self.lanes.number(0.0)
            whole = (first + size).least(index(self.columns + self.others))
            with loop(first, end) as column:
                self._reflect(first, column, whole)
            if not self.is_one_panel:
                self.spread(first, end)
                self.combine(first, end)
                with loop(first + size, _whole_groups(self.columns + self.others), ROWS) as row:
                    self._apply(self.work, row, first, first)

    def build(self) -> None:
        """Apply the reflections, the last panel first, to the columns of an identity."""
        self._put_identity(used_rows(self.lanes, self.width))
        self.apply_all(is_identity=True)

    def begin(self) -> None:
        """Put an identity into the basis, whose rows are then taken in whole vectors of them."""
        self._put_identity(self.lanes.padded(self.width))

    def _put_identity(self, count: Place) -> None:
        lanes = self.lanes
        end = lanes.stride(self.rows + lanes.width) if self.is_one_panel else lanes.padded(self.rows)
        with loop(0, count) as row:
            _fill(lanes, self.basis, row, end)
            self.basis[row, row] = lanes.number(1.0)

    def apply_all(self, *, is_identity: bool) -> None:
        """Apply the reflections, the last panel first, to the rows of the basis."""
        size, lanes = self.lanes.panel, self.lanes
        if self.is_one_panel:
            self._apply_each(is_identity=is_identity)
            return
        panels = ceil_divided(self.columns, size)
        with loop(0, panels) as done:
            first = (index(panels - 1) - done) * size
            self.spread(first, (first + size).least(index(self.columns)))
            with loop(first if is_identity else 0, _whole_groups(self.width), ROWS) as row:
                self._apply(self.basis, row, first, first + lanes.padded(self.columns))

    def _apply_each(self, *, is_identity: bool) -> None:
        """The same one reflection at a time."""
        with loop(0, self.columns) as done:
            row = index(self.columns - 1) - done
            others = row + self.shift if is_identity else 0, self.width
            self._move_all(self.basis, others, row, self.factors[row, row])

    def multiply(self) -> None:
        """The product of reflections whose factors alone are known, in the basis."""
        self._combine_all()
        self.begin()
        self.apply_all(is_identity=True)

    def transform(self) -> None:
        """The product of reflections whose factors alone are known, applied to the rows of the basis."""
        self._combine_all()
        self.apply_all(is_identity=False)

    def _combine_all(self) -> None:
        if self.is_one_panel:
            return
        with loop(0, self.columns, self.lanes.panel) as first:
            end = (first + self.lanes.panel).least(index(self.columns))
            self.spread(first, end)
            self.combine(first, end)

    def clear_below(self) -> None:
        """Leave only `r` of the copy."""
        with loop(0, self.columns) as row, loop(row + 1, self.width) as column:
            self.work[row, column] = self.lanes.number(0.0)

    def _reflect(self, first: Number, row: Number, end: Number) -> None:
        """The reflection of one column, and the other columns of its panel after it."""
        tau = self.reflection(row, row)
        self.factors[row, row - first] = tau
        self._move_all(self.work, (row + 1, end), row, self.lanes.conjugate(tau))

    def _move_all(self, target: Matrix, others: tuple[Place, Place], row: Number, factor: Number) -> None:
        """Reflect rows of a matrix by the vector of a row and this factor of it, some at a time."""
        first, end = index(others[0]), index(others[1])
        whole = first + (end - first) // ROWS * ROWS
        with loop(first, whole, ROWS) as other:
            self._move(target, other, ROWS, row, factor)
        with loop(whole, end) as other:
            self._move(target, other, 1, row, factor)

    def _move(self, target: Matrix, other: Number, count: int, row: Number, factor: Number) -> None:
        lanes, width, head = self.lanes, self.lanes.width, row + self.shift

        def add(place: Number, *sums: Number) -> list[Number]:
            mine = lanes.conjugate(self.work.vector(width, row, place))
            return [
                lanes.add_product(mine, target.vector(width, other + r, place), so_far)
                for r, so_far in enumerate(sums)
            ]

        sums = lanes.carried(head + 1, self.rows, [lanes.filled(0.0)] * count, add, width)
        shares = [factor * (target[other + r, head] + lanes.total(each)) for r, each in enumerate(sums)]
        for r, share in enumerate(shares):
            target[other + r, head] = target[other + r, head] - share
        with loop(head + 1, self.rows, width) as place:
            mine = self.work.vector(width, row, place)
            for r, share in enumerate(shares):
                its = target.vector(width, other + r, place)
                target[other + r, place] = lanes.sub_product(share, mine, its)

    def reflection(self, row: Number, head_place: Number) -> Number:
        """The factor of the reflection that moves a row, from a place on, onto that place, as LAPACK's larfg.

        Its vector, 1 at the head, takes the place of what follows the head; the head is what it becomes,
        which is real.
        """
        lanes, width, reals = self.lanes, self.lanes.width, self.lanes.reals
        head, first = self.work[row, head_place], head_place + 1

        def add(place: Number, so_far: Number) -> list[Number]:
            return [lanes.add_square(self.work.vector(width, row, place), so_far)]

        (sums,) = carried(first, self.rows, [reals.filled(0.0)], add, width)
        tail = total(sums)
        squares = lanes.add_square(head, tail)
        least, most = USUAL[lanes.dtype.itemsize]
        found = branches(
            (tail > least) & (squares < most),
            [part.type for part in lanes.flat([head])],
            lambda: lanes.flat([self._usual(row, head_place, head, squares)]),
            lambda: lanes.flat([self._scaled(row, head_place, head)]),
        )
        return lanes.joined(found)[0]

    def _usual(self, row: Number, head_place: Number, head: Number, squares: Number) -> Number:
        """The same of a row whose squares have this sum, and lose no digits."""
        lanes, width = self.lanes, self.lanes.width
        length = root(squares)
        target = choose(lanes.real(head) < 0.0, length, -length)
        inverse = lanes.quotients(head - target)(lanes.filled(1.0))
        self.work[row, head_place] = lanes.of_real(target)
        with loop(head_place + 1, self.rows, width) as place:
            self.work[row, place] = self.work.vector(width, row, place) * inverse
        return (lanes.of_real(target) - head) / target

    def _scaled(self, row: Number, head_place: Number, head: Number) -> Number:
        """The same of any row, by its largest part."""
        lanes, width, reals = self.lanes, self.lanes.width, self.lanes.reals
        zero, one = lanes.number(0.0), lanes.number(1.0)
        first = head_place + 1

        def survey(place: Number, most: Number, size: Number) -> list[Number]:
            vector = self.work.vector(width, row, place)
            part = lanes.largest_part(vector)
            return [choose(part > most, part, most), size + magnitude(lanes.size(vector))]

        most, size = carried(first, self.rows, [reals.filled(0.0)] * 2, survey, width)
        largest = self._largest(most, lanes.largest_part(head))
        is_flat = total(size).equals(0.0) & lanes.is_real(head)
        scale = choose(largest > 0.0, largest, reals.number(1.0))

        def add_squares(place: Number, so_far: Number) -> list[Number]:
            vector = self.work.vector(width, row, place) / reals.filled(scale)
            return [lanes.add_square(vector, so_far)]

        (squares,) = carried(first, self.rows, [reals.filled(0.0)], add_squares, width)
        head = head / scale
        length = root(lanes.add_square(head, total(squares)))
        target = choose(lanes.real(head) < 0.0, length, -length)
        divided = lanes.scaled_quotients(lanes.choose(is_flat, one, head - target), scale)
        moved = lanes.choose(is_flat, self.work[row, head_place], lanes.of_real(target * scale))
        self.work[row, head_place] = moved
        with loop(first, self.rows, width) as place:
            self.work[row, place] = divided(self.work.vector(width, row, place))
        return lanes.choose(is_flat, zero, (lanes.of_real(target) - head) / target)

    def _largest(self, vector: Number, start: Number) -> Number:
        """The greatest of a real number and the elements of a vector."""
        for lane in range(self.lanes.width):
            element = element_of(vector, lane)
            start = choose(element > start, element, start)
        return start

    def spread(self, first: Number, end: Number) -> None:
        """The vectors of a panel: ones on the diagonal, zeros before it; also their adjoint."""
        lanes, width, padded = self.lanes, self.lanes.width, self.lanes.padded(self.rows)
        with loop(0, lanes.panel) as row, loop(first, padded, width) as place:
            self.panel[row, place] = lanes.filled(0.0)
        with loop(first, end) as column:
            row = column - first
            self.panel[row, column + self.shift] = lanes.number(1.0)
            with loop(column + 1 + self.shift, self.rows) as place:
                self.panel[row, place] = self.work[column, place]
        with loop(first, padded, width) as place, loop(0, lanes.panel, width) as row:
            block = [self.panel.vector(width, row + n, place) for n in range(width)]
            for n, vector in enumerate(lanes.turned(block)):
                self.turned[place + n, row] = lanes.conjugate(vector)

    def combine(self, first: Number, end: Number) -> None:
        """The conjugate of `t` of a panel of so many columns, and its transpose, from their factors."""
        lanes = self.lanes
        padded = lanes.padded(self.columns)
        with loop(0, lanes.panel) as column:
            tau = self.factors[first + column, column]
            with loop(0, lanes.panel) as other:
                self.factors[first + padded + column, other] = lanes.number(0.0)
            self.factors[first + padded + column, column] = tau
        with loop(1, end - first) as column:
            tau = self.factors[first + column, column]
            with loop(0, column, ROWS) as other:
                self._products_of_panel(first, other, column)
            with loop(0, column) as other:
                (product,) = lanes.carried(
                    other,
                    column,
                    [lanes.number(0.0)],
                    lambda n, so_far: [so_far + self.factors[first + padded + n, other] * self.sums[0, n]],
                )
                share = -tau * product
                self.factors[first + padded + column, other] = share
        with loop(0, lanes.panel) as row, loop(0, lanes.panel) as column:
            self.factors[first + row, column] = lanes.conjugate(self.factors[first + padded + column, row])

    def _products_of_panel(self, first: Number, other: Number, column: Number) -> None:
        """Write the products of some vectors of a panel, conjugated, with another one into the sums."""
        lanes, width = self.lanes, self.lanes.width

        def add(place: Number, *sums: Number) -> list[Number]:
            mine = self.panel.vector(width, column, place)
            return [
                lanes.add_product(lanes.conjugate(self.panel.vector(width, other + r, place)), mine, so_far)
                for r, so_far in enumerate(sums)
            ]

        start = [lanes.filled(0.0)] * ROWS
        for r, sums in enumerate(lanes.carried(first, lanes.padded(self.rows), start, add, width)):
            self.sums[0, other + r] = lanes.total(sums)

    def _apply(self, target: Matrix, row: Number, first: Number, factors: Number) -> None:
        """Reflect some rows by a panel: off go its vectors times ``(row . v) t``, with `t` from `factors`."""
        lanes, padded = self.lanes, self.lanes.padded(self.rows)
        zeros = [[lanes.filled(0.0)] * (lanes.panel // lanes.width) for _ in range(ROWS)]
        along = Tile(lanes, self.sums, 0, 0)
        along.store(along.less_products((first, padded), lambda p, r: target[row + r, p], self.turned, zeros))
        shares = Tile(lanes, self.sums, ROWS, 0)
        shares.store(
            along.less_products(
                (factors, factors + lanes.panel),
                lambda p, r: self.sums[r, index(p) - factors],
                self.factors,
                zeros,
            )
        )
        with loop(first, padded, lanes.panel) as column:
            tile = Tile(lanes, target, row, column)
            rows = tile.less_products(
                (index(0), lanes.panel), lambda p, r: self.sums[ROWS + r, p], self.panel, tile.load()
            )
            tile.store(rows)


def _whole_groups(count: Place) -> Place:
    """A number of rows rounded up to those that are reflected together."""
    return ceil_divided(count, ROWS) * ROWS


def _fill(lanes: Lanes, matrix: Matrix, row: Place, end: Place) -> None:
    with loop(0, end, lanes.width) as place:
        matrix[row, place] = lanes.filled(0.0)
