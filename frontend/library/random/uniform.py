"""Uniform numbers of each kind: floats in an interval, integers in a range, coins and signs.

The functions without a leading check (`uniform_floats`) take keys, shapes and dtypes that have been checked;
all other samplers are made of them. The steps are those of `jax.random`, so that the values are equal.
"""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from ....dialects.types import BFLOAT16, FLOATS, INT32, INT64, INTEGERS, short_name
from ...errors import ArgumentError, DtypeError, OutOfRangeError
from ...tracing.array import Array
from ...tracing.default_dtypes import floating
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from .. import numpy as xp
from .arguments import as_key, as_shape, float_dtype, integer_dtype, joint_shape, parameter
from .keys import UINT64, parts
from .often import compiled_if_often
from .older_order import random_bits

MODES: Final = ("low", "high", None)  # None is JAX's default, low


def float_information(dtype: np.dtype) -> Any:
    """What is known of a float dtype: `eps`, `tiny`, `nmant`, ..."""
    finfo: Any = ml_dtypes.finfo  # its stub has no types
    return finfo(dtype)


def uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Floats uniform in `[minval, maxval)`; the bounds may be arrays that spread over the shape."""
    value = as_key("uniform", key)
    wanted = float_dtype("uniform", dtype, minval, maxval)
    low = parameter("uniform", "minval", minval, wanted)
    high = parameter("uniform", "maxval", maxval, wanted)
    sizes = joint_shape("uniform", shape, {"minval": low, "maxval": high})
    if type(minval) in (int, float) and type(maxval) in (int, float) and (minval, maxval) == (0, 1):
        return uniform_floats(value, sizes, wanted)
    return spread(uniform_floats(value, sizes, wanted), low, high)


@compiled_if_often
def uniform_floats(key: Any, shape: tuple[Any, ...], dtype: np.dtype) -> Any:
    """Floats uniform in `[0, 1)`: random bits as the fraction of a number in `[1, 2)`, less 1."""
    fraction_bits = float_information(dtype).nmant
    width = 8 * dtype.itemsize
    drawn = 8 if dtype == BFLOAT16 else width
    unsigned = np.dtype(f"uint{width}")
    bits = random_bits(key, shape=shape, width=drawn)
    if drawn != width:
        bits = ops.convert(bits, dtype=unsigned)
        return _with_fraction(bits >> (drawn - fraction_bits), dtype)
    return floats_of_bits(bits, dtype)


def floats_of_bits(bits: Any, dtype: np.dtype) -> Any:
    """Floats uniform in `[0, 1)` of as many random bits as they have."""
    return _with_fraction(bits >> (8 * dtype.itemsize - float_information(dtype).nmant), dtype)


def _with_fraction(bits: Any, dtype: np.dtype) -> Any:
    one = int(np.ones((), dtype).view(f"uint{8 * dtype.itemsize}"))
    return ops.bitcast_convert(bits | one, dtype=dtype) - 1


def spread(unit: Any, low: Any, high: Any) -> Any:
    """Numbers of `[0, 1)` moved to `[low, high)`."""
    return xp.maximum(low, unit * (high - low) + low)


def uniform_between(key: Any, shape: tuple[Any, ...], dtype: np.dtype, low: Any, high: Any) -> Any:
    """Floats uniform between two constants."""
    ends = (Array(np.asarray(low).astype(dtype)), Array(np.asarray(high).astype(dtype)))
    return spread(uniform_floats(key, shape, dtype), *ends)


@compiled_if_often
def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str | None = None) -> Any:
    """True with probability `p`; mode `high` draws twice the bits, for `p` below 1e-7."""
    value = as_key("bernoulli", key)
    checked_mode("bernoulli", mode)
    chance = as_value(p)
    if chance.dtype not in FLOATS:
        raise DtypeError(
            f"bernoulli: p is {short_name(chance.dtype)}, expected a float dtype", where=user_location_text()
        )
    sizes = joint_shape("bernoulli", shape, {"p": chance})
    return coins(value, chance, sizes, mode)


def coins(key: Any, chance: Any, shape: tuple[Any, ...], mode: str | None = None) -> Any:
    """True with probability `chance`, for a key and a shape that have been checked."""
    dtype = chance.dtype
    if mode != "high":
        return uniform_floats(key, shape, dtype) < chance
    first, second = pair(uniform_floats(key, (2, *shape), dtype))
    return second * 2.0 ** -float_information(dtype).nmant < chance - first


def pair(values: Any) -> tuple[Any, Any]:
    """The two halves along axis 0."""
    return values[0], values[1]


def checked_mode(function: str, mode: Any) -> None:
    """An error unless `mode` is a precision of sampling."""
    if mode not in MODES:
        raise ArgumentError(
            f"{function}: mode is {mode!r}, expected 'low' or 'high'", where=user_location_text()
        )


@compiled_if_often
def rademacher(key: Any, shape: Any = (), dtype: Any = INT32) -> Any:
    """1 or -1, each with probability one half."""
    value = as_key("rademacher", key)
    return signs(value, as_shape("rademacher", shape), np.dtype(dtype))


def signs(key: Any, shape: tuple[Any, ...], dtype: np.dtype) -> Any:
    """1 or -1 of a dtype, for a key and a shape that have been checked."""
    half = as_value(0.5, floating())
    return 2 * ops.convert(coins(key, half, shape), dtype=dtype) - 1


@compiled_if_often
def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = INT32) -> Any:
    """Integers uniform in `[minval, maxval)`; `minval` where the range is empty.

    Twice the bits of the dtype are drawn and reduced by a remainder, which leaves a bias below
    `(maxval - minval) / 2 ** (2 * bits)`; dtypes below 32 bits are drawn as int32.
    """
    value = as_key("randint", key)
    wanted = integer_dtype("randint", dtype)
    low, high = _bound("minval", minval), _bound("maxval", maxval)
    sizes = joint_shape("randint", shape, {"minval": low, "maxval": high})
    return integers(value, sizes, low, high, wanted)


def integers(key: Any, shape: tuple[Any, ...], low: Any, high: Any, dtype: np.dtype) -> Any:
    """`randint` of arguments that have been checked."""
    if dtype.itemsize >= 4:
        return _integers(key, shape, low, high, dtype)
    info = np.iinfo(dtype)
    low = _clipped(_within(low, info.min, info.max), INT32)
    high = _clipped(_within(high, info.min, info.max + 1), INT32)
    return ops.convert(_integers(key, shape, low, high, INT32), dtype=dtype)


def _bound(name: str, x: Any) -> Any:
    if isinstance(x, int) and not isinstance(x, bool):
        if not -(2**63) <= x < 2**64:
            raise OutOfRangeError(f"randint: {name} {x} has more than 64 bits", where=user_location_text())
        return Array(np.asarray(x, INT64 if x < 2**63 else UINT64))
    value = as_value(x)
    if value.dtype not in INTEGERS:
        raise DtypeError(
            f"randint: {name} is {short_name(value.dtype)}, expected integers", where=user_location_text()
        )
    return value


def _integers(key: Any, shape: tuple[Any, ...], low: Any, high: Any, dtype: np.dtype) -> Any:
    info = np.iinfo(dtype)
    unsigned = np.dtype(f"uint{info.bits}")
    top = min(int(info.max), int(np.iinfo(high.dtype).max))
    is_beyond = high > Array(np.asarray(top, high.dtype))
    low, high = _clipped(low, dtype), _clipped(high, dtype)
    first, second = parts(key, 2)
    upper = random_bits(first, shape=shape, width=info.bits)
    lower = random_bits(second, shape=shape, width=info.bits)
    span = _bits_as(high - low, unsigned)
    span = xp.where(high <= low, Array(np.ones((), unsigned)), span)
    # A `maxval` of one more than the dtype holds: the span of all numbers is 0 then, which `_modulo` takes.
    span = xp.where(is_beyond & (high > low), span + 1, span)
    half = Array(np.asarray(2 ** (info.bits // 2), unsigned))
    multiplier = _modulo(half, span)
    multiplier = _modulo(multiplier * multiplier, span)
    offset = _modulo(_modulo(upper, span) * multiplier + _modulo(lower, span), span)
    return low + _bits_as(offset, dtype)


def _modulo(x: Any, span: Any) -> Any:
    """`x % span`; `x` where the span is 0, which stands for all numbers of the dtype."""
    is_all = span == 0
    return xp.where(is_all, x, xp.remainder(x, xp.where(is_all, 1, span)))


def _bits_as(x: Any, dtype: np.dtype) -> Any:
    return x if x.dtype == dtype else ops.bitcast_convert(x, dtype=dtype)


def _within(x: Any, low: int, high: int) -> Any:
    """`x` clipped to the part of `[low, high]` that its own dtype holds."""
    info = np.iinfo(x.dtype)
    ends = (max(low, int(info.min)), min(high, int(info.max)))
    return xp.clip(x, *(Array(np.asarray(end, x.dtype)) for end in ends))


def _clipped(x: Any, dtype: np.dtype) -> Any:
    """`x` in another integer dtype, clipped to its range."""
    info = np.iinfo(dtype)
    return ops.convert(_within(x, int(info.min), int(info.max)), dtype=dtype)
