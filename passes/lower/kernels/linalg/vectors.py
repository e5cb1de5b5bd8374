"""What kernels of linear algebra say beside the language of `builder.py`: vectors of a target's width.

Input: a `Machine` (what the target's registers hold) and a dtype. Output: `Lanes`, which knows how many
elements a vector has and emits products, roots, transposed blocks and copies of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, overload

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....runtime.targets import Target
from ....ir.aliases import Type
from ..builder import Array, Number, Place, broadcast, carried, ceil_divided, choose, constant, index, loop

ROWS = 4  # of a register tile
WIDE = 512  # bits of registers of which there are 32
MANY: Final = 1 << 16  # columns: as many as matrices of an unknown size are taken to have


@dataclass(frozen=True, slots=True)
class Machine:
    """The registers of a target: their bits, and whether a product and a sum are one instruction."""

    vector_bits: int
    is_fused: bool

    @classmethod
    def of(cls, target: Target) -> Machine:
        """The machine of a CPU target."""
        is_fused = target.architecture != "x86_64" or "fma" in target.required_features
        return cls(min(max(target.vector_bits, 128), 512), is_fused)


@dataclass(frozen=True, slots=True)
class Lanes:
    """Vectors of `width` elements of one float type; `panel` is how many columns a register tile has."""

    dtype: np.dtype
    width: int
    panel: int
    is_fused: bool

    @classmethod
    def of(cls, machine: Machine, dtype: np.dtype, columns: int) -> Lanes:
        """Vectors for matrices of so many columns: narrow ones for few columns."""
        full = machine.vector_bits // 8 // dtype.itemsize
        width = min(full, max(16 // dtype.itemsize, 1 << (columns - 1).bit_length()))
        return cls(dtype, width, width if columns <= width else 2 * width, machine.is_fused)

    @property
    def element(self) -> Type:
        """The type of an element."""
        return mlir.ir.F32Type.get() if self.dtype.itemsize == 4 else mlir.ir.F64Type.get()

    @property
    def integer(self) -> Type:
        """The integer type of an element's bits."""
        return mlir.ir.IntegerType.get_signless(8 * self.dtype.itemsize)

    @property
    def vector(self) -> Type:
        """The type of a vector."""
        return mlir.ir.VectorType.get([self.width], self.element)

    def number(self, value: float) -> Number:
        """A scalar."""
        return constant(self.element, value)

    def filled(self, value: float | Number) -> Number:
        """A vector of equal elements."""
        return broadcast(value if isinstance(value, Number) else self.number(value), self.vector)

    def add_product(self, x: Number, y: Number, z: Number) -> Number:
        """``x * y + z``."""
        if self.is_fused:
            return Number(mlir.math.fma(z.lift(x).value, z.lift(y).value, z.value))
        return z + z.lift(x) * z.lift(y)

    def sub_product(self, x: Number, y: Number, z: Number) -> Number:
        """``z - x * y``; `x` is negated, so it is the one that is a scalar."""
        if self.is_fused:
            return self.add_product(-x, y, z)
        return z - z.lift(x) * z.lift(y)

    @property
    def parts(self) -> int:
        """How many floats an element has."""
        return 1

    def of_real(self, number: Number) -> Number:
        """A scalar of this real part."""
        return number

    def real(self, number: Number) -> Number:
        """The real part."""
        return number

    def conjugate(self, number: Number) -> Number:
        """The complex conjugate."""
        return number

    @property
    def reals(self) -> Lanes:
        """Those of real parts."""
        return self

    def total(self, vector: Number) -> Number:
        """The sum of the elements of a vector."""
        return total(vector)

    def largest_part(self, number: Number) -> Number:
        """The magnitude of the larger part of a number, or of each element."""
        return magnitude(number)

    def is_real(self, number: Number) -> Number:
        """Whether a scalar has no imaginary part."""
        return constant(mlir.ir.IntegerType.get_signless(1), 1)

    def elements(self, count: Place) -> Place:
        """How many elements so many floats are."""
        return count

    def add_square(self, x: Number, so_far: Number) -> Number:
        """``|x|**2 + so_far``, real."""
        return self.add_product(x, x, so_far)

    def carried(
        self,
        start: Place,
        stop: Place,
        initial: Sequence[Number],
        body: Callable[..., Sequence[Number]],
        step: Place = 1,
    ) -> list[Number]:
        """`builder.carried` of numbers of this type."""
        parts = carried(
            start,
            stop,
            self.flat(initial),
            lambda place, *parts: self.flat(body(place, *self.joined(parts))),
            step,
        )
        return self.joined(parts)

    def flat(self, numbers: Sequence[Number]) -> list[Number]:
        """The parts of numbers, which loops carry."""
        return list(numbers)

    def joined(self, parts: Sequence[Number]) -> list[Number]:
        """The numbers of parts."""
        return list(parts)

    def choose(self, condition: Number, yes: Number, no: Number) -> Number:
        """`yes` where the condition holds, else `no`."""
        return choose(condition, yes, no)

    def size(self, vector: Number) -> Number:
        """What pivots are compared by, up to its sign."""
        return vector

    def turned(self, block: Sequence[Number]) -> list[Number]:
        """A square block of vectors, rows and columns exchanged."""
        return transposed(block)

    def quotients(self, divisor: Number, *, keeps_by_zero: bool = False) -> Callable[[Number], Number]:
        """Divides vectors by a scalar; with `keeps_by_zero` a zero leaves them as they are."""
        if keeps_by_zero:
            divisor = choose(divisor.equals(0.0), self.number(1.0), divisor)
        each = self.filled(divisor)
        return lambda vector: vector / each

    def scaled_quotients(self, divisor: Number, scale: Number) -> Callable[[Number], Number]:
        """Divides vectors, no larger than a real scale, by that and a scalar around 1."""
        return self.quotients(divisor * scale)

    def stored(self, matrix: Matrix) -> Matrix:
        """A matrix of an operand or a result."""
        return matrix

    def kept(self, matrix: Matrix) -> Matrix:
        """A matrix in scratch."""
        return matrix

    @overload
    def padded(self, count: int) -> int: ...

    @overload
    def padded(self, count: Place) -> Place: ...

    def padded(self, count: Place) -> Place:
        """A size rounded up to whole panels."""
        return ceil_divided(count, self.panel) * self.panel

    @overload
    def stride(self, columns: int) -> int: ...

    @overload
    def stride(self, columns: Place) -> Place: ...

    def stride(self, columns: Place) -> Place:
        """The length of a row of scratch with so many columns: rows must not all meet one set of a cache."""
        padded = self.padded(columns)
        meets = padded * self.dtype.itemsize % 1024
        if isinstance(padded, int):
            return padded + self.panel if meets == 0 else padded
        return choose(index(meets).equals(0), padded + self.panel, padded)


def root(x: Number) -> Number:
    """The square root."""
    return Number(mlir.math.sqrt(x.value))


def magnitude(x: Number) -> Number:
    """The absolute value."""
    return Number(mlir.math.absf(x.value))


def element_of(x: Number, lane: int) -> Number:
    """One element of a vector."""
    return Number(mlir.vector.extract(x.value, [], [lane]))


def total(x: Number) -> Number:
    """The sum of the elements of a vector, by halves."""
    width: int = mlir.ir.VectorType(x.type).shape[0]
    while width > 1:
        width //= 2
        low, high = (list(range(first, first + width)) for first in (0, width))
        x = Number(mlir.vector.shuffle(x.value, x.value, low)) + Number(
            mlir.vector.shuffle(x.value, x.value, high)
        )
    return element_of(x, 0)


def transposed(rows: Sequence[Number]) -> list[Number]:
    """A square block of as many vectors as they have elements, rows and columns exchanged."""
    block, width, distance = list(rows), len(rows), len(rows) // 2
    while distance:
        low = [n if not n & distance else width + n - distance for n in range(width)]
        high = [n + distance if not n & distance else width + n for n in range(width)]
        for i in range(width):
            if not i & distance:
                above, below = block[i].value, block[i + distance].value
                block[i] = Number(mlir.vector.shuffle(above, below, low))
                block[i + distance] = Number(mlir.vector.shuffle(above, below, high))
        distance //= 2
    return block


@dataclass(frozen=True, slots=True)
class Matrix:
    """One matrix of an array: an element is at `(*lead, above + row, first + column)`."""

    array: Array
    lead: tuple[Place, ...] = ()
    first: Place = 0
    above: Place = 0

    def __getitem__(self, place: tuple[Place, Place]) -> Number:
        return self.array[(*self.lead, self._row(place[0]), self._column(place[1]))]

    def __setitem__(self, place: tuple[Place, Place], number: Number) -> None:
        self.array[(*self.lead, self._row(place[0]), self._column(place[1]))] = number

    def vector(self, width: int, row: Place, column: Place) -> Number:
        """Elements of a row."""
        return self.array.vector(width, *self.lead, self._row(row), self._column(column))

    def _row(self, row: Place) -> Number:
        return _behind(self.above, row)

    def _column(self, column: Place) -> Number:
        return _behind(self.first, column)


def _behind(start: Place, place: Place) -> Number:
    return index(place) if isinstance(start, int) and not start else index(start) + place


def lead_of(array: Array, number: Place, kept: int) -> tuple[Place, ...]:
    """The leading places of the matrix (or row) of a number, whose own axes are the last `kept` ones."""
    sizes = [array.size(axis) for axis in range(len(array.type.shape) - kept)]
    places: list[Place] = []
    rest = index(number)
    for size in reversed(sizes[1:]):
        places.append(rest % size)
        rest = rest // size
    return (*([rest] if sizes else []), *reversed(places))


def pieces(count: int, width: int) -> list[tuple[int, int]]:
    """The places and widths of vectors, powers of two, that cover fewer than `width` elements."""
    done, covered = 0, []
    while done < count:
        while width > count - done:
            width //= 2
        covered.append((done, width))
        done += width
    return covered


def load(matrix: Matrix, width: int, row: Place, column: Place) -> Number:
    """A vector, or a scalar of width 1."""
    return matrix.vector(width, row, column) if width > 1 else matrix[row, column]


def copy_row(
    lanes: Lanes, source: tuple[Matrix, Place], target: tuple[Matrix, Place], count: Place, first: Place = 0
) -> None:
    """Copy the elements of a row from `first`, a multiple of the width, up to `count`."""
    (read, here), (written, there) = source, target
    whole = count // lanes.width * lanes.width
    with loop(first, whole, lanes.width) as column:
        written[there, column] = read.vector(lanes.width, here, column)
    if isinstance(count, Number):
        with loop(whole, count) as column:
            written[there, column] = read[here, column]
        return
    for offset, width in pieces(count % lanes.width, lanes.width):
        written[there, whole + offset] = load(read, width, here, whole + offset)


def fill_row(lanes: Lanes, matrix: Matrix, row: Place, first: Place, end: Place, value: float = 0.0) -> None:
    """Set the elements of a row from `first` to `end`, a multiple of the width where it shows at the call."""
    scalar, vector = lanes.number(value), lanes.filled(value)
    whole = ceil_divided(first, lanes.width) * lanes.width
    if not isinstance(whole, int) or not isinstance(first, int) or not isinstance(end, int):
        with loop(first, whole) as column:
            matrix[row, column] = scalar
        with loop(whole, end, lanes.width) as column:
            matrix[row, column] = vector
        return
    for place in range(first, min(whole, end)):
        matrix[row, place] = scalar
    with loop(whole, end // lanes.width * lanes.width, lanes.width) as column:
        matrix[row, column] = vector
    for place in range(max(end // lanes.width * lanes.width, min(whole, end)), end):
        matrix[row, place] = scalar


def chosen(condition: Number, yes: Number, no: Number) -> Number:
    """`yes` or `no`, numbers or vectors, by one condition."""
    return choose(condition, yes, no)
