"""Products of arrays and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.dataclass import dataclass
from ....dialects.types import BOOL, FLOAT32, INEXACT, INT32, as_dtype
from ...errors import ArgumentError, ShapeError
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from .. import numpy as xp
from ..split_products import is_split, split_product
from .padding import dilated, window_padding


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: tuple[Any, Any],
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Sum of products over contracting axes, for each index of the batch axes.

    `dimension_numbers` is `((lhs contracting, rhs contracting), (lhs batch, rhs batch))`. The result has the
    batch axes, then those of `lhs`, then those of `rhs`. Nothing is narrowed, whatever `precision` says,
    but for "BF16_BF16_F32_X3" (`lax.DotAlgorithmPreset`): float32 is then three products of bfloat16.
    Booleans are multiplied with `and` and summed with `or`, or counted in `preferred_element_type`.
    """
    left, right = as_value(lhs), as_value(rhs)
    (left_contracting, right_contracting), (left_batch, right_batch) = dimension_numbers
    dtype = left.dtype if preferred_element_type is None else as_dtype(preferred_element_type)
    contracting = tuple(left_contracting), tuple(right_contracting)
    batch = tuple(left_batch), tuple(right_batch)
    if is_split(precision, left, right) and dtype == FLOAT32:
        return split_product(left, right, contracting, batch)
    if left.dtype == right.dtype == BOOL:
        summed = INT32 if dtype == BOOL else dtype
        left, right = (ops.convert(x, dtype=summed) for x in (left, right))
        product = ops.dot_general(left, right, contracting=contracting, batch=batch, dtype=summed)
        return ops.convert(product, dtype=dtype)
    return ops.dot_general(left, right, contracting=contracting, batch=batch, dtype=dtype)


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: tuple[Any, Any] | None = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Vector-vector, matrix-vector, vector-matrix or matrix-matrix product; with `dimension_numbers`,
    `dot_general`, also in what `precision` does."""
    left, right = as_value(lhs), as_value(rhs)
    if dimension_numbers is not None:
        return dot_general(left, right, dimension_numbers, precision, preferred_element_type)
    if left.ndim not in (1, 2) or right.ndim not in (1, 2):
        raise ShapeError(
            f"dot takes vectors and matrices, got {ops.type_of(left)} and {ops.type_of(right)}",
            where=user_location_text(),
        )
    contracting = (((left.ndim - 1,), (0,)), ((), ()))
    return dot_general(left, right, contracting, precision, preferred_element_type)


@dataclass(frozen=True)
class ConvDimensionNumbers:
    """For each of lhs, rhs and output: batch (output features) axis, feature axis, spatial axes."""

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


def conv_dimension_numbers(
    lhs_shape: Sequence[Any], rhs_shape: Sequence[Any], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """The layouts of arrays of these shapes: from None (batch and feature first), names like
    `("NHWC", "HWIO", "NHWC")`, or ready-made."""
    if len(lhs_shape) != len(rhs_shape):
        raise ShapeError(
            f"conv_dimension_numbers: shapes {tuple(lhs_shape)} and {tuple(rhs_shape)} differ in rank",
            where=user_location_text(),
        )
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if dimension_numbers is None:
        order = tuple(range(len(lhs_shape)))
        return ConvDimensionNumbers(order, order, order)
    try:
        lhs, rhs, out = dimension_numbers
        spatial = [c for c in lhs if c not in "NC"]
        return ConvDimensionNumbers(
            (lhs.index("N"), lhs.index("C"), *(lhs.index(c) for c in spatial)),
            (rhs.index("O"), rhs.index("I"), *(rhs.index(c) for c in spatial)),
            (out.index("N"), out.index("C"), *(out.index(c) for c in spatial)),
        )
    except (ValueError, TypeError, AttributeError):
        raise ArgumentError(
            f"dimension_numbers {dimension_numbers!r} cannot be read",
            where=user_location_text(),
            hint='write three layouts such as ("NHWC", "HWIO", "NHWC")',
        ) from None


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Convolution with strides, padding (`SAME`, `VALID` or pairs), both dilations and groups.

    As in deep learning, the window is not flipped. Layouts as in `conv_dimension_numbers`. Sums are of
    `preferred_element_type` where it is given; `precision` has no effect: nothing is narrowed. Floating
    operands of two dtypes are promoted: where NumPy's float64 met a float32 kernel, JAX had narrowed it.
    """
    del precision
    dtype = None if preferred_element_type is None else as_dtype(preferred_element_type)
    left, right = as_value(lhs, dtype), as_value(rhs, dtype)
    if dtype is None and left.dtype in INEXACT and right.dtype in INEXACT:
        wider = xp.result_type(left, right)
        left, right = xp.astype(left, wider), xp.astype(right, wider)
    numbers = conv_dimension_numbers(left.shape, right.shape, dimension_numbers)
    spatial = left.ndim - 2
    strides = tuple(window_strides)
    in_dilation = tuple(lhs_dilation) if lhs_dilation is not None else (1,) * spatial
    window_dilation = tuple(rhs_dilation) if rhs_dilation is not None else (1,) * spatial
    sizes = [dilated(left.shape[a], d) for a, d in zip(numbers.lhs_spec[2:], in_dilation, strict=True)]
    reaches = [dilated(right.shape[a], d) for a, d in zip(numbers.rhs_spec[2:], window_dilation, strict=True)]
    pads = window_padding("conv_general_dilated", padding, sizes, reaches, strides)
    return ops.conv_general(
        left,
        right,
        window_strides=strides,
        padding=pads,
        lhs_dilation=in_dilation,
        rhs_dilation=window_dilation,
        lhs_spec=numbers.lhs_spec,
        rhs_spec=numbers.rhs_spec,
        out_spec=numbers.out_spec,
        feature_group_count=feature_group_count,
        batch_group_count=batch_group_count,
    )


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Convolution in the layout batch, feature, space."""
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv` with both dilations."""
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Products of matrices in the last two axes, all axes before them equal."""
    left, right = as_value(lhs), as_value(rhs)
    if left.ndim < 2 or left.ndim != right.ndim:
        raise ShapeError(
            f"batch_matmul takes arrays of one rank, at least 2, got {ops.type_of(left)} and "
            f"{ops.type_of(right)}",
            where=user_location_text(),
        )
    batch = tuple(range(left.ndim - 2))
    return dot_general(left, right, (((left.ndim - 1,), (right.ndim - 2,)), (batch, batch)), precision)
