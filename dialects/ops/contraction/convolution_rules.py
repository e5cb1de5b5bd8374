"""Convolution turned around and batched: its transposes are convolutions, and so is its batch.

The transpose in the image is a convolution of the cotangent with the flipped kernel, strides and image
dilation exchanged; the transpose in the kernel one of the image with the cotangent as kernel, strides and
kernel dilation exchanged. A batch goes into the batch axis of the image where only the image has one, into
the output features where only the kernel has one, and into feature groups where both have: one by one where
their number is not known.
"""

from __future__ import annotations

from typing import Any

from ...op import Linear
from ..common import merged_batch, split_batch
from .convolution_window import Layout, dilated


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
        image = _dilated(b, lhs.sizes[axis], lhs_dilation[k])
        window = _dilated(b, b.sizes(rhs)[rhs_spec[2 + k]], rhs_dilation[k])
        out = _dilated(b, b.sizes(cotangent)[out_spec[2 + k]], window_strides[k])
        before = b.size_difference(window, padding[k][0] + 1)
        pads.append((before, b.size_difference(b.size_sum(image, padding[k][0]), out)))
    cotangent, known, dilation = _padded(b, cotangent, out_spec[2:], pads, window_strides)
    found = b.conv_general(
        cotangent,
        b.reverse(rhs, axes=rhs_spec[2:]) if len(rhs_spec) > 2 else rhs,
        window_strides=lhs_dilation,
        padding=known,
        lhs_dilation=dilation,
        rhs_dilation=rhs_dilation,
        lhs_spec=out_spec,
        rhs_spec=(rhs_spec[1], rhs_spec[0], *rhs_spec[2:]),
        out_spec=lhs_spec,
        feature_group_count=groups,
        batch_group_count=1,
    )
    if batch_group_count > 1:  # the groups came out side by side in the features and belong in the batch
        found = merged_batch(b, split_batch(b, found, lhs_spec[1], batch_group_count), lhs_spec[0])
    return _like(b, found, lhs)


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
        image = _dilated(b, b.sizes(lhs)[axis], lhs_dilation[k])
        window = _dilated(b, rhs.sizes[rhs_spec[2 + k]], rhs_dilation[k])
        out = _dilated(b, b.sizes(cotangent)[out_spec[2 + k]], window_strides[k])
        low = padding[k][0]
        pads.append((low, b.size_difference(b.size_sum(out, window), b.size_sum(image, low + 1))))
    lhs, known, dilation = _padded(b, lhs, lhs_spec[2:], pads, lhs_dilation)
    found = b.conv_general(
        lhs,
        cotangent,
        window_strides=rhs_dilation,
        padding=known,
        lhs_dilation=dilation,
        rhs_dilation=window_strides,
        lhs_spec=_exchanged(lhs_spec),
        rhs_spec=_exchanged(out_spec),
        out_spec=_exchanged(rhs_spec),
        feature_group_count=batch_group_count,
        batch_group_count=feature_group_count,
    )
    return _like(b, found, rhs)


def batched_convolution(b: Any, size: Any, operands: Any, batched: Any, **given: Any) -> Any:
    """One convolution for a batch of images, of kernels, or of both."""
    lhs, rhs = operands
    lhs_spec, rhs_spec, out_spec = given["lhs_spec"], given["rhs_spec"], given["out_spec"]
    feature_groups, batch_groups = given["feature_group_count"], given["batch_group_count"]
    if batched[0] and batched[1]:
        if not isinstance(size, int) or size == 0:
            return _one_by_one(b, size, lhs, rhs, given)
        if batch_groups > 1:
            lhs = merged_batch(b, lhs, lhs_spec[0])
            given["batch_group_count"] = batch_groups * size
        else:
            lhs = merged_batch(b, lhs, lhs_spec[1])
            given["feature_group_count"] = feature_groups * size
        found = b.conv_general(lhs, merged_batch(b, rhs, rhs_spec[0]), **given)
        return split_batch(b, found, out_spec[1], size, inner=b.sizes(rhs)[1 + rhs_spec[0]])
    if batched[0]:
        found = b.conv_general(merged_batch(b, lhs, lhs_spec[0], batch_groups), rhs, **given)
        inner = b.size_quotient(b.sizes(lhs)[1 + lhs_spec[0]], batch_groups)
        return split_batch(b, found, out_spec[0], size, inner=inner)
    groups = feature_groups * batch_groups
    found = b.conv_general(lhs, merged_batch(b, rhs, rhs_spec[0], groups), **given)
    inner = b.size_quotient(b.sizes(rhs)[1 + rhs_spec[0]], groups)
    return split_batch(b, found, out_spec[1], size, groups, inner)


def _one_by_one(b: Any, size: Any, lhs: Any, rhs: Any, given: dict[str, Any]) -> Any:
    """A batch that cannot be a number of groups: its size is 0, or known only when the program runs."""
    image, kernel = (b.tensor_type(x) for x in (lhs, rhs))
    image, kernel = (kind.with_shape(kind.shape[1:]) for kind in (image, kernel))
    one = b.functions.function("convolution", [image, kernel], lambda c, xs: [c.conv_general(*xs, **given)])
    (result,) = b.functions.types_of(one)
    (found,) = b.scan(
        lhs,
        rhs,
        body=one,
        constant_count=0,
        carry_count=0,
        length=(size,),
        reverse=False,
        results=(result.with_shape((size if isinstance(size, int) else None, *result.shape)),),
    )
    return found


def _exchange_groups(b: Any, rhs: Any, rhs_spec: Layout, groups: int) -> Any:
    """The kernel with its groups moved from the output features to the input features."""
    return merged_batch(b, split_batch(b, rhs, rhs_spec[0], groups), rhs_spec[1])


def _exchanged(spec: Layout) -> Layout:
    return (spec[1], spec[0], *spec[2:])


def _padded(
    b: Any,
    x: Any,
    axes: Layout,
    pads: list[tuple[Any, Any]],
    dilation: tuple[int, ...],
) -> tuple[Any, tuple[tuple[int, int], ...], tuple[int, ...]]:
    """`x`, the padding and the dilation with which a convolution takes it: along axes where the padding is
    known only when the program runs, `x` is dilated and padded beforehand."""
    moving = [k for k, pad in enumerate(pads) if not all(isinstance(n, int) for n in pad)]
    if moving:
        rank = b.tensor_type(x).rank
        low, high, interior = [0] * rank, [0] * rank, [0] * rank
        for k in moving:
            low[axes[k]], high[axes[k]] = pads[k]
            interior[axes[k]] = dilation[k] - 1
        zero = b.scalar(0, b.tensor_type(x).dtype)
        x = b.pad(x, zero, low=tuple(low), high=tuple(high), interior=tuple(interior))
    known = tuple((0, 0) if k in moving else pad for k, pad in enumerate(pads))
    return x, known, tuple(1 if k in moving else d for k, d in enumerate(dilation))


def _like(b: Any, found: Any, operand: Linear) -> Any:
    """`found` with the sizes of `operand` stated where they are known and its own are not."""
    return found if b.tensor_type(found) == operand.type else b.reshape(found, shape=operand.sizes)


def _dilated(b: Any, size: Any, dilation: int) -> Any:
    """The size of an axis after `dilation - 1` zeros are put between its elements."""
    if isinstance(size, int):
        return dilated(size, dilation)
    return b.size_greatest(b.size_sum(b.size_product(b.size_difference(size, 1), dilation), 1), 0)
