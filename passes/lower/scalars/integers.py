"""Integer and bool arithmetic: wrap-around, no traps, no undefined shift amounts.

All functions take `Term`s of one signless width; `signed` tells how NumPy sees them. LLVM leaves division
by zero, INT_MIN / -1 and shifts by the width or more undefined, so divisors and amounts are made harmless
first and the defined result is selected afterwards.
"""

from __future__ import annotations

from ....dialects import mlir
from .terms import Term, choose


def _arith(name: str, *operands: Term) -> Term:
    return Term(getattr(mlir.arith, name)(*(term.value for term in operands)))


def _unsigned(name: str, x: Term, y: Term, on_vulkan: bool) -> Term:
    """`divui` or `remui` of a divisor that is not zero; on Vulkan by other ops.

    IREE has no code for them there where it makes vectors of one element of them.
    """
    if not on_vulkan:
        return _arith(name, x, y)
    quotient, rest = _divided(x, y) if x.width >= 32 else _divided_as_float(x, y)
    return quotient if name == "divui" else rest


def _divided(x: Term, y: Term) -> tuple[Term, Term]:
    """Quotient and remainder by a signed division.

    Half of `x` is not negative. A divisor of the top bit goes into `x` once or not at all.
    """
    is_large = y < 0
    divisor = choose(is_large, 1, y)
    quotient = choose(is_large, 0, _arith("divsi", x >> 1, divisor) << 1)
    rest = x - quotient * y
    fits = ~rest.below(y)
    return choose(fits, quotient + 1, quotient), choose(fits, rest - y, rest)


def _divided_as_float(x: Term, y: Term) -> tuple[Term, Term]:
    """Quotient and remainder of integers of at most 16 bits, which are exact in float32.

    IREE narrows integer ops of widened operands again. A quotient that the device rounds to the next one is
    corrected.
    """
    whole, divisor = _widened(x), _widened(y)
    quotient = _truncated(_as_float(whole), _as_float(divisor))
    rest = whole - quotient * divisor
    is_less, is_more = rest < 0, (divisor - rest) < 1
    exact = choose(is_less, quotient - 1, choose(is_more, quotient + 1, quotient))
    left = choose(is_less, rest + divisor, choose(is_more, rest - divisor, rest))
    return _narrowed(exact, x), _narrowed(left, x)


def _as_float(x: Term) -> Term:
    return Term(mlir.arith.sitofp(mlir.ir.F32Type.get(), x.value))


def _truncated(x: Term, y: Term) -> Term:
    """The whole part of a quotient of float32, in 32 bits."""
    return Term(mlir.arith.fptosi(mlir.ir.IntegerType.get_signless(32), mlir.arith.divf(x.value, y.value)))


def _widened(x: Term) -> Term:
    return Term(mlir.arith.extui(mlir.ir.IntegerType.get_signless(32), x.value))


def _narrowed(x: Term, like: Term) -> Term:
    return Term(mlir.arith.trunci(like.type, x.value))


def _smallest(x: Term) -> int:
    return 1 << (x.width - 1)


def div(x: Term, y: Term, signed: bool, on_vulkan: bool = False) -> Term:
    zero = y.equals(0)
    if not signed:
        return choose(zero, -1, _unsigned("divui", x, choose(zero, 1, y), on_vulkan))
    overflow = x.equals(_smallest(x)) & y.equals(-1)
    quotient = _arith("divsi", x, choose(zero | overflow, 1, y))
    return choose(zero, -1, quotient)


def rem(x: Term, y: Term, signed: bool, on_vulkan: bool = False) -> Term:
    zero = y.equals(0)
    if not signed:
        return choose(zero, x, _unsigned("remui", x, choose(zero, 1, y), on_vulkan))
    divisor = choose(zero | y.equals(-1), 1, y)
    if on_vulkan:  # where IREE's `remsi` of the least integer has the wrong sign
        return choose(zero, x, x - _arith("divsi", x, divisor) * divisor)
    return choose(zero, x, _arith("remsi", x, divisor))


def maximum(x: Term, y: Term, signed: bool) -> Term:
    return _arith("maxsi" if signed else "maxui", x, y)


def minimum(x: Term, y: Term, signed: bool) -> Term:
    return _arith("minsi" if signed else "minui", x, y)


def absolute(x: Term, signed: bool) -> Term:
    return choose(x < 0, -x, x) if signed else x


def sign(x: Term, signed: bool) -> Term:
    one = x.lift(1)
    if not signed:
        return choose(x.equals(0), 0, one)
    return choose(x < 0, -1, choose(x.equals(0), 0, one))


def shift_left(x: Term, amount: Term) -> Term:
    inside = amount.below(x.width)
    return choose(inside, x << choose(inside, amount, 0), 0)


def shift_right_logical(x: Term, amount: Term) -> Term:
    inside = amount.below(x.width)
    return choose(inside, x >> choose(inside, amount, 0), 0)


def shift_right_arithmetic(x: Term, amount: Term) -> Term:
    return x.shift_sign(choose(amount.below(x.width), amount, x.width - 1))


def power(x: Term, exponent: Term, signed: bool) -> Term:
    """By squaring, one step a bit of the exponent; negative exponents give 1 / x**n rounded to zero."""
    result, square = x.lift(1), x
    bits = x.width - 1 if signed else x.width
    for bit in range(bits):
        result = choose(((exponent >> bit) & 1).differs(0), result * square, result)
        if bit + 1 < bits:
            square = square * square
    if not signed:
        return result
    odd = (exponent & 1).differs(0)
    negative = choose(x.equals(1), 1, choose(x.equals(-1), choose(odd, x.lift(-1), 1), 0))
    return choose(exponent < 0, negative, result)


def count_ones(x: Term) -> Term:
    return Term(mlir.math.ctpop(x.value))


def count_leading_zeros(x: Term, on_vulkan: bool = False) -> Term:
    """On Vulkan in 32 bits, which alone have code there: narrow ones widened, wide ones in two halves."""
    if not on_vulkan or x.width == 32:
        return Term(mlir.math.ctlz(x.value))
    if x.width < 32:
        return _narrowed(Term(mlir.math.ctlz(_widened(x).value)) - (32 - x.width), x)
    word = mlir.ir.IntegerType.get_signless(32)
    high, low = (Term(mlir.arith.trunci(word, half.value)) for half in (x >> 32, x))
    high_zeros, low_zeros = (Term(mlir.math.ctlz(half.value)) for half in (high, low))
    zeros = choose(high.equals(0), low_zeros + 32, high_zeros)
    return Term(mlir.arith.extui(x.type, zeros.value))
