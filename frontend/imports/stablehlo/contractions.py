"""Products, convolutions, batch normalization and Fourier transforms.

Input: an application. Output: its results. Precision and algorithm of a product have no effect: adze narrows
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...library.fft.lax_fft import fft
from ...library.lax.contractions import ConvDimensionNumbers, conv_general_dilated
from ...library.lax.ragged import RaggedDotDimensionNumbers, ragged_dot_general
from ...tracing.interpreter import as_value, ops
from .application import Application, Rule


def _dot_general(app: Application) -> Any:
    numbers = app.record("dot_dimension_numbers")
    x, y = app.arrays
    dtype = app.dtype
    if (
        x.dtype != y.dtype
    ):  # StableHLO lets a product of f8 or mixed operands accumulate in the result's dtype
        x, y = as_value(x, dtype), as_value(y, dtype)
    return ops.dot_general(
        x,
        y,
        contracting=(
            numbers.get("lhs_contracting_dimensions", ()),
            numbers.get("rhs_contracting_dimensions", ()),
        ),
        batch=(numbers.get("lhs_batching_dimensions", ()), numbers.get("rhs_batching_dimensions", ())),
        dtype=dtype,
    )


def _ragged_dot(app: Application) -> Any:
    numbers = app.record("ragged_dot_dimension_numbers")
    x, y, sizes = app.arrays

    def axes(kind: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        left, right = (numbers.get(f"{side}_{kind}_dimensions", ()) for side in ("lhs", "rhs"))
        return left, right

    pairs = axes("contracting"), axes("batching")
    ragged, groups = numbers.get("lhs_ragged_dimensions", ()), numbers.get("rhs_group_dimensions", ())
    all_numbers = RaggedDotDimensionNumbers(pairs, ragged, groups)
    return ragged_dot_general(x, y, sizes, all_numbers, preferred_element_type=app.dtype)


def _dot(app: Application) -> Any:
    x, y = app.arrays
    return ops.dot_general(x, y, contracting=((x.ndim - 1,), (0,)), batch=((), ()), dtype=app.dtype)


def _einsum(app: Application) -> Any:
    from ...library import numpy as xp

    return as_value(xp.einsum(app.attribute("einsum_config"), *app.arrays), app.dtype)


def _convolution(app: Application) -> Any:
    return _convolved(app, app.pads(app.array().ndim - 2))


def _dynamic_conv(app: Application) -> Any:
    flat = app.sizes(2)
    return _convolved(app, [(flat[2 * i], flat[2 * i + 1]) for i in range(len(flat) // 2)])


def _convolved(app: Application, pads: list[tuple[Any, Any]]) -> Any:
    x, kernel = app.array(0), app.array(1)
    spatial = x.ndim - 2
    ones = (1,) * spatial
    numbers = app.attribute("dimension_numbers")
    if not isinstance(numbers, tuple) or len(numbers) != 3:
        raise app.error(f"the attribute dimension_numbers is {numbers!r}, expected three layouts")
    specs = [
        _axes(layout, *letters)
        for layout, letters in zip(numbers, (("b", "f"), ("o", "i"), ("b", "f")), strict=True)
    ]
    reversal = app.attribute("window_reversal")
    if isinstance(reversal, tuple) and any(reversal):
        axes = tuple(sorted(specs[1][2:][i] for i, is_reversed in enumerate(reversal) if is_reversed))
        kernel = ops.reverse(kernel, axes=axes)
    dilation = app.ints("lhs_dilation", ones)
    if not all(isinstance(n, int) for pair in pads for n in pair):
        x, pads, dilation = _padded(x, specs[0][2:], pads, dilation), [(0, 0)] * spatial, ones
    dtype = app.dtype
    return conv_general_dilated(
        x,
        kernel,
        app.ints("window_strides", ones),
        pads,
        dilation,
        app.ints("rhs_dilation", ones),
        ConvDimensionNumbers(*specs),
        app.attribute("feature_group_count", 1),
        app.attribute("batch_group_count", 1),
        preferred_element_type=dtype,
    )


def _padded(x: Any, axes: Sequence[int], pads: Sequence[tuple[Any, Any]], dilation: Sequence[int]) -> Any:
    """`x` with zeros around it and between its elements, as many as dynamic sizes say."""
    place = {axis: i for i, axis in enumerate(axes)}
    low, high = ([pads[place[a]][end] if a in place else 0 for a in range(x.ndim)] for end in (0, 1))
    interior = [dilation[place[a]] - 1 if a in place else 0 for a in range(x.ndim)]
    zero = as_value(np.zeros((), x.dtype))
    return ops.pad(x, zero, low=tuple(low), high=tuple(high), interior=tuple(interior))


def _axes(layout: tuple[str, ...], first: str, second: str) -> tuple[int, ...]:
    spatial = sum(entry.isdigit() for entry in layout)
    return (layout.index(first), layout.index(second), *(layout.index(str(i)) for i in range(spatial)))


def _along(x: Any, like: Any, axis: int) -> Any:
    """A vector of features as an array of the shape of `like`."""
    return ops.broadcast_in_dim(x, shape=tuple(like.shape), dimensions=(axis,))


def _others(x: Any, axis: int) -> tuple[int, ...]:
    return tuple(a for a in range(x.ndim) if a != axis)


def _mean(x: Any, axis: int) -> Any:
    total = ops.reduce_sum(x, axes=_others(x, axis))
    count: Any = 1
    for a in _others(x, axis):
        count = count * x.shape[a]
    return ops.div(
        total, ops.broadcast_in_dim(as_value(count, x.dtype), shape=tuple(total.shape), dimensions=())
    )


def _moments(x: Any, axis: int) -> tuple[Any, Any]:
    mean = _mean(x, axis)
    centered = ops.sub(x, _along(mean, x, axis))
    return mean, _mean(ops.mul(centered, centered), axis)


def _normalized(x: Any, mean: Any, variance: Any, axis: int, epsilon: float) -> Any:
    scale = ops.rsqrt(ops.add(variance, ops.full_like(variance, np.asarray(epsilon, variance.dtype))))
    return ops.mul(ops.sub(x, _along(mean, x, axis)), _along(scale, x, axis))


def _batch_norm_inference(app: Application) -> Any:
    x, scale, offset, mean, variance = app.arrays
    axis = app.attribute("feature_index")
    normal = _normalized(x, mean, variance, axis, app.attribute("epsilon"))
    return ops.add(ops.mul(normal, _along(scale, x, axis)), _along(offset, x, axis))


def _batch_norm_training(app: Application) -> Any:
    x, scale, offset = _wide(app)
    axis = app.attribute("feature_index")
    mean, variance = _moments(x, axis)
    normal = _normalized(x, mean, variance, axis, app.attribute("epsilon"))
    result = ops.add(ops.mul(normal, _along(scale, x, axis)), _along(offset, x, axis))
    return [as_value(v, app.dtype) for v in (result, mean, variance)]


def _wide(app: Application) -> list[Any]:
    """Operands, those of halves as float32: statistics of many of them have sums that are no halves."""
    return [as_value(x, np.float32) if x.dtype.itemsize == 2 else x for x in app.arrays]


def _batch_norm_grad(app: Application) -> Any:
    x, scale, mean, variance, cotangent = _wide(app)
    axis = app.attribute("feature_index")
    normal = _normalized(x, mean, variance, axis, app.attribute("epsilon"))
    grad_scale = ops.reduce_sum(ops.mul(cotangent, normal), axes=_others(x, axis))
    grad_offset = ops.reduce_sum(cotangent, axes=_others(x, axis))
    deviation = ops.rsqrt(
        ops.add(variance, ops.full_like(variance, np.asarray(app.attribute("epsilon"), x.dtype)))
    )
    along_mean = _along(_mean(cotangent, axis), x, axis)
    along_normal = ops.mul(normal, _along(_mean(ops.mul(cotangent, normal), axis), x, axis))
    centered = ops.sub(ops.sub(cotangent, along_mean), along_normal)
    grad_x = ops.mul(centered, _along(ops.mul(scale, deviation), x, axis))
    return [as_value(v, app.dtype) for v in (grad_x, grad_scale, grad_offset)]


def _fft(app: Application) -> Any:
    return as_value(fft(app.array(), app.attribute("fft_type"), app.ints("fft_length")), app.dtype)


RULES: Final[dict[str, Rule]] = {
    "chlo.ragged_dot": _ragged_dot,
    "stablehlo.batch_norm_grad": _batch_norm_grad,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.batch_norm_training": _batch_norm_training,
    "stablehlo.convolution": _convolution,
    "stablehlo.dot": _dot,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.dynamic_conv": _dynamic_conv,
    "stablehlo.einsum": _einsum,
    "stablehlo.unary_einsum": _einsum,
    "stablehlo.fft": _fft,
}
