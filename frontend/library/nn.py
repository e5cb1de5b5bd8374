"""Functions of neural networks: activations, normalisation, convolution, pooling, losses.

Pure functions of arrays; parameters are the caller's pytrees. Names and conventions are `jax.nn`'s where it
has the same function; images are in layout NHWC, kernels HWIO.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from . import numpy as xp
from .lax.contractions import conv_general_dilated
from .lax.first_extrema import for_windows
from .lax.padding import window_padding
from .lax.scalar_operands import axis_of
from .numpy.promotion import stays_weak
from .softmax import Axis, inexact, rounded, single, standardized
from .softmax import log_softmax as log_softmax
from .softmax import logsumexp as logsumexp
from .softmax import softmax as softmax
from .softmax import standardize as standardize


@stays_weak
def identity(x: Any) -> Any:
    """`x` itself."""
    return xp.asarray(x)


@stays_weak
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return ops.tanh(inexact(x))


@stays_weak
def relu(x: Any) -> Any:
    """`max(x, 0)`, with slope 0 at 0, where a maximum would share its tangent with the zero."""
    value = xp.asarray(x)
    return xp.where(value <= 0, 0, value)


@stays_weak
def relu6(x: Any) -> Any:
    """`min(max(x, 0), 6)`, with slope 0 at 0 and 6; of integers it is floating."""
    value = xp.asarray(x)
    return xp.where(value <= 0, 0.0, xp.where(value >= 6, 6.0, value))


@stays_weak
def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """`x` where positive, else `negative_slope * x`."""
    value = xp.asarray(x)
    return xp.where(value >= 0, value, negative_slope * value)


@stays_weak
def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` where positive, else `alpha * (exp(x) - 1)`."""
    value = xp.asarray(x)
    negative = xp.where(value > 0, 0.0, value)
    return xp.where(value > 0, value, alpha * xp.expm1(negative))


@stays_weak
def celu(x: Any, alpha: float = 1.0) -> Any:
    """`x` where positive, else `alpha * (exp(x / alpha) - 1)` (Barron 2017): smooth for every `alpha`."""
    value = xp.asarray(x)
    negative = xp.where(value > 0, 0.0, value)
    return xp.where(value > 0, value, alpha * xp.expm1(negative / alpha))


@stays_weak
def selu(x: Any) -> Any:
    """Scaled `elu` (Klambauer et al. 2017)."""
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


@stays_weak
def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`."""
    return ops.logistic(inexact(x))


@stays_weak
def log_sigmoid(x: Any) -> Any:
    """`log(sigmoid(x))`, without overflow."""
    return -softplus(-xp.asarray(x))


def softplus(x: Any) -> Any:
    """`log(1 + exp(x))`, without overflow."""
    return xp.logaddexp(x, 0)


@stays_weak
def squareplus(x: Any, b: float = 4.0) -> Any:
    """`(x + sqrt(x**2 + b)) / 2` (Barron 2021): like `softplus`, of algebraic functions only."""
    value = inexact(x)
    return 0.5 * (value + xp.sqrt(value * value + b))


@stays_weak
def sparse_plus(x: Any) -> Any:
    """0 up to -1, `x` from 1 on, `(x + 1)**2 / 4` between them."""
    value = inexact(x)
    return xp.where(value <= -1, 0.0, xp.where(value >= 1, value, (value + 1) ** 2 / 4))


@stays_weak
def sparse_sigmoid(x: Any) -> Any:
    """`(x + 1) / 2` limited to `[0, 1]`: the derivative of `sparse_plus`."""
    return 0.5 * xp.clip(inexact(x) + 1.0, 0.0, 2.0)


@stays_weak
def soft_sign(x: Any) -> Any:
    """`x / (1 + |x|)`."""
    value = inexact(x)
    return value / (1 + xp.abs(value))


@stays_weak
def log1mexp(x: Any) -> Any:
    """`log(1 - exp(-x))` for positive `x`, accurate for small and large ones (Maechler 2012)."""
    value = inexact(x)
    is_small = value < math.log(2.0)
    small = xp.where(is_small, value, 1.0)
    large = xp.where(is_small, 1.0, value)
    return xp.where(is_small, xp.log(-xp.expm1(-small)), xp.log1p(-xp.exp(-large)))


@stays_weak
def silu(x: Any) -> Any:
    """`x * sigmoid(x)`, also called swish."""
    value = inexact(x)
    return value * sigmoid(value)


swish = silu


@stays_weak
def gelu(x: Any, approximate: bool = True) -> Any:
    """Gaussian error linear unit (Hendrycks and Gimpel 2016): `x * P(Z <= x)`; by tanh, or exactly by erf."""
    value = inexact(x)
    if approximate:
        inner = math.sqrt(2 / math.pi) * (value + 0.044715 * value**3)
        return 0.5 * value * (1 + xp.tanh(inner))
    return 0.5 * value * ops.erfc(-value * math.sqrt(0.5))


@stays_weak
def mish(x: Any) -> Any:
    """`x * tanh(softplus(x))`."""
    value = inexact(x)
    return value * xp.tanh(softplus(value))


@stays_weak
def hard_sigmoid(x: Any) -> Any:
    """`relu6(x + 3) / 6`."""
    return relu6(xp.asarray(x) + 3.0) / 6.0


@stays_weak
def hard_swish(x: Any) -> Any:
    """`x * hard_sigmoid(x)`."""
    return xp.asarray(x) * hard_sigmoid(x)


hard_silu = hard_swish


@stays_weak
def hard_tanh(x: Any) -> Any:
    """`x` limited to `[-1, 1]`, with slope 1 at both ends."""
    value = xp.asarray(x)
    return xp.where(value > 1, 1, xp.where(value < -1, -1, value))


def glu(x: Any, axis: int = -1) -> Any:
    """Gated linear unit (Dauphin et al. 2017): the first half times the sigmoid of the second."""
    value = inexact(x)
    axis = axis_of(axis, value.ndim)
    n = value.shape[axis]
    if not isinstance(n, int) or n % 2:
        raise ShapeError(f"glu: axis {axis} of {ops.type_of(value)} must be even", where=user_location_text())
    first, second = xp.split(value, 2, axis=axis)
    return first * sigmoid(second)


def layer_norm(x: Any, scale: Any = None, bias: Any = None, axis: Axis = -1, epsilon: float = 1e-5) -> Any:
    """Layer normalisation (Ba et al. 2016) along `axis`, then `* scale + bias` where they are given.

    Half precision is computed in float32 and rounded once.
    """
    result = standardized(x, axis, epsilon)
    if scale is not None:
        result = result * scale
    if bias is not None:
        result = result + bias
    return rounded(result, x, *(factor for factor in (scale, bias) if factor is not None))


def rms_norm(x: Any, scale: Any = None, axis: Axis = -1, epsilon: float = 1e-6) -> Any:
    """`x / sqrt(mean(x ** 2) + epsilon)` (Zhang and Sennrich 2019), then `* scale` where it is given.

    Half precision is computed in float32 and rounded once.
    """
    value = single(x)
    result = value * ops.rsqrt(xp.mean(value * value, axis=axis, keepdims=True) + epsilon)
    return rounded(result, x) if scale is None else rounded(result * scale, x, scale)


def batch_norm(x: Any, mean: Any, variance: Any, scale: Any, bias: Any, epsilon: float = 1e-5) -> Any:
    """Batch normalisation (Ioffe and Szegedy 2015) with given statistics along the last axis."""
    factor = scale * ops.rsqrt(inexact(variance) + epsilon)
    return (inexact(x) - mean) * factor + bias


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    """1 where the position along the new last `axis` equals the integer `x`, else 0."""
    return xp.one_hot(x, num_classes, dtype=dtype, axis=axis)


def conv(
    x: Any,
    kernel: Any,
    strides: int | Sequence[int] = 1,
    padding: str | Sequence[tuple[int, int]] = "SAME",
    *,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Any:
    """Convolution over 1, 2 or 3 spatial axes: `x` is batch, space, features; `kernel` space, in, out."""
    value, window = as_value(x), as_value(kernel)
    spatial = value.ndim - 2
    if spatial not in (1, 2, 3) or window.ndim != value.ndim:
        raise ShapeError(
            f"conv: expected an array [batch, space..., features] and a kernel [space..., in, out] with "
            f"1 to 3 spatial axes, got {ops.type_of(value)} and {ops.type_of(window)}",
            where=user_location_text(),
        )
    letters = "DHW"[3 - spatial :]
    return conv_general_dilated(
        value,
        window,
        _per_axis(strides, spatial, "strides"),
        padding,
        rhs_dilation=_per_axis(dilation, spatial, "dilation"),
        dimension_numbers=(f"N{letters}C", f"{letters}IO", f"N{letters}C"),
        feature_group_count=groups,
    )


def max_pool(
    x: Any,
    window: int | Sequence[int],
    strides: int | Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
) -> Any:
    """The largest value of each window over the spatial axes of `x` (batch, space, features).

    Of equal values the first, in the order of rows, takes the derivative.
    """
    return _pool(x, window, strides, padding, -np.inf, xp.maximum)


def min_pool(
    x: Any,
    window: int | Sequence[int],
    strides: int | Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
) -> Any:
    """The smallest value of each window over the spatial axes of `x` (batch, space, features).

    Of equal values the first, in the order of rows, takes the derivative.
    """
    return _pool(x, window, strides, padding, np.inf, xp.minimum)


def avg_pool(
    x: Any,
    window: int | Sequence[int],
    strides: int | Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window over the spatial axes of `x` (batch, space, features).

    Padding counts as zeros, unless `count_include_pad` is false.
    """
    value = inexact(x)
    total = _pool(value, window, strides, padding, 0, xp.add)
    sizes = _per_axis(window, value.ndim - 2, "window")
    if count_include_pad:
        return total / math.prod(sizes)
    ones = xp.ones((1, *value.shape[1:-1], 1), dtype=value.dtype)
    return total / _pool(ones, window, strides, padding, 0, xp.add)


def _pool(x: Any, window: Any, strides: Any, padding: Any, fill: float, combine: Any) -> Any:
    """Combines the strided slices of a padded array, one for each position in the window."""
    value = as_value(x)
    spatial = value.ndim - 2
    if spatial < 1:
        raise ShapeError(
            f"pooling: expected [batch, space..., features], got {ops.type_of(value)}",
            where=user_location_text(),
        )
    sizes = _per_axis(window, spatial, "window")
    steps = sizes if strides is None else _per_axis(strides, spatial, "strides")
    pads = window_padding("pooling", padding, value.shape[1:-1], sizes, steps)
    if any(low or high for low, high in pads):
        edge = fill
        if value.dtype.kind in "iu" and fill != 0:
            info = np.iinfo(value.dtype)
            edge = info.min if fill < 0 else info.max
        value = ops.pad(
            value,
            as_value(edge, value.dtype),
            low=(0, *(low for low, _ in pads), 0),
            high=(0, *(high for _, high in pads), 0),
            interior=(0,) * value.ndim,
        )
    counts = [(n - k) // s + 1 for n, k, s in zip(value.shape[1:-1], sizes, steps, strict=True)]
    combine, result = for_windows(combine, value.dtype), None
    for offset in np.ndindex(*sizes):
        limits = [o + (c - 1) * s + 1 for o, c, s in zip(offset, counts, steps, strict=True)]
        part = ops.slice(
            value,
            start=(0, *offset, 0),
            limit=(value.shape[0], *limits, value.shape[-1]),
            strides=(1, *steps, 1),
        )
        result = part if result is None else combine(result, part)
    return result


def cross_entropy(logits: Any, labels: Any, axis: int = -1) -> Any:
    """Softmax cross entropy of each example: `labels` are class numbers, or probabilities like `logits`."""
    scores = inexact(logits)
    targets = as_value(labels)
    log_probabilities = log_softmax(scores, axis)
    if targets.dtype.kind in "iu" and targets.ndim == scores.ndim - 1:
        picked = xp.take_along_axis(log_probabilities, xp.expand_dims(targets, axis=axis), axis=axis)
        return -xp.squeeze(picked, axis=axis)
    if targets.ndim != scores.ndim:
        raise ShapeError(
            f"cross_entropy: labels {ops.type_of(targets)} fit logits {ops.type_of(scores)} neither as class "
            "numbers (one axis less, integers) nor as probabilities (the same shape)",
            where=user_location_text(),
        )
    return -xp.sum(targets * log_probabilities, axis=axis)


@stays_weak
def sigmoid_cross_entropy(logits: Any, labels: Any) -> Any:
    """Binary cross entropy of `sigmoid(logits)` and `labels` in `[0, 1]`, elementwise, without overflow."""
    scores = inexact(logits)
    return softplus(scores) - scores * labels


def _per_axis(value: int | Sequence[int], count: int, name: str) -> tuple[int, ...]:
    entries = (value,) * count if isinstance(value, int) else tuple(value)
    if len(entries) != count or any(not isinstance(n, int) or n < 1 for n in entries):
        raise ArgumentError(
            f"{name} is {value!r}, expected a positive integer or {count} of them", where=user_location_text()
        )
    return entries
