"""Complex arithmetic and functions on pairs of f32 or f64 terms, with NumPy's and C99's branch cuts.

Each function is composed of the real ones so that neither part overflows or cancels before its time: moduli
and quotients are scaled, the logarithm uses log1p near the unit circle, square roots and inverse functions
follow Kahan (Branch Cuts for Complex Elementary Functions, 1987). Signed zeros pick the side of a cut.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, nan
from typing import TYPE_CHECKING, Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from .exponentials import asinh as real_asinh
from .exponentials import exp as real_exp
from .exponentials import expm1 as real_expm1
from .exponentials import log as real_log
from .exponentials import log1p as real_log1p
from .exponentials import scaled_exp
from .pairs import multiply_exactly
from .terms import Term, choose, word
from .trigonometry import atan2, sin_and_cos

if TYPE_CHECKING:
    from iree.compiler import ir


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number by its parts; `value` makes the MLIR value."""

    real: Term
    imag: Term

    @classmethod
    def of(cls, value: ir.Value) -> Complex:
        return cls(Term(mlir.complex.ReOp(value).result), Term(mlir.complex.ImOp(value).result))

    @property
    def value(self) -> ir.Value:
        kind = mlir.ir.ComplexType.get(self.real.type)
        return mlir.complex.CreateOp(kind, self.real.value, self.imag.value).result

    def __neg__(self) -> Complex:
        return Complex(-self.real, -self.imag)

    def times(self, factor: Term | float) -> Complex:
        return Complex(self.real * factor, self.imag * factor)

    def plus(self, number: float) -> Complex:
        return Complex(self.real + number, self.imag)

    def turned(self) -> Complex:
        """i times this number."""
        return Complex(-self.imag, self.real)

    def turned_back(self) -> Complex:
        """-i times this number."""
        return Complex(self.imag, -self.real)


def pick(condition: Term, yes: Complex, no: Complex) -> Complex:
    return Complex(choose(condition, yes.real, no.real), choose(condition, yes.imag, no.imag))


def add(x: Complex, y: Complex) -> Complex:
    return Complex(x.real + y.real, x.imag + y.imag)


def sub(x: Complex, y: Complex) -> Complex:
    return Complex(x.real - y.real, x.imag - y.imag)


def mul(x: Complex, y: Complex) -> Complex:
    return Complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def div(x: Complex, y: Complex) -> Complex:
    """Smith's method, as NumPy: the divisor's larger part is divided out first."""
    flat = y.real.absolute() >= y.imag.absolute()
    major, minor = choose(flat, y.real, y.imag), choose(flat, y.imag, y.real)
    ratio = choose(major.equals(0.0), 0.0, minor / major)
    scale = major + minor * ratio
    same, cross = choose(flat, x.real, x.imag), choose(flat, x.imag, x.real)
    difference = cross - same * ratio
    return Complex((same + cross * ratio) / scale, choose(flat, difference, -difference) / scale)


def magnitude(z: Complex) -> Term:
    """|z| = max sqrt(1 + (min / max)**2), infinite if either part is."""
    x, y = z.real.absolute(), z.imag.absolute()
    steep = y > x
    high, low = choose(steep, y, x), choose(steep, x, y)
    ratio = low / high
    result = choose(low.equals(0.0), high, high * (ratio * ratio + 1.0).sqrt())
    result = choose(x.is_nan() | y.is_nan(), x + y, result)
    return choose(x.equals(inf) | y.equals(inf), inf, result)


def sign(z: Complex) -> Complex:
    z = z.times(choose(_is_far(z), z.real.lift(0.25), 1.0))
    size = magnitude(z)
    zero = size.equals(0.0)
    real, imag = (
        choose(p.absolute().equals(inf), _unit(p), choose(p.is_nan() & size.equals(inf), 0.0, p / size))
        for p in (z.real, z.imag)
    )
    both = z.real.absolute().equals(inf) & z.imag.absolute().equals(inf)
    result = pick(both, Complex(real.lift(nan), real.lift(nan)), Complex(real, imag))
    return pick(zero, Complex(z.real.lift(0.0), z.real.lift(0.0)), result)


def _unit(x: Term) -> Term:
    return x.lift(1.0).with_sign_bits(x.sign_bits())


def conj(z: Complex) -> Complex:
    return Complex(z.real, -z.imag)


def exp(z: Complex) -> Complex:
    sine, cosine = sin_and_cos(z.imag)
    bounded = z.imag.absolute() < inf
    real = choose(z.real.equals(-inf) & ~bounded, 0.0, scaled_exp(z.real, cosine))
    imag = choose(z.real.equals(-inf) & ~bounded, 0.0, scaled_exp(z.real, sine))
    unbounded = z.real.equals(inf) & ~bounded
    real = choose(unbounded, inf, real)
    imag = choose(unbounded, nan, imag)
    return Complex(real, choose(z.imag.equals(0.0), z.imag, imag))


def exp2(z: Complex) -> Complex:
    return exp(z.times(0.6931471805599453))


def expm1(z: Complex) -> Complex:
    _, cosine = sin_and_cos(z.imag)
    half, _ = sin_and_cos(z.imag * 0.5)
    growth = real_expm1(z.real)
    small = growth * cosine - half * half * 2.0
    large = z.real.absolute() > 1.0
    full = exp(z)
    return Complex(choose(large, full.real - 1.0, small), full.imag)


def log(z: Complex) -> Complex:
    return Complex(_log_magnitude(z), atan2(z.imag, z.real))


def _log_magnitude(z: Complex) -> Term:
    """log |z|; near the unit circle through log1p of |z|**2 - 1, computed in two words."""
    x, y = z.real.absolute(), z.imag.absolute()
    high, low = choose(y > x, y, x), choose(y > x, x, y)
    near = (high > 0.5) & (high < 2.0)
    first, second = choose(near, high, 1.0), choose(near, low, 0.0)
    product = multiply_exactly(first - 1.0, first + 1.0)
    square = multiply_exactly(second, second)
    excess = (product.head + square.head) + (product.tail + square.tail)
    far = _is_far(z)
    scaled = z.times(choose(far, z.real.lift(0.25), 1.0))  # whose modulus does not overflow
    distant = real_log(magnitude(scaled)) + choose(far, z.real.lift(1.3862943611198906), 0.0)
    return choose(near, real_log1p(excess) * 0.5, distant)


def _is_far(z: Complex) -> Term:
    """Whether a part is so large that squares overflow, and 1 does not count beside it."""
    limit = word(z.real.width, 2.0**60, 2.0**500)
    return (z.real.absolute() > limit) | (z.imag.absolute() > limit)


def log2(z: Complex) -> Complex:
    return log(z).times(1.4426950408889634)


def log1p(z: Complex) -> Complex:
    x, y = z.real, z.imag
    small = (x.absolute() < 0.5) & (y.absolute() < 0.5)
    a, b = choose(small, x, 0.0), choose(small, y, 0.0)
    product = multiply_exactly(a, a + 2.0)
    square = multiply_exactly(b, b)
    excess = (product.head + square.head) + (product.tail + square.tail)
    shifted = z.plus(1.0)
    return Complex(choose(small, real_log1p(excess) * 0.5, _log_magnitude(shifted)), atan2(y, shifted.real))


def sqrt(z: Complex) -> Complex:
    """sqrt((|z| + |x|) / 2) for the larger part, the other by division; scaled away from the ends."""
    limit = word(z.real.width, 2.0**100, 2.0**1000)
    biggest = (z.real.absolute() > limit) | (z.imag.absolute() > limit)
    smallest = (z.real.absolute() < 1.0 / limit) & (z.imag.absolute() < 1.0 / limit)
    power = word(z.real.width, 2.0**60, 2.0**200)
    factor = choose(biggest, z.real.lift(1.0 / power), choose(smallest, z.real.lift(power), 1.0))
    root = choose(biggest, z.real.lift(power**0.5), choose(smallest, z.real.lift(power**-0.5), 1.0))
    x, y = z.real * factor, z.imag * factor
    t = ((magnitude(Complex(x, y)) + x.absolute()) * 0.5).sqrt()
    other = choose(t.equals(0.0), t, y.absolute() / (t * 2.0))
    left = z.real < 0.0
    real, imag = choose(left, other, t) * root, choose(left, t, other) * root
    unbounded = z.imag.absolute().equals(inf)
    real = choose(unbounded, inf, choose(z.real.equals(-inf), choose(z.imag.is_nan(), z.imag, 0.0), real))
    imag = choose(unbounded, inf, choose(z.real.equals(inf), choose(z.imag.is_nan(), z.imag, 0.0), imag))
    imag = choose(z.real.equals(-inf), inf, imag)
    return Complex(real, imag.absolute().with_sign_bits(z.imag.sign_bits()))


def rsqrt(z: Complex) -> Complex:
    root = sqrt(z)
    return div(Complex(root.real.lift(1.0), root.real.lift(0.0)), root)


def logistic(z: Complex) -> Complex:
    """exp(z) / (1 + exp(z)) or 1 / (1 + exp(-z)), whichever exponential is at most 1."""
    left = z.real < 0.0
    e = exp(pick(left, z, -z))
    one = Complex(e.real.lift(1.0), e.real.lift(0.0))
    return div(pick(left, e, one), e.plus(1.0))


def _cosh_and_sinh(x: Term, factor: Term, other: Term) -> tuple[Term, Term]:
    """(cosh(x) factor, sinh(x) other) with |factor|, |other| <= 1, overflowing only with the products."""
    a = x.absolute()
    grown, grown_other = scaled_exp(a, factor * 0.5), scaled_exp(a, other * 0.5)
    shrunk = real_exp(-a) * 0.5
    growth = real_expm1(choose(a < 1.0, a, 0.0))
    small = (growth + growth / (growth + 1.0)) * 0.5 * other
    sine = choose(other.equals(0.0), other, choose(a < 1.0, small, grown_other - shrunk * other))
    return grown + shrunk * factor, sine.with_sign_bits(x.sign_bits())


def sinh(z: Complex) -> Complex:
    sine, cosine = sin_and_cos(z.imag)
    imag, real = _cosh_and_sinh(z.real, sine, cosine)
    imag = choose(z.imag.equals(0.0), z.imag, imag)
    wild = ~(z.imag.absolute() < inf)
    return Complex(choose(wild & (z.real.equals(0.0) | z.real.absolute().equals(inf)), z.real, real), imag)


def cosh(z: Complex) -> Complex:
    sine, cosine = sin_and_cos(z.imag)
    real, imag = _cosh_and_sinh(z.real, cosine, sine)
    wild = ~(z.imag.absolute() < inf)
    real = choose(wild & z.real.absolute().equals(inf), inf, real)
    return Complex(real, choose(wild & z.real.equals(0.0), z.real, imag))


def tanh(z: Complex) -> Complex:
    """(sinh x cosh x + i sin y cos y) / (sinh(x)**2 + cos(y)**2); far out 1 + 4 i sin y cos y exp(-2x)."""
    limit = word(z.real.width, 12.0, 25.0)
    bounded = Complex(choose(z.real.absolute() > limit, 0.0, z.real), z.imag)
    sine, cosine = sin_and_cos(z.imag)
    cosh_x, sinh_x = _cosh_and_sinh(bounded.real, z.real.lift(1.0), z.real.lift(1.0))
    denominator = sinh_x * sinh_x + cosine * cosine
    near = Complex(sinh_x * cosh_x / denominator, sine * cosine / denominator)
    one = _unit(z.real)
    decay = sine * cosine * 4.0 * real_exp(z.real.absolute() * -2.0)
    flat = choose(z.imag.absolute() < inf, decay, 0.0)
    # A finite x leaves the direction of an unbounded y open, however close to 1 the modulus is.
    lost = ~(z.imag.absolute() < inf) & (z.real.absolute() < inf)
    outer = Complex(choose(lost, nan, one), choose(lost, nan, flat))
    result = pick(z.real.absolute() > limit, outer, near)
    real = choose(z.real.equals(0.0), z.real, result.real)
    return Complex(real, choose(z.imag.equals(0.0), z.imag, result.imag))


def sin(z: Complex) -> Complex:
    return sinh(z.turned()).turned_back()


def cos(z: Complex) -> Complex:
    return cosh(z.turned())


def tan(z: Complex) -> Complex:
    return tanh(z.turned()).turned_back()


def _roots(z: Complex) -> tuple[Complex, Complex]:
    """sqrt(1 - z) and sqrt(1 + z); the zero imaginary part of 1 - z keeps the cut's side."""
    return sqrt(Complex(1.0 - z.real, -z.imag)), sqrt(z.plus(1.0))


def _log_of_twice(z: Complex) -> Term:
    """log |2 z|: what the inverse functions grow like."""
    return _log_magnitude(z) + 0.6931471805599453


def _half_pi(signed: Term) -> Term:
    return signed.lift(1.5707963267948966).with_sign_bits(signed.sign_bits())


def asin(z: Complex) -> Complex:
    minus, plus = _roots(z)
    imag = real_asinh(minus.real * plus.imag - minus.imag * plus.real)
    real = atan2(z.real, minus.real * plus.real - minus.imag * plus.imag)
    finite = Complex(choose(z.real.equals(0.0), z.real, real), imag)
    far = _log_of_twice(z).with_sign_bits(z.imag.sign_bits())
    return pick(_is_far(z), Complex(atan2(z.real, z.imag.absolute()), far), finite)


def acos(z: Complex) -> Complex:
    minus, plus = _roots(z)
    imag = real_asinh(plus.real * minus.imag - plus.imag * minus.real)
    far = -_log_of_twice(z).with_sign_bits(z.imag.sign_bits())
    real = choose(z.real.equals(0.0), z.real.lift(1.5707963267948966), atan2(minus.real, plus.real) * 2.0)
    finite = Complex(real, imag)
    return pick(_is_far(z), Complex(atan2(z.imag.absolute(), z.real), far), finite)


def acosh(z: Complex) -> Complex:
    minus, plus = sqrt(z.plus(-1.0)), sqrt(z.plus(1.0))
    real = real_asinh(minus.real * plus.real + minus.imag * plus.imag)
    imag = choose(z.real.equals(0.0), _half_pi(z.imag), atan2(minus.imag, plus.real) * 2.0)
    return pick(_is_far(z), Complex(_log_of_twice(z), atan2(z.imag, z.real)), Complex(real, imag))


def asinh(z: Complex) -> Complex:
    return asin(z.turned()).turned_back()


def atanh(z: Complex) -> Complex:
    x, y = z.real, z.imag
    a = x.absolute()
    gap = 1.0 - a
    scale = gap * gap + y * y
    real = real_log1p(a * 4.0 / scale) * 0.25
    pole = gap.equals(0.0) & (y.absolute() < word(x.width, 2.0**-13, 2.0**-30))
    real = choose(pole, (0.6931471805599453 - real_log(y.absolute())) * 0.5, real)
    far = (a > word(x.width, 2.0**40, 2.0**300)) | (y.absolute() > word(x.width, 2.0**40, 2.0**300))
    distant = div(Complex(a.lift(1.0), a.lift(0.0)), Complex(a, y))
    real = choose(far, choose(a.equals(inf) | y.absolute().equals(inf), 0.0, distant.real), real)
    angle = atan2(y * 2.0, gap * (a + 1.0) - y * y) * 0.5
    lost = y.is_nan() | (x.is_nan() & (y.absolute() < inf))
    angle = choose(far, choose(lost, nan, _half_pi(y)), angle)
    return Complex(choose(x.equals(0.0), x, real.with_sign_bits(x.sign_bits())), angle)


def atan(z: Complex) -> Complex:
    return atanh(z.turned()).turned_back()


def pow_(x: Complex, y: Complex) -> Complex:
    """exp(y log x); x**0 = 1 and 0**y = 0 for Re y > 0, else NaN."""
    zero, one = x.real.lift(0.0), x.real.lift(1.0)
    general = exp(mul(y, log(x)))
    positive = y.real > 0.0
    at_zero = Complex(choose(positive, 0.0, x.real.lift(nan)), choose(positive, 0.0, x.real.lift(nan)))
    result = pick(x.real.equals(0.0) & x.imag.equals(0.0), at_zero, general)
    return pick(y.real.equals(0.0) & y.imag.equals(0.0), Complex(one, zero), result)


def compare(direction: str, x: Complex, y: Complex) -> Term:
    """Equality of both parts; order by real, then imaginary part."""
    same = x.real.equals(y.real)
    if direction in ("EQ", "NE"):
        equal = same & x.imag.equals(y.imag)
        return equal if direction == "EQ" else ~equal
    strict = Term.__lt__ if direction[0] == "L" else Term.__gt__
    last = {"LT": Term.__lt__, "LE": Term.__le__, "GT": Term.__gt__, "GE": Term.__ge__}[direction]
    ordered = ~(x.imag.is_nan() | y.imag.is_nan())
    return (strict(x.real, y.real) & ordered) | (same & last(x.imag, y.imag))


def _extremum(direction: str, x: Complex, y: Complex) -> Complex:
    has_nan = x.real.is_nan() | x.imag.is_nan()
    return pick(compare(direction, x, y) | has_nan, x, y)


FUNCTIONS: Final[dict[str, Callable[..., Complex]]] = {
    "add": add, "sub": sub, "mul": mul, "div": div, "neg": Complex.__neg__, "sign": sign, "conj": conj,
    "exp": exp, "exp2": exp2, "expm1": expm1, "log": log, "log2": log2, "log1p": log1p, "sqrt": sqrt,
    "rsqrt": rsqrt, "logistic": logistic, "sin": sin, "cos": cos, "tan": tan, "asin": asin, "acos": acos,
    "atan": atan, "sinh": sinh, "cosh": cosh, "tanh": tanh, "asinh": asinh, "acosh": acosh, "atanh": atanh,
    "pow": pow_, "max": partial(_extremum, "GE"), "min": partial(_extremum, "LE"),
}  # fmt: skip
