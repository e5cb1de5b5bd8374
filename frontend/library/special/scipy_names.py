"""Special functions under SciPy's names: made of the primitives, in the dtype of their arguments."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...errors import UnsupportedError
from ...tracing.default_dtypes import floating_of
from ...tracing.interpreter import ops
from ...tracing.locations import user_location_text
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import argument_error, type_error
from ..numpy.elementwise_decorator import in_float32
from ..numpy.promotion import convert, operands, stays_weak
from ..softmax import log_softmax as _log_softmax
from ..softmax import logsumexp as _logsumexp
from ..softmax import softmax as _softmax

_SQRT_HALF: Final = math.sqrt(0.5)
_HALF_LOG_TWO_PI: Final = 0.5 * math.log(2 * math.pi)


def floats(*xs: Any) -> list[Any]:
    """The arguments as arrays of one float dtype and one shape; integers become float32."""
    values = operands(*xs)
    if values[0].dtype.kind in "fcV":
        return [*values]
    return [convert(v, floating_of(v.dtype)) for v in values]


@stays_weak
def erf(x: Any) -> Any:
    """The error function, `2 / sqrt(pi)` times the integral of `exp(-t^2)` from 0 to `x`."""
    return ops.erf(*floats(x))


@stays_weak
def erfc(x: Any) -> Any:
    """`1 - erf(x)`, accurate where it is small."""
    return ops.erfc(*floats(x))


@stays_weak
def erfinv(x: Any) -> Any:
    """The inverse of `erf` on `[-1, 1]`."""
    return ops.erf_inv(*floats(x))


@stays_weak
def gammaln(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return ops.lgamma(*floats(x))


@stays_weak
def gammasgn(x: Any) -> Any:
    """The sign of the gamma function."""
    (value,) = floats(x)
    whole = xp.floor(value)
    is_odd = xp.remainder(whole, 2) != 0
    sign = xp.where((value < 0) & is_odd, -1.0, 1.0).astype(value.dtype)
    sign = xp.where(value == 0, xp.copysign(xp.ones_like(value), value), sign)  # the limit from either side
    return xp.where(((value < 0) & (whole == value)) | xp.isnan(value), xp.nan, sign)


@stays_weak
def digamma(x: Any) -> Any:
    """The derivative of `gammaln`."""
    return ops.digamma(*floats(x))


@stays_weak
def expit(x: Any) -> Any:
    """The logistic sigmoid `1 / (1 + exp(-x))`."""
    return ops.logistic(*floats(x))


@stays_weak
def logit(x: Any) -> Any:
    """The inverse of `expit`: `log(x / (1 - x))`."""
    (value,) = floats(x)
    return xp.log(value) - xp.log1p(-value)


def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """`log(sum(b * exp(a)))` along `axis`; with `return_sign`, the logarithm of its size, and its sign."""
    return _logsumexp(a, axis, b, keepdims, return_sign, where)


@stays_weak
def xlogy(x: Any, y: Any) -> Any:
    """`x * log(y)`, 0 where `x` is 0 and `y` is not NaN."""
    return _times_log(xp.log, 0.0, *floats(x, y))


@stays_weak
def xlog1py(x: Any, y: Any) -> Any:
    """`x * log1p(y)`, 0 where `x` is 0 and `y` is not NaN."""
    return _times_log(xp.log1p, -1.0, *floats(x, y))


def _times_log(log: Any, pole: float, x: Any, y: Any) -> Any:
    """`x * log(y)`, where a zero `x` makes 0 of a logarithm that is not finite, as it is at `pole`."""
    is_absent = (x == 0) & ~xp.isnan(y) & ~xp.isfinite(log(y))
    product = x * log(xp.where(is_absent, pole + 1.0, y))
    is_edge = is_absent & (y == pole)
    return xp.where(is_edge, -_steep_zero(x, is_edge), xp.where(is_absent, 0.0, product))


def _steep_zero(x: Any, is_edge: Any) -> Any:
    """The root of `x` where `is_edge`, and `x` is 0: 0 with an infinite slope, as `-x log(x)` has it."""
    return xp.sqrt(xp.where(is_edge, 0.0 + x, 1.0))


@stays_weak
def entr(x: Any) -> Any:
    """`-x * log(x)` for positive `x`, 0 at 0, `-inf` below."""
    (value,) = floats(x)
    is_positive = value > 0
    inside = -_times_own_log(xp.where(is_positive | xp.isnan(value), value, 1.0))
    outside = xp.where(value == 0, _steep_zero(value, value == 0), -xp.inf)
    # A factor and not a branch: a slope of NaN would be one of all elements, whose cotangents there are 0.
    is_number = xp.where(xp.isnan(value), xp.nan, 1.0)
    return xp.where(is_positive | xp.isnan(value), inside, outside) * is_number


@custom_jvp
def _times_own_log(x: Any) -> Any:
    return x * xp.log(x)


@_times_own_log.defjvp
def _times_own_log_rule(primals: Any, tangents: Any) -> Any:
    return _times_own_log(*primals), (xp.log(primals[0]) + 1) * tangents[0]


@stays_weak
def rel_entr(p: Any, q: Any) -> Any:
    """`p * log(p / q)` for positive arguments, 0 where `p` is 0 and `q >= 0`, else infinite; NaN of NaN.

    The slope in `p` is 0 where `p` is 0, as in JAX: a probability that underflowed leaves gradients finite.
    """
    left, right = floats(p, q)
    both = (left > 0) & (right > 0)
    is_edge = (left == 0) & (right >= 0)
    inside = _times_log_of_ratio(xp.where(both, left, 1.0), xp.where(both, right, 1.0))
    outside = xp.where(xp.isnan(left) | xp.isnan(right), xp.nan, xp.where(is_edge, 0.0, xp.inf))
    return xp.where(both, inside, outside)


@custom_jvp
def _times_log_of_ratio(p: Any, q: Any) -> Any:
    return p * _log_of_ratio(p, q, p / q)


def _log_of_ratio(p: Any, q: Any, ratio: Any) -> Any:
    limits = xp.finfo(ratio.dtype)
    is_out = (ratio < limits.smallest_normal) | (ratio > limits.max)
    return xp.where(is_out, xp.log(p) - xp.log(q), xp.log(xp.where(is_out, 1.0, ratio)))


# Without a division by the ratio, which is 0 at an infinite `q`.
@_times_log_of_ratio.defjvp
def _times_log_of_ratio_rule(primals: Any, tangents: Any) -> Any:
    p, q = primals
    ratio = p / q
    slope = _log_of_ratio(p, q, ratio) + 1
    return _times_log_of_ratio(p, q), slope * tangents[0] - ratio * tangents[1]


@stays_weak
def ndtr(x: Any) -> Any:
    """The cumulative distribution of the standard normal."""
    (value,) = floats(x)
    return 0.5 * ops.erfc(-value * _SQRT_HALF)


@stays_weak
def log_ndtr(x: Any, series_order: int = 10) -> Any:
    """The logarithm of `ndtr`, accurate in both tails.

    Far below by `series_order` terms of the asymptotic series of Mills' ratio (Abramowitz and Stegun
    26.2.12); ten are exact to rounding.
    """
    if not isinstance(series_order, int):
        raise type_error(f"log_ndtr: series_order is {series_order!r}, expected an integer")
    if not 0 <= series_order <= 30:
        raise argument_error(f"log_ndtr: series_order is {series_order}, expected 0 to 30")
    (value,) = floats(x)
    cutoff = -20.0 if value.dtype == np.float64 else -10.0  # where the series is exact, and erfc normal
    far = value < cutoff
    near = xp.log(0.5 * ops.erfc(-xp.where(far, 0.0, value) * _SQRT_HALF))
    low = xp.where(far, value, cutoff)
    upper = xp.log1p(-0.5 * ops.erfc(xp.where(value > 0, value, 0.0) * _SQRT_HALF))
    r = 1 / (low * low)
    series = xp.ones_like(r)
    for odd in range(2 * series_order - 1, 0, -2):
        series = 1 - odd * r * series
    tail = -0.5 * low * low - _HALF_LOG_TWO_PI - xp.log(-low) + xp.log(series)
    return xp.where(far, tail, xp.where(value > 0, upper, near))


@stays_weak
def ndtri(p: Any) -> Any:
    """The inverse of `ndtr`: the quantile of the standard normal."""
    return _quantile(*floats(p))


@custom_jvp
def _quantile(p: Any) -> Any:
    is_low = p < 0.25
    middle = ops.erf_inv(xp.where(is_low, 0.0, 2 * p - 1))
    return xp.where(is_low, _low_quantile(p), math.sqrt(2) * middle)


# The inverse of the density at the quantile; Newton's iterations are not differentiated.
@_quantile.defjvp
def _quantile_rule(primals: Any, tangents: Any) -> Any:
    x = _quantile(*primals)
    return x, math.sqrt(2 * math.pi) * xp.exp(0.5 * x * x) * tangents[0]


def _low_quantile(p: Any) -> Any:
    """`ndtri` for small `p`: a start from Mills' ratio, then Newton's method on `log_ndtr`."""
    tail = xp.minimum(p, 0.25)
    y = xp.log(tail)
    t = xp.sqrt(-2 * y)
    x = -(t - (xp.log(2 * math.pi * t * t)) / (2 * t))
    for _ in range(6):
        log_p = log_ndtr(x)
        slope = xp.exp(-0.5 * x * x - _HALF_LOG_TWO_PI - log_p)
        step = (log_p - y) / slope
        x = x - xp.where(xp.isfinite(step), step, 0.0)
    at_zero = xp.where(tail == 0, -xp.inf, x)
    return xp.where(tail < 0, xp.nan, at_zero)


@stays_weak
def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind of order 0."""
    return in_float32(lambda v: _bessel(v, 0, is_scaled=False), *floats(x))


@stays_weak
def i1(x: Any) -> Any:
    """The modified Bessel function of the first kind of order 1."""
    return in_float32(lambda v: _bessel(v, 1, is_scaled=False), *floats(x))


@stays_weak
def i0e(x: Any) -> Any:
    """`exp(-|x|) * i0(x)`."""
    return in_float32(lambda v: _bessel(v, 0, is_scaled=True), *floats(x))


@stays_weak
def i1e(x: Any) -> Any:
    """`exp(-|x|) * i1(x)`."""
    return in_float32(lambda v: _bessel(v, 1, is_scaled=True), *floats(x))


_SERIES_UNTIL: Final = 20.0


def _bessel(x: Any, order: int, *, is_scaled: bool) -> Any:
    """`I_order(x)`, or `exp(-|x|)` times it: the power series below 20, Hankel's asymptotic expansion above
    (Abramowitz and Stegun 9.6.10 and 9.7.1).

    The series is one of `x`, not of `|x|`, whose kink at 0 would lose its second derivatives.
    """
    is_small = xp.abs(x) < _SERIES_UNTIL
    near = xp.where(is_small, x, 0.0)
    far = xp.where(is_small, _SERIES_UNTIL, xp.abs(x))
    quarter = 0.25 * near * near
    total = xp.ones_like(near)
    for k in range(45, 0, -1):  # Horner's form of sum (x^2/4)^k / (k! (k + order)!)
        total = 1 + total * (quarter / (k * (k + order)))
    mu = 4.0 * order * order
    expansion = xp.ones_like(far)
    for k in range(14, 0, -1):
        expansion = 1 - expansion * ((mu - (2 * k - 1) ** 2) / (8.0 * k)) / far
    asymptotic = expansion / (math.sqrt(2 * math.pi) * xp.sqrt(far))
    if order == 1:
        total, asymptotic = 0.5 * near * total, xp.sign(x) * asymptotic
    if is_scaled:
        return xp.where(is_small, total * xp.exp(-xp.sign(near) * near), asymptotic)
    half = xp.exp(0.5 * far)  # the whole exponential may overflow where its product does not
    grown = xp.where(xp.isinf(x), x if order else far, asymptotic * half * half)
    return xp.where(is_small, total, grown)


@stays_weak
def kl_div(p: Any, q: Any) -> Any:
    """`p * log(p / q) - p + q` for positive arguments, `q` where `p` is 0 and `q >= 0`, else infinite."""
    left, right = floats(p, q)
    return rel_entr(left, right) - left + right


@stays_weak
def boxcox(x: Any, lmbda: Any) -> Any:
    """The transform of Box and Cox, `(x^lmbda - 1) / lmbda`, and `log(x)` where `lmbda` is 0."""
    value, power = floats(x, lmbda)
    return _boxcox(xp.log(value), power)


@stays_weak
def boxcox1p(x: Any, lmbda: Any) -> Any:
    """`boxcox(1 + x, lmbda)`, accurate for small `x`."""
    value, power = floats(x, lmbda)
    return _boxcox(xp.log1p(value), power)


def _boxcox(logarithm: Any, power: Any) -> Any:
    # Near 0 by the series of (e^t - 1) / t, where the quotient has no derivatives at 0.
    exponent = power * logarithm
    is_small = (xp.abs(exponent) < 0.5) | (power == 0)
    near = xp.where(xp.abs(exponent) < 0.5, exponent, 0.0)
    series = xp.zeros_like(near)
    for k in range(17, 0, -1):
        series = series * near + 1 / math.factorial(k)
    far = xp.expm1(xp.where(is_small, 1.0, exponent)) / xp.where(is_small, 1.0, power)
    return xp.where(is_small, logarithm * series, far)


@stays_weak
def factorial(n: Any, exact: bool = False) -> Any:
    """`gamma(n + 1)`, 0 for negative `n`, as SciPy's without `exact`, which is not supported."""
    if exact:
        raise UnsupportedError(
            "factorial: exact=True asks for integers of any size",
            where=user_location_text(),
            hint="math.factorial computes them",
        )
    (value,) = floats(n)
    safe = xp.where(value < 0, 0.0, value)
    return xp.where(value < 0, 0.0, xp.exp(ops.lgamma(safe + 1)))


@stays_weak
def poch(z: Any, m: Any) -> Any:
    """Pochhammer's symbol, `gamma(z + m) / gamma(z)`, for `z` and `z + m` that are no poles; 1 where `m` is
    0."""
    start, count = floats(z, m)
    sign = gammasgn(start + 0.0) * gammasgn(start + count + 0.0)  # of a pole from above, as SciPy's
    value = sign * xp.exp(ops.lgamma(start + count) - ops.lgamma(start))
    is_far = xp.isfinite(start) & ~_is_pole(start)
    return xp.where((count == 0) & ~is_far, 1.0, value)


def _is_pole(z: Any) -> Any:
    """Whether the gamma function has a pole there."""
    return (z <= 0) & (z == xp.floor(z))


def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the gamma function of `d` dimensions, for `a > (d - 1) / 2`."""
    (value,) = floats(a)
    total = 0.25 * d * (d - 1) * math.log(math.pi) + xp.zeros_like(value)
    for i in range(d):
        total = total + ops.lgamma(value - 0.5 * i)
    return total


def softmax(x: Any, axis: Any = None) -> Any:
    """`exp(x) / sum(exp(x))` along `axis` (all axes if None)."""
    return _softmax(x, axis=axis)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """The logarithm of `softmax`, without underflow."""
    return _log_softmax(x, axis=axis)
