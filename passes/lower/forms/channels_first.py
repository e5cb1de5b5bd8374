"""Convolutions of images whose features lie before their positions, and gradients of their kernels, on CUDA.

Input: an image (batch, feature, spatial), padded, and a kernel (out, in, spatial). Output: products whose
results lie as the convolution's do: (batch, feature, positions) and (out, in, spatial).
Idea: the kernel times the windows of each image, which are columns. So neither images nor results are
transposed. Both products are over the same copied windows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....dialects import mlir
from ....dialects.ops.contraction.convolution_window import Window
from ..builder import Size, Value
from ..lowering import LoweringContext
from .contraction import Factor, matrix_product
from .large_windows import copied_elements, parts_of_batch
from .reductions import reduce_axes
from .tensor_ops import collapse_axes, expand_axes, insert_slice


def product_with_windows(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    positions: Sequence[int],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
    parts: int,
) -> Value:
    """The convolution as (batch, out, positions), some images after the others where `parts` is not 1."""
    b = ctx.builder
    features, *taps = b.shape(kernel)
    weights = Factor(collapse_axes(b, kernel, [[0], list(range(1, len(taps) + 1))]), "mk")
    results = []
    for some in parts_of_batch(b, image, parts):
        columns = Factor(_window_columns(ctx, some, taps, positions, window, source), "bkn")
        product = matrix_product(ctx, weights, columns, source, carried)
        shape = [b.shape(some)[0], features, *positions]
        results.append(expand_axes(b, product, [[0], [1], list(range(2, len(shape)))], shape))
    if parts == 1:
        return results[0]
    (count, *rest), whole = shape, b.empty([b.shape(image)[0], *shape[1:]], carried)
    assert isinstance(count, int), "a batch with parts has a known size"
    for part, result in enumerate(results):
        whole = insert_slice(b, result, whole, [part * count, *[0] * len(rest)], [1] * len(shape))
    return whole


def product_over_positions(
    ctx: LoweringContext,
    image: Value,
    cotangent: Value,
    taps: Sequence[int],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
    parts: int,
) -> Value:
    """The gradient of a kernel as (out, in, taps): a product for each image, and their sum.

    `window`: that of the convolution whose kernel it is.
    """
    b = ctx.builder
    features, *positions = b.shape(cotangent)[1:]
    channels = b.shape(image)[1]
    images, cotangents = parts_of_batch(b, image, parts), parts_of_batch(b, cotangent, parts)
    total: Value | None = None
    for some, rest in zip(images, cotangents, strict=True):
        columns = Factor(_window_columns(ctx, some, [channels, *taps], positions, window, source), "bnk")
        flat = collapse_axes(b, rest, [[0], [1], list(range(2, len(positions) + 2))])
        products = matrix_product(ctx, Factor(flat, "bmk"), columns, source, carried)
        product = reduce_axes(ctx, "reduce_sum", b.materialise(products), (0,), 0, carried, carried)
        if total is not None:
            product = b.map_elements(carried, lambda s, _, x, y: s.add(carried, x, y), total, product)
        total = product
    assert total is not None
    return expand_axes(b, total, [[0], list(range(1, len(taps) + 2))], [features, channels, *taps])


def _window_columns(
    ctx: LoweringContext,
    image: Value,
    taps: Sequence[Size],
    positions: Sequence[int],
    window: Window,
    dtype: np.dtype,
) -> Value:
    """The windows of images, one a column: (batch, features and taps, positions).

    `taps`: the number of features, then the sizes of the window. A window of one element is copied only where
    it does not see every place.
    """
    b, ir = ctx.builder, mlir.ir
    batch, (channels, *sizes) = b.shape(image)[0], taps
    spatial, loops = len(positions), 2 + 2 * len(positions)
    groups = [[0], list(range(1, 2 + spatial)), list(range(2 + spatial, loops))]
    if all(n == 1 for n in sizes) and list(b.shape(image)[2:]) == list(positions):
        return collapse_axes(b, image, [[0], [1], list(range(2, 2 + spatial))])
    dims = [ir.AffineExpr.get_dim(a, b.context) for a in range(loops)]
    pixels = dims[:2]
    for axis, (stride, dilation) in enumerate(zip(window.window_strides, window.rhs_dilation, strict=True)):
        pixels.append(dims[2 + spatial + axis] * stride + dims[2 + axis] * dilation)
    seen = ir.AffineMapAttr.get(ir.AffineMap.get(loops, 0, pixels, b.context))
    copied = copied_elements(ctx, image, [batch, channels, *sizes, *positions], seen, dtype)
    return b.materialise(collapse_axes(b, copied, groups))
