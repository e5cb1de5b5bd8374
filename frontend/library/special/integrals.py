"""Integrals that have names: exponential, sine and cosine, Fresnel's, Dawson's, the dilogarithm, Owen's T.

Input: real floats (integers as float32, half precision computed in float32). Output: values by power series
near 0, and by continued fractions, asymptotic series or the Faddeeva function beyond (Abramowitz and Stegun
5.1, 5.2, 7.3; Weideman 1994 for the Faddeeva function; Patefield and Tandy 2000 for the identities of T).

Slopes are closed formulas, so that no loop is differentiated.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...control.while_loops import fori_loop
from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.promotion import operands, stays_weak
from .incomplete import of_reals
from .scipy_names import digamma, floats, ndtr

_GAMMA: Final = float(np.euler_gamma)
_FRACTION_STEPS: Final = 100


def _horner(coefficients: Sequence[float], x: Any) -> Any:
    """The polynomial with these coefficients, the lowest power first."""
    total = xp.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total


# -- the Faddeeva function and its kin -----------------------------------------------------------


@functools.cache
def _weideman(n: int) -> tuple[float, np.ndarray]:
    """The length and the coefficients of Weideman's rational series of `n` terms."""
    m = 2 * n
    length = math.sqrt(n / math.sqrt(2))
    t = length * np.tan(np.arange(-m + 1, m) * np.pi / m / 2)
    values = np.concatenate([[0], np.exp(-t * t) * (length**2 + t * t)])
    return length, np.real(np.fft.fft(np.fft.fftshift(values)))[1 : n + 1] / (2 * m)


def _faddeeva(iz: Any) -> Any:
    """`w(z)` by `i z`, whose real part is not positive; real for real `i z`."""
    length, coefficients = _weideman(24 if iz.real.dtype == np.float32 else 52)
    below = length - iz
    series = _horner(coefficients.tolist(), (length + iz) / below)
    return 2 * series / (below * below) + (1 / math.sqrt(math.pi)) / below


@custom_jvp
def _wofz(z: Any) -> Any:
    is_upper = xp.imag(z) >= 0
    upper = xp.where(is_upper, z, -z)
    # Far away by the first term of the asymptotic series, where the rational one overflows.
    is_far = xp.abs(upper) > 1 / math.sqrt(float(np.finfo(z.real.dtype).eps))
    is_end = xp.isinf(xp.real(upper)) | xp.isinf(xp.imag(upper))
    distant = 1j / math.sqrt(math.pi) / xp.where(is_far & ~is_end, upper, 1)
    near = _faddeeva(1j * xp.where(is_far, 0, upper))
    value = xp.where(is_end, 0, xp.where(is_far, distant, near))
    safe = xp.where(is_upper, 0, z)
    return xp.where(is_upper, value, 2 * xp.exp(-safe * safe) - value)


@_wofz.defjvp
def _wofz_rule(primals: Any, tangents: Any) -> Any:
    (z,), (dz,) = primals, tangents
    w = _wofz(z)
    # Where the terms of the equation `w' = 2j / sqrt(pi) - 2 z w` cancel, by the asymptotic series of the
    # upper half plane.
    is_upper = xp.imag(z) >= 0
    upper = xp.where(is_upper, z, -z)
    is_end = xp.isinf(xp.real(z)) | xp.isinf(xp.imag(z))
    is_far = (xp.abs(z) > (5 if z.real.dtype == np.float32 else 10)) & ~is_end
    inverse = 1 / xp.where(is_far, upper, 10)
    far = -1j / math.sqrt(math.pi) * inverse * inverse * _far_slope(-0.5 * inverse * inverse)
    below = xp.where(is_far & ~is_upper, z, 0)
    far = far - 4 * below * xp.exp(-below * below)
    near = 2j / math.sqrt(math.pi) - 2 * xp.where(is_far | is_end, 0, z) * w
    return w, xp.where(is_end, 0, xp.where(is_far, far, near)) * dz


def _far_slope(ratio: Any) -> Any:
    """`1 - 3 r (1 - 5 r (1 - ...))`, the asymptotic series (DLMF 7.12.1) of `-sqrt(pi) x^2 erfcx'(x)` in
    `r = 1 / (2 x^2)`, term by term."""
    series = xp.ones_like(ratio)
    for k in range(10, 0, -1):
        series = 1 - (2 * k + 1) * ratio * series
    return series


def wofz(z: Any) -> Any:
    """The Faddeeva function `exp(-z^2) erfc(-i z)`, complex, to 1e-13 (1e-6 in single precision)."""
    (value,) = floats(z)
    if value.dtype.kind != "c":
        value = xp.astype(value, np.complex128 if value.dtype == np.float64 else np.complex64)
    return _wofz(value)


@stays_weak
def erfcx(x: Any) -> Any:
    """`exp(x^2) erfc(x)`, without overflow for large `x`, of complex numbers too."""
    (value,) = floats(x)
    return _wofz(1j * value) if value.dtype.kind == "c" else of_reals("erfcx", _erfcx, value)


@custom_jvp
def _erfcx(x: Any) -> Any:
    largest = float(np.finfo(x.dtype).max) ** 0.25
    size = xp.minimum(xp.abs(x), largest)
    value = _faddeeva(-size) * (largest / xp.maximum(xp.abs(x), largest))  # beyond, it falls as 1 / x
    below = xp.minimum(x, 0.0)
    return xp.where(x < 0, 2 * xp.exp(below * below) - value, value)


@_erfcx.defjvp
def _erfcx_rule(primals: Any, tangents: Any) -> Any:
    (x,), value = primals, _erfcx(*primals)
    # Where the two terms cancel, by the asymptotic series (DLMF 7.12.1), term by term.
    is_far = x > 10
    far = xp.where(is_far, x, 10.0)
    distant = -_far_slope(0.5 / far / far) / far / far / math.sqrt(math.pi)
    slope = 2 * xp.where(is_far, 0.0, x) * value - 2 / math.sqrt(math.pi)
    return value, xp.where(is_far, distant, slope) * tangents[0]


@stays_weak
def dawsn(x: Any) -> Any:
    """Dawson's integral, `exp(-x^2)` times the integral of `exp(t^2)` from 0 to `x`."""
    return of_reals("dawsn", _dawsn, x)


@custom_jvp
def _dawsn(x: Any) -> Any:
    is_small = xp.abs(x) < 1
    near = xp.where(is_small, x, 0.0)
    coefficients = [1.0]
    for k in range(1, 24):
        coefficients.append(coefficients[-1] * -2 / (2 * k + 1))
    series = near * _horner(coefficients, near * near)
    far = xp.clip(xp.where(is_small, 1.0, x), -1e6, 1e6)
    value = 0.5 * math.sqrt(math.pi) * xp.imag(_faddeeva(1j * far))
    value = xp.where(xp.abs(x) > 1e6, 0.5 / xp.where(is_small, 1.0, x), value)
    return xp.where(xp.isnan(x), x, xp.where(is_small, series, value))


@_dawsn.defjvp
def _dawsn_rule(primals: Any, tangents: Any) -> Any:
    value = _dawsn(*primals)
    return value, (1 - 2 * primals[0] * value) * tangents[0]


# -- exponential integrals -----------------------------------------------------------------------


@stays_weak
def exp1(x: Any) -> Any:
    """The integral of `exp(-t) / t` from `x > 0` on; infinite at 0, NaN below."""
    return of_reals("exp1", lambda x: xp.where(x < 0, xp.nan, 0.0 - _expi(-x)), x)


@stays_weak
def expi(x: Any) -> Any:
    """The principal value of the integral of `exp(t) / t` up to `x`; `-inf` at 0."""
    return of_reals("expi", _expi, x)


@custom_jvp
def _expi(x: Any) -> Any:
    is_low = x < -2
    is_far = x > 40
    near = xp.where(is_low | is_far | (x == 0), 1.0, x)
    series = _GAMMA + xp.log(xp.abs(near)) + _sum_of_powers(near)
    low = -_fraction(1.0, xp.where(is_low, -x, 2.0))
    high = xp.where(is_far, x, 41.0)
    expansion = xp.ones_like(x)
    for k in range(36, 0, -1):
        expansion = 1 + k * expansion / high
    half = xp.exp(0.5 * high)
    grown = half * (half / high * expansion)
    result = xp.where(is_low, low, xp.where(is_far, grown, series))
    result = xp.where(x == 0, -xp.inf, result)
    result = xp.where(xp.isneginf(x), 0.0, result)
    return xp.where(xp.isnan(x) | xp.isposinf(x), x, result)


def _sum_of_powers(x: Any) -> Any:
    """The sum of `x^k / (k k!)` over 150 terms, which suffice up to 40."""

    def step(i: Any, state: Any) -> Any:
        term, total = state
        k = (i + 1).astype(x.dtype)
        term = term * (x / k)
        return term, total + term / k

    return fori_loop(0, 150, step, (xp.ones_like(x), xp.zeros_like(x)))[1]


@_expi.defjvp
def _expi_rule(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _expi(x), xp.exp(x) / x * dx


def _fraction(n: Any, z: Any) -> Any:
    """`E_n(z)` by its continued fraction from its end on, for `z` away from 0 and from negative numbers."""

    def step(i: Any, below: Any) -> Any:
        k = (_FRACTION_STEPS - i).astype(z.real.dtype)
        return z + n + 2 * (k - 1) - k * (n + k - 1) / below

    below = fori_loop(0, _FRACTION_STEPS, step, z + n + 2.0 * _FRACTION_STEPS)
    return xp.exp(-z) / below


@stays_weak
def expn(n: Any, x: Any) -> Any:
    """The integral of `exp(-x t) / t^n` from 1 on, for whole `n >= 0` and `x >= 0`; NaN elsewhere.

    The derivative is that in `x`; `n` has none.
    """
    order, value = operands(ops.stop_gradient(xp.asarray(n)), floats(x)[0])
    return of_reals("expn", lambda x, n: _expn(xp.astype(n, x.dtype), x), value, order)


@custom_jvp
def _expn(n: Any, x: Any) -> Any:
    is_small = (x <= 1) & (x > 0) & (n > 0)
    near = xp.where(is_small, x, 0.5)
    m = xp.maximum(n, 1.0)
    total, term = xp.zeros_like(near), xp.ones_like(near)
    for k in range(25):
        term = term * (-near / k) if k else term
        gap = k - m + 1
        total = total - xp.where(gap == 0, 0.0, term / xp.where(gap == 0, 1.0, gap))
    lead = xp.exp((m - 1) * xp.log(near) - ops.lgamma(m)) * xp.where(m % 2 == 0, -1.0, 1.0)
    series = lead * (digamma(m) - xp.log(near)) + total
    far = _fraction(m, xp.where(x > 1, x, 2.0))
    zeroth = xp.exp(-x) / xp.where(x == 0, 1.0, x)
    at_zero = xp.where(n > 1, 1 / xp.where(n > 1, n - 1, 1.0), xp.inf)
    result = xp.where(is_small, series, far)
    result = xp.where(n == 0, zeroth, result)
    result = xp.where(x == 0, at_zero, result)
    result = xp.where(xp.isposinf(x), 0.0, result)
    is_valid = (n >= 0) & (x >= 0) & (n == xp.floor(n))
    return xp.where(is_valid, result, xp.nan)


@_expn.defjvp
def _expn_rule(primals: Any, tangents: Any) -> Any:
    n, x = primals
    zeroth = -xp.exp(-x) * (1 + x) / (x * x)
    slope = xp.where(n == 0, zeroth, -_expn(xp.maximum(n - 1, 0.0), x))
    return _expn(n, x), slope * tangents[1]


# -- sine, cosine, Fresnel -----------------------------------------------------------------------


def sici(x: Any) -> tuple[Any, Any]:
    """The integral of `sin(t) / t` from 0 to `x`, and that of `cos(t) / t` from infinity to `|x|`."""
    parts = [of_reals("sici", lambda x, k=k: _sici(x)[k], x) for k in (0, 1)]
    return parts[0], parts[1]


@custom_jvp
def _sici(x: Any) -> Any:
    size = xp.abs(x)
    is_small = size <= 4
    near = xp.where(is_small, size, 1.0)
    square = -near * near
    sine = near * _horner([1 / ((2 * k + 1) * math.factorial(2 * k + 1)) for k in range(20)], square)
    cosine = square * _horner([1 / (2 * k * math.factorial(2 * k)) for k in range(1, 21)], square)
    logarithm = xp.log(xp.where(near == 0, 1.0, near))
    cosine = xp.where(near == 0, -xp.inf, _GAMMA + logarithm + cosine)
    far = xp.where(is_small | xp.isinf(size), 5.0, size)
    tail = _fraction(1.0, 1j * far)
    sine = xp.where(is_small, sine, 0.5 * math.pi + xp.imag(tail))
    cosine = xp.where(is_small, cosine, -xp.real(tail))
    sine = xp.where(xp.isinf(size), 0.5 * math.pi, sine)
    cosine = xp.where(xp.isinf(size), 0.0, cosine)
    return xp.sign(x) * sine, xp.where(xp.isnan(x), x, cosine)


@_sici.defjvp
def _sici_rule(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _sici(x), (xp.sinc(x / math.pi) * dx, xp.cos(x) / x * dx)


def fresnel(x: Any) -> tuple[Any, Any]:
    """The integrals of `sin(pi t^2 / 2)` and of `cos(pi t^2 / 2)` from 0 to `x`."""
    parts = [of_reals("fresnel", lambda x, k=k: _fresnel(x)[k], x) for k in (0, 1)]
    return parts[0], parts[1]


@custom_jvp
def _fresnel(x: Any) -> Any:
    size = xp.abs(x)
    is_small = size < 1.5
    near = xp.where(is_small, size, 0.0)
    square = -((0.5 * math.pi * near * near) ** 2)
    cosine = near * _horner([1 / (math.factorial(2 * k) * (4 * k + 1)) for k in range(14)], square)
    sine = [1 / (math.factorial(2 * k + 1) * (4 * k + 3)) for k in range(14)]
    sine_part = 0.5 * math.pi * near**3 * _horner(sine, square)
    is_end = size > 1 / float(np.finfo(x.dtype).eps)
    far = xp.where(is_small | is_end, 2.0, size)
    phase = 0.5 * math.pi * xp.fmod(far * far, 4.0)
    rotation = ops.complex(xp.cos(phase), xp.sin(phase))
    argument = 0.5 * math.sqrt(math.pi) * ops.complex(-far, far)  # i z of the Faddeeva function
    both = (0.5 + 0.5j) * (1 - rotation * _faddeeva(argument))
    results = (
        xp.where(is_small, part, xp.where(is_end, 0.5, beyond))
        for part, beyond in ((sine_part, xp.imag(both)), (cosine, xp.real(both)))
    )
    return tuple(xp.sign(x) * r for r in results)


@_fresnel.defjvp
def _fresnel_rule(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    phase = 0.5 * math.pi * xp.fmod(x * x, 4.0)
    return _fresnel(x), (xp.sin(phase) * dx, xp.cos(phase) * dx)


# -- the dilogarithm, Owen's T -------------------------------------------------------------------

_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)


@stays_weak
def spence(x: Any) -> Any:
    """The integral of `log(t) / (1 - t)` from 1 to `x >= 0`, the dilogarithm of `1 - x`; NaN below 0."""
    return of_reals("spence", _spence, x)


@custom_jvp
def _spence(x: Any) -> Any:
    is_high = x > 1.5
    y = xp.where(is_high, 1 / xp.where(is_high, x, 1.0), xp.maximum(x, 0.0))
    is_low = y < 0.5
    w = xp.where(is_low, 1 - y, y)
    u = -xp.log(w)
    series = [b / math.factorial(2 * k + 3) for k, b in enumerate(_BERNOULLI)]
    value = u - 0.25 * u * u + u**3 * _horner(series, u * u)
    safe = xp.where(is_low & (y > 0), y, 0.5)
    crossing = xp.where(y > 0, xp.log(safe) * xp.log1p(-safe), 0.0)
    value = xp.where(is_low, math.pi**2 / 6 - crossing - value, value)
    logarithm = xp.log(xp.where(is_high, x, 1.0))
    value = xp.where(is_high, -value - 0.5 * logarithm * logarithm, value)
    return xp.where(x >= 0, value, xp.nan)


@_spence.defjvp
def _spence_rule(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    gap = 1 - x
    is_near = xp.abs(gap) < 1e-3
    series = -(1 + gap * (0.5 + gap * (1 / 3 + gap * (0.25 + gap * (0.2 + gap / 6)))))
    slope = xp.where(is_near, series, xp.log(x) / xp.where(is_near, 1.0, gap))
    return _spence(x), slope * dx


@stays_weak
def owens_t(h: Any, a: Any) -> Any:
    """Owen's T: the probability of `X > h` and `0 < Y < a X` for two standard normals."""
    return of_reals("owens_t", _owens_t, h, a)


@custom_jvp
def _owens_t(h: Any, a: Any) -> Any:
    height, slope = xp.abs(h), xp.abs(a)
    is_steep = slope > 1
    inner_slope = xp.where(is_steep, 1 / xp.where(is_steep, slope, 1.0), slope)
    product = xp.where(xp.isinf(slope), xp.where(height == 0, 0.0, xp.inf), height * slope)
    value = _wedge(xp.where(is_steep, product, height), inner_slope)
    upper, lower = ndtr(-height), ndtr(-product)
    steep = 0.5 * (upper + lower) - upper * lower - value
    result = xp.where(is_steep, steep, value) * xp.sign(a)
    return xp.where(xp.isnan(h) | xp.isnan(a), xp.nan, result)


def _wedge(h: Any, a: Any) -> Any:
    """By Gauss' quadrature where the integrand counts, for `0 <= a <= 1`."""
    nodes, weights = np.polynomial.legendre.leggauss(32)
    end = xp.minimum(a, 9 / xp.maximum(h, 1e-3))
    safe = xp.minimum(h, 1e3)
    total = xp.zeros_like(h)
    for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
        t = end * (0.5 + 0.5 * node)
        total = total + weight * xp.exp(-0.5 * (safe * t) ** 2) / (1 + t * t)
    return xp.exp(-0.5 * safe * safe) * total * end / (4 * math.pi)


@_owens_t.defjvp
def _owens_t_rule(primals: Any, tangents: Any) -> Any:
    (h, a), (dh, da) = primals, tangents
    density = xp.exp(-0.5 * h * h)
    in_h = -density * ops.erf(a * h * math.sqrt(0.5)) / (2 * math.sqrt(2 * math.pi))
    in_a = density * xp.exp(-0.5 * (a * h) ** 2) / (2 * math.pi * (1 + a * a))
    return _owens_t(h, a), in_h * dh + in_a * da
