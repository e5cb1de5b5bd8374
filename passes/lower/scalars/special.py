"""erf, erfc, erf_inv, lgamma and digamma of f32 and f64 terms.

erf of f32 is one of two polynomials. erfc(x) = exp(-x**2) G(x) / (1 + 2x), one polynomial for G on the whole
half line in (x - K) / (x + K) (Shepherd and Laframboise's variable), with x**2 in two words. erf_inv starts
from Giles's (2012) form, a polynomial in log(1 - x**2), and f64 adds one Halley step on erf or erfc. lgamma
shifts its argument to [3/2, 5/2], digamma to [1, 2] by a sum of reciprocals; both use their asymptotic series
from 8 on and reflect for negative arguments, where near their roots the error is small against the terms, not
the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan
from typing import Final

from . import coefficients
from .exponentials import clip, exp, exp_pair, log
from .pairs import Pair, square_exactly
from .terms import Term, choose, horner, polynomial, word
from .trigonometry import cosine_kernel, sine_kernel

TWO_OVER_ROOT_PI: Final = 1.1283791670955126
PI: Final = 3.141592653589793
HALF_LOG_2PI_E: Final = 0.4189385332046727  # (log(2 pi) - 1) / 2
LOG_PI: Final = 1.1447298858494002
SHIFT: Final = 8
# the positive root of digamma in two words
DIGAMMA_ROOT: Final = {
    64: (1.4616321449683622, 9.549995429965697e-17),
    32: (1.4616321325302124, 1.2438150073e-08),
}


def _erf_centre(x: Term, series: Callable[[Term, Sequence[float]], Term] = polynomial) -> Term:
    z, (first, *others) = x * x, coefficients.ERF[x.width]
    if x.width == 32:  # x times the first coefficient may be subnormal
        return x * horner(z, (1.0 + first, *others))
    return x + x * series(z, (first, *others))


def _erfc_tail(x: Term) -> Term:
    """erfc(x) for x >= 1/2."""
    centre = word(x.width, 2.0, 3.75)
    limited = clip(x, 0.5, word(x.width, 10.2, 28.0))
    t = (limited - centre) / (limited + centre)
    square = square_exactly(limited)
    return exp_pair(-square.head, -square.tail) * (
        polynomial(t, coefficients.ERFC[x.width]) / (limited * 2.0 + 1.0)
    )


def erf(x: Term) -> Term:
    a = x.absolute()
    if x.width == 32:
        limited = choose(a > 3.93, 3.93, a)  # from where on it is 1
        tail = polynomial(limited - 2.4, coefficients.ERF_TAIL[32])
        return choose(a < 1.4, _erf_centre(x), (1.0 - tail).with_sign_bits(x.sign_bits()))
    outer = (1.0 - _erfc_tail(a)).with_sign_bits(x.sign_bits())
    tiny = x * TWO_OVER_ROOT_PI
    return choose(
        a.equals(0.0),
        x,
        choose(a < 1e-160, tiny, choose(a < 1.0, _erf_centre(x), outer)),
    )


def erfc(x: Term) -> Term:
    tail = _erfc_tail(x.absolute())
    return choose(x < 0.5, choose(x > -0.5, 1.0 - _erf_centre(clip(x, -0.5, 0.5)), 2.0 - tail), tail)


def erf_inv(x: Term) -> Term:
    a = x.absolute()
    complement = 1.0 - a
    w = -log(complement * (a + 1.0))
    inner = horner(w - 2.5, coefficients.ERF_INV_CENTRE[x.width])
    outer = horner(clip(w, 0.0, 40.0).sqrt() - word(x.width, 3.0, 4.0), coefficients.ERF_INV_TAIL[x.width])
    y = a * choose(w < 5.0, inner, outer)
    if x.width == 64:
        error = choose(a < 0.5, _erf_centre(clip(y, 0.0, 1.0), horner) - a, complement - erfc(y))
        step = error * exp(y * y) * (1.0 / TWO_OVER_ROOT_PI)
        y = y - step / (step * y + 1.0)
    tiny = a < word(x.width, 1e-10, 1e-160)
    y = choose(tiny, a * (1.0 / TWO_OVER_ROOT_PI), y)
    y = choose(a < 1.0, y, choose(a.equals(1.0), inf, a.lift(nan)))
    return choose(a > 0.0, y.with_sign_bits(x.sign_bits()), x)


def _sin_cos_pi(x: Term) -> tuple[Term, Term]:
    """(|sin(pi x)|, cos(pi x) times the sign of sin(pi x)) for x >= 0, from the distance to an integer."""
    fraction = x - x.floor()
    upper = fraction > 0.5
    d = choose(upper, 1.0 - fraction, fraction)
    steep = d > 0.25
    angle = choose(steep, 0.5 - d, d) * PI
    r = Pair(angle, angle.lift(0.0))
    sine, cosine = sine_kernel(r), cosine_kernel(r)
    cosine_pi = choose(steep, sine, cosine)
    return choose(steep, cosine, sine), choose(upper, -cosine_pi, cosine_pi)


def _lgamma_positive(x: Term) -> Term:
    """log(gamma(x)) for 0 < x < inf."""
    inner = clip(x, 0.0, float(SHIFT))
    below, middle = inner < 0.5, inner < 1.5
    product = choose(below, inner * (inner + 1.0), choose(middle, inner, 1.0))
    d = choose(below, inner, choose(middle, inner - 1.0, inner - 2.0))
    for count in range(1, SHIFT - 1):
        further = inner >= count + 1.5
        product = choose(further, product * (inner - float(count)), product)
        d = choose(further, inner - float(count + 2), d)
    large = x >= float(SHIFT)
    logarithm = log(choose(large, x, product))
    near_two = d * polynomial(d, coefficients.LOG_GAMMA[x.width])
    shifted = near_two + choose(middle, -logarithm, logarithm)
    inverse = 1.0 / choose(large, x, float(SHIFT))
    series = inverse * polynomial(inverse * inverse, coefficients.STIRLING[x.width])
    stirling = (x - 0.5) * (logarithm - 1.0) + (series + HALF_LOG_2PI_E)
    return choose(large, stirling, shifted)


def lgamma(x: Term) -> Term:
    a = x.absolute()
    positive = _lgamma_positive(a)
    sine, _ = _sin_cos_pi(a)
    reflected = LOG_PI - log(a * sine) - positive
    result = choose(x > 0.0, positive, choose(a < word(x.width, 2.0**-30, 2.0**-60), -log(a), reflected))
    result = choose(a.equals(0.0) | ((x < 0.0) & a.floor().equals(a)), inf, result)
    return choose(a < inf, result, a)


def _digamma_of_next(b: Term, argument: Term) -> Term:
    """digamma(1 + b) for b >= 0: a sum of reciprocals above [1, 2], the asymptotic series from 8 on."""
    large = b >= SHIFT - 1.0
    inner = clip(b, 0.0, SHIFT - 1.0)
    numerator, denominator, rest = b.lift(0.0), b.lift(1.0), inner
    for step in range(SHIFT - 2):
        used = inner >= step + 1.0
        factor = inner - float(step)
        numerator, denominator = (
            choose(used, numerator * factor + denominator, numerator),
            choose(used, denominator * factor, denominator),
        )
        rest = choose(used, inner - (step + 1.0), rest)
    head, tail = DIGAMMA_ROOT[b.width]
    d = (rest - (head - 1.0)) - tail
    near = d * polynomial(d, coefficients.DIGAMMA_ROOT[b.width]) + numerator / denominator
    inverse = 1.0 / choose(large, argument, float(SHIFT))
    square = inverse * inverse
    series = inverse * 0.5 + square * polynomial(square, coefficients.DIGAMMA[b.width])
    return choose(large, log(choose(large, argument, 1.0)) - series, near)


def digamma(x: Term) -> Term:
    """At the negative integers NaN, at +0 -inf and at -0 inf, as SciPy has it."""
    a = x.absolute()
    direct = x >= 1.0
    value = _digamma_of_next(choose(direct, x - 1.0, a), choose(direct, x, a + 1.0))
    sine, cosine = _sin_cos_pi(a)
    reflected = value + PI * cosine / sine
    result = choose(direct, value, choose(x > 0.0, value - 1.0 / x, reflected))
    result = choose((x < 0.0) & a.floor().equals(a), nan, result)
    zero = x.lift(-inf).with_sign_bits(x.sign_bits())
    return choose(x.equals(0.0), zero, choose(x.equals(inf), inf, result))
