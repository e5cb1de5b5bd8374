"""Primitives that combine elements: reductions, running values, contraction, convolution, ordering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....dialects.types import as_dtype
from ...control.associative_scan import associative_scan
from ...errors import ArgumentError, ShapeError
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from .. import numpy as xp
from .padding import dilated, window_padding
from .scalar_operands import axes_of, axis_of


def _reduction(name: str) -> Any:
    def reduce(operand: Any, axes: Sequence[int]) -> Any:
        value = as_value(operand)
        return getattr(ops, name)(value, axes=tuple(sorted(axes_of(axes, value.ndim))))

    reduce.__name__ = name
    reduce.__doc__ = f"The primitive `{name}` over `axes`, which are removed."
    return reduce


def _running(name: str) -> Any:
    def running(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        value = as_value(operand)
        return getattr(ops, name)(value, axis=axis_of(axis, value.ndim), reverse=reverse)

    running.__name__ = name
    running.__doc__ = f"The primitive `{name}`: running values along `axis`, from its end with `reverse`."
    return running


reduce_sum = _reduction("reduce_sum")
reduce_prod = _reduction("reduce_prod")
reduce_max = _reduction("reduce_max")
reduce_min = _reduction("reduce_min")
reduce_and = _reduction("reduce_and")
reduce_or = _reduction("reduce_or")
cumsum = _running("cumsum")
cumprod = _running("cumprod")
cummax = _running("cummax")
cummin = _running("cummin")


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """`log(exp(x[0]) + ... + exp(x[i]))` along `axis`, from its end with `reverse`, without overflow."""
    value = as_value(operand)
    return associative_scan(xp.logaddexp, value, reverse, axis_of(axis, value.ndim))


def argmax(operand: Any, axis: int, index_dtype: Any = np.int32) -> Any:
    """The position of the first largest element along `axis`; NaN counts as largest."""
    value = as_value(operand)
    return ops.argmax(value, axis=axis_of(axis, value.ndim), index_dtype=as_dtype(index_dtype))


def argmin(operand: Any, axis: int, index_dtype: Any = np.int32) -> Any:
    """The position of the first smallest element along `axis`; NaN counts as smallest."""
    value = as_value(operand)
    return ops.argmin(value, axis=axis_of(axis, value.ndim), index_dtype=as_dtype(index_dtype))


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: tuple[Any, Any],
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Sum of products over contracting axes, for each index of the batch axes.

    `dimension_numbers` is `((lhs contracting, rhs contracting), (lhs batch, rhs batch))`. The result has the
    batch axes, then those of `lhs`, then those of `rhs`. `precision` has no effect: nothing is narrowed.
    """
    del precision
    left, right = as_value(lhs), as_value(rhs)
    (left_contracting, right_contracting), (left_batch, right_batch) = dimension_numbers
    dtype = left.dtype if preferred_element_type is None else as_dtype(preferred_element_type)
    return ops.dot_general(
        left,
        right,
        contracting=(tuple(left_contracting), tuple(right_contracting)),
        batch=(tuple(left_batch), tuple(right_batch)),
        dtype=dtype,
    )


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: tuple[Any, Any] | None = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Vector-vector, matrix-vector, vector-matrix or matrix-matrix product; with `dimension_numbers`,
    `dot_general`. `precision` has no effect."""
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


def conv_dimension_numbers(rank: int, dimension_numbers: Any) -> ConvDimensionNumbers:
    """From None (batch and feature first), names like `("NHWC", "HWIO", "NHWC")`, or ready-made."""
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if dimension_numbers is None:
        order = tuple(range(rank))
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
    `preferred_element_type` where it is given; `precision` has no effect: nothing is narrowed.
    """
    del precision
    dtype = None if preferred_element_type is None else as_dtype(preferred_element_type)
    left, right = as_value(lhs, dtype), as_value(rhs, dtype)
    numbers = conv_dimension_numbers(left.ndim, dimension_numbers)
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


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sorted along an axis, ascending, NaN last; of several arrays the first `num_keys` are compared."""
    several = isinstance(operand, (tuple, list))
    values = [as_value(x) for x in (operand if several else (operand,))]
    axis = axis_of(dimension, values[0].ndim, "dimension")
    found = ops.sort(*values, axis=axis, num_keys=num_keys, is_stable=is_stable)
    return found if several else found[0]


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The `k` largest along an axis, largest first, and their positions (int32)."""
    value = as_value(operand)
    place, last = axis_of(axis, value.ndim), value.ndim - 1
    values, indices = ops.top_k(xp.swapaxes(value, place, last), k=k)
    return xp.swapaxes(values, place, last), xp.swapaxes(indices, place, last)


def random_bits(key: Any, bit_width: int, shape: Sequence[Any]) -> Any:
    """Random bits by Threefry-2x32 from a key of two uint32: unsigned integers of `bit_width`."""
    return ops.random_bits(as_value(key, np.uint32), shape=tuple(shape), width=bit_width)


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


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """`keys` sorted along an axis, and `values` in the same order."""
    found = sort((keys, values), dimension, is_stable, num_keys=1)
    return found[0], found[1]
