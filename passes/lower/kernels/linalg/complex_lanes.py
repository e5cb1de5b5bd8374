"""Complex numbers in kernels of linear algebra: two numbers each, the parts.

Input: complex arrays, seen as arrays of their parts (`Kernel.has_parts`). Output: `ComplexLanes` and matrices
with the methods of `Lanes` and `Matrix`, so that the kernels of real matrices are those of complex ones.
Idea: in memory the parts of an element lie side by side; in scratch a row has its real parts first, then
the imaginary ones, so that vectors need no shuffles there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Type
from ..builder import Number, Operand, Place, broadcast, choose, constant
from .vectors import ROWS, WIDE, Lanes, Machine, Matrix, magnitude, total, transposed


class Complex(Number):
    """A complex scalar or vector, as its parts; products with real numbers scale both."""

    __slots__ = ("im", "re")

    def __init__(self, re: Number, im: Number) -> None:
        self.re, self.im = re, im

    @property
    def type(self) -> Type:
        """The type of a part."""
        return self.re.type

    def lift(self, other: Operand) -> Complex:
        """`other` in the type of this number."""
        if not isinstance(other, Complex):
            return Complex(self.re.lift(other), self.im.lift(0.0))
        return Complex(self.re.lift(other.re), self.im.lift(other.im))

    def __add__(self, other: Operand) -> Complex:
        right = self.lift(other)
        return Complex(self.re + right.re, self.im + right.im)

    def __sub__(self, other: Operand) -> Complex:
        right = self.lift(other)
        return Complex(self.re - right.re, self.im - right.im)

    def __mul__(self, other: Operand) -> Complex:
        if not isinstance(other, Complex):
            return Complex(self.re * other, self.im * other)
        right = self.lift(other)
        re = self.re * right.re - self.im * right.im
        return Complex(re, self.re * right.im + self.im * right.re)

    def __truediv__(self, other: Operand) -> Complex:
        """Divided by a real number."""
        return Complex(self.re / other, self.im / other)

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im)


def lanes_for(machine: Machine, dtype: np.dtype, columns: int) -> Lanes:
    """Vectors for real or complex matrices of so many columns."""
    if dtype.kind != "c":
        return Lanes.of(machine, dtype, columns)
    lanes = Lanes.of(machine, np.dtype(f"f{dtype.itemsize // 2}"), columns)
    # Tiles of two vectors of two parts need more than 16 registers; those on a diagonal are square at least.
    panel = lanes.panel if machine.vector_bits >= WIDE else max(lanes.width, min(ROWS, lanes.panel))
    return ComplexLanes(lanes.dtype, lanes.width, panel, lanes.is_fused)


@dataclass(frozen=True, slots=True)
class ComplexLanes(Lanes):
    """Vectors of complex elements; `dtype` is that of a part."""

    @property
    def parts(self) -> int:
        """How many floats an element has."""
        return 2

    def number(self, value: float) -> Number:
        """A scalar without imaginary part."""
        return Complex(constant(self.element, value), constant(self.element, 0.0))

    def of_real(self, number: Number) -> Number:
        """A scalar of this real part."""
        return Complex(number, constant(self.element, 0.0))

    def real(self, number: Number) -> Number:
        """The real part."""
        return _complex(number).re

    def conjugate(self, number: Number) -> Number:
        """The complex conjugate."""
        x = _complex(number)
        return Complex(x.re, -x.im)

    def filled(self, value: float | Number) -> Number:
        """A vector of equal elements."""
        scalar = _complex(value if isinstance(value, Number) else self.number(value))
        return Complex(broadcast(scalar.re, self.vector), broadcast(scalar.im, self.vector))

    def add_product(self, x: Number, y: Number, z: Number) -> Number:
        """``x * y + z``."""
        return self.sub_product(-x, y, z)

    def sub_product(self, x: Number, y: Number, z: Number) -> Number:
        """``z - x * y``."""
        total = _complex(z)
        a, b = total.lift(x), total.lift(y)
        part = self.reals
        re = part.add_product(a.im, b.im, part.sub_product(a.re, b.re, total.re))
        return Complex(re, part.sub_product(a.im, b.re, part.sub_product(a.re, b.im, total.im)))

    @property
    def reals(self) -> Lanes:
        """Those of real parts."""
        return Lanes(self.dtype, self.width, self.panel, self.is_fused)

    def total(self, vector: Number) -> Number:
        """The sum of the elements of a vector."""
        x = _complex(vector)
        return Complex(total(x.re), total(x.im))

    def largest_part(self, number: Number) -> Number:
        """The magnitude of the larger part of a number, or of each element."""
        x = _complex(number)
        re, im = magnitude(x.re), magnitude(x.im)
        return choose(re > im, re, im)

    def is_real(self, number: Number) -> Number:
        """Whether a scalar has no imaginary part."""
        return _complex(number).im.equals(0.0)

    def elements(self, count: Place) -> Place:
        """How many elements so many floats are."""
        return count // 2

    def add_square(self, x: Number, so_far: Number) -> Number:
        """``|x|**2 + so_far``, real."""
        parts, reals = _complex(x), self.reals
        return reals.add_product(parts.im, parts.im, reals.add_product(parts.re, parts.re, so_far))

    def flat(self, numbers: Sequence[Number]) -> list[Number]:
        """The parts of numbers, which loops carry."""
        return [part for x in map(_complex, numbers) for part in (x.re, x.im)]

    def joined(self, parts: Sequence[Number]) -> list[Number]:
        """The numbers of parts."""
        return [Complex(parts[n], parts[n + 1]) for n in range(0, len(parts), 2)]

    def choose(self, condition: Number, yes: Number, no: Number) -> Number:
        """`yes` where the condition holds, else `no`."""
        x, y = _complex(yes), _complex(no)
        return Complex(choose(condition, x.re, y.re), choose(condition, x.im, y.im))

    def size(self, vector: Number) -> Number:
        """What pivots are compared by: ``|re| + |im|``, as in LAPACK."""
        x = _complex(vector)
        return magnitude(x.re) + magnitude(x.im)

    def turned(self, block: Sequence[Number]) -> list[Number]:
        """A square block of vectors, rows and columns exchanged."""
        re, im = (
            transposed(part) for part in zip(*((x.re, x.im) for x in map(_complex, block)), strict=True)
        )
        return [Complex(a, b) for a, b in zip(re, im, strict=True)]

    def quotients(self, divisor: Number, *, keeps_by_zero: bool = False) -> Callable[[Number], Number]:
        """Divides vectors by a scalar; with `keeps_by_zero` a zero leaves them as they are.

        The divisor is scaled by a power of two first, so that its square neither overflows nor vanishes; a
        quotient is scaled before the product where that makes it smaller, else after it.
        With one infinite part of the divisor a quotient is zero, with two it is NaN, as in LAPACK and NumPy.
        """
        d = _complex(divisor)
        scale = self._scale(d)
        re, im = d.re * scale, d.im * scale
        square = re * re + im * im
        factor, one = Complex(re / square, -(im / square)), constant(self.element, 1.0)
        parts_differ = magnitude(re).equals(np.inf).differs(magnitude(im).equals(np.inf))
        factor = _complex(self.choose(square.equals(np.inf) & parts_differ, self.number(0.0), factor))
        if keeps_by_zero:
            is_zero = d.re.equals(0.0) & d.im.equals(0.0)
            factor = _complex(self.choose(is_zero, self.number(1.0), factor))
            scale = choose(is_zero, one, scale)
        before, after = choose(scale < one, scale, one), choose(scale < one, one, scale)
        return lambda vector: vector * before * factor * after

    def scaled_quotients(self, divisor: Number, scale: Number) -> Callable[[Number], Number]:
        """Divides vectors, no larger than a real scale, by that and a scalar around 1.

        By the scale first: products with what is left of both would be subnormal.
        """
        quotient, each = self.quotients(divisor), self.reals.filled(scale)
        return lambda vector: quotient(vector / each)

    def _scale(self, number: Complex) -> Number:
        """A power of two near one by the larger part of a number."""
        bits = 8 * self.dtype.itemsize
        mantissa = 23 if bits == 32 else 52
        largest = (1 << (bits - 1 - mantissa)) - 1

        def exponent(part: Number) -> Number:
            raw = Number(mlir.arith.bitcast(self.integer, part.value))
            return (raw >> mantissa) & largest

        sizes = [exponent(number.re), exponent(number.im)]
        most = choose(sizes[0] < sizes[1], sizes[1], sizes[0]).least(largest - 2)
        return Number(mlir.arith.bitcast(self.element, ((largest - 1 - most) << mantissa).value))

    def stored(self, matrix: Matrix) -> Matrix:
        """A matrix of an operand or a result."""
        return MixedMatrix(matrix.array, matrix.lead, matrix.first, matrix.above)

    def kept(self, matrix: Matrix) -> Matrix:
        """A matrix in scratch."""
        return SplitMatrix(matrix.array, matrix.lead, matrix.first, matrix.above)


def _complex(number: Number) -> Complex:
    assert isinstance(number, Complex)
    return number


@dataclass(frozen=True, slots=True)
class MixedMatrix(Matrix):
    """A complex matrix as it lies in memory: the parts of an element side by side."""

    def __getitem__(self, place: tuple[Place, Place]) -> Number:
        first = self._column(place[1]) * 2
        re, im = (self.array[(*self.lead, self._row(place[0]), first + part)] for part in range(2))
        return Complex(re, im)

    def __setitem__(self, place: tuple[Place, Place], number: Number) -> None:
        x, first = _complex(number), self._column(place[1]) * 2
        if not x.is_vector:
            for part, value in enumerate((x.re, x.im)):
                self.array[(*self.lead, self._row(place[0]), first + part)] = value
            return
        width: int = mlir.ir.VectorType(x.type).shape[0]
        mixed = [lane + part * width for lane in range(width) for part in range(2)]
        for half in range(2):
            piece = mlir.vector.shuffle(x.re.value, x.im.value, mixed[half * width : (half + 1) * width])
            self.array[(*self.lead, self._row(place[0]), first + half * width)] = Number(piece)

    def vector(self, width: int, row: Place, column: Place) -> Number:
        """Elements of a row."""
        first = self._column(column) * 2
        low, high = (
            self.array.vector(width, *self.lead, self._row(row), first + n * width).value for n in range(2)
        )
        re, im = (
            Number(mlir.vector.shuffle(low, high, list(range(part, 2 * width, 2)))) for part in range(2)
        )
        return Complex(re, im)


@dataclass(frozen=True, slots=True)
class SplitMatrix(Matrix):
    """A complex matrix in scratch: the real parts of a row, then the imaginary ones."""

    def __getitem__(self, place: tuple[Place, Place]) -> Number:
        return Complex(*(self.array[each] for each in self._places(*place)))

    def __setitem__(self, place: tuple[Place, Place], number: Number) -> None:
        x = _complex(number)
        for each, part in zip(self._places(*place), (x.re, x.im), strict=True):
            self.array[each] = part

    def vector(self, width: int, row: Place, column: Place) -> Number:
        """Elements of a row."""
        return Complex(*(self.array.vector(width, *each) for each in self._places(row, column)))

    def _places(self, row: Place, column: Place) -> list[tuple[Place, ...]]:
        first, apart = self._column(column), self.array.size(len(self.array.type.shape) - 1) // 2
        return [(*self.lead, self._row(row), first + apart * part) for part in range(2)]
