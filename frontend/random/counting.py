"""Distributions of counts: Poisson and geometric.

Loops that end when a sample is done run here for a fixed number of rounds, all drawn at once, after which a
sample is done but for a probability below 1e-12. Small rates use the keys of JAX's rounds, so that samples
are equal; for large ones JAX draws again what it has, until the whole array is done, which is not done here.
"""

from __future__ import annotations

from typing import Any, Final

from ...dialects.types import FLOAT32, FLOATS, INT32
from .. import namespace as xp
from ..tracing.interpreter import as_value, ops
from .arguments import as_key, float_dtype, integer_dtype, joint_shape, parameter
from .keys import chain, split_keys
from .uniform import uniform_floats

SMALL_RATE: Final = 10
ARRIVALS: Final = 45  # a Poisson sample of rate 10 reaches this with probability 2e-15
PROPOSALS: Final = 24  # each is taken with probability above 0.7: 0.3 ** 24 < 1e-12


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = INT32) -> Any:
    """The Poisson distribution of rate `lam`, as integers.

    Below rate 10 arrivals are counted (Knuth), above by transformed rejection (Hoermann 1993). A sample that
    no proposal serves becomes the rate, rounded down.
    """
    value = as_key("poisson", key)
    wanted = integer_dtype("poisson", dtype)
    working = float_dtype("poisson", None, lam)
    working = FLOAT32 if working.itemsize < 4 else working
    rate = parameter("poisson", "lam", lam, working)
    sizes = joint_shape("poisson", shape, {"lam": rate})
    rate = xp.broadcast_to(rate, sizes)
    if isinstance(lam, (int, float)):  # one branch will do
        count = (_counted if lam < SMALL_RATE else _by_rejection)(value, rate, sizes)
    else:
        is_small = ~(rate >= SMALL_RATE)  # as is NaN
        few = _counted(value, xp.where(is_small, rate, 0.0), sizes)
        many = _by_rejection(value, xp.where(is_small, 1e5, rate), sizes)
        count = xp.where(is_small, few, many)
    # Neither a negative rate nor NaN has samples; JAX gives -1 there.
    count = xp.where(rate >= 0, count, -1.0)
    return xp.where(rate == 0, 0.0, count).astype(wanted)


def _counted(key: Any, rate: Any, shape: tuple[Any, ...]) -> Any:
    """How many exponential waiting times pass before their sum reaches the rate."""
    keys = chain(key, ARRIVALS)
    waits = -xp.log(uniform_floats(keys, (ARRIVALS, *shape), FLOAT32))
    sums = ops.cumsum(waits.astype(rate.dtype), axis=0, reverse=False)
    return xp.sum((sums < rate).astype(rate.dtype), axis=0)


def _by_rejection(key: Any, rate: Any, shape: tuple[Any, ...]) -> Any:
    log_rate = xp.log(rate)
    b = 0.931 + 2.53 * xp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_limit = 0.9277 - 3.6224 / (b - 2)
    keys = split_keys(key, (4,))  # of which the loop for small rates uses the first two
    u = uniform_floats(keys[2], (PROPOSALS, *shape), rate.dtype) - 0.5
    v = uniform_floats(keys[3], (PROPOSALS, *shape), rate.dtype)
    shifted = 0.5 - xp.abs(u)
    k = xp.floor((2 * a / shifted + b) * u + rate + 0.43)
    s = xp.log(v * inverse_alpha / (a / (shifted * shifted) + b))
    likelihood = k * log_rate - rate - ops.lgamma(xp.maximum(k, 0.0) + 1)
    is_inside = (shifted >= 0.07) & (v <= v_limit)
    is_outside = (k < 0) | ((shifted < 0.013) & (v > shifted))
    passes = is_inside | (~is_outside & (s <= likelihood))
    chosen = xp.floor(rate)
    for i in reversed(range(PROPOSALS)):
        chosen = xp.where(passes[i], k[i], chosen)
    return chosen


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = INT32) -> Any:
    """How many trials until the first success, each of probability `p`: integers from 1."""
    value = as_key("geometric", key)
    wanted = integer_dtype("geometric", dtype)
    given = as_value(p)
    chance = given if given.dtype in FLOATS else given.astype(FLOAT32)
    sizes = joint_shape("geometric", shape, {"p": chance})
    u = uniform_floats(value, sizes, chance.dtype)
    trials = xp.floor(xp.log(xp.where(u == 0, 1.0, u)) / xp.log1p(-chance)) + 1
    return trials.astype(wanted)
