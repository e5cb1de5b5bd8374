"""Functions of an order: Bernoulli numbers, binomials, Bessel functions, spherical harmonics, hypergeometric
series, and the logarithm of the gamma function of complex numbers.

Input: floats, and orders that are known while tracing where the result's shape or work depends on them.
Output: values by recurrences and series (Abramowitz and Stegun 6.1, 9.1, 13, 15; Hare 1997 for branches).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ...control.while_loops import while_loop
from ...tracing.default_dtypes import floating
from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import argument_error, concrete, integer
from ..numpy.promotion import stays_weak
from .beta_functions import betaln
from .incomplete import constant, of_reals, undefined_part
from .scipy_names import floats, gammasgn

_MOST_TERMS = 50_000
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)


def bernoulli(n: int) -> Any:
    """The Bernoulli numbers from 0 to `n`, in the default dtype; that of 1 is -1/2."""
    count = integer("bernoulli", n, "n")
    if count < 0:
        raise argument_error(f"bernoulli: n is {count}, expected a number that is not negative")
    numbers = [Fraction(1)]
    for m in range(1, count + 1):
        numbers.append(-sum((math.comb(m + 1, k) * b for k, b in enumerate(numbers)), Fraction(0)) / (m + 1))
    return xp.asarray(np.array([float(b) for b in numbers]).astype(floating()))


@stays_weak
def comb(N: Any, k: Any, *, repetition: bool = False) -> Any:
    """The ways to choose `k` of `N`, as a float; 0 where there are none. With `repetition`, an element may be
    chosen twice."""

    def ways(n: Any, k: Any) -> Any:
        is_nothing = (k == 0) & (n >= 0)
        n = n + k - 1 if repetition else n
        is_inside = (k >= 0) & (k <= n)
        n, k = xp.where(is_inside, n, 1.0), xp.where(is_inside, k, 0.0)
        logarithm = -xp.log1p(n) - betaln(n - k + 1, k + 1)
        # The logarithm has the slope; the value is computed so that nothing large cancels.
        slope = xp.exp(logarithm - ops.stop_gradient(logarithm))
        value = slope * ops.stop_gradient(_ways(n, k, logarithm))
        return xp.where(is_inside, value, xp.where(is_nothing, 1.0, 0.0))

    return of_reals("comb", ways, N, k)


def _ways(n: Any, k: Any, logarithm: Any) -> Any:
    """By a product for few of a whole number, else by Stirling's series (Loader 2000)."""
    rest = n - k
    few = xp.minimum(k, rest)
    product = xp.ones_like(n)
    for i in range(1, 21):
        product = xp.where(few >= i, product * ((n - few + i) / i), product)
    product = xp.where(product < 1e6, xp.round(product), product)
    is_whole = (n == xp.floor(n)) & (k == xp.floor(k))
    is_large = few >= 10
    total, left, right = (xp.where(is_large, v, v0) for v, v0 in ((n, 20.0), (k, 10.0), (rest, 10.0)))
    exponent = left * xp.log1p(right / left) + right * xp.log1p(left / right)
    exponent = exponent + _correction(total) - _correction(left) - _correction(right)
    large = xp.exp(exponent) * xp.sqrt(total / left / right / (2 * math.pi))
    return xp.where(is_whole & (few <= 20), product, xp.where(is_large, large, xp.exp(logarithm)))


def _correction(z: Any) -> Any:
    """What Stirling's formula leaves out of the logarithm of the factorial of `z`, at least 10."""
    r = 1 / (z * z)
    series = xp.zeros_like(z)
    for coefficient in reversed(_STIRLING):
        series = coefficient + r * series
    return series / z


def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Any:
    """The Bessel functions of the first kind of orders 0 to `v` at real `z`, stacked in front.

    By Miller's backward recurrence of ratios from order `n_iter` on, which is exact for `|z|` well below
    `n_iter`.
    """
    order, start = integer("bessel_jn", v, "v"), integer("bessel_jn", n_iter, "n_iter")
    if order < 0 or start <= order:
        raise argument_error(f"bessel_jn: v is {order}, expected from 0 to below n_iter = {start}")

    def values(z: Any) -> Any:
        ratio = xp.zeros_like(z)
        ratios = []
        for n in range(start, 0, -1):
            ratio = z / (2 * n - z * ratio)
            ratios.append(ratio)
        ratios.reverse()
        product, total, products = xp.ones_like(z), xp.ones_like(z), []
        for n, ratio in enumerate(ratios, 1):
            product = product * ratio
            products.append(product)
            total = total + 2 * product if n % 2 == 0 else total
        return xp.stack([1 / total, *(p / total for p in products[:order])])

    return of_reals("bessel_jn", values, z)


@stays_weak
def gamma(x: Any) -> Any:
    """The gamma function, by its logarithm, of complex numbers too."""
    (value,) = floats(x)
    if value.dtype.kind == "c":
        return xp.exp(loggamma(value))
    return gammasgn(value) * xp.exp(ops.lgamma(value))


@stays_weak
def loggamma(x: Any) -> Any:
    """The principal branch of the logarithm of the gamma function, of complex numbers too; NaN for negative
    real ones."""
    (value,) = floats(x)
    if value.dtype.kind != "c":
        return xp.where(value < 0, xp.nan, ops.lgamma(value))
    is_far = (xp.real(value) > 7) | (xp.abs(xp.imag(value)) > 7)
    is_left = ~is_far & (xp.real(value) < 0.1)
    middle = xp.where(is_left, 1 - value, xp.where(is_far, 1.0, value))
    shifted = middle
    logarithms = xp.zeros_like(middle)
    for _ in range(7):
        logarithms = logarithms + xp.log(shifted)
        shifted = shifted + 1
    inside = _asymptotic(shifted) - logarithms
    far = _asymptotic(xp.where(is_far, value, 8.0))
    left = xp.where(is_left, value, 0.5)
    turns = xp.copysign(2 * math.pi, xp.imag(left)) * xp.floor(0.5 * xp.real(left) + 0.25)
    reflected = math.log(math.pi) + 1j * turns - xp.log(_sine_of_half_turns(left)) - inside
    return xp.where(is_far, far, xp.where(is_left, reflected, inside))


def _asymptotic(z: Any) -> Any:
    r = 1 / (z * z)
    series = xp.zeros_like(z)
    for coefficient in reversed(_STIRLING):
        series = coefficient + r * series
    return (z - 0.5) * xp.log(z) - z + 0.5 * math.log(2 * math.pi) + series / z


def _sine_of_half_turns(z: Any) -> Any:
    """`sin(pi z)`, exact where `z` is whole."""
    whole = ops.stop_gradient(xp.round(xp.real(z)))
    sign = xp.where(whole % 2 == 0, 1.0, -1.0)
    return xp.astype(sign, z.dtype) * xp.sin(math.pi * (z - whole))


def sph_harm_y(
    n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None
) -> Any:
    """The spherical harmonics of degree `n` and order `m` at the polar angle `theta` and azimuth `phi`.

    Complex, orthonormal, with the phase of Condon and Shortley; 0 where `|m| > n`. All arguments broadcast.
    `n_max` is the largest degree, and needed where `n` is traced. There is no `diff_n`.
    """
    if diff_n is not None:
        raise argument_error("sph_harm_y: diff_n is not supported", "differentiate with adze.jacfwd")
    most = int(np.max(concrete("sph_harm_y", n, "n"), initial=0)) if n_max is None else n_max
    polar, azimuth = floats(theta, phi)
    polar, azimuth, degree, order = xp.broadcast_arrays(polar, azimuth, xp.asarray(n), xp.asarray(m))
    size = xp.abs(order)
    cosine, sine = xp.cos(polar), xp.sin(polar)
    result = xp.zeros_like(cosine)
    first = xp.full_like(cosine, math.sqrt(0.25 / math.pi))
    for k in range(most + 1):
        first = -math.sqrt((2 * k + 1) / (2 * k)) * sine * first if k else first
        before, current = xp.zeros_like(first), first
        for d in range(k, most + 1):
            if d > k:
                scale = math.sqrt((4 * d * d - 1) / (d * d - k * k))
                lower = math.sqrt(((d - 1) ** 2 - k * k) / (4 * (d - 1) ** 2 - 1)) if d > 1 else 0.0
                before, current = current, scale * (cosine * current - lower * before)
            result = xp.where((degree == d) & (size == k), current, result)
    angle = size * azimuth
    value = ops.complex(result * xp.cos(angle), result * xp.sin(angle))
    sign = xp.where(size % 2 == 0, 1.0, -1.0).astype(value.dtype)
    return xp.where(order < 0, sign * xp.conj(value), value)


def _summed(ratio: Callable[[Any], Any], like: Any) -> Any:
    """1 plus the products of `ratio(0)`, `ratio(1)` and so on, until no element changes; NaN where one still
    does after the most terms."""
    eps = float(np.finfo(like.dtype).eps)

    def is_open(term: Any, total: Any) -> Any:
        return xp.abs(term) > 0.25 * eps * xp.abs(total)

    def is_left(state: Any) -> Any:
        n, term, total = state
        return xp.any(is_open(term, total)) & (n < _MOST_TERMS)

    def add(state: Any) -> Any:
        n, term, total = state
        term = term * ratio(n)
        return n + 1, term, total + term

    one = xp.ones_like(like)
    _, term, total = while_loop(is_left, add, (xp.zeros((), dtype=like.dtype), one, one))
    return xp.where(is_open(term, total), np.nan, total)


def hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """Kummer's confluent hypergeometric function `M(a, b, x)`, by its series, for `x` below 0 that of `-x`,
    and far below by its asymptotic one; NaN where that has not enough digits.

    It has a derivative in `x` only.
    """

    def fixed(a: Any, b: Any, x: Any) -> Any:
        return _hyp1f1(constant(a, "hyp1f1", "a"), constant(b, "hyp1f1", "b"), x)

    return of_reals("hyp1f1", fixed, a, b, x)


@custom_jvp
def _hyp1f1(a: Any, b: Any, x: Any) -> Any:
    is_left = x < 0
    is_far = x < -0.9 * math.log(float(np.finfo(x.dtype).max))
    first = xp.where(is_left, b - a, a)
    near = xp.where(is_far, 0.0, x)
    value = _summed(lambda n: (first + n) / (b + n) * (xp.abs(near) / (n + 1)), x)
    value = xp.where(is_left, xp.exp(xp.minimum(near, 0.0)), 1.0) * value
    return xp.where(is_far, _far_below(a, b, xp.where(is_far, -x, 1e3)), value)


def _far_below(a: Any, b: Any, y: Any) -> Any:
    """`M(a, b, -y)` for large `y` (Abramowitz and Stegun 13.5.1), summed as long as terms shrink."""
    term, total = xp.ones_like(y), xp.ones_like(y)
    is_shrinking = xp.isfinite(y)
    for n in range(40):
        after = term * ((a + n) * (a - b + 1 + n) / (n + 1) / y)
        is_shrinking = is_shrinking & (xp.abs(after) <= xp.abs(term))
        term = xp.where(is_shrinking, after, term)
        total = total + xp.where(is_shrinking, after, 0.0)
    rest = b - a
    is_pole = (rest <= 0) & (rest == xp.floor(rest))
    safe = xp.where(is_pole, 1.0, rest)
    size = xp.exp(ops.lgamma(b) - ops.lgamma(safe) - a * xp.log(y))
    value = gammasgn(b) * gammasgn(safe) * size * total
    is_exact = xp.abs(term) <= 1e3 * float(np.finfo(y.dtype).eps) * xp.abs(total)
    return xp.where(is_pole, 0.0, xp.where(is_exact, value, np.nan))


@_hyp1f1.defjvp
def _hyp1f1_rule(primals: Any, tangents: Any) -> Any:
    a, b, x = primals
    da, db, dx = tangents
    return _hyp1f1(a, b, x), a / b * _hyp1f1(a + 1, b + 1, x) * dx + undefined_part([da, db], primals)


def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    """Gauss' hypergeometric function for real `x <= 1`, by its series; NaN above, and infinite at 1 where it
    diverges.

    Negative `x` are transformed by Pfaff's formula. Within some 1e-3 of 1, and far below 0, the series has
    too many terms, and the result is NaN. It has a derivative in `x` only.
    """

    def fixed(a: Any, b: Any, c: Any, x: Any) -> Any:
        names = zip((a, b, c), "abc", strict=True)
        return _hyp2f1(*(constant(v, "hyp2f1", name) for v, name in names), x)

    return of_reals("hyp2f1", fixed, a, b, c, x)


@custom_jvp
def _hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    is_left = x < 0
    is_inside = x < 1
    place = xp.where(is_left, x / xp.where(is_left, x - 1, 1.0), xp.where(is_inside, x, 0.0))
    second = xp.where(is_left, c - b, b)
    series = _summed(lambda n: (a + n) / (c + n) * ((second + n) / (n + 1)) * place, x)
    value = xp.where(is_left, (1 - xp.minimum(x, 0.0)) ** -a, 1.0) * series
    rest = c - a - b
    safe = xp.where(rest > 0, rest, 1.0)
    signs = 1.0
    for part in (c, safe, c - a, c - b):
        is_odd = (part < 0) & (xp.floor(part) % 2 != 0)
        signs = signs * xp.where(is_odd, -1.0, 1.0)
    gauss = signs * xp.exp(ops.lgamma(c) + ops.lgamma(safe) - ops.lgamma(c - a) - ops.lgamma(c - b))
    at_one = xp.where(rest > 0, gauss, xp.inf)
    return xp.where(is_inside, value, xp.where(x == 1, at_one, xp.nan))


@_hyp2f1.defjvp
def _hyp2f1_rule(primals: Any, tangents: Any) -> Any:
    a, b, c, x = primals
    da, db, dc, dx = tangents
    slope = a * b / c * _hyp2f1(a + 1, b + 1, c + 1, x)
    return _hyp2f1(a, b, c, x), slope * dx + undefined_part([da, db, dc], primals)
