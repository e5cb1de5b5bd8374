"""Patches of images, and convolutions whose kernel differs from place to place.

Input: an array with axes of batch, features and space. Output: each window of it as features (a convolution
with a kernel of ones and zeros), or the products of the windows with a kernel of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...tracing.interpreter import as_value
from .. import numpy as xp
from ..numpy.arguments import static_size
from .contractions import conv_dimension_numbers, conv_general_dilated, dot_general


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The elements of each window of `filter_shape` as features: feature major, then the window's axes.

    Strides, padding, dilations and layouts as in `conv_general_dilated`.
    """
    value = as_value(lhs)
    rank = value.ndim
    numbers = conv_dimension_numbers(value.shape, (0,) * rank, dimension_numbers)
    features = static_size("conv_general_dilated_patches", value.shape[numbers.lhs_spec[1]], "features")
    window = tuple(filter_shape)
    count = int(np.prod(window))
    kernel = np.eye(count).reshape(count, 1, *window)
    kernel = np.tile(kernel, (features, *[1] * (rank - 1)))
    # The kernel in the layout that is asked for: its axes are output, input, space.
    placed = xp.moveaxis(xp.asarray(kernel.astype(value.dtype)), tuple(range(rank)), numbers.rhs_spec)
    return conv_general_dilated(
        value,
        placed,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        numbers,
        feature_group_count=features,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Any:
    """A convolution whose kernel has axes of space of its own: `rhs` has the output features, then the
    elements of a window (as `conv_general_dilated_patches` orders them), and the sizes of the result."""
    value, kernel = as_value(lhs), as_value(rhs)
    numbers = conv_dimension_numbers(value.shape, (0,) * value.ndim, dimension_numbers)
    patches = conv_general_dilated_patches(
        value, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, numbers
    )
    space_left, space_right = numbers.out_spec[2:], numbers.rhs_spec[2:]
    products = dot_general(
        kernel,
        patches,
        (((numbers.rhs_spec[1],), (numbers.out_spec[1],)), (space_right, space_left)),
        precision,
    )
    # The product has space, output features, batch.
    rank = products.ndim
    order = [rank - 1, rank - 2, *range(rank - 2)]
    result = xp.transpose(products, order)
    return xp.moveaxis(result, tuple(range(rank)), numbers.out_spec)
