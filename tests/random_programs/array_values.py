"""Elementwise values of random programs: functions that keep numbers small, of every dtype.

Input: arrays of any dtype. Output: arrays; an array in another shape or dtype, by conversions that are
defined for every value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from adze import numpy as xp


def dtype_of(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def kind_of(x: Any) -> str:
    """One of `b i u f c`: bfloat16 has a kind of its own in NumPy."""
    return "f" if x.dtype == np.dtype(ml_dtypes.bfloat16) else str(x.dtype.kind)


def number(value: float, x: Any) -> Any:
    """A number of the dtype of `x`."""
    return np.asarray(value, x.dtype)


def moved(x: Any) -> Any:
    """An elementwise function of `x`, as small as `x`."""
    kind = kind_of(x)
    if kind == "b":
        return ~x
    if kind in "iu":
        return x * number(3, x) + number(1, x)
    return x * number(0.5, x) if kind == "c" else xp.sin(x)


def mean(x: Any, y: Any) -> Any:
    """An elementwise function of two arrays of one dtype, no larger than both."""
    kind = kind_of(x)
    if kind == "b":
        return x ^ y
    return x - y if kind in "iu" else x * number(0.5, x) + y * number(0.25, x)


def cast(x: Any, dtype: Any) -> Any:
    """`x` in another dtype, by a conversion that is defined for every value."""
    if x.dtype == dtype:
        return x
    if kind_of(x) == "c" and dtype.kind != "c":
        x = xp.real(x)
    if kind_of(x) == "f" and dtype.kind in "biu":
        x = x > number(0.123, x)
    elif kind_of(x) in "iu" and dtype.kind not in "biu":
        x = x % number(5, x)
    return xp.astype(x, dtype)


def fitted(x: Any, shape: Sequence[int], dtype: Any) -> Any:
    """The elements of `x` in order, repeated or cut, in another shape and dtype."""
    x = cast(x, dtype)
    if tuple(x.shape) == tuple(shape):
        return x
    have, want = int(np.prod(x.shape)), int(np.prod(shape))
    flat = x.reshape(have)
    if have < want:
        flat = xp.concatenate([flat] * (-(-want // have)), 0)
    return flat[:want].reshape(tuple(shape))
