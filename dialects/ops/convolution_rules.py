"""Convolution turned around and batched: its transposes are convolutions, and so is its batch.

The transpose in the image is a convolution of the cotangent with the flipped kernel, strides and image
dilation exchanged; the transpose in the kernel one of the image with the cotangent as kernel, strides and
kernel dilation exchanged. A batch goes into the batch axis of the image where only the image has one, into
the output features where only the kernel has one, and into feature groups where both have.
"""

from __future__ import annotations

from typing import Any

from ..declaration import Linear
from ..errors import MissingRuleError
from .convolution_window import Layout, dilated
from .rules import merged_batch, split_batch


def transposed_image(
    b: Any,
    cotangent: Any,
    lhs: Linear,
    rhs: Any,
    *,
    window_strides: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    lhs_dilation: tuple[int, ...],
    rhs_dilation: tuple[int, ...],
    lhs_spec: Layout,
    rhs_spec: Layout,
    out_spec: Layout,
    feature_group_count: int,
    batch_group_count: int,
) -> Any:
    """The cotangent of the image."""
    groups = feature_group_count * batch_group_count
    if groups > 1:
        rhs = _exchange_groups(b, rhs, rhs_spec, groups)
    pads = []
    for k, axis in enumerate(lhs_spec[2:]):
        image = dilated(_static(lhs.sizes[axis]), lhs_dilation[k])
        window = dilated(_static(b.sizes(rhs)[rhs_spec[2 + k]]), rhs_dilation[k])
        out = dilated(_static(b.sizes(cotangent)[out_spec[2 + k]]), window_strides[k])
        before = window - padding[k][0] - 1
        pads.append((before, image + window - 1 - out - before))
    found = b.conv_general(
        cotangent,
        b.reverse(rhs, axes=rhs_spec[2:]) if len(rhs_spec) > 2 else rhs,
        window_strides=lhs_dilation,
        padding=tuple(pads),
        lhs_dilation=window_strides,
        rhs_dilation=rhs_dilation,
        lhs_spec=out_spec,
        rhs_spec=(rhs_spec[1], rhs_spec[0], *rhs_spec[2:]),
        out_spec=lhs_spec,
        feature_group_count=groups,
        batch_group_count=1,
    )
    if batch_group_count > 1:  # the groups came out side by side in the features and belong in the batch
        found = merged_batch(b, split_batch(b, found, lhs_spec[1], batch_group_count), lhs_spec[0])
    return found


def transposed_kernel(
    b: Any,
    cotangent: Any,
    lhs: Any,
    rhs: Linear,
    *,
    window_strides: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    lhs_dilation: tuple[int, ...],
    rhs_dilation: tuple[int, ...],
    lhs_spec: Layout,
    rhs_spec: Layout,
    out_spec: Layout,
    feature_group_count: int,
    batch_group_count: int,
) -> Any:
    """The cotangent of the kernel: batch and features exchange their parts."""
    pads = []
    for k, axis in enumerate(lhs_spec[2:]):
        image = dilated(_static(b.sizes(lhs)[axis]), lhs_dilation[k])
        window = dilated(_static(rhs.sizes[rhs_spec[2 + k]]), rhs_dilation[k])
        out = dilated(_static(b.sizes(cotangent)[out_spec[2 + k]]), window_strides[k])
        low = padding[k][0]
        pads.append((low, out - image + window - low - 1))
    return b.conv_general(
        lhs,
        cotangent,
        window_strides=rhs_dilation,
        padding=tuple(pads),
        lhs_dilation=lhs_dilation,
        rhs_dilation=window_strides,
        lhs_spec=_exchanged(lhs_spec),
        rhs_spec=_exchanged(out_spec),
        out_spec=_exchanged(rhs_spec),
        feature_group_count=batch_group_count,
        batch_group_count=feature_group_count,
    )


def batched_convolution(b: Any, size: Any, operands: Any, batched: Any, **given: Any) -> Any:
    """One convolution for a batch of images, of kernels, or of both."""
    lhs, rhs = operands
    lhs_spec, rhs_spec, out_spec = given["lhs_spec"], given["rhs_spec"], given["out_spec"]
    feature_groups, batch_groups = given["feature_group_count"], given["batch_group_count"]
    if batched[0] and batched[1]:
        if batch_groups > 1:
            lhs = merged_batch(b, lhs, lhs_spec[0])
            given["batch_group_count"] = batch_groups * _static(size)
        else:
            lhs = merged_batch(b, lhs, lhs_spec[1])
            given["feature_group_count"] = feature_groups * _static(size)
        found = b.conv_general(lhs, merged_batch(b, rhs, rhs_spec[0]), **given)
        return split_batch(b, found, out_spec[1], size)
    if batched[0]:
        found = b.conv_general(merged_batch(b, lhs, lhs_spec[0], batch_groups), rhs, **given)
        return _batch_out(b, found, out_spec[0], size)
    groups = feature_groups * batch_groups
    found = b.conv_general(lhs, merged_batch(b, rhs, rhs_spec[0], groups), **given)
    return split_batch(b, found, out_spec[1], size, groups)


def _batch_out(b: Any, found: Any, axis: int, size: Any) -> Any:
    """The batch of images taken out of the batch axis again; either may be dynamic."""
    shape = list(b.sizes(found))
    if isinstance(size, int) and isinstance(shape[axis], int):
        return split_batch(b, found, axis, size)
    inner = b.size_div(_size(b, shape[axis]), _size(b, size))
    split = b.reshape(found, shape=(*shape[:axis], size, inner, *shape[axis + 1 :]))
    return b.transpose(split, permutation=(axis, *(a for a in range(len(shape) + 1) if a != axis)))


def _size(b: Any, n: Any) -> Any:
    return b.size_constant(value=n) if isinstance(n, int) else n


def _exchange_groups(b: Any, rhs: Any, rhs_spec: Layout, groups: int) -> Any:
    """The kernel with its groups moved from the output features to the input features."""
    return merged_batch(b, split_batch(b, rhs, rhs_spec[0], groups), rhs_spec[1])


def _exchanged(spec: Layout) -> Layout:
    return (spec[1], spec[0], *spec[2:])


def _static(size: Any) -> int:
    if not isinstance(size, int):
        raise MissingRuleError(
            "a convolution over spatial axes of dynamic size cannot be transposed or grouped"
        )
    return size
