"""The incomplete gamma and beta functions, by power series and continued fractions.

Each element is summed until its terms no longer count (Abramowitz and Stegun 6.5.29, 6.5.31 and 26.5.8; the
fractions by Lentz's method, Numerical Recipes, section 6.2): one loop for all elements, in which those that
are done keep their value. Where a sum would be long, `large_gamma.py` and `large_beta.py` have them. Slopes
are closed formulas, or the implicit derivative of a quantile, so that no loop is differentiated.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ....dialects.types import BFLOAT16, FLOAT16, FLOAT32
from ...control.while_loops import while_loop
from ...errors import DtypeError
from ...tracing.interpreter import ops
from ...tracing.locations import user_location_text
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.promotion import stays_weak
from . import large_beta
from .beta_functions import STIRLING, betaln
from .gamma_sample_slope import log_slope
from .large_gamma import LARGE, NEAR, of_large
from .scipy_names import floats

# The coefficients of the series of log Gamma in odd powers of 1 / a (Abramowitz and Stegun 6.1.41).
_STIRLING: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_STIRLING_FROM: Final = 10.0
# Riemann's zeta function less 1, from 2 on: the coefficients of log Gamma(1 + a) (DLMF 5.7.3).
_ZETA_LESS_ONE: Final = (
    0.6449340668482264,
    0.2020569031595943,
    0.08232323371113819,
    0.03692775514336993,
    0.01734306198444914,
    0.008349277381922827,
    0.00407735619794434,
    0.0020083928260822143,
    0.0009945751278180853,
    0.0004941886041194645,
    0.0002460865533080483,
    0.00012271334757848915,
    6.124813505870483e-05,
    3.058823630702049e-05,
    1.528225940865187e-05,
    7.637197637899763e-06,
    3.81729326499984e-06,
    1.908212716553939e-06,
    9.539620338727962e-07,
    4.769329867878064e-07,
)
_SMALL: Final = 0.3
_MOST_TERMS: Final = 1e6
"""Of a continued fraction."""


@stays_weak
def gammainc(a: Any, x: Any) -> Any:
    """The regularized lower incomplete gamma function: the integral of `t^(a-1) exp(-t)` from 0 to `x`, over
    `gamma(a)`; NaN for negative arguments.

    To some roundings of `sqrt(a)` times its size. Derivatives in both arguments.
    """
    return of_reals("gammainc", _lower, a, x)


@stays_weak
def gammaincc(a: Any, x: Any) -> Any:
    """The upper one, `1 - gammainc(a, x)`, accurate where it is small by a large `x`."""
    return of_reals("gammaincc", _upper, a, x)


def gamma_sample_slope(a: Any, x: Any) -> Any:
    """How a sample `x` of the gamma distribution moves with `a`, by implicit differentiation."""
    return of_reals("random_gamma_grad", lambda a, x: x * log_slope(xp.log(x), a), a, x)


def gammainc_slope(a: Any, x: Any) -> Any:
    """The derivative of `gammainc` in `a`, to 1e-6 in float32 and 1e-8 in float64."""
    return of_reals("igamma_grad_a", _slope, a, x)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta function: the integral of `t^(a-1) (1-t)^(b-1)` from 0 to `x`, over
    `beta(a, b)`; NaN outside `a, b >= 0` and `0 <= x <= 1`, and where both parameters are 0 or infinite. It
    has a derivative in `x` only."""

    return of_reals("betainc", functools.partial(_fixed_beta, _beta), a, b, x)


def betainc_upper(a: Any, b: Any, x: Any) -> Any:
    """`1 - betainc(a, b, x)`, accurate where it is small, and where `1 - x` has lost digits of `x`."""
    return of_reals("betainc", functools.partial(_fixed_beta, _upper_beta), a, b, x)


def _fixed_beta(function: Callable[..., Any], a: Any, b: Any, x: Any) -> Any:
    return function(constant(a, "betainc", "a"), constant(b, "betainc", "b"), x)


def constant(x: Any, function: str, name: str) -> Any:
    """`x`, in which `function` has no derivative: an error where one is asked for."""

    @custom_jvp
    def identity(x: Any) -> Any:
        return x

    @identity.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (missing,) = ops.undefined_value(
            *primals,
            *tangents,
            message=f"{function} has no derivative in {name}; put stop_gradient around it",
            results=(ops.type_of(primals[0]),),
        )
        return primals[0], missing

    return identity(x)


def undefined_part(tangents: Sequence[Any], primals: Sequence[Any]) -> Any:
    """What tangents of `constant` arguments add to that of a function of `primals`: zero, or undefined.

    It depends on each of the primals, so that its own derivatives are undefined where it is.
    """
    total = functools.reduce(operator.add, tangents)
    return functools.reduce(operator.mul, map(_one, primals), total)


@custom_jvp
def _one(x: Any) -> Any:
    """1, with a derivative of 0 that no transform leaves out."""
    return xp.ones_like(x)


@_one.defjvp
def _one_rule(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _one(x), 0 * dx


def of_reals(name: str, function: Callable[..., Any], *xs: Any) -> Any:
    """`function` of real floats of one shape, half precision computed in float32."""
    values = floats(*xs)
    dtype = values[0].dtype
    if dtype.kind == "c":
        raise DtypeError(f"{name} takes real numbers, got complex ones", where=user_location_text())
    if dtype in (FLOAT16, BFLOAT16):
        return function(*(v.astype(FLOAT32) for v in values)).astype(dtype)
    return function(*values)


@custom_jvp
def _lower(a: Any, x: Any) -> Any:
    return _regularized(a, x, is_lower=True)


@custom_jvp
def _upper(a: Any, x: Any) -> Any:
    return _regularized(a, x, is_lower=False)


@_lower.defjvp
def _lower_rule(primals: Any, tangents: Any) -> Any:
    return _lower(*primals), _moved(primals, tangents)


@_upper.defjvp
def _upper_rule(primals: Any, tangents: Any) -> Any:
    return _upper(*primals), -_moved(primals, tangents)


def _moved(primals: Any, tangents: Any) -> Any:
    a, x = primals
    return _slope(a, x) * tangents[0] + _density(a, x) * tangents[1]


def _density(a: Any, x: Any) -> Any:
    is_inside, is_beyond = x > 0, x == xp.inf
    positive = xp.where(is_inside & ~is_beyond, x, 1.0)
    inside = xp.where(is_beyond, 0.0, _power(a, positive) * a / positive)
    low = xp.where(is_inside, 1.0, x)
    return xp.where(is_inside, inside, low ** (a - 1) * xp.exp(-low - ops.lgamma(a)))


def _slope(a: Any, x: Any) -> Any:
    """From the implicit derivative of the quantile: ``dP/da = -p(x) dx/da``."""
    is_inside = (x > 0) & (a > 0) & xp.isfinite(x)
    outside = xp.where(xp.isnan(x) | xp.isnan(a) | (x < 0) | (a < 0), xp.nan, 0.0)
    x, a = xp.where(is_inside, x, 1.0), xp.where(is_inside, a, 1.0)
    return xp.where(is_inside, -_power(a, x) * a * log_slope(xp.log(x), a), outside)


def _power(a: Any, x: Any) -> Any:
    """`x^a exp(-x) / gamma(a + 1)`; near ``x = a`` nothing large cancels."""
    is_large = a >= _STIRLING_FROM
    low = xp.where(is_large, 1.0, a)
    near = xp.exp(low * xp.log(x) - x - ops.lgamma(low + 1))
    large = xp.where(is_large, a, _STIRLING_FROM)
    r = 1 / (large * large)
    series = xp.zeros_like(r)
    for coefficient in reversed(_STIRLING):
        series = coefficient + r * series
    off = (x - large) / large
    is_close = xp.abs(off) < 0.5
    close = large * (xp.log1p(xp.where(is_close, off, 0.0)) - off)
    exponent = xp.where(is_close, close, large * xp.log(x / large) - (x - large))
    far = xp.exp(exponent - series / large) / xp.sqrt(2 * math.pi * large)
    return xp.where(is_large, far, near)


def _regularized(a: Any, x: Any, *, is_lower: bool) -> Any:
    is_valid = (a > 0) & (x >= 0)
    is_inside = is_valid & (x > 0) & xp.isfinite(x) & xp.isfinite(a)
    is_large = is_inside & (a >= LARGE) & (xp.abs(x - a) < NEAR * a)
    is_summed = is_inside & ~is_large
    a_, x_ = xp.where(is_summed, a, 1.0), xp.where(is_summed, x, 1.0)
    is_series = x_ < a_ + 1
    power = _power(a_, x_)
    lower = power * _series(a_, xp.where(is_series, x_, 0.0))
    upper = power * a_ * _fraction(a_, xp.where(is_series, 2 * a_ + 2, x_))
    beside = 1 - lower if is_lower else xp.where(a_ < _SMALL, _upper_of_small(a_, x_), 1 - lower)
    lower, upper = xp.where(is_series, lower, 1 - upper), xp.where(is_series, beside, upper)
    of_large_a = of_large(xp.where(is_large, a, LARGE), xp.where(is_large, x, LARGE))
    value = xp.where(is_large, of_large_a[0 if is_lower else 1], lower if is_lower else upper)
    # An infinite x is beyond all, an infinite a before all but that; a of zero is all at zero.
    edge = xp.where((x > 0) & xp.isinf(x) & ~xp.isinf(a), 1.0, 0.0).astype(a.dtype)
    edge = xp.where((a == 0) & (x > 0), 1.0, edge)
    is_edge = is_valid | ((a == 0) & (x > 0))
    both = xp.isinf(a) & xp.isinf(x)
    edge = xp.where(is_edge & ~both, edge, xp.nan)
    return xp.where(is_inside, value, edge if is_lower else 1 - edge)


def _upper_of_small(a: Any, x: Any) -> Any:
    """The upper function for `a < _SMALL` and `x < 1 + a`, which is as small as `a`.

    It is 1 less the lower function `x^a / gamma(a + 1) (1 + a s)`, where `s` is the sum of
    `(-x)^n / (n! (a + n))` (DLMF 8.7.1).
    """
    a = xp.minimum(a, _SMALL)
    x = xp.minimum(x, 1 + _SMALL)
    total = xp.zeros_like(a)
    for k in range(len(_ZETA_LESS_ONE) + 1, 1, -1):
        total = _ZETA_LESS_ONE[k - 2] / k - a * total
    log_gamma = -xp.log1p(a) + a * (1 - float(np.euler_gamma)) + a * a * total
    s = xp.zeros_like(a)
    for n in range(22, 0, -1):
        s = -x / n * (1 / (a + n) + s)
    exponent = a * xp.log(x) - log_gamma
    return -xp.expm1(exponent) - xp.exp(exponent) * a * s


def _series(a: Any, x: Any) -> Any:
    """The sum of ``x^n / ((a + 1) ... (a + n))``."""
    eps = float(np.finfo(a.dtype).eps)

    def is_left(state: Any) -> Any:
        _, term, total = state
        return xp.any(term > eps / 4 * total)

    def add(state: Any) -> Any:
        n, term, total = state
        term = term * (x / (a + n))
        return n + 1, term, total + term

    one = xp.ones_like(a)
    return while_loop(is_left, add, (xp.ones((), dtype=a.dtype), one, one))[2]


def _fraction(a: Any, x: Any) -> Any:
    """``1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...))``."""

    def terms(n: Any) -> tuple[Any, Any]:
        return n * (a - n), x + 1 - a + 2 * n

    return _lentz(x + 1 - a, terms)


def _lentz(first: Any, terms: Callable[[Any], tuple[Any, Any]]) -> Any:
    """``1 / (first + p_1 / (q_1 + p_2 / (q_2 + ...)))`` where ``p_n, q_n = terms(n)``."""
    dtype = first.dtype
    eps, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny) * 1e8

    def safe(x: Any) -> Any:
        return xp.where(xp.abs(x) < tiny, tiny, x)

    def is_left(state: Any) -> Any:
        return xp.any(state[4]) & (state[0] < _MOST_TERMS)

    def step(state: Any) -> Any:
        n, c, d, value, is_open = state
        p, q = terms(n)
        d = 1 / safe(q + p * d)
        c = safe(q + p / c)
        factor = c * d
        value = xp.where(is_open, value * factor, value)
        return n + 1, c, d, value, is_open & (xp.abs(factor - 1) > eps)

    d = 1 / safe(first)
    one = xp.ones((), dtype=dtype)
    large = xp.full_like(first, 1 / tiny)
    value, is_open = while_loop(is_left, step, (one, large, d, d, xp.isfinite(d)))[3:]
    return xp.where(is_open, xp.nan, value)


@custom_jvp
def _beta(a: Any, b: Any, x: Any) -> Any:
    return _regularized_beta(a, b, x, is_lower=True)


@custom_jvp
def _upper_beta(a: Any, b: Any, x: Any) -> Any:
    return _regularized_beta(a, b, x, is_lower=False)


def _regularized_beta(a: Any, b: Any, x: Any, *, is_lower: bool) -> Any:
    is_valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1) & xp.isfinite(a) & xp.isfinite(b)
    is_inside = is_valid & (x > 0) & (x < 1)
    is_large = is_inside & large_beta.is_large(a, b)
    of_large = large_beta.of_large(*(xp.where(is_large, v, s) for v, s in ((a, 1e8), (b, 1e8), (x, 0.5))))
    is_summed = is_inside & ~is_large
    a_, b_, x_ = (xp.where(is_summed, v, s) for v, s in ((a, 1.0), (b, 1.0), (x, 0.5)))
    # Of both tails the one whose fraction converges fast.
    is_left = x_ < (a_ + 1) / (a_ + b_ + 2)
    p, q = xp.where(is_left, a_, b_), xp.where(is_left, b_, a_)
    y = xp.where(is_left, x_, 1 - x_)
    tail = _beta_density(a_, b_, x_) * x_ * (1 - x_) / p * _beta_fraction(p, q, y)
    probability = xp.where(is_left == is_lower, tail, 1 - tail)
    probability = xp.where(is_large, of_large[0 if is_lower else 1], probability)
    # A parameter of 0 puts all at its end, an infinite one at the other.
    is_low, is_high = (a == 0) | xp.isposinf(b), (b == 0) | xp.isposinf(a)
    is_limit = (is_low != is_high) & (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1)
    edge = xp.where(((x >= 1) | (is_low & (x > 0))) == is_lower, 1.0, 0.0)
    return xp.where(is_inside, probability, xp.where(is_valid | is_limit, edge, xp.nan).astype(a.dtype))


@_beta.defjvp
def _beta_rule(primals: Any, tangents: Any) -> Any:
    a, b, x = primals
    da, db, dx = tangents
    return _beta(*primals), _beta_density(a, b, x) * dx + undefined_part([da, db], primals)


@_upper_beta.defjvp
def _upper_beta_rule(primals: Any, tangents: Any) -> Any:
    a, b, x = primals
    da, db, dx = tangents
    return _upper_beta(*primals), -_beta_density(a, b, x) * dx + undefined_part([da, db], primals)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    logarithm = -betaln(a, b)
    is_inside = (x > 0) & (x < 1)
    middle = xp.where(is_inside, x, 0.5)
    inside = xp.exp(logarithm + (a - 1) * xp.log(middle) + (b - 1) * xp.log1p(-middle))
    is_near = is_inside & large_beta.density_is_near(a, b, middle)
    near = (xp.where(is_near, v, s) for v, s in ((a, STIRLING), (b, STIRLING), (x, 0.5)))
    inside = xp.where(is_near, large_beta.density(*near), inside)
    # At the ends by powers, whose derivatives are right there. The bound is far above the logarithm wherever
    # a power is not 0.
    end = xp.where(is_inside, 0.5, x)
    at_end = end ** (a - 1) * (1 - end) ** (b - 1) * xp.exp(xp.minimum(logarithm, 80.0))
    return xp.where(is_inside, inside, at_end)


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
    """Two terms an iteration would be as good; here term `n` is even or odd."""

    def terms(n: Any) -> tuple[Any, Any]:
        m = xp.floor(n / 2)
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        return xp.where(n == 2 * m, even, odd), xp.ones_like(a)

    return _lentz(xp.ones_like(a), terms)
