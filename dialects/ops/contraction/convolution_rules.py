"""Convolution turned around and batched: its transposes are convolutions, and so is its batch.

The transpose in the image is a convolution of the cotangent with the flipped kernel, strides and image
dilation exchanged; the transpose in the kernel one of the image with the cotangent as kernel, strides and
kernel dilation exchanged. A batch goes into the batch axis of the image where only the image has one, into
the output features where only the kernel has one, and into feature groups where both have: one by one where
their number is not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...op import Linear
from ...protocols import Builder, Size, Value, Values
from ...types import TensorType
from ..common import merged_batch, split_batch
from .convolution_window import Convolution, Layout, dilated


def transposed_image(b: Builder, cotangent: Value, lhs: Linear, rhs: Value, attributes: Convolution) -> Value:
    """The cotangent of the image."""
    a, groups = attributes, attributes.group_count
    lhs_spec, rhs_spec, out_spec = a.lhs_spec, a.rhs_spec, a.out_spec
    if groups > 1:
        rhs = _exchange_groups(b, rhs, rhs_spec, groups)
    pads: list[tuple[Size, Size]] = []
    for k, axis in enumerate(lhs_spec[2:]):
        image = _dilated(b, lhs.sizes[axis], a.lhs_dilation[k])
        window = _dilated(b, b.sizes(rhs)[rhs_spec[2 + k]], a.rhs_dilation[k])
        out = _dilated(b, b.sizes(cotangent)[out_spec[2 + k]], a.window_strides[k])
        before = b.size_difference(window, a.padding[k][0] + 1)
        pads.append((before, b.size_difference(b.size_sum(image, a.padding[k][0]), out)))
    cotangent, known, dilation = _padded(b, cotangent, out_spec[2:], pads, a.window_strides)
    image = b.conv_general(
        cotangent,
        b.reverse(rhs, axes=rhs_spec[2:]) if len(rhs_spec) > 2 else rhs,
        window_strides=a.lhs_dilation,
        padding=known,
        lhs_dilation=dilation,
        rhs_dilation=a.rhs_dilation,
        lhs_spec=out_spec,
        rhs_spec=(rhs_spec[1], rhs_spec[0], *rhs_spec[2:]),
        out_spec=lhs_spec,
        feature_group_count=groups,
        batch_group_count=1,
    )
    if a.batch_group_count > 1:  # the groups came out side by side in the features and belong in the batch
        image = merged_batch(b, split_batch(b, image, lhs_spec[1], a.batch_group_count), lhs_spec[0])
    return _like(b, image, lhs)


def transposed_kernel(
    b: Builder, cotangent: Value, lhs: Value, rhs: Linear, attributes: Convolution
) -> Value:
    """The cotangent of the kernel: batch and features exchange their parts."""
    a, lhs_spec, rhs_spec, out_spec = (
        attributes,
        attributes.lhs_spec,
        attributes.rhs_spec,
        attributes.out_spec,
    )
    pads: list[tuple[Size, Size]] = []
    for k, axis in enumerate(lhs_spec[2:]):
        image = _dilated(b, b.sizes(lhs)[axis], a.lhs_dilation[k])
        window = _dilated(b, rhs.sizes[rhs_spec[2 + k]], a.rhs_dilation[k])
        out = _dilated(b, b.sizes(cotangent)[out_spec[2 + k]], a.window_strides[k])
        low = a.padding[k][0]
        pads.append((low, b.size_difference(b.size_sum(out, window), b.size_sum(image, low + 1))))
    lhs, known, dilation = _padded(b, lhs, lhs_spec[2:], pads, a.lhs_dilation)
    kernel = b.conv_general(
        lhs,
        cotangent,
        window_strides=a.rhs_dilation,
        padding=known,
        lhs_dilation=dilation,
        rhs_dilation=a.window_strides,
        lhs_spec=_exchanged(lhs_spec),
        rhs_spec=_exchanged(out_spec),
        out_spec=_exchanged(rhs_spec),
        feature_group_count=a.batch_group_count,
        batch_group_count=a.feature_group_count,
    )
    return _like(b, kernel, rhs)


def batched_convolution(
    b: Builder, size: Size, operands: Values, batched: Sequence[bool], attributes: Convolution
) -> Value:
    """One convolution for a batch of images, of kernels, or of both."""
    lhs, rhs = operands
    lhs_spec, rhs_spec, out_spec = attributes.lhs_spec, attributes.rhs_spec, attributes.out_spec
    feature_groups, batch_groups = attributes.feature_group_count, attributes.batch_group_count
    if batched[0] and batched[1]:
        if not isinstance(size, int) or size == 0:
            return _one_by_one(b, size, lhs, rhs, attributes)
        if batch_groups > 1:
            lhs = merged_batch(b, lhs, lhs_spec[0])
            grouped = attributes.replaced(batch_group_count=batch_groups * size)
        else:
            lhs = merged_batch(b, lhs, lhs_spec[1])
            grouped = attributes.replaced(feature_group_count=feature_groups * size)
        result = b.conv_general(lhs, merged_batch(b, rhs, rhs_spec[0]), **grouped.keywords)
        return split_batch(b, result, out_spec[1], size, inner=b.sizes(rhs)[1 + rhs_spec[0]])
    if batched[0]:
        result = b.conv_general(merged_batch(b, lhs, lhs_spec[0], batch_groups), rhs, **attributes.keywords)
        inner = b.size_quotient(b.sizes(lhs)[1 + lhs_spec[0]], batch_groups)
        return split_batch(b, result, out_spec[0], size, inner=inner)
    groups = attributes.group_count
    result = b.conv_general(lhs, merged_batch(b, rhs, rhs_spec[0], groups), **attributes.keywords)
    inner = b.size_quotient(b.sizes(rhs)[1 + rhs_spec[0]], groups)
    return split_batch(b, result, out_spec[1], size, groups, inner)


def _one_by_one(b: Builder, size: Size, lhs: Value, rhs: Value, attributes: Convolution) -> Value:
    """A batch that cannot be a number of groups: its size is 0, or known only when the program runs."""
    image, kernel = (b.tensor_type(x) for x in (lhs, rhs))
    image, kernel = (kind.with_shape(kind.shape[1:]) for kind in (image, kernel))
    one = b.functions.function(
        "convolution", [image, kernel], lambda c, xs: [c.conv_general(*xs, **attributes.keywords)]
    )
    (result,) = b.functions.types_of(one)
    assert isinstance(result, TensorType)
    (outputs,) = b.scan(
        lhs,
        rhs,
        body=one,
        constant_count=0,
        carry_count=0,
        length=(size,),
        reverse=False,
        results=(result.with_shape((size if isinstance(size, int) else None, *result.shape)),),
    )
    return outputs


def _exchange_groups(b: Builder, rhs: Value, rhs_spec: Layout, groups: int) -> Value:
    """The kernel with its groups moved from the output features to the input features."""
    return merged_batch(b, split_batch(b, rhs, rhs_spec[0], groups), rhs_spec[1])


def _exchanged(spec: Layout) -> Layout:
    return (spec[1], spec[0], *spec[2:])


def _padded(
    b: Builder,
    x: Value,
    axes: Layout,
    pads: list[tuple[Size, Size]],
    dilation: tuple[int, ...],
) -> tuple[Value, tuple[tuple[int, int], ...], tuple[int, ...]]:
    """`x`, the padding and the dilation with which a convolution takes it: along axes where the padding is
    known only when the program runs, `x` is dilated and padded beforehand."""
    rank = b.tensor_type(x).rank
    low: list[Size] = [0] * rank
    high: list[Size] = [0] * rank
    interior = [0] * rank
    known, remaining = [], []
    for axis, (before, after), step in zip(axes, pads, dilation, strict=True):
        if isinstance(before, int) and isinstance(after, int):
            known.append((before, after))
            remaining.append(step)
        else:
            low[axis], high[axis], interior[axis] = before, after, step - 1
            known.append((0, 0))
            remaining.append(1)
    if not all(isinstance(n, int) for n in (*low, *high)):
        x = b.pad(x, b.scalar(0, b.tensor_type(x).dtype), low=low, high=high, interior=interior)
    return x, tuple(known), tuple(remaining)


def _like(b: Builder, value: Value, operand: Linear) -> Value:
    """`value` with the sizes of `operand` stated where they are known and its own are not."""
    return value if b.tensor_type(value) == operand.type else b.reshape(value, shape=operand.sizes)


def _dilated(b: Builder, size: Size, dilation: int) -> Size:
    """The size of an axis after `dilation - 1` zeros are put between its elements."""
    if isinstance(size, int):
        return dilated(size, dilation)
    return b.size_greatest(b.size_sum(b.size_product(b.size_difference(size, 1), dilation), 1), 0)
