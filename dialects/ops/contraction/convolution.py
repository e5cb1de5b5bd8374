"""Convolution: a window of weights moved over an image of any number of spatial axes.

One op, `conv_general`, with the conventions of `jax.lax.conv_general_dilated`: cross-correlation, with
strides, padding (negative: cropping), dilation of either operand, feature and batch groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ...factors import Factors, undivided
from ...op import Linear, Op, Operand, element_count, require, require_same_dtype
from ...protocols import Batched, Builder, Cotangents, Size, Tangent, Tangents, Value, Values
from ...types import NUMBERS, Dimension, TensorType, same_dimension
from ..elementwise.family import total
from ..reduction import accumulation_dtype
from .convolution_rules import batched_convolution, transposed_image, transposed_kernel
from .convolution_window import Convolution, Layout, Window, dilated, output_size


class ConvGeneral(Op):
    """``z[n, f, p] = sum_{c, w} x[n, c, p * stride + w * dilation - padding] * k[f, c, w]``.

    `lhs_spec` names the axes of the image: batch, feature, then the spatial ones; `rhs_spec` those of the
    kernel: output feature, input feature, spatial; `out_spec` those of the result, like `lhs_spec`.
    With `feature_group_count` groups, output features of group `g` see only input features of group `g`;
    with `batch_group_count`, output features of group `g` are made from batch group `g`.
    """

    name = "conv_general"
    is_contraction = True
    operands = (Operand("lhs", NUMBERS), Operand("rhs", NUMBERS))
    record = Convolution

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, *, attributes: Convolution) -> TensorType:
        dtype = require_same_dtype("conv_general", lhs, rhs)
        _require_layouts(lhs, rhs, attributes.lhs_spec, attributes.rhs_spec, attributes.out_spec)
        window, spatial = attributes.window, lhs.rank - 2
        for word, entries in (
            ("window_strides", window.window_strides),
            ("padding", window.padding),
            ("lhs_dilation", window.lhs_dilation),
            ("rhs_dilation", window.rhs_dilation),
        ):
            require(
                len(entries) == spatial,
                f"conv_general: {word} must have an entry for each of the {spatial} spatial axes, "
                f"got {entries}",
            )
        for word, entries in (
            ("window_strides", window.window_strides),
            ("lhs_dilation", window.lhs_dilation),
            ("rhs_dilation", window.rhs_dilation),
            ("group counts", (attributes.feature_group_count, attributes.batch_group_count)),
        ):
            require(min(entries, default=1) > 0, f"conv_general: {word} must be positive, got {entries}")
        require(
            all(len(p) == 2 for p in window.padding),
            f"conv_general: padding must be pairs, got {window.padding}",
        )
        batch, features, *image = (lhs.shape[a] for a in attributes.lhs_spec)
        out_features, in_features, *kernel = (rhs.shape[a] for a in attributes.rhs_spec)
        _require_groups((lhs, rhs), batch, features, in_features, out_features, attributes)
        positions = [
            _positions(n, m, window, axis) for axis, (n, m) in enumerate(zip(image, kernel, strict=True))
        ]
        sizes = (_quotient(batch, attributes.batch_group_count), out_features, *positions)
        shape: list[Dimension] = [None] * lhs.rank
        for axis, n in zip(attributes.out_spec, sizes, strict=True):
            shape[axis] = n
        return TensorType(tuple(shape), dtype)

    @classmethod
    def flops(
        cls, operands: Sequence[TensorType], results: Sequence[TensorType], attributes: Mapping[str, object]
    ) -> int:
        """One multiplication and one addition for each element of the result and weight of its window."""
        features = operands[1].static_shape[Convolution.of(attributes).rhs_spec[0]] or 1
        return 2 * element_count(results[0]) * (element_count(operands[1]) // max(features, 1))

    @classmethod
    def reuses_operands(cls, arrays: Sequence[TensorType], attributes: Mapping[str, object]) -> bool:
        """Each weight is used at all positions."""
        return True

    @staticmethod
    def factors(lhs: TensorType, rhs: TensorType, *, attributes: Convolution) -> Factors:
        """Along the batch and the features, of which ranks add up those of the image; not within groups."""
        y = ConvGeneral.infer(lhs, rhs, **attributes.keywords)
        factors = undivided((lhs, rhs), (y,))
        if attributes.group_count > 1:
            return factors
        image, kernel, result = attributes.lhs_spec, attributes.rhs_spec, attributes.out_spec
        (left, right), (out,) = factors.operands, factors.results
        left[image[0]] = out[result[0]] = (factors.free(lhs.static_shape[image[0]]),)
        right[kernel[0]] = out[result[1]] = (factors.free(rhs.static_shape[kernel[0]]),)
        left[image[1]] = right[kernel[1]] = (factors.combined(lhs.static_shape[image[1]]),)
        return factors

    @staticmethod
    def evaluate(lhs: np.ndarray, rhs: np.ndarray, *, attributes: Convolution) -> np.ndarray:
        carried = accumulation_dtype(lhs.dtype)
        image = np.moveaxis(np.transpose(lhs, attributes.lhs_spec).astype(carried, copy=False), 1, -1)
        kernel = np.transpose(rhs, attributes.rhs_spec).astype(carried, copy=False)
        window = attributes.window
        image = _spread_and_pad(image, window)
        if attributes.batch_group_count > 1:
            images = np.split(image, attributes.batch_group_count, 0)
        else:
            images = np.split(image, attributes.feature_group_count, -1)
        kernels = np.split(kernel, attributes.group_count, 0)
        between = None if np.isfinite(kernel).all() else _between(image.shape[1:-1], window)
        parts = [
            _correlate(part, weights, window, between) for part, weights in zip(images, kernels, strict=True)
        ]
        result = np.moveaxis(np.concatenate(parts, -1), -1, 1)
        return np.ascontiguousarray(np.transpose(result, np.argsort(attributes.out_spec)).astype(lhs.dtype))

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value, *, attributes: Convolution
    ) -> Tangents:
        (x, y), (dx, dy) = primals, tangents
        left = None if dx is None else b.conv_general(dx, y, **attributes.keywords)
        return total(b, left, None if dy is None else b.conv_general(x, dy, **attributes.keywords))

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Convolution) -> Cotangents:
        lhs, rhs = operands
        if isinstance(lhs, Linear):
            return [transposed_image(b, cotangent, lhs, rhs, attributes), None]
        assert isinstance(rhs, Linear)
        return [None, transposed_kernel(b, cotangent, lhs, rhs, attributes)]

    @staticmethod
    def batch(
        b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, attributes: Convolution
    ) -> Batched:
        return [batched_convolution(b, size, operands, batched, attributes)], [True]


def _positions(size: Dimension, kernel: Dimension, window: Window, axis: int) -> Dimension:
    """How many positions the window has, None where that is not known."""
    if not isinstance(kernel, int) or size is None:
        return None
    return output_size(size, kernel, *_along(window, axis))


def _quotient(size: Dimension, groups: int) -> Dimension:
    """The size of a group, None where it is not known."""
    if groups == 1:
        return size
    return size // groups if isinstance(size, int) else None


def _along(window: Window, axis: int) -> tuple[int, tuple[int, int], tuple[int, int]]:
    """Stride, padding and dilations of one spatial axis, as `output_size` takes them."""
    low, high = window.padding[axis]
    return (
        window.window_strides[axis],
        (low, high),
        (window.lhs_dilation[axis], window.rhs_dilation[axis]),
    )


def _require_layouts(lhs: TensorType, rhs: TensorType, *specs: Layout) -> None:
    require(
        lhs.rank == rhs.rank and lhs.rank >= 2,
        f"conv_general: image and kernel must have the same rank of at least 2, got {lhs} and {rhs}",
    )
    for word, spec in zip(("lhs_spec", "rhs_spec", "out_spec"), specs, strict=True):
        require(
            sorted(spec) == list(range(lhs.rank)),
            f"conv_general: {word} must name each of the {lhs.rank} axes once, got {spec}",
        )


def _require_groups(
    types: tuple[TensorType, TensorType],
    batch: Dimension,
    features: Dimension,
    in_features: Dimension,
    out_features: Dimension,
    attributes: Convolution,
) -> None:
    feature_groups, batch_groups = attributes.feature_group_count, attributes.batch_group_count
    shown = f"{types[0]} and {types[1]}"
    require(
        feature_groups == 1 or batch_groups == 1,
        "conv_general: only one of feature_group_count and batch_group_count may exceed 1",
    )
    require(
        not isinstance(features, int) or features % feature_groups == 0,
        f"conv_general: feature_group_count {feature_groups} does not divide the features of {shown}",
    )
    require(
        same_dimension(_quotient(features, feature_groups), in_features),
        f"conv_general: the image has {features} features in {feature_groups} groups, "
        f"the kernel expects {in_features} a group: {shown}",
    )
    require(
        not isinstance(out_features, int) or out_features % (feature_groups * batch_groups) == 0,
        f"conv_general: the groups do not divide the {out_features} output features of {shown}",
    )
    require(
        not isinstance(batch, int) or batch % batch_groups == 0,
        f"conv_general: batch_group_count {batch_groups} does not divide the batch of {shown}",
    )


def _spread_and_pad(image: np.ndarray, window: Window) -> np.ndarray:
    """The image (batch, spatial, feature) dilated, then padded or cropped."""
    spread = [dilated(n, d) for n, d in zip(image.shape[1:-1], window.lhs_dilation, strict=True)]
    wide = np.zeros((image.shape[0], *spread, image.shape[-1]), image.dtype)
    wide[(slice(None), *(slice(None, None, d) for d in window.lhs_dilation))] = image
    grown = [(0, 0), *((max(low, 0), max(high, 0)) for low, high in window.padding), (0, 0)]
    wide = np.pad(wide, grown)
    kept = [
        slice(max(-low, 0), max(n - max(-high, 0), 0))
        for n, (low, high) in zip(wide.shape[1:-1], window.padding, strict=True)
    ]
    return wide[(slice(None), *kept)]


def _between(sizes: Sequence[int], window: Window) -> np.ndarray | None:
    """Where a padded image has no phase's elements: zeros that no product has (see `Window.has_phases`)."""
    if not window.has_phases:
        return None
    between: np.ndarray = np.zeros((1, *sizes, 1), bool)
    for axis, (n, (low, _), d) in enumerate(zip(sizes, window.padding, window.lhs_dilation, strict=True), 1):
        apart = (np.arange(n) - low) % d != 0
        between |= np.expand_dims(apart, [a for a in range(between.ndim) if a != axis])
    return between


def _correlate(
    image: np.ndarray, kernel: np.ndarray, window: Window, between: np.ndarray | None
) -> np.ndarray:
    """Sum, over the positions of the kernel, of matrix products with shifted images.

    The zeros `between` the elements of a dilated image are no part of it, even under an infinite weight.
    """
    sizes = [
        output_size(n, m, stride, (0, 0), (1, d))
        for n, m, stride, d in zip(
            image.shape[1:-1], kernel.shape[2:], window.window_strides, window.rhs_dilation, strict=True
        )
    ]
    total = np.zeros((image.shape[0], *sizes, kernel.shape[0]), image.dtype)
    for at in product(*map(range, kernel.shape[2:])):
        shifted = tuple(
            slice(i * d, i * d + (n - 1) * stride + 1, stride) if n else slice(0, 0)
            for i, d, n, stride in zip(at, window.rhs_dilation, sizes, window.window_strides, strict=True)
        )
        with np.errstate(all="ignore"):
            here: Any = (..., *at)
            part = np.matmul(image[(slice(None), *shifted)], kernel[here].T)
            total += part if between is None else np.where(between[(slice(None), *shifted)], 0, part)
    return total
