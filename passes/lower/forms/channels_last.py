"""Convolutions of channels-last operands: matrix products, IREE's named ops, generics.

Input: an image (batch, spatial, feature), dilated, padded and cropped, a kernel (spatial, in, out) and how
its window moves. Output: their convolution (batch, positions, feature), in the dtype of its sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.ops.contraction.convolution_window import Window
from ....dialects.types import COMPLEX
from ..builder import LinalgBuilder, Size, Value
from ..iree.strided_kernels import with_own_steps
from ..lowering import LoweringContext
from ..named_ops import convolved
from ..tuning import group_tiles, window_forms
from .contraction import Factor, is_one, matrix_product
from .large_windows import copied_windows, parts_of_batch, permuted_copy
from .products import window_product_by_kernel
from .tensor_ops import (
    collapse_axes,
    convert_elements,
    drop_unit_axes,
    expand_axes,
    extract_slice,
    insert_slice,
    parse_attribute,
    permute,
)

_NAMED: Final = {1: "conv_1d_nwc_wcf", 2: "conv_2d_nhwc_hwcf", 3: "conv_3d_ndhwc_dhwcf"}


def per_group(b: LinalgBuilder, n: Size, count: int) -> Size:
    """The size of each of `count` equal parts."""
    return n if count == 1 else b.calculate("size_div", n, count)


def ungrouped_convolution(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    sizes: Sequence[Size],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    b = ctx.builder
    spatial = len(sizes) - 2
    pointwise = all(is_one(n) for n in b.shape(kernel)[:-2])
    if pointwise and set(window.window_strides) <= {1}:
        rows = collapse_axes(b, image, [list(range(spatial + 1)), [spatial + 1]])
        weights = collapse_axes(b, kernel, [list(range(spatial + 1)), [spatial + 1]])
        product = matrix_product(ctx, Factor(rows, "mk"), Factor(weights, "kn"), source, carried)
        return _as_image(b, product, sizes)
    taps, channels = b.shape(kernel)[:-2], b.shape(kernel)[-2]
    parts = window_forms.window_parts(ctx.target, sizes, taps, channels, source)
    if parts is None:
        parts = group_tiles.window_parts(ctx.target, sizes, taps, channels, source)
    if parts is not None:
        return _product_over_windows(ctx, image, kernel, sizes, window, source, carried, parts)
    of_rows = window_product_by_kernel(ctx, image, kernel, sizes, window, (source, carried))
    if of_rows is not None:
        return of_rows
    if spatial in _NAMED and source not in COMPLEX:
        axis = _only_window_axis(sizes, b.shape(kernel)[:-2]) if spatial > 1 else None
        if axis is not None:
            return _convolve_along(ctx, axis, image, kernel, sizes, window, source, carried)
        return _named_convolution(ctx, image, kernel, sizes, window, source, carried)
    return _generic_convolution(b, image, kernel, sizes, window, source, carried)


def _product_over_windows(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    sizes: Sequence[Size],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
    parts: int,
) -> Value:
    """A matrix product of the window at each position, copied to a row, and the kernel; a part of the batch
    after the other."""
    b = ctx.builder
    axes = len(b.shape(kernel)) - 1
    weights = Factor(collapse_axes(b, kernel, [list(range(axes)), [axes]]), "kn")
    results = []
    for some in parts_of_batch(b, image, parts):
        count = b.shape(some)[0]
        windows = copied_windows(ctx, some, b.shape(kernel)[:-1], [count, *sizes[1:-1]], window, source)
        rows = Factor(windows, "mk")
        product = matrix_product(ctx, rows, weights, source, carried)
        results.append(_as_image(b, product, [count, *sizes[1:]]))
    if parts == 1:
        return results[0]
    whole = b.empty(sizes, carried)
    assert isinstance(count, int), "a batch with parts has a known size"
    for part, result in enumerate(results):
        whole = insert_slice(b, result, whole, [part * count, *[0] * (len(sizes) - 1)], [1] * len(sizes))
    return whole


def _as_image(b: LinalgBuilder, product: Value, sizes: Sequence[Size]) -> Value:
    product = drop_unit_axes(b, product, [False, True, True])
    return expand_axes(b, product, [list(range(len(sizes) - 1)), [len(sizes) - 1]], sizes)


def _only_window_axis(sizes: Sequence[Size], window: Sequence[Size]) -> int | None:
    """The spatial axis along which a window of known size is wider than 1, if there is one only."""
    if not all(isinstance(n, int) for n in (*sizes, *window)):
        return None
    wide = [k for k, n in enumerate(window) if n > 1]
    return wide[0] if len(wide) == 1 else None


def _convolve_along(
    ctx: LoweringContext,
    axis: int,
    image: Value,
    kernel: Value,
    sizes: Sequence[int],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    """A convolution along one axis: those after it are merged with it, which dilates the window.

    IREE drops the other axes of the window too, and has no vector code for what remains.
    """
    b = ctx.builder
    spatial, stride = len(sizes) - 2, window.window_strides[axis]
    steps = [1 if k == axis or sizes[1 + k] == 1 else s for k, s in enumerate(window.window_strides)]
    shape = b.shape(image)
    kept = [shape[1 + k] if k == axis else sizes[1 + k] for k in range(spatial)]
    image = extract_slice(b, image, [0] * len(shape), [shape[0], *kept, shape[-1]], [1, *steps, 1])
    beside = prod(sizes[axis + 2 : -1])
    if stride > 1 and beside > 1:
        order = [*(k for k in range(spatial + 1) if k != axis + 1), axis + 1, spatial + 1]
        image = permuted_copy(b, image, order)
        unit = (1,) * (spatial - 1)
        none = ((0, 0),) * spatial
        moved = Window((*unit, stride), none, (1,) * spatial, (*unit, window.rhs_dilation[axis]))
        moved_result = _convolve_along(
            ctx, spatial - 1, image, kernel, [sizes[k] for k in order], moved, source, carried
        )
        return permute(b, moved_result, [order.index(k) for k in range(spatial + 2)])
    groups = [list(range(axis + 1)), list(range(axis + 1, spatial + 1)), [spatial + 1]]
    rows = collapse_axes(b, image, groups)
    weights = collapse_axes(b, kernel, [list(range(spatial)), [spatial], [spatial + 1]])
    line = Window((stride,), ((0, 0),), (1,), (window.rhs_dilation[axis] * beside,))
    flat = (prod(sizes[: axis + 1]), sizes[axis + 1] * beside, sizes[-1])
    flat_result = _named_convolution(ctx, rows, weights, flat, line, source, carried)
    return expand_axes(b, flat_result, groups, sizes)


def _named_convolution(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    sizes: Sequence[Size],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    b = ctx.builder
    weights = b.shape(kernel)
    image, kernel = with_own_steps(b, image), with_own_steps(b, kernel)
    tiles = window_forms.convolution(ctx.target, sizes, weights[:-2], weights[-2], carried)
    is_widened = tiles is not None or window_forms.widens_images(ctx.target, (*sizes, *weights))
    if is_widened and source != carried:
        # Tiles of f32 on f32 operands are faster than tiles that widen each element they load.
        image, kernel = (b.materialise(convert_elements(b, source, carried, v)) for v in (image, kernel))
    init = b.fill(b.scalars.constant(carried, 0), sizes, carried)
    name = _NAMED[len(weights) - 2]
    result = convolved(name, image, kernel, init, window.window_strides, window.rhs_dilation)
    if tiles is not None:
        result.owner.attributes["compilation_info"] = parse_attribute(b, tiles)
    return b.bind_shape(result, b.shape(init))


def grouped_convolution(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    sizes: Sequence[Size],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
    counts: tuple[int, int],
) -> Value:
    """With an axis for the groups: image (.., g, c) or (g, n, ..), kernel (.., c, g, f)."""
    b = ctx.builder
    feature_groups, batch_groups = counts
    rank = len(b.shape(image))
    groups = feature_groups * batch_groups
    features = per_group(b, b.shape(kernel)[-1], groups)
    kernel_shape = [*b.shape(kernel)[:-1], groups, features]
    kernel = expand_axes(b, kernel, [*([a] for a in range(rank - 1)), [rank - 1, rank]], kernel_shape)
    shape = b.shape(image)
    if batch_groups > 1:
        apart = [batch_groups, sizes[0], *shape[1:]]
        image = expand_axes(b, image, [[0, 1], *([a + 1] for a in range(1, rank))], apart)
        group_axis = 0
    else:
        apart = [*shape[:-1], feature_groups, per_group(b, shape[-1], feature_groups)]
        image = expand_axes(b, image, [*([a] for a in range(rank - 1)), [rank - 1, rank]], apart)
        group_axis = rank - 1
    grouped = (*sizes[:-1], groups, features)
    if window_forms.multiplies_groups(ctx.target, grouped, b.shape(kernel)[:-3], b.shape(image)[-1], source):
        result = _products_of_groups(ctx, image, kernel, grouped, window, source, carried, group_axis)
    else:
        result = _generic_convolution(b, image, kernel, grouped, window, source, carried, group_axis)
    return collapse_axes(b, result, [*([a] for a in range(rank - 1)), [rank - 1, rank]])


def _products_of_groups(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    sizes: Sequence[Size],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
    group_axis: int,
) -> Value:
    """A product for each group, of its windows and its kernel: (batch, positions, group, feature)."""
    b = ctx.builder
    *outer, groups, features = sizes
    taps, channels, axes = b.shape(kernel)[:-3], b.shape(image)[-1], range(len(sizes))
    apart = permuted_copy(b, image, [group_axis, *(a for a in axes if a != group_axis)])
    images = collapse_axes(b, apart, [[0, 1], *([a] for a in axes[2:])])
    counts = [b.shape(images)[0], *outer[1:]]
    rows = copied_windows(ctx, images, [*taps, channels], counts, window, source)
    depth = b.shape(rows)[1]
    spatial = len(taps)
    of_groups = permuted_copy(b, kernel, [spatial + 1, *range(spatial + 1), spatial + 2])
    weights = collapse_axes(b, of_groups, [[0], list(range(1, spatial + 2)), [spatial + 2]])
    height = prod(n for n in outer if isinstance(n, int))
    left = Factor(expand_axes(b, rows, [[0, 1], [2]], [groups, height, depth]), "bmk")
    product = b.materialise(matrix_product(ctx, left, Factor(weights, "bkn"), source, carried))
    lines = permute(b, product, [1, 0, 2])
    return expand_axes(
        b, lines, [list(axes[:-2]), [len(sizes) - 2], [len(sizes) - 1]], [*outer, groups, features]
    )


def _generic_convolution(
    b: LinalgBuilder,
    image: Value,
    kernel: Value,
    sizes: Sequence[Size],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
    group_axis: int | None = None,
) -> Value:
    """Loops: batch, positions, (group,) output feature; then window, input feature."""
    ir = mlir.ir
    image, kernel = with_own_steps(b, image), with_own_steps(b, kernel)
    spatial = len(window.window_strides)
    outer = len(sizes)
    loops = outer + spatial + 1
    dims = [ir.AffineExpr.get_dim(a, b.context) for a in range(loops)]
    pixels = [dims[0]]
    for axis, (stride, dilation) in enumerate(zip(window.window_strides, window.rhs_dilation, strict=True)):
        pixels.append(dims[1 + axis] * stride + dims[outer + axis] * dilation)
    pixels.append(dims[-1])
    weights = [*dims[outer:], dims[outer - 1]]
    if group_axis is not None:
        pixels.insert(group_axis, dims[outer - 2])
        weights.insert(spatial + 1, dims[outer - 2])
    maps = [
        ir.AffineMapAttr.get(ir.AffineMap.get(loops, 0, each, b.context))
        for each in (pixels, weights, dims[:outer])
    ]
    init = b.fill(b.scalars.constant(carried, 0), sizes, carried)

    def body(pixel: Value, weight: Value, total: Value) -> Value:
        pixel = b.scalars.convert(source, carried, pixel)
        weight = b.scalars.convert(source, carried, weight)
        return b.scalars.add(carried, total, b.scalars.mul(carried, pixel, weight))

    iterators = ["parallel"] * outer + ["reduction"] * (spatial + 1)
    return b.generic([image, kernel], [init], maps, iterators, body)
