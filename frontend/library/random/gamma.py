"""The gamma distribution, and those that are functions of gamma samples.

Gamma samples are drawn by the method of Marsaglia and Tsang (2000, A simple method for generating gamma
variables): a normal and a uniform number propose a sample, which is taken with a probability of at least
0.95. Each sample has a key of its own, as in JAX, and one loop asks again for those that are not taken yet;
it is elementwise, so that a step is one kernel.
Samples are differentiable in the parameter, see `special/gamma_slope.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import FLOAT32
from ...control.while_loops import while_loop
from ...errors import ShapeError
from ...tracing.interpreter import ops
from ...tracing.locations import user_location_text
from ...transforms.checkpoints import stop_gradient
from .. import numpy as xp
from ..softmax import softmax
from ..special.gamma_sample_slope import following
from .arguments import as_key, as_shape, float_dtype, joint_shape, parameter
from .element_keys import choose_words, normal_of_words, uniform_of_words, word_parts, words_of
from .inverse_transforms import exponential_floats, normal_floats
from .keys import parts, split_keys
from .uniform import signs


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The gamma distribution of density `x ** (a - 1) * exp(-x) / Gamma(a)`; differentiable in `a`."""
    value = as_key("gamma", key)
    logarithm, wanted = _checked_gamma("gamma", value, a, shape, dtype)
    return xp.exp(logarithm).astype(wanted)


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The logarithm of a gamma sample, which does not underflow for small `a`; differentiable in `a`."""
    value = as_key("loggamma", key)
    logarithm, wanted = _checked_gamma("loggamma", value, a, shape, dtype)
    return logarithm.astype(wanted)


def _checked_gamma(function: str, key: Any, a: Any, shape: Any, dtype: Any) -> tuple[Any, np.dtype]:
    wanted = float_dtype(function, dtype, a)
    alpha = parameter(function, "a", a, wanted)
    return log_gamma(key, alpha, joint_shape(function, shape, {"a": alpha})), wanted


def log_gamma(key: Any, a: Any, shape: tuple[Any, ...]) -> Any:
    """Logarithms of gamma samples, in float32 at least, for arguments that have been checked."""
    dtype = FLOAT32 if a.dtype.itemsize < 4 else a.dtype
    alpha = xp.broadcast_to(a.astype(dtype), shape)
    sample = _drawn(split_keys(key, shape), stop_gradient(alpha), dtype)
    return following(stop_gradient(sample), alpha)


def _drawn(keys: Any, a: Any, dtype: np.dtype) -> Any:
    """One sample for each key. An iteration proposes a normal number to each sample that is not accepted yet.

    JAX draws normal numbers in a loop of its own until `1 + c x` is positive, and then tests the sample. Both
    are iterations of one loop here: a number that is not positive only advances the key.
    """
    first, boost_keys = word_parts(words_of(keys), 2)
    is_small = a < 1  # then Gamma(a) is Gamma(a + 1) * U ** (1 / a)
    d = xp.where(is_small, a + 1, a) - 1 / 3
    c = (1 / 3) / xp.sqrt(d)

    def is_left(state: Any) -> Any:
        return xp.any(~state[0])

    def step(state: Any) -> Any:
        is_done, log_v, keys, normal_keys, uniform_keys = state
        normal_keys, once = word_parts(normal_keys, 2)
        x = normal_of_words(once, dtype)
        root = 1 + c * x
        u = uniform_of_words(uniform_keys, dtype)
        is_outside = root <= 0
        v = xp.where(is_outside, 1.0, root * root * root)
        logarithm = xp.log(v)
        square = x * x
        is_refused = (u >= 1 - 0.0331 * (square * square)) & (
            xp.log(u) >= 0.5 * square + d * ((1 - v) + logarithm)
        )
        is_asked = ~is_outside & ~is_done
        following_keys = word_parts(keys, 3)
        is_new = is_asked & is_refused
        moved = (
            choose_words(is_new, new, old)
            for new, old in zip(following_keys, (keys, normal_keys, uniform_keys), strict=True)
        )
        return (is_done | (is_asked & ~is_refused), xp.where(is_asked, logarithm, log_v), *moved)

    start = (xp.zeros_like(d, dtype=bool), xp.zeros_like(d), *word_parts(first, 3))
    _, log_v, *_ = while_loop(is_left, step, start)
    log_boost = xp.log1p(-uniform_of_words(boost_keys, dtype))
    boost = xp.where(is_small & (log_boost < 0), log_boost / a, 0.0)
    return xp.where(a >= 0, xp.log(d) + log_v + boost, xp.nan)


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The beta distribution, `x / (x + y)` of two gamma samples; differentiable in `a` and `b`."""
    value = as_key("beta", key)
    wanted = float_dtype("beta", dtype, a, b)
    first, second = parameter("beta", "a", a, wanted), parameter("beta", "b", b, wanted)
    sizes = joint_shape("beta", shape, {"a": first, "b": second})
    key_a, key_b = parts(value, 2)
    # The quotient is a logistic function of logarithms, which underflow for no parameter.
    difference = log_gamma(key_a, first, sizes) - log_gamma(key_b, second, sizes)
    return ops.logistic(difference).astype(wanted)


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The Dirichlet distribution along a last axis; `shape` is that of the axes before it."""
    value = as_key("dirichlet", key)
    wanted = float_dtype("dirichlet", dtype, alpha)
    weights = parameter("dirichlet", "alpha", alpha, wanted)
    if weights.ndim == 0:
        raise ShapeError(
            "dirichlet: alpha is a number, expected at least one axis", where=user_location_text()
        )
    last = weights.shape[-1]
    sizes = None if shape is None else (*as_shape("dirichlet", shape), last)
    sizes = joint_shape("dirichlet", sizes, {"alpha": weights})
    return softmax(log_gamma(value, weights, sizes), axis=-1).astype(wanted)


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The chi-square distribution of `df` degrees of freedom, twice a gamma sample of `df / 2`."""
    value = as_key("chisquare", key)
    wanted = float_dtype("chisquare", dtype, df)
    degrees = parameter("chisquare", "df", df, wanted)
    sizes = joint_shape("chisquare", shape, {"df": degrees})
    return _chisquare(value, degrees, sizes).astype(wanted)


def _chisquare(key: Any, df: Any, shape: tuple[Any, ...]) -> Any:
    return 2 * xp.exp(log_gamma(key, df / 2, shape))


def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The F distribution, the quotient of two chi-square samples, each over its degrees of freedom."""
    value = as_key("f", key)
    wanted = float_dtype("f", dtype, dfnum, dfden)
    above, below = parameter("f", "dfnum", dfnum, wanted), parameter("f", "dfden", dfden, wanted)
    sizes = joint_shape("f", shape, {"dfnum": above, "dfden": below})
    key_below, key_above = parts(value, 2)
    upper, lower = _chisquare(key_above, above, sizes), _chisquare(key_below, below, sizes)
    return ((upper / above) / (lower / below)).astype(wanted)


def t(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Student's distribution of `df` degrees of freedom; differentiable in `df`."""
    value = as_key("t", key)
    wanted = float_dtype("t", dtype, df)
    degrees = parameter("t", "df", df, wanted)
    sizes = joint_shape("t", shape, {"df": degrees})
    key_normal, key_gamma = parts(value, 2)
    half = degrees / 2
    logarithm = log_gamma(key_gamma, half, sizes)
    spread = xp.exp(0.5 * (xp.log(half.astype(logarithm.dtype)) - logarithm))
    return (normal_floats(key_normal, sizes, wanted) * spread).astype(wanted)


def generalized_normal(key: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The distribution of density proportional to `exp(-|x| ** p)`."""
    value = as_key("generalized_normal", key)
    wanted = float_dtype("generalized_normal", dtype, p)
    power = parameter("generalized_normal", "p", p, wanted)
    sizes = joint_shape("generalized_normal", shape, {"p": power})
    return _generalized_normal(value, power, sizes, wanted)


def _generalized_normal(key: Any, p: Any, shape: tuple[Any, ...], dtype: np.dtype) -> Any:
    key_gamma, key_sign = parts(key, 2)
    logarithm = log_gamma(key_gamma, 1 / p, shape)
    magnitude = xp.exp(logarithm / p.astype(logarithm.dtype))
    return signs(key_sign, shape, dtype) * magnitude.astype(dtype)


def ball(key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None) -> Any:
    """Points uniform in the unit ball of the p-norm in `d` dimensions; the last axis is the point's.

    The method of Barthe, Guedon, Mendelson and Naor (2005).
    """
    value = as_key("ball", key)
    wanted = float_dtype("ball", dtype, p)
    power = parameter("ball", "p", p, wanted)
    if power.ndim:
        raise ShapeError(
            f"ball: p has shape {tuple(power.shape)}, expected a number", where=user_location_text()
        )
    sizes = as_shape("ball", shape)
    (points,) = as_shape("ball", (d,))
    key_points, key_radius = parts(value, 2)
    g = _generalized_normal(key_points, power, (*sizes, points), wanted)
    e = exponential_floats(key_radius, sizes, wanted)
    norm = xp.pow(xp.sum(xp.pow(xp.abs(g), power), axis=-1) + e, 1 / power)
    return g / xp.expand_dims(norm, -1)
