"""Shapes of convolutions and windows without computing them, and the layouts that they name.

Input: shapes, strides and paddings. Output: tuples of sizes, under the names of `jax.lax`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import numpy as xp
from ..numpy.arguments import argument_error, shape_error
from .contractions import conv_dimension_numbers
from .padding import dilated, window_padding

Shape = Sequence[int]


def conv_general_permutations(
    dimension_numbers: Any,
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The permutations of the left side, the kernel and the result to batch (output), feature, space."""
    rank = len(dimension_numbers[0])
    numbers = conv_dimension_numbers((0,) * rank, (0,) * rank, dimension_numbers)
    return numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec


def conv_shape_tuple(
    lhs_shape: Shape, rhs_shape: Shape, strides: Shape, pads: Any, batch_group_count: int = 1
) -> tuple[int, ...]:
    """The shape of a convolution in the layout batch, feature, space."""
    sizes, reaches = tuple(lhs_shape[2:]), tuple(rhs_shape[2:])
    if isinstance(pads, str):
        pads = window_padding("conv_shape_tuple", pads, sizes, reaches, strides)
    if len(pads) != len(sizes):
        raise shape_error(f"conv_shape_tuple: {len(pads)} paddings for {len(sizes)} axes of space")
    if lhs_shape[0] % batch_group_count:
        raise shape_error(
            f"conv_shape_tuple: a batch of {lhs_shape[0]} does not divide into {batch_group_count} groups"
        )
    space = _windows(sizes, reaches, strides, pads)
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *space)


def conv_general_shape_tuple(
    lhs_shape: Shape, rhs_shape: Shape, window_strides: Shape, padding: Any, dimension_numbers: Any
) -> tuple[int, ...]:
    """The shape of a convolution in the layouts of `dimension_numbers`."""
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    plain = conv_shape_tuple(
        [lhs_shape[a] for a in lhs], [rhs_shape[a] for a in rhs], window_strides, padding
    )
    return _placed(plain, out)


def conv_transpose_shape_tuple(
    lhs_shape: Shape, rhs_shape: Shape, window_strides: Shape, padding: Any, dimension_numbers: Any
) -> tuple[int, ...]:
    """The shape of a transposed convolution in the layouts of `dimension_numbers`."""
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    left, right = [lhs_shape[a] for a in lhs], [rhs_shape[a] for a in rhs]
    if isinstance(padding, str):
        padding = [_transposed(padding, k, s) for k, s in zip(right[2:], window_strides, strict=True)]
    space = [
        (n - 1) * s + 1 + sum(pair) - k + 1
        for n, k, s, pair in zip(left[2:], right[2:], window_strides, padding, strict=True)
    ]
    return _placed((left[0], right[0], *(max(n, 0) for n in space)), out)


def _transposed(padding: str, reach: int, stride: int) -> tuple[int, int]:
    if padding == "SAME":
        total = reach + stride - 2
        before = reach - 1 if stride > reach - 1 else -(-total // 2)
        return before, total - before
    if padding == "VALID":
        return reach - 1, reach - 1 + max(stride - reach, 0)
    raise argument_error(f"conv_transpose_shape_tuple: padding is {padding!r}, expected 'SAME' or 'VALID'")


def reduce_window_shape_tuple(
    operand_shape: Shape,
    window_dimensions: Shape,
    window_strides: Shape,
    padding: Any,
    base_dilation: Shape | None = None,
    window_dilation: Shape | None = None,
) -> tuple[int, ...]:
    """The shape that windows over an array have; `padding` as pairs, or a name."""
    rank = len(operand_shape)
    base, window = base_dilation or (1,) * rank, window_dilation or (1,) * rank
    sizes = [dilated(n, d) for n, d in zip(operand_shape, base, strict=True)]
    reaches = [dilated(n, d) for n, d in zip(window_dimensions, window, strict=True)]
    if isinstance(padding, str):
        padding = window_padding("reduce_window_shape_tuple", padding, sizes, reaches, window_strides)
    return _windows(sizes, reaches, window_strides, padding)


def _windows(sizes: Shape, reaches: Shape, strides: Shape, pads: Any) -> tuple[int, ...]:
    return tuple(
        max((n + low + high - reach) // stride + 1, 0)
        for n, reach, stride, (low, high) in zip(sizes, reaches, strides, pads, strict=True)
    )


def _placed(plain: Shape, spec: Shape) -> tuple[int, ...]:
    result = [0] * len(plain)
    for size, axis in zip(plain, spec, strict=True):
        result[axis] = size
    return tuple(result)


def shape_as_value(shape: Shape) -> Any:
    """A shape as a vector of int32; dynamic sizes too."""
    return xp.asarray(shape) if not len(shape) else xp.stack([xp.asarray(n) for n in shape])
