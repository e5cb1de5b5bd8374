"""Convolutions whose window is as large as the image and has few positions: the gradients of kernels.

Input: an image and a kernel in any layout, the image dilated and padded. Output: for each position of the
window the matrix of batch by features.
Idea: each is one product of matrices. IREE's named convolution would go through a window of thousands of
elements for each of them, 30 times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ....dialects import mlir
from ....dialects.ops.contraction.convolution_window import Layout, Window
from ..builder import Attribute, LinalgBuilder, Size, Value
from ..lowering import LoweringContext
from ..tuning import window_forms
from .contraction import Factor, grouped_product, matrix_product
from .reductions import reduce_axes
from .tensor_ops import (
    collapse_axes,
    convert_elements,
    drop_unit_axes,
    expand_axes,
    extract_slice,
    insert_slice,
    pad_tensor,
    parse_attribute,
    permute,
)


def permuted_copy(b: LinalgBuilder, x: Value, axes: Sequence[int]) -> Value:
    """`x` with its axes in this order, copied: IREE would read the original in the innermost loop."""
    permuted = permute(b, x, axes)
    return x if permuted is x else b.materialise(permuted)


def parts_of_batch(b: LinalgBuilder, x: Value, parts: int) -> list[Value]:
    """An array cut along its first axis, whose size is known where it is cut."""
    if parts == 1:
        return [x]
    shape = b.shape(x)
    assert isinstance(shape[0], int), "a batch with parts has a known size"
    count, ones = shape[0] // parts, [1] * len(shape)
    starts = [[part * count, *[0] * (len(shape) - 1)] for part in range(parts)]
    return [extract_slice(b, x, at, [count, *shape[1:]], ones) for at in starts]


def copied_elements(
    ctx: LoweringContext, x: Value, shape: Sequence[Size], where: Attribute, dtype: np.dtype
) -> Value:
    """An array of `shape` whose elements are those of `x` at the places of the affine map `where`."""
    b = ctx.builder
    rank = len(shape)
    tiles = parse_attribute(b, window_forms.copied_windows(ctx.target, shape))
    maps, kinds = [where, b.identity_map(rank)], ["parallel"] * rank
    return b.generic([x], [b.empty(shape, dtype)], maps, kinds, lambda element, _: element, tiles)


def product_at_each_position(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    lhs_spec: Layout,
    rhs_spec: Layout,
    positions: Sequence[int],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    """One matrix product for each place of a large window; the result is (places, batch, feature)."""
    b = ctx.builder
    features = b.shape(kernel)[rhs_spec[0]]
    shape = b.shape(image)
    batch, seen = shape[lhs_spec[0]], [shape[a] for a in lhs_spec[2:]]
    sizes = [b.shape(kernel)[a] for a in rhs_spec[2:]]
    spatial = len(positions)
    groups = [list(range(spatial)), [spatial], [spatial + 1]]
    summed = shape[lhs_spec[1]]
    parts = window_forms.copied_parts(ctx.target, (summed, *sizes, features), positions, batch, source)
    if parts is not None:
        product = _product_over_places(
            ctx, image, kernel, lhs_spec, rhs_spec, positions, window, source, carried, parts
        )
        return expand_axes(b, product, groups, [*positions, batch, features])
    if set(window.rhs_dilation) == {1} and window_forms.shifts_rows(
        positions, sizes, seen, shape[lhs_spec[1]], features
    ):
        result = _product_of_shifts(
            ctx, image, kernel, lhs_spec, rhs_spec, positions, window, source, carried
        )
    else:
        result = _product_of_slices(
            ctx, image, kernel, lhs_spec, rhs_spec, positions, window, source, carried
        )
    return expand_axes(b, result, groups, [*positions, batch, features])


def _product_over_places(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    lhs_spec: Layout,
    rhs_spec: Layout,
    positions: Sequence[int],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
    parts: int,
) -> Value:
    """One product for all places, whose sums go over all elements of the window; some images after others.

    What each element of the window meets at each place is copied to a row: for the gradient of a kernel, what
    the convolution itself has copied, so that both are one. The result is (places, batch, feature).
    """
    b = ctx.builder
    image = permuted_copy(b, image, (lhs_spec[1], *lhs_spec[2:], lhs_spec[0]))
    kernel = permuted_copy(b, kernel, (rhs_spec[1], *rhs_spec[2:], rhs_spec[0]))
    (_, *sizes, features), shape = b.shape(kernel), b.shape(image)
    spatial = len(positions)
    total: Value | None = None
    images, kernels = parts_of_batch(b, image, parts), parts_of_batch(b, kernel, parts)
    for seen, weights in zip(images, kernels, strict=True):
        count = b.shape(weights)[0]
        swapped = window._replace(window_strides=window.rhs_dilation, rhs_dilation=window.window_strides)
        rows = copied_windows(ctx, seen, [*positions, shape[-1]], [count, *sizes], swapped, source)
        rest = collapse_axes(b, weights, [list(range(spatial + 1)), [spatial + 1]])
        product = matrix_product(ctx, Factor(rows, "km"), Factor(rest, "kn"), source, carried)
        if total is not None:
            product = b.map_elements(carried, lambda s, _, x, y: s.add(carried, x, y), total, product)
        total = product
    assert total is not None
    whole = drop_unit_axes(b, total, [False, True, True])
    return expand_axes(b, whole, [[0, 1], [2]], [prod(positions), shape[-1], features])


def copied_windows(
    ctx: LoweringContext,
    image: Value,
    taps: Sequence[Size],
    positions: Sequence[Size],
    window: Window,
    dtype: np.dtype,
) -> Value:
    """The windows of an image, one a row: (batch and positions, taps and features).

    `positions`: how many there are, the batch first; `taps`: the sizes of the window, the features last.
    """
    b, ir = ctx.builder, mlir.ir
    outer = len(positions)
    loops = outer + len(taps)
    dims = [ir.AffineExpr.get_dim(a, b.context) for a in range(loops)]
    pixels = [dims[0]]
    for axis, (stride, dilation) in enumerate(zip(window.window_strides, window.rhs_dilation, strict=True)):
        pixels.append(dims[1 + axis] * stride + dims[outer + axis] * dilation)
    seen = ir.AffineMapAttr.get(ir.AffineMap.get(loops, 0, [*pixels, dims[-1]], b.context))
    copied = copied_elements(ctx, image, [*positions, *taps], seen, dtype)
    rows = collapse_axes(b, copied, [list(range(outer)), list(range(outer, loops))])
    return b.materialise(rows)


def _product_of_slices(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    lhs_spec: Layout,
    rhs_spec: Layout,
    positions: Sequence[int],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    """Products of what the window sees at each place, copied for it, with the kernel."""
    b = ctx.builder
    shape = b.shape(image)
    contracting = (lhs_spec[1:], rhs_spec[1:])
    batch, features = shape[lhs_spec[0]], b.shape(kernel)[rhs_spec[0]]
    places = list(np.ndindex(*positions))
    result = b.empty([len(places), batch, features], carried)
    for number, place in enumerate(places):
        offsets, sizes, strides = [0] * len(shape), list(shape), [1] * len(shape)
        for axis, own, at in zip(lhs_spec[2:], range(len(place)), place, strict=True):
            offsets[axis] = at * window.window_strides[own]
            sizes[axis] = b.shape(kernel)[rhs_spec[2 + own]]
            strides[axis] = window.rhs_dilation[own]
        seen = extract_slice(b, image, offsets, sizes, strides)
        product = grouped_product(ctx, seen, kernel, contracting, ((), ()), source, carried)
        result = insert_slice(b, product, result, [number, 0, 0], [1, 1, 1])
    return result


def _product_of_shifts(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    lhs_spec: Layout,
    rhs_spec: Layout,
    positions: Sequence[int],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    """The same without copies: products with the image read in order, from another start for each place.

    The kernel gets zeros until it is as large as the image; then both are read as vectors. Each
    feature that is summed over (of a gradient: each image of the batch) makes a product of its own,
    which occupies threads, and their sum comes last. Places of a very narrow image go side by side.
    """
    b = ctx.builder
    spatial = range(2, len(lhs_spec))
    seen = [b.shape(image)[lhs_spec[k]] for k in spatial]
    sizes = [b.shape(kernel)[rhs_spec[k]] for k in spatial]
    steps = [prod(seen[k + 1 :]) for k in range(len(seen))]
    length = 1 + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True))
    image, kernel = convert_elements(b, source, carried, image), convert_elements(b, source, carried, kernel)
    image = permuted_copy(b, image, (lhs_spec[1], *lhs_spec[2:], lhs_spec[0]))
    kernel = permuted_copy(b, kernel, (rhs_spec[1], *rhs_spec[2:], rhs_spec[0]))
    # Around the window, as the gradient of the image has it too.
    room = [n - m for n, m in zip(seen, sizes, strict=True)]
    low, high = [n // 2 for n in room], [n - n // 2 for n in room]
    kernel = pad_tensor(b, kernel, [0, *low, 0], [0, *high, 0], b.scalars.constant(carried, 0))
    groups = [[0], [k - 1 for k in spatial], [len(lhs_spec) - 1]]
    image, kernel = collapse_axes(b, image, groups), collapse_axes(b, kernel, groups)
    (summed, elements, batch), (_, _, features) = b.shape(image), b.shape(kernel)
    first = sum(n * step for n, step in zip(low, steps, strict=True))
    kernel = extract_slice(b, kernel, [0, first, 0], [summed, length, features], [1, 1, 1])
    strides = [stride * step for stride, step in zip(window.window_strides, steps, strict=True)]
    beside = window_forms.places_beside(batch, positions[-1])
    rows = batch if beside == 1 else beside * batch
    if beside > 1:
        elements -= strides[-1] * (beside - 1)
        wide = b.empty([summed, elements, rows], carried)
        for at in range(beside):
            part = extract_slice(b, image, [0, at * strides[-1], 0], [summed, elements, batch], [1, 1, 1])
            wide = insert_slice(b, part, wide, [0, 0, at * batch], [1, 1, 1])
        image = wide
    places = list(np.ndindex(*positions[:-1], positions[-1] // beside))
    partial = b.empty([len(places), summed, rows, features], carried)
    for number, place in enumerate(places):
        start = sum(at * stride for at, stride in zip(place, strides, strict=True))
        shifted = extract_slice(b, image, [0, start, 0], [summed, length, rows], [1, 1, 1])
        product = matrix_product(ctx, Factor(shifted, "bkm"), Factor(kernel, "bkn"), carried, carried)
        product = expand_axes(b, product, [[0, 1], [2], [3]], [1, *b.shape(product)])
        partial = insert_slice(b, product, partial, [number, 0, 0, 0], [1, 1, 1, 1])
    total = reduce_axes(ctx, "reduce_sum", partial, (1,), 0, carried, carried)
    if beside > 1:
        total = expand_axes(b, total, [[0], [1, 2], [3]], [len(places), beside, batch, features])
        total = collapse_axes(b, total, [[0, 1], [2], [3]])
    return total
