"""Readable arithmetic on scalar MLIR values.

A `Term` wraps one `ir.Value` of a signless integer, i1, f32 or f64 type; its operators emit `arith` at the
ambient insertion point, and Python numbers beside it become constants of its type. The other files of this
package are written with it and contain no builder calls. Three facts shape them:

- a multiply and an add may be contracted to one fused operation and may also not be (generic x86-64), so
  nothing here depends on either;
- IREE's CPU drivers flush denormals, so no intermediate result may need one;
- Vulkan drivers may simplify (x + c) - c to x (Mesa does), so where sums are reassociated rounding errors are
  computed from values that no algebra on floats sees through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ....dialects import mlir
from ....dialects.dataclass import dataclass

if TYPE_CHECKING:
    from iree.compiler import ir

Number = int | float
Operand = "Term | Number"
LONG: Final = 8
"""So many coefficients: fewer are quicker in one chain."""


class Arithmetic(NamedTuple):
    """What the processor, and the compiler for it, make of floats."""

    is_reassociated: bool = False
    """The compiler may write a sum of floats in another order."""
    rounds_at_once: bool = False
    """The processor rounds to an integer in one instruction."""
    flushes: bool = False
    """Subnormal numbers are zeros, as operands and as results."""
    multiplies_and_adds: bool = False
    """The processor multiplies and adds with one rounding, and computes float64 as it does float32."""


_PLAIN: Final = Arithmetic()
_arithmetic: ContextVar[Arithmetic] = ContextVar("arithmetic", default=_PLAIN)


@contextmanager
def emitting_for(arithmetic: Arithmetic) -> Iterator[None]:
    """Within it, code is emitted for this arithmetic."""
    token = _arithmetic.set(arithmetic)
    try:
        yield
    finally:
        _arithmetic.reset(token)


def arithmetic() -> Arithmetic:
    """What code is emitted for."""
    return _arithmetic.get()


@dataclass(frozen=True, slots=True)
class Format:
    """The numbers that describe an IEEE binary format."""

    bits: int
    mantissa: int  # stored fraction bits
    bias: int
    smallest: float  # smallest normal number

    @property
    def sign_mask(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def largest(self) -> float:
        return (2.0 - 2.0**-self.mantissa) * 2.0**self.bias

    @property
    def magic(self) -> float:
        """1.5 * 2**mantissa: adding it rounds to an integer that then sits in the low bits."""
        return 1.5 * 2.0**self.mantissa

    @property
    def half_mask(self) -> int:
        """Keeps the leading half of the significand, so that products of halves are exact."""
        return ~((1 << (27 if self.bits == 64 else 12)) - 1)

    def pattern(self, number: float) -> int:
        """The bits of `number` in this format, as a Python int."""
        if self.bits == 64:
            return int(np.float64(number).view(np.uint64))
        return int(np.float32(number).view(np.uint32))


FORMATS: Final = {32: Format(32, 23, 127, 2.0**-126), 64: Format(64, 52, 1023, 2.0**-1022)}


class Term:
    """A scalar value with operators; comparisons are ordered (false on NaN), integers compare signed."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: ir.Value) -> None:
        self.value = value

    @property
    def type(self) -> ir.Type:
        return self.value.type

    @property
    def is_float(self) -> bool:
        return not isinstance(self.type, mlir.ir.IntegerType)

    @property
    def width(self) -> int:
        return int(self.type.width)

    @property
    def format(self) -> Format:
        return FORMATS[self.width]

    def lift(self, other: Term | Number) -> Term:
        """`other` as a term of this term's type."""
        return other if isinstance(other, Term) else constant(self.type, other)

    def _emit(self, float_name: str, integer_name: str, other: Term | Number, swap: bool = False) -> Term:
        right = self.lift(other)
        build = getattr(mlir.arith, float_name if self.is_float else integer_name)
        return Term(build(right.value, self.value) if swap else build(self.value, right.value))

    def __add__(self, other: Term | Number) -> Term:
        return self._emit("addf", "addi", other)

    def __sub__(self, other: Term | Number) -> Term:
        return self._emit("subf", "subi", other)

    def __mul__(self, other: Term | Number) -> Term:
        return self._emit("mulf", "muli", other)

    def __truediv__(self, other: Term | Number) -> Term:
        return self._emit("divf", "divui", other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Number) -> Term:
        return self._emit("subf", "subi", other, swap=True)

    def __rtruediv__(self, other: Number) -> Term:
        return self._emit("divf", "divui", other, swap=True)

    def __neg__(self) -> Term:
        return Term(mlir.arith.negf(self.value)) if self.is_float else 0 - self

    def __and__(self, other: Term | Number) -> Term:
        return self._emit("", "andi", other)

    def __or__(self, other: Term | Number) -> Term:
        return self._emit("", "ori", other)

    def __xor__(self, other: Term | Number) -> Term:
        return self._emit("", "xori", other)

    def __invert__(self) -> Term:
        return self ^ (1 if self.width == 1 else -1)

    def __lshift__(self, other: Term | Number) -> Term:
        return self._emit("", "shli", other)

    def __rshift__(self, other: Term | Number) -> Term:
        """Logical shift right."""
        return self._emit("", "shrui", other)

    def shift_sign(self, other: Term | Number) -> Term:
        """Arithmetic shift right."""
        return self._emit("", "shrsi", other)

    def _compare(self, float_name: str, integer_name: str, other: Term | Number) -> Term:
        right = self.lift(other)
        if self.is_float:
            predicate: Any = getattr(mlir.arith.CmpFPredicate, float_name)
            return Term(mlir.arith.cmpf(predicate, self.value, right.value))
        predicate = getattr(mlir.arith.CmpIPredicate, integer_name)
        return Term(mlir.arith.cmpi(predicate, self.value, right.value))

    def __lt__(self, other: Term | Number) -> Term:
        return self._compare("OLT", "slt", other)

    def __le__(self, other: Term | Number) -> Term:
        return self._compare("OLE", "sle", other)

    def __gt__(self, other: Term | Number) -> Term:
        return self._compare("OGT", "sgt", other)

    def __ge__(self, other: Term | Number) -> Term:
        return self._compare("OGE", "sge", other)

    def equals(self, other: Term | Number) -> Term:
        return self._compare("OEQ", "eq", other)

    def differs(self, other: Term | Number) -> Term:
        return self._compare("UNE", "ne", other)

    def below(self, other: Term | Number) -> Term:
        """Unsigned integer comparison `<`."""
        return self._compare("", "ult", other)

    def is_nan(self) -> Term:
        return self._compare("UNO", "", self)

    def bits(self) -> Term:
        """The same bits as an integer of the same width."""
        kind = mlir.ir.IntegerType.get_signless(self.width)
        return Term(mlir.arith.bitcast(kind, self.value))

    def as_float(self) -> Term:
        """The same bits as a float of the same width."""
        return Term(mlir.arith.bitcast(float_type(self.width), self.value))

    def masked(self, mask: int) -> Term:
        """This float with the bits outside `mask` cleared."""
        return (self.bits() & mask).as_float()

    def head(self) -> Term:
        """The leading half of the significand (truncated)."""
        return self.masked(self.format.half_mask)

    def sign_bits(self) -> Term:
        return self.bits() & self.format.sign_mask

    def with_sign_bits(self, sign: Term) -> Term:
        """This float with its sign flipped where `sign` (an integer) has the sign bit."""
        return (self.bits() ^ sign).as_float()

    def absolute(self) -> Term:
        return Term(mlir.math.absf(self.value))

    def sqrt(self) -> Term:
        return Term(mlir.math.sqrt(self.value))

    def rounded(self) -> Term:
        """The nearest integer, half to even, by adding 2**mantissa; keeps -0."""
        if arithmetic().is_reassociated:
            return Term(mlir.math.roundeven(self.value))
        power = 2.0**self.format.mantissa
        magnitude = self.absolute()
        nearest = choose(magnitude < power, (magnitude + power) - power, magnitude)
        return nearest.with_sign_bits(self.sign_bits())

    def floor(self) -> Term:
        """Else without the math op, whose code calls libm on x86-64 before SSE4.1."""
        if arithmetic().rounds_at_once:
            return Term(mlir.math.floor(self.value))
        nearest = self.rounded()
        return choose(nearest > self, nearest - 1.0, nearest)


def float_type(bits: int) -> ir.Type:
    return mlir.ir.F64Type.get() if bits == 64 else mlir.ir.F32Type.get()


def constant(kind: ir.Type, number: Number) -> Term:
    """A constant of type `kind`; integers wrap to its width."""
    if isinstance(kind, mlir.ir.IntegerType):
        width = kind.width
        number = int(number) & ((1 << width) - 1)
        if width == 1:
            return Term(mlir.arith.constant(kind, mlir.ir.IntegerAttr.get(kind, number)))
        number -= (number >> (width - 1)) << width
        return Term(mlir.arith.constant(kind, mlir.ir.IntegerAttr.get(kind, number)))
    return Term(mlir.arith.constant(kind, mlir.ir.FloatAttr.get(kind, float(number))))


def choose(condition: Term, yes: Term | Number, no: Term | Number) -> Term:
    """`yes` where the condition holds, else `no`; one of the two must be a term."""
    like = yes if isinstance(yes, Term) else no
    if not isinstance(like, Term):
        raise TypeError("choose needs a term for its type")
    return Term(mlir.arith.select(condition.value, like.lift(yes).value, like.lift(no).value))


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """Lowest power first: a short one by Horner's scheme, a long one as the sum of its even powers and its
    odd ones (Estrin 1960), since each multiplication waits for the one before.
    """
    if len(coefficients) < LONG:
        return horner(x, coefficients)
    square = x * x
    return polynomial(square, coefficients[0::2]) + x * polynomial(square, coefficients[1::2])


def horner(x: Term, coefficients: Sequence[float]) -> Term:
    """`polynomial` in one chain, which rounds less where powers of both signs are large."""
    start = x.lift(coefficients[-1])
    return reduce(lambda total, c: total * x + c, reversed(coefficients[:-1]), start)


def power_of_two(exponent: Term) -> Term:
    """2**exponent as a float; the exponent must be that of a normal number."""
    form = FORMATS[exponent.width]
    return ((exponent + form.bias) << form.mantissa).as_float()


def scale(x: Term, exponent: Term) -> Term:
    """x * 2**exponent in two steps, so that results down to denormals and up to infinity come out."""
    half = exponent.shift_sign(1)
    return x * power_of_two(half) * power_of_two(exponent - half)


def nearest_integer(x: Term) -> tuple[Term, Term]:
    """`x` rounded to an integer, as (integer, float); needs |x| < 2**(mantissa - 2)."""
    form = x.format
    if arithmetic().is_reassociated:
        nearest = x.rounded()
        kind = mlir.ir.IntegerType.get_signless(x.width)
        return Term(mlir.arith.fptosi(kind, nearest.value)), nearest
    shifted = x + form.magic
    return shifted.bits() - form.pattern(form.magic), shifted - form.magic


def small_to_float(k: Term) -> Term:
    """A small signed integer as a float of its width, without a conversion instruction."""
    form = FORMATS[k.width]
    return (k + form.pattern(form.magic)).as_float() - form.magic


def word(bits: int, single: float, double: float) -> float:
    """A constant that depends on the format."""
    return single if bits == 32 else double
