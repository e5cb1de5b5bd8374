"""Eigenvalues and vectors of symmetric tridiagonal matrices by dividing and conquering.

Input: the diagonals of a matrix, without NaN, in two rows of scratch. Output: its eigenvalues in place of the
diagonal, in any order, and the vectors as rows of a basis, in the same order.
Idea: a matrix is two blocks and a change of rank one (Cuppen 1981, A divide and conquer method for the
symmetric tridiagonal eigenproblem). Leaves are solved by the QL algorithm; pairs of blocks are merged, level
by level, by the roots of a secular equation and by products with their vectors. Blocks begin at whole panels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ..builder import Number, Place, carried, ceil_divided, choose, index, loop, repeated, when
from ..executable import Result, Size
from .deflation import Deflation, rotate
from .matrices import scratch_of
from .packed import Packed, pack_sizes
from .ql import Tridiagonal
from .rank_one import Vectors
from .secular import LINES as SECULAR_LINES
from .secular import POLES, POSITIONS, ROOTS, WEIGHTS, Secular
from .vectors import Lanes, Matrix

LEAF: Final = 32  # rows of a leaf at least, up to twice as many
CUTS, CHANGES, KEPT_CHANGES, LENGTHS = range(SECULAR_LINES, SECULAR_LINES + 4)
"""Rows of `numbers` beside those of secular equations: what was between blocks, and changes of rank one."""
LINES: Final = SECULAR_LINES + 4
"""Rows of `numbers`."""
INTEGERS: Final = 7
"""Rows of integers (`deflation.py`)."""


def conquer_sizes(lanes: Lanes, size: Place, lines: int = LINES) -> list[tuple[Place, Place]]:
    """Rows and columns of the scratch: distances, vectors side by side, numbers, strips and panels."""
    length, padded = lanes.stride(size + 2 * lanes.panel), lanes.padded(size)
    return [(padded, length), (padded, length), (lines, length), *pack_sizes(lanes, size)]


def conquer_integers(lanes: Lanes, count: Size, size: Place) -> Result:
    """The scratch for integers."""
    columns = lanes.stride(size + 2 * lanes.panel)
    return scratch_of(count, (INTEGERS, columns), mlir.ir.IntegerType.get_signless(32))


@dataclass(frozen=True, slots=True)
class Blocks:
    """How so many columns are divided: into a power of two of blocks, which begin at whole panels."""

    lanes: Lanes
    size: Place

    @property
    def count(self) -> Place:
        """The greatest power of two that is at most the count of leaves, or 1."""
        leaves = self._leaves
        if isinstance(leaves, Number):
            return repeated([index(1)], lambda blocks: blocks * 2 <= leaves, lambda blocks: [blocks * 2])[0]
        return 1 << max(leaves.bit_length() - 1, 0)

    def bound(self, block: Number, blocks: Place) -> Number:
        """Where one of so many blocks begins."""
        return (block * self._leaves // blocks * self._leaf).least(index(self.size))

    def merge_all(self, merge: Callable[[Number, Number, Number], None]) -> None:
        """`merge(start, middle, end)` pairs of blocks, level by level, until one is left."""

        def level(pairs: Number) -> list[Number]:
            with loop(0, pairs) as pair:
                merge(*(self.bound(pair * 2 + n, pairs * 2) for n in range(3)))
            return [pairs // 2]

        repeated([index(self.count // 2)], lambda pairs: pairs > 0, level)

    @property
    def _leaf(self) -> int:
        return max(LEAF, self.lanes.panel)

    @property
    def _leaves(self) -> Place:
        return ceil_divided(self.size, self._leaf)


@dataclass(frozen=True, slots=True)
class Conquer:
    """A matrix: rows `diagonal` and `beside` of `lines`."""

    lanes: Lanes
    size: Place
    lines: Matrix
    diagonal: int
    beside: int
    basis: Matrix
    distances: Matrix
    compact: Matrix
    numbers: Matrix
    strips: Matrix
    panels: Matrix
    integers: Matrix

    def solve(self) -> Number:
        """Solve leaves, then merge; zero, or NaN if there is no answer."""
        poison = self._finite(self.beside, self._finite(self.diagonal, self.lanes.number(0.0)))
        begin(self.lanes, self.size, (self.basis,), self.numbers, self.integers)
        blocks = Blocks(self.lanes, self.size)
        self._solve_leaves(blocks)
        poison = self._finite(self.diagonal, poison)
        blocks.merge_all(self._merge)
        return poison

    def _finite(self, line: int, poison: Number) -> Number:
        """Replace a row by zeros if it, or another one, has NaN or infinity; NaN then, else zero."""
        lines = self.lines
        (poison,) = carried(0, self.size, [poison], lambda place, so_far: [so_far + lines[line, place] * 0.0])
        with when(poison.differs(0.0)), loop(0, self.size) as place:
            lines[line, place] = self.lanes.number(0.0)
        return poison

    def _solve_leaves(self, blocks: Blocks) -> None:
        """Cut the matrix into blocks, and solve each."""
        lines, count = self.lines, blocks.count
        with loop(1, count) as block:
            start = blocks.bound(block, count)
            cut = lines[self.beside, start - 1]
            self.numbers[CUTS, start] = cut
            size = choose(cut < 0.0, -cut, cut)
            for place in (start - 1, start):
                lines[self.diagonal, place] = lines[self.diagonal, place] - size
        with loop(0, count) as block:
            start, end = blocks.bound(block, count), blocks.bound(block + 1, count)
            padded = (end + (self.lanes.panel - 1)) // self.lanes.panel * self.lanes.panel
            rotations = AtOnce(self.lanes, self.basis, start, padded)
            Tridiagonal(self.lanes, end, lines, self.diagonal, self.beside, rotations, start).solve()

    def _merge(self, start: Number, middle: Number, end: Number) -> None:
        """Merge two blocks that are solved."""
        lanes, numbers = self.lanes, self.numbers
        cut = numbers[CUTS, middle]
        half = lanes.number(0.5**0.5)
        with loop(start, middle) as row:
            numbers[CHANGES, row] = self.basis[row, middle - 1] * half
        half = choose(cut < 0.0, -half, half)
        with loop(middle, end) as row:
            numbers[CHANGES, row] = self.basis[row, middle] * half
        rho = choose(cut < 0.0, -cut, cut) * 2.0
        deflation = Deflation(
            lanes, self.lines, self.diagonal, numbers, (CHANGES, KEPT_CHANGES), self.integers,
            (self.basis,), self.compact, (start, middle, end),
        )  # fmt: skip
        count = deflation.run(rho)
        with when(count > 0):
            self._of_kept(deflation, count, rho)

    def _of_kept(self, deflation: Deflation, count: Number, rho: Number) -> None:
        """The values and vectors of what is not deflated."""
        lanes, numbers = self.lanes, self.numbers

        def weigh(p: Number, so_far: Number) -> list[Number]:
            change = numbers[KEPT_CHANGES, p]
            weight = change * change * rho
            numbers[WEIGHTS, p] = weight
            return [so_far + weight]

        (reach,) = carried(0, count, [lanes.number(0.0)], weigh)
        beyond = numbers[POLES, count - 1] + reach + 1.0
        with loop(0, 2 * lanes.panel) as n:
            numbers[POLES, count + n] = beyond + numbers[POSITIONS, n]
        equation = Secular(lanes, numbers, self.distances, deflation.place, count, reach, False)
        equation.solve()
        Vectors(equation, numbers, KEPT_CHANGES, LENGTHS).write()
        packed = Packed(lanes, self.strips, self.panels)
        start, middle, end = deflation.block
        others = end - start - count
        deflation.gather(self.basis, count, others)
        target = (self.basis, start, count)
        upper, lower = deflation.parts()
        packed.product(target, (start, middle), upper, self.distances, self.compact)
        packed.product(target, (middle, deflation.padded), lower, self.distances, self.compact)
        deflation.scatter(self.basis, count, others)
        deflation.move_values(count, others)
        with loop(0, count) as p:
            self.lines[self.diagonal, start + p] = numbers[ROOTS, p]


def begin(lanes: Lanes, size: Place, bases: Sequence[Matrix], numbers: Matrix, integers: Matrix) -> None:
    """Identities as bases, zeros in integers, and positions."""
    width, end = lanes.width, lanes.padded(size)
    with loop(0, end) as row:
        for basis in bases:
            with loop(0, end, width) as place:
                basis[row, place] = lanes.filled(0.0)
            basis[row, row] = lanes.number(1.0)
    zero = index(0).as_integer(mlir.ir.IntegerType.get_signless(32))
    columns = lanes.stride(size + 2 * lanes.panel)
    with loop(0, columns) as place:
        for line in range(INTEGERS):
            integers[line, place] = zero

    def count(place: Number, position: Number) -> list[Number]:
        numbers[POSITIONS, place] = position
        for line in (POLES, WEIGHTS, ROOTS):
            numbers[line, place] = lanes.number(0.0)
        return [position + 1.0]

    carried(0, columns, [lanes.number(0.0)], count)


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Rotations of rows of a basis, some columns of it, each as soon as it is known."""

    lanes: Lanes
    basis: Matrix
    start: Number
    end: Number

    def begin_sweep(self, sweep: Number) -> None:
        """Nothing is kept."""

    def keep(self, sweep: Number, row: Number, rotations: tuple[tuple[Number, Number], ...]) -> None:
        """Rotate a row and the next."""
        ((cosine, sine),) = rotations
        rotate(self.lanes, self.basis, (row + 1, row), (cosine, sine), (self.start, self.end))

    def end_sweep(self, sweep: Number, first: Number, last: Number) -> Number:
        """The same sweep again."""
        return sweep

    def finish(self, count: Number) -> None:
        """Nothing is left."""
