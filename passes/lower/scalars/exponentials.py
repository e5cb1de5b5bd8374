"""Exponentials, logarithms, powers and the hyperbolic functions of f32 and f64 terms.

Each function takes and returns `Term`s and is branch free. exp: x = k log 2 + r with log 2 in two words
(the first with trailing zeros, so that k times it is exact), then a polynomial on |r| <= log(2)/2.
log: x = 2**k m with m in [sqrt(1/2), sqrt(2)) by integer arithmetic, then the series of atanh in
s = (m - 1) / (m + 1). The hyperbolic functions go through expm1 and log1p so that they keep their relative
accuracy at 0; pow takes the logarithm in two words (about 2**-65).
"""

from __future__ import annotations

from math import inf, nan
from typing import Final

from . import coefficients
from .pairs import Pair, add_exactly, multiply_exactly, opaque, renormalise
from .terms import (
    Term,
    arithmetic,
    choose,
    nearest_integer,
    polynomial,
    power_of_two,
    scale,
    small_to_float,
    word,
)

LOG2_E: Final = 1.4426950408889634
# log(2) in two words; the first has 11 (f64) or 9 (f32) trailing zero bits
LN2: Final = {64: (0.6931471805598903, 5.497923018708371e-14),
              32: (0.693145751953125, 1.4286068203094173e-06)}  # fmt: skip
THIRDS: Final = {
    64: (0.6666666666666666, 3.700743415417188e-17),
    32: (0.6666666865348816, -1.9868214925130207e-08),
}
# 1 / log(2), the first word of half a significand
LOG2_E_HALVES: Final = {
    64: (1.4426950216293335, 1.9259629911266175e-08),
    32: (1.4423828125, 3.122283889634074e-04),
}
SQRT_HALF: Final = 0.7071067811865476
# where the result of exp is a normal number
EXP_NORMAL: Final = {64: (709.782712893384, -708.3964185322641), 32: (88.72283172607422, -87.33654022216797)}
# above the first exp overflows, below the second it is 0; 2**k stays a product of two normal powers
EXP_RANGE: Final = {64: (720.0, -760.0), 32: (95.0, -110.0)}


def clip(x: Term, low: float, high: float) -> Term:
    """x limited to [low, high]; NaN stays."""
    return choose(x > high, high, choose(x < low, low, x))


def keep_tiny(x: Term, result: Term, limit: float | None = None) -> Term:
    """x itself where |x| is tiny (and so f(x) = x): keeps -0 and avoids denormal intermediates."""
    bound = word(x.width, 2.0**-40, 2.0**-200) if limit is None else limit
    return choose(x.absolute() < bound, x, result)


def _exp_parts(x: Term, tail: Term | None = None) -> tuple[Term, Term]:
    """(k, p) with exp(x + tail) = 2**k (1 + p), |p| < 0.42."""
    first, second = LN2[x.width]
    k, k_float = nearest_integer(x * LOG2_E)
    low = k_float * -second
    r = (x - k_float * first) + (low if tail is None else low + tail)
    return k, r + r * r * polynomial(r, coefficients.EXP[x.width])


def exp(x: Term) -> Term:
    """2**k goes in by adding to the exponent bits; what would be denormal is 0, as IREE's drivers have it."""
    high, low = EXP_NORMAL[x.width]
    k, p = _exp_parts(x)
    result = ((p + 1.0).bits() + (k << x.format.mantissa)).as_float()
    # the product is infinite, and keeps NaN
    return choose(x <= high, choose(x >= low, result, 0.0), x * x.format.largest)


def exp_pair(x: Term, tail: Term) -> Term:
    """exp(x + tail)."""
    high, low = EXP_RANGE[x.width]
    k, p = _exp_parts(clip(x, low, high), tail)
    return scale(p + 1.0, k)


def scaled_exp(x: Term, factor: Term) -> Term:
    """exp(x) * factor for |factor| <= 1, also where exp(x) overflows and the product does not."""
    step, growth = (700.0, 1.0142320547350045e304) if x.width == 64 else (80.0, 5.54062238439351e34)
    far = x > step
    high, low = EXP_RANGE[x.width]
    k, p = _exp_parts(clip(choose(far, x - step, x), low, high))
    return scale((p + 1.0) * choose(far, factor * growth, factor), k)


def _exp_quarter(x: Term) -> Term:
    """exp(x) / 4."""
    high, low = EXP_RANGE[x.width]
    k, p = _exp_parts(clip(x, low, high))
    return scale(p + 1.0, k - 2)


def exp2(x: Term) -> Term:
    high, low = word(x.width, 130.0, 1030.0), word(x.width, -160.0, -1090.0)
    clipped = clip(x, low, high)
    k, k_float = nearest_integer(clipped)
    rest = clipped - k_float
    head, tail = (
        (0.6931471805599453, 2.3190468138462996e-17)
        if x.width == 64
        else (0.693145751953125, 1.4286068203094173e-06)
    )
    r = rest * head + rest * tail
    return scale(1.0 + (r + r * r * polynomial(r, coefficients.EXP[x.width])), k)


def _expm1_quarter(x: Term) -> Term:
    """(exp(x) - 1) / 4 without overflow up to exp(x)/2 = the largest number."""
    high, low = word(x.width, 89.5, 710.5), word(x.width, -20.0, -42.0)
    k, p = _exp_parts(clip(x, low, high))
    power = power_of_two(k - 2)
    return power * p + (power - 0.25)


def expm1(x: Term) -> Term:
    return keep_tiny(x, _expm1_quarter(x) * 4.0)


def logistic(x: Term) -> Term:
    if arithmetic().flushes:  # where exp overflows, the quotient is subnormal
        return 1.0 / (exp(-x) + 1.0)
    is_positive = x >= 0.0
    # Not the negated absolute value: NVIDIA's assembler takes it for a number when it is NaN.
    e = exp(choose(is_positive, -x, x))
    return choose(is_positive, x.lift(1.0), e) / (e + 1.0)


def sinh(x: Term) -> Term:
    quarter = _expm1_quarter(x.absolute())
    result = (quarter + quarter / (quarter * 4.0 + 1.0)) * 2.0
    return keep_tiny(x, result.with_sign_bits(x.sign_bits()))


def cosh(x: Term) -> Term:
    quarter = _exp_quarter(x.absolute())
    return (quarter + 0.0625 / quarter) * 2.0


def tanh(x: Term) -> Term:
    a = x.absolute()
    k, p = _exp_parts(choose(a > 22.0, 22.0, a) * 2.0)
    power = power_of_two(k)
    t = power * p + (power - 1.0)
    return (t / (t + 2.0)).with_sign_bits(x.sign_bits())


def split_exponent(x: Term) -> tuple[Term, Term]:
    """(k, m) with x = 2**k m, sqrt(1/2) <= m < sqrt(2), for positive finite x."""
    form = x.format
    if arithmetic().flushes:
        return _split_normal(x)
    small = x < form.smallest
    k, m = _split_normal(choose(small, x * 2.0 ** (form.mantissa + 2), x))
    return choose(small, k - (form.mantissa + 2), k), m


def _split_normal(x: Term) -> tuple[Term, Term]:
    """`split_exponent` of a normal number."""
    form = x.format
    k = (x.bits() - form.pattern(SQRT_HALF)).shift_sign(form.mantissa)
    return k, (x.bits() - (k << form.mantissa)).as_float()


def _log_domain(x: Term, result: Term) -> Term:
    """`result` with the values of a logarithm at 0, below 0, at infinity and at NaN put in."""
    inside = choose(x < inf, result, x)
    return choose(x > 0.0, inside, choose(x.equals(0.0), -inf, x.lift(nan)))


def _log_core(x: Term, correction: Term | None = None, extra: Term | None = None) -> Term:
    """log(x) + correction + extra log(2) for positive finite x and an integer `extra`."""
    first, second = LN2[x.width]
    k, m = split_exponent(x)
    k_float = small_to_float(k if extra is None else k + extra)
    f = m - 1.0
    half_square = f * f * 0.5
    s = f / (f + 2.0)
    z = s * s
    r = z * polynomial(z, coefficients.LOG[x.width])
    low = k_float * second
    if correction is not None:
        low = low + correction
    return k_float * first - ((half_square - (s * (half_square + r) + low)) - f)


def log(x: Term) -> Term:
    return _log_domain(x, _log_core(x))


def _log1p_core(x: Term) -> Term:
    u = add_exactly(x, x.lift(1.0))
    return _log_core(u.head, u.tail / u.head)


def log1p(x: Term) -> Term:
    return keep_tiny(x, _log_domain(x + 1.0, _log1p_core(x)))


def log_pair(x: Term) -> Pair:
    """log(x) in two words for positive finite x, with a relative error near the square of one rounding."""
    k, m = split_exponent(x)
    f = m - 1.0
    d = opaque(f + 2.0)
    d_tail = f - (d - 2.0)
    s_head = (f / d).head()
    d_head = d.head()
    rest = ((f - s_head * d_head) - s_head * (d - d_head)) - s_head * d_tail
    s = Pair(s_head, rest / d)
    z = renormalise(s_head * s_head, s.tail * (s_head * 2.0 + s.tail))
    third, third_tail = THIRDS[x.width]
    series = z.head * polynomial(z.head, coefficients.LOG_TAIL[x.width]) + third_tail
    cube = s * (z * renormalise(x.lift(third), series))
    doubled = Pair(s.head * 2.0, s.tail * 2.0)
    first, second = LN2[x.width]
    k_float = small_to_float(k)
    multiple = add_exactly(k_float * first, k_float * second)
    return multiple + (doubled + cube)


def log2(x: Term) -> Term:
    """k + log(m) / log(2) with log(m) and 1 / log(2) cut into halves, so that the main product is exact."""
    k, m = split_exponent(x)
    f = m - 1.0
    half_square = f * f * 0.5
    s = f / (f + 2.0)
    z = s * s
    r = z * polynomial(z, coefficients.LOG[x.width])
    high = (f - half_square).head()
    low = ((f - high) - half_square) + s * (half_square + r)
    inverse, rest = LOG2_E_HALVES[x.width]
    total = add_exactly(small_to_float(k), high * inverse)
    return _log_domain(x, total.head + (total.tail + (low * inverse + (low + high) * rest)))


def pow_(x: Term, y: Term) -> Term:
    """x**y with all special cases of C99."""
    magnitude = x.absolute()
    logarithm = log_pair(magnitude)
    ordinary = (magnitude > 0.0) & (magnitude < inf)
    head = choose(ordinary, logarithm.head, choose(magnitude.equals(0.0), -inf, magnitude))
    tail = choose(ordinary, logarithm.tail, 0.0)
    product = multiply_exactly(y, head)
    limit = 2.0 * EXP_RANGE[x.width][0]
    low = choose(product.head.absolute() < limit, product.tail + y * tail, 0.0)
    result = exp_pair(choose(product.head.absolute() < limit, product.head, y * head), low)
    whole = y.floor().equals(y)
    half = y * 0.5
    odd = whole & half.floor().differs(half)
    result = choose(odd, result.with_sign_bits(x.sign_bits()), result)
    result = choose((x < 0.0) & ~whole & (magnitude < inf), nan, result)
    result = choose(magnitude.equals(1.0) & y.absolute().equals(inf), 1.0, result)
    return choose(y.equals(0.0) | x.equals(1.0), 1.0, result)


def asinh(x: Term) -> Term:
    a = x.absolute()
    large = a > word(x.width, 2.0**12, 2.0**28)
    square = a * a
    argument = choose(large, 0.0, a + square / ((square + 1.0).sqrt() + 1.0))
    result = _log1p_or_log(large, a, argument)
    return keep_tiny(x, choose(a < inf, result.with_sign_bits(x.sign_bits()), x))


def acosh(x: Term) -> Term:
    large = x > word(x.width, 2.0**12, 2.0**28)
    t = x - 1.0
    argument = choose(large, 0.0, t + (t * t + t * 2.0).sqrt())
    result = choose(x < inf, _log1p_or_log(large, x, argument), x)
    return choose(x >= 1.0, choose(x.equals(1.0), 0.0, result), x.lift(nan))


def _log1p_or_log(large: Term, x: Term, argument: Term) -> Term:
    """log(2 x) where `large`, else log1p(argument)."""
    u = add_exactly(argument, argument.lift(1.0))
    extra = choose(large, constant_like(x, 1), constant_like(x, 0))
    result = _log_core(choose(large, x, u.head), choose(large, 0.0, u.tail / u.head), extra)
    return choose(large | (argument > word(x.width, 2.0**-40, 2.0**-200)), result, argument)


def constant_like(x: Term, number: int) -> Term:
    """An integer constant of the width of the float x."""
    return x.bits().lift(number)


def atanh(x: Term) -> Term:
    a = x.absolute()
    result = log1p(2.0 * a / (1.0 - a)) * 0.5
    return keep_tiny(x, result.with_sign_bits(x.sign_bits()))


def cbrt(x: Term) -> Term:
    """Exponent divided by 3, a polynomial start, one Halley step, and one more from a rounded estimate."""
    form = x.format
    a = x.absolute()
    small = a < form.smallest
    scaled = choose(small, a * 2.0 ** (form.mantissa + 2), a)
    exponent = (scaled.bits() >> form.mantissa) - form.bias
    exponent = choose(small, exponent - (form.mantissa + 2), exponent)
    third, _ = nearest_integer(small_to_float(exponent) * (1.0 / 3.0) - 0.33203125)
    remainder = exponent - third * 3
    m = ((scaled.bits() & ((1 << form.mantissa) - 1)) | form.pattern(1.0)).as_float() * power_of_two(
        remainder
    )
    t = polynomial(m, coefficients.CBRT[x.width])
    cube = t * t * t
    t = t * (cube + m * 2.0) / (cube * 2.0 + m)
    t = t.masked(~((1 << (30 if x.width == 64 else 12)) - 1))
    quotient = m / (t * t)
    t = t + t * ((quotient - t) / (t * 2.0 + quotient))
    result = (t * power_of_two(third)).with_sign_bits(x.sign_bits())
    return choose((a > 0.0) & (a < inf), result, x)
