"""Softmax and its kin: exponentials that are shifted by their maximum, and numbers brought to mean 0.

Input: arrays, integers as float32; half precision is widened, and rounded once at the end. Output: arrays;
the helpers that other functions of networks share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..tracing.default_dtypes import floating_of
from ..tracing.interpreter import ops
from . import numpy as xp
from .lax.scalar_operands import axes_of

Axis = int | Sequence[int] | None
_HALF: Final = (np.dtype(np.float16), xp.bfloat16)


def softmax(x: Any, axis: Axis = -1, where: Any = None) -> Any:
    """`exp(x) / sum(exp(x))` along `axis`, shifted by the maximum so that it cannot overflow.

    Positions where `where` is false count as absent and give 0. Half precision is computed in float32 and
    rounded once.
    """
    value = single(x)
    if where is not None:
        value = xp.where(where, value, -xp.inf)
    unnormalised = xp.exp(value - anchor(value, axis))
    if where is not None:
        unnormalised = xp.where(where, unnormalised, 0.0)
    return rounded(unnormalised / xp.sum(unnormalised, axis=axis, keepdims=True), x)


def log_softmax(x: Any, axis: Axis = -1, where: Any = None) -> Any:
    """`log(softmax(x))`, computed without the logarithm of a small number.

    Positions where `where` is false count as absent and give -inf. Half precision is computed in float32 and
    rounded once.
    """
    value = single(x)
    if where is not None:
        value = xp.where(where, value, -xp.inf)
    shifted = value - anchor(value, axis)
    terms = xp.exp(shifted)
    if where is not None:
        terms = xp.where(where, terms, 0.0)
    return rounded(shifted - xp.log(xp.sum(terms, axis=axis, keepdims=True)), x)


def logsumexp(
    a: Any,
    axis: Axis = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """`log(sum(b * exp(a)))` along `axis`, shifted by the maximum.

    Positions where `where` is false count as absent. With `return_sign`, the logarithm of the absolute value
    of the sum, and its sign. Half precision is computed in float32 and rounded once.
    """
    value = single(a)
    if where is not None:
        value = xp.where(where, value, -xp.inf)
    top = anchor(value, axis)
    terms = xp.exp(value - top)
    if b is not None:
        terms = xp.asarray(b) * terms
    if where is not None:
        terms = xp.where(where, terms, 0.0)
    total = xp.sum(terms, axis=axis, keepdims=True)
    others = () if b is None else (b,)
    sign = rounded(xp.sign(total), a, *others)
    result = rounded(xp.log(xp.abs(total) if return_sign else total) + top, a, *others)
    axes = all_axes(axis, value.ndim)
    results = [r if keepdims else xp.squeeze(r, axis=axes) for r in (result, sign)]
    return tuple(results) if return_sign else results[0]


def logmeanexp(x: Any, axis: Axis = None, where: Any = None, keepdims: bool = False) -> Any:
    """`log(mean(exp(x)))` along `axis`, of the positions where `where` is true; NaN of none."""
    value = single(x)
    total = logsumexp(value, axis, keepdims=keepdims, where=where)
    present = xp.ones_like(value) if where is None else xp.where(where, xp.ones_like(value), 0.0)
    return rounded(total - xp.log(xp.sum(present, axis=axis, keepdims=keepdims)), x)


def standardize(
    x: Any,
    axis: Axis = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 1e-5,
    where: Any = None,
    *,
    algorithm: str | None = None,
) -> Any:
    """`x` with mean 0 and variance 1 along `axis`, or with the `mean` and `variance` that are passed.

    Positions where `where` is false count as absent in both. Half precision is computed in float32 and
    rounded once. `algorithm` is a hint: variances are those of centred numbers.
    """
    del algorithm
    return rounded(standardized(x, axis, epsilon, mean, variance, where), x)


def standardized(
    x: Any, axis: Axis, epsilon: float, mean: Any = None, variance: Any = None, where: Any = None
) -> Any:
    """What `standardize` rounds, in float32 for half precision."""
    value = single(x)
    centre = xp.mean(value, axis=axis, keepdims=True, where=where) if mean is None else mean
    centred = value - centre
    if variance is None:
        variance = xp.mean(centred * centred, axis=axis, keepdims=True, where=where)
    return centred * ops.rsqrt(xp.asarray(variance) + epsilon)


def inexact(x: Any) -> Any:
    """`x` as an array of floats: integers become float32."""
    value = xp.asarray(x)
    return value if value.dtype.kind in "fcV" else value.astype(floating_of(value.dtype))


def single(x: Any) -> Any:
    """`inexact(x)`, with half precision widened to float32."""
    value = inexact(x)
    return value.astype(np.float32) if value.dtype in _HALF else value


def rounded(result: Any, *inputs: Any) -> Any:
    """`result` in the dtype that the inputs promote to where that is one of half precision."""
    dtype = xp.result_type(*map(inexact, inputs))
    return result.astype(dtype) if dtype in _HALF else result


def anchor(value: Any, axis: Axis) -> Any:
    """The maximum, of complex numbers that of their real parts, by which exponents are shifted.

    It is a constant to derivatives, since it cancels; of no elements it is 0.
    """
    sizes = xp.real(value) if value.dtype.kind == "c" else value
    empty = {a for a, n in enumerate(sizes.shape) if isinstance(n, int) and n == 0}
    if empty and not empty.isdisjoint(all_axes(axis, sizes.ndim)):
        return xp.sum(sizes, axis=axis, keepdims=True)
    return ops.stop_gradient(finite(xp.max(sizes, axis=axis, keepdims=True)))


def finite(top: Any) -> Any:
    """A maximum to subtract: infinite ones become 0, so that infinities do not turn to NaN."""
    return xp.where(xp.isfinite(top), top, 0.0)


def all_axes(axis: Axis, rank: int) -> tuple[int, ...]:
    return tuple(range(rank)) if axis is None else axes_of(axis, rank)
