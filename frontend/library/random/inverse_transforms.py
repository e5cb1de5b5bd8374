"""Distributions that are a function of uniform or normal numbers, one draw for each sample.

Each sampler checks its arguments and applies the formula in its docstring; the formulas and the order of
their steps are those of `jax.random`, so that the samples are equal to the last few bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....dialects.types import COMPLEX, FLOAT32, FLOAT64
from ...tracing.array import Array
from ...tracing.interpreter import ops
from ...transforms.checkpoints import stop_gradient
from .. import numpy as xp
from .arguments import as_key, as_shape, float_dtype, joint_shape, parameter
from .keys import parts
from .often import compiled_if_often
from .uniform import checked_mode, float_information, pair, signs, spread, uniform_between, uniform_floats


def normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """The standard normal distribution, `sqrt(2) * erf_inv(u)`; a complex dtype has unit variance too."""
    value = as_key("normal", key)
    sizes = as_shape("normal", shape)
    wanted = np.dtype(dtype) if is_complex_dtype(dtype) else float_dtype("normal", dtype)
    return normal_numbers(value, sizes, wanted)


def normal_numbers(key: Any, shape: tuple[Any, ...], dtype: np.dtype) -> Any:
    """Standard normal numbers of a float or complex dtype, for arguments that have been checked."""
    if dtype not in COMPLEX:
        return normal_floats(key, shape, dtype)
    real = FLOAT32 if dtype.itemsize == 8 else FLOAT64
    re, im = (normal_floats(k, shape, real) for k in parts(key, 2))
    return ops.complex(re / math.sqrt(2), im / math.sqrt(2))


def is_complex_dtype(dtype: Any) -> bool:
    """Whether `dtype` names complex numbers; what names no dtype does not."""
    if dtype is None:
        return False
    try:
        return np.dtype(dtype) in COMPLEX
    except TypeError:
        return False


def normal_floats(key: Any, shape: tuple[Any, ...], dtype: np.dtype) -> Any:
    """Standard normal numbers, for arguments that have been checked."""
    return _normal_of_uniform(_around_zero(key, shape, dtype), dtype)


def normal_of_units(units: Any, dtype: np.dtype) -> Any:
    """Standard normal numbers of numbers uniform in `[0, 1)`."""
    return _normal_of_uniform(spread(units, _constant(_lowest(dtype), dtype), _constant(1.0, dtype)), dtype)


@compiled_if_often
def _around_zero(key: Any, shape: tuple[Any, ...], dtype: np.dtype) -> Any:
    """Floats uniform in `(-1, 1)`: twice those of `[0, 1)`, which is exact, and a sum."""
    return uniform_between(key, shape, dtype, _lowest(dtype), 1.0)


def _normal_of_uniform(u: Any, dtype: np.dtype) -> Any:
    """Standard normal numbers of numbers uniform in `(-1, 1)`."""
    return ops.erf_inv(u) * _constant(math.sqrt(2), dtype)


def _lowest(dtype: np.dtype) -> Any:
    """The number behind -1, which has no finite value."""
    return np.nextafter(-np.ones((), dtype), np.zeros((), dtype))[()]


def _constant(x: Any, dtype: np.dtype) -> Any:
    return Array(np.asarray(x).astype(dtype))


def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The standard normal distribution within `(lower, upper)`."""
    value = as_key("truncated_normal", key)
    wanted = float_dtype("truncated_normal", dtype, lower, upper)
    low = parameter("truncated_normal", "lower", lower, wanted)
    high = parameter("truncated_normal", "upper", upper, wanted)
    sizes = joint_shape("truncated_normal", shape, {"lower": low, "upper": high})
    root = _constant(math.sqrt(2), wanted)
    u = spread(uniform_floats(value, sizes, wanted), ops.erf(low / root), ops.erf(high / root))
    sample = ops.erf_inv(u) * root
    # Rounding must not push a sample onto a bound or beyond it.
    least = _next(stop_gradient(low), np.inf)
    greatest = _next(stop_gradient(high), -np.inf)
    return xp.clip(sample, least, greatest)


def _next(x: Any, towards: float) -> Any:
    return ops.nextafter(x, xp.full_like(x, towards))


def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """The exponential distribution of rate 1, `-log1p(-u)`."""
    value = as_key("exponential", key)
    return exponential_floats(value, as_shape("exponential", shape), float_dtype("exponential", dtype))


def exponential_floats(key: Any, shape: tuple[Any, ...], dtype: np.dtype) -> Any:
    """Exponential numbers, for arguments that have been checked."""
    return -xp.log1p(-uniform_floats(key, shape, dtype))


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None) -> Any:
    """The Gumbel distribution, `-log(-log(u))`; mode `high` draws twice the bits, for far tails."""
    value = as_key("gumbel", key)
    checked_mode("gumbel", mode)
    return gumbel_floats(value, as_shape("gumbel", shape), float_dtype("gumbel", dtype), mode)


def gumbel_floats(key: Any, shape: tuple[Any, ...], dtype: np.dtype, mode: str | None = None) -> Any:
    """Gumbel numbers, for arguments that have been checked."""
    info = float_information(dtype)
    if mode != "high":
        return -xp.log(-xp.log(uniform_between(key, shape, dtype, float(info.tiny), 1.0)))
    high, low = pair(uniform_floats(key, (2, *shape), dtype))
    x = xp.where(high >= 0.5, high, high + 2.0**-info.nmant * low + float(info.tiny))
    return -xp.log(-xp.log1p(-x))


def laplace(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """The Laplace distribution, `sign(u) * log1p(-|u|)` of `u` in `(-1, 1)`."""
    value = as_key("laplace", key)
    wanted = float_dtype("laplace", dtype)
    low = -1.0 + float(float_information(wanted).epsneg)
    u = uniform_between(value, as_shape("laplace", shape), wanted, low, 1.0)
    return xp.sign(u) * xp.log1p(-xp.abs(u))


def logistic(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """The logistic distribution, `log(u / (1 - u))`."""
    value = as_key("logistic", key)
    wanted = float_dtype("logistic", dtype)
    tiny = float(float_information(wanted).tiny)
    u = uniform_between(value, as_shape("logistic", shape), wanted, tiny, 1.0)
    return xp.log(u) - xp.log1p(-u)


def cauchy(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """The Cauchy distribution, `tan(pi * (u - 1/2))`."""
    value = as_key("cauchy", key)
    wanted = float_dtype("cauchy", dtype)
    eps = float(float_information(wanted).eps)
    u = uniform_between(value, as_shape("cauchy", shape), wanted, eps, 1.0)
    return xp.tan(math.pi * (u - 0.5))


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The Pareto distribution of density `b / x ** (b + 1)` for `x >= 1`."""
    value = as_key("pareto", key)
    wanted = float_dtype("pareto", dtype, b)
    power = parameter("pareto", "b", b, wanted)
    sizes = joint_shape("pareto", shape, {"b": power})
    return xp.exp(exponential_floats(value, sizes, wanted) / power)


def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The Rayleigh distribution, `scale * sqrt(-2 * log(u))`."""
    value = as_key("rayleigh", key)
    wanted = float_dtype("rayleigh", dtype, scale)
    factor = parameter("rayleigh", "scale", scale, wanted)
    sizes = joint_shape("rayleigh", shape, {"scale": factor})
    return factor * xp.sqrt(xp.log(uniform_floats(value, sizes, wanted)) * -2.0)


def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The Weibull distribution, `scale * (-log1p(-u)) ** (1 / concentration)`."""
    value = as_key("weibull_min", key)
    wanted = float_dtype("weibull_min", dtype, scale, concentration)
    factor = parameter("weibull_min", "scale", scale, wanted)
    power = parameter("weibull_min", "concentration", concentration, wanted)
    sizes = joint_shape("weibull_min", shape, {"scale": factor, "concentration": power})
    return xp.pow(exponential_floats(value, sizes, wanted), 1.0 / power) * factor


def maxwell(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """The Maxwell distribution: the length of a vector of three standard normal numbers."""
    value = as_key("maxwell", key)
    wanted = float_dtype("maxwell", dtype)
    x = normal_floats(value, (*as_shape("maxwell", shape), 3), wanted)
    return xp.sqrt(xp.sum(x * x, axis=-1))


def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """`loc + scale * s * m` of a Maxwell number `m` and a random sign `s`.

    As in JAX the shape of the parameters follows `shape`, and is there twice where `shape` is empty.
    """
    value = as_key("double_sided_maxwell", key)
    wanted = float_dtype("double_sided_maxwell", dtype, loc, scale)
    center = parameter("double_sided_maxwell", "loc", loc, wanted)
    factor = parameter("double_sided_maxwell", "scale", scale, wanted)
    last = joint_shape("double_sided_maxwell", None, {"loc": center, "scale": factor})
    sizes = (*(as_shape("double_sided_maxwell", shape) or last), *last)
    maxwell_key, sign_key = parts(value, 2)
    x = normal_floats(maxwell_key, (*sizes, 3), wanted)
    return signs(sign_key, sizes, wanted) * xp.sqrt(xp.sum(x * x, axis=-1)) * factor + center


def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None) -> Any:
    """The exponential of a normal number of standard deviation `sigma`."""
    value = as_key("lognormal", key)
    wanted = float_dtype("lognormal", dtype, sigma)
    deviation = parameter("lognormal", "sigma", sigma, wanted)
    sizes = joint_shape("lognormal", shape, {"sigma": deviation})
    return xp.exp(normal_floats(value, sizes, wanted) * deviation)


def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The inverse Gaussian distribution of a mean and scale 1 (Michael, Schucany, Haas 1976)."""
    value = as_key("wald", key)
    wanted = float_dtype("wald", dtype, mean)
    mu = parameter("wald", "mean", mean, wanted)
    sizes = joint_shape("wald", shape, {"mean": mu})
    normal_key, uniform_key = parts(value, 2)
    v = normal_floats(normal_key, sizes, wanted)
    z = uniform_floats(uniform_key, sizes, wanted)
    y = v * v
    x = mu + mu * mu * y / 2 - mu / 2 * xp.sqrt(4 * mu * y + mu * mu * (y * y))
    return xp.where(z <= mu / (mu + x), x, mu * mu / x)


def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The triangular distribution on `[left, right]` with its peak at `mode`."""
    value = as_key("triangular", key)
    wanted = float_dtype("triangular", dtype, left, mode, right)
    a = parameter("triangular", "left", left, wanted)
    b = parameter("triangular", "mode", mode, wanted)
    c = parameter("triangular", "right", right, wanted)
    sizes = joint_shape("triangular", shape, {"left": a, "mode": b, "right": c})
    u = uniform_floats(value, sizes, wanted)
    rising = a + xp.sqrt(u * (c - a) * (b - a))
    falling = c - xp.sqrt((1 - u) * (c - a) * (c - b))
    return xp.where(u < (b - a) / (c - a), rising, falling)
