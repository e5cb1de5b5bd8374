"""Binomial and multinomial counts, as floats; the loops are those of JAX, so that the counts are equal.

Small means add up geometric waiting times, large ones use transformed rejection (Hoermann 1993, The
generation of binomial random variates). As in JAX a sample keeps the last of its proposals that were
accepted by the time every sample had one, so that it depends on the shape.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.types import FLOAT32
from ...control.scans import scan
from ...control.while_loops import while_loop
from ...errors import ShapeError
from ...tracing.default_dtypes import floating
from ...tracing.interpreter import ops
from ...tracing.locations import user_location_text
from .. import numpy as xp
from .arguments import as_key, float_dtype, joint_shape, parameter, probabilities, spreads
from .keys import parts, split_keys
from .poisson import stirling_tail
from .uniform import uniform_floats

SMALL_MEAN: Final = 10


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """How many of `n` trials succeed, each with probability `p`: floats, as in JAX.

    NaN where `n` or `p` is negative or NaN.
    """
    value = as_key("binomial", key)
    wanted = float_dtype("binomial", FLOAT32 if dtype is None else dtype)
    working = _working("binomial", p)
    chance, count = parameter("binomial", "p", p, working), parameter("binomial", "n", n, working)
    sizes = joint_shape("binomial", shape, {"n": count, "p": chance})
    return _binomial(value, xp.broadcast_to(count, sizes), xp.broadcast_to(chance, sizes)).astype(wanted)


def _working(function: str, *parameters: Any) -> np.dtype:
    dtype = float_dtype(function, None, *parameters)
    return FLOAT32 if dtype.itemsize < 4 else dtype


def _binomial(key: Any, count: Any, p: Any) -> Any:
    is_low = p < 0.5
    q = xp.where(is_low, p, 1 - p)
    is_bad = ~(count >= 0) | ~(q >= 0)
    q = xp.where(q >= 0, q, 0.01)
    is_small = ~(count >= 0) | (count * q <= SMALL_MEAN)
    whole = xp.floor(count)
    few = _by_inversion(key, xp.where(is_small, whole, 0.0), q)
    many = _by_rejection(key, xp.where(is_small, 1e4, whole), xp.where(is_small, 0.5, q))
    counts = xp.where(is_small, few, many)
    counts = xp.where(xp.isinf(count), xp.inf, xp.where(is_low, counts, whole - counts))
    return xp.where(is_bad, xp.nan, counts)


def _by_inversion(key: Any, count: Any, p: Any) -> Any:
    """How many geometric waiting times fit into `count` trials (Devroye 1986, chapter 10.4.3)."""
    logarithm = xp.log1p(-p)

    def step(state: Any) -> Any:
        key, number, total = state
        used, key = parts(key, 2)
        number = xp.where(total <= count, number + 1, number)
        u = uniform_floats(used, tuple(p.shape), p.dtype)
        return key, number, total + xp.ceil(xp.log(u) / logarithm)

    start = (key, xp.zeros_like(p), xp.zeros_like(p))
    return while_loop(lambda state: xp.any(state[2] <= count), step, start)[1] - 1


def _by_rejection(key: Any, count: Any, p: Any) -> Any:
    deviation = xp.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = count * p + 0.5
    v_limit = 0.92 - 4.2 / b
    odds = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    middle = xp.floor((count + 1) * p)
    constant = stirling_tail(middle) + stirling_tail(count - middle)

    def step(state: Any) -> Any:
        key, chosen, is_done = state
        key, first, second = parts(key, 3)
        u = uniform_floats(first, tuple(p.shape), p.dtype)
        v = uniform_floats(second, tuple(p.shape), p.dtype)
        u = u - 0.5
        shifted = 0.5 - xp.abs(u)
        is_inside = (shifted >= 0.07) & (v <= v_limit)
        k = xp.floor((2 * a / shifted + b) * u + c)
        is_outside = (k < 0) | (k > count)
        k_safe = xp.clip(k, 0.0, count)
        v = xp.log(v * alpha / (a / (shifted * shifted) + b))
        bound = (
            (middle + 0.5) * xp.log((middle + 1) / (odds * (count - middle + 1)))
            + (count + 1) * xp.log((count - middle + 1) / (count - k_safe + 1))
            + (k_safe + 0.5) * xp.log(odds * (count - k_safe + 1) / (k_safe + 1))
            + constant
            - stirling_tail(k_safe)
            - stirling_tail(count - k_safe)
        )
        passes = is_inside | (~is_outside & (v <= bound))
        return key, xp.where(passes, k, chosen), is_done | passes

    start = (key, xp.full_like(p, -1), xp.zeros(tuple(p.shape), dtype=bool))
    return while_loop(lambda state: xp.any(~state[2]), step, start)[1]


def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: int | bool = 1
) -> Any:
    """How `n` trials fall into categories with probabilities `p` along the last axis: floats, as in JAX.

    `shape` is that of the result, its last size the number of categories. The counts of a sample are
    binomial, one category after the other, of the trials that are left.
    """
    value = as_key("multinomial", key)
    wanted = float_dtype("multinomial", floating() if dtype is None else dtype)
    working = _working("multinomial", n, p)
    chances, count = parameter("multinomial", "p", p, working), parameter("multinomial", "n", n, working)
    if chances.ndim == 0:
        raise ShapeError(
            "multinomial: p is a number, expected at least one axis, that of the categories",
            where=user_location_text(),
        )
    probabilities("multinomial", chances)
    sizes = joint_shape("multinomial", chances.shape if shape is None else shape, {"p": chances})
    batch = sizes[:-1]
    if not spreads(tuple(count.shape), batch):
        raise ShapeError(
            f"multinomial: n of shape {tuple(count.shape)} does not spread over {batch}, the axes of p "
            "before its last",
            where=user_location_text(),
        )
    chances = xp.moveaxis(xp.broadcast_to(chances, sizes), -1, 0)
    if isinstance(unroll, bool):
        unroll = chances.shape[0] if unroll else 1
    left = ops.cumsum(chances, axis=0, reverse=True)
    ratios = chances / xp.where(left == 0, 1.0, left)

    def step(remainder: Any, slices: Any) -> Any:
        ratio, one = slices
        drawn = _binomial(one, remainder, xp.clip(ratio, 0.0, 1.0))
        return remainder - drawn, drawn

    keys = split_keys(value, (chances.shape[0],))
    _, counts = scan(step, xp.broadcast_to(count, batch), (ratios, keys), unroll=unroll)
    return xp.moveaxis(counts, 0, -1).astype(wanted)
