"""Distributions of counts: Poisson and geometric.

Loops end when all samples are done, and draw the numbers of JAX's loops, so that samples are equal: with a
small rate arrivals are counted, with a large one proposals are accepted or not. As in JAX a sample keeps the
last of its proposals that were accepted by the time every sample had one, so that it depends on the shape.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ....dialects.types import FLOAT32, FLOATS, INT32
from ...control.while_loops import while_loop
from ...tracing.array import Array
from ...tracing.interpreter import as_value
from .. import numpy as xp
from .arguments import as_key, float_dtype, integer_dtype, joint_shape, parameter
from .keys import parts
from .uniform import uniform_floats

SMALL_RATE: Final = 10
HALF_LOG_TAU: Final = 0.5 * math.log(2 * math.pi)
# log(k!) less its Stirling approximation, for k from 0 to 9.
TAIL: Final = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = INT32) -> Any:
    """The Poisson distribution of rate `lam`, as integers; -1 where the rate is negative or NaN.

    Below rate 10 arrivals are counted (Knuth, The Art of Computer Programming, 3.4.1), above it is
    transformed rejection (Hoermann 1993, The transformed rejection method for generating Poisson random
    variables).
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
    # Neither a negative rate nor NaN has samples; JAX returns -1 there.
    count = xp.where(rate >= 0, count, -1.0)
    return xp.where(rate == 0, 0.0, count).astype(wanted)


def _counted(key: Any, rate: Any, shape: tuple[Any, ...]) -> Any:
    """How many exponential waiting times pass before their sum reaches the rate."""

    def step(state: Any) -> Any:
        key, count, left = state
        key, used = parts(key, 2)
        count = xp.where(left > -rate, count + 1, count)
        return key, count, left + xp.log(uniform_floats(used, shape, FLOAT32))

    start = (key, xp.zeros_like(rate), xp.zeros(shape, dtype=FLOAT32))
    return while_loop(lambda state: xp.any(state[2] > -rate), step, start)[1] - 1


def _by_rejection(key: Any, rate: Any, shape: tuple[Any, ...]) -> Any:
    b = 0.931 + 2.53 * xp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_limit = 0.9277 - 3.6224 / (b - 2)

    def step(state: Any) -> Any:
        key, chosen, is_done = state
        key, first, second = parts(key, 3)
        u = uniform_floats(first, shape, rate.dtype) - 0.5
        v = uniform_floats(second, shape, rate.dtype)
        shifted = 0.5 - xp.abs(u)
        k = xp.floor((2 * a / shifted + b) * u + rate + 0.43)
        s = xp.log(v * inverse_alpha / (a / (shifted * shifted) + b))
        likelihood = _log_probability(xp.maximum(k, 0.0), rate)
        is_inside = (shifted >= 0.07) & (v <= v_limit)
        is_outside = (k < 0) | ((shifted < 0.013) & (v > shifted))
        passes = is_inside | (~is_outside & (s <= likelihood))
        return key, xp.where(passes, k, chosen), is_done | passes

    start = (key, xp.full_like(rate, -1), xp.zeros(shape, dtype=bool))
    return while_loop(lambda state: xp.any(~state[2]), step, start)[1]


def _log_probability(k: Any, rate: Any) -> Any:
    """`k log(rate) - rate - log(k!)`, by Stirling's formula: the large terms cancel before they round.

    JAX takes them as they are, with errors of 0.1 at rate 1e5 that decide which proposals pass.
    """
    above = k + 1 - rate
    return (above - k * xp.log1p(above / rate)) - 0.5 * xp.log(k + 1) - HALF_LOG_TAU - stirling_tail(k)


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = INT32) -> Any:
    """How many trials until the first success, each of probability `p`: integers from 1."""
    value = as_key("geometric", key)
    wanted = integer_dtype("geometric", dtype)
    probability = as_value(p)
    chance = probability if probability.dtype in FLOATS else probability.astype(FLOAT32)
    sizes = joint_shape("geometric", shape, {"p": chance})
    u = uniform_floats(value, sizes, chance.dtype)
    trials = xp.floor(xp.log(xp.where(u == 0, 1.0, u)) / xp.log1p(-chance)) + 1
    return trials.astype(wanted)


def stirling_tail(k: Any) -> Any:
    """`log(k!)` less `(k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2`, for whole `k` from 0."""
    table = Array(np.asarray(TAIL, k.dtype))
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    exact = xp.take(table, xp.clip(k, 0.0, 9.0).astype(INT32))
    return xp.where(k <= 9, exact, series)
