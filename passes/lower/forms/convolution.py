"""Lowering of `conv_general`: IREE's named ops on channels-last images, matrix products, generics.

Input: an image and a kernel in any layout. Output: their convolution.
Idea: operands are first brought to image (batch, spatial, feature) and kernel (spatial, in, out), and the
image is dilated, padded and cropped. One of these forms remains:

- a matrix product where the window has one element, or one for each position of a large window
  (`large_windows.py`);
- a convolution for each phase of an lhs-dilated image;
- a convolution along one axis where the window is wider than 1 along that axis only;
- the named convolution where there are no groups, a `linalg.generic` with a loop over groups otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import gcd, prod
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.ops.contraction.convolution_window import Convolution, Layout, Window, phases_of
from ....dialects.ops.reduction import accumulation_dtype
from ....dialects.types import COMPLEX
from ..builder import LinalgBuilder, Size, Value
from ..lowering import LoweringContext
from ..tuning import configuration
from .contraction import Factor, is_one, matrix_product
from .convolution_kernels import convolution_by_kernel
from .large_windows import permuted_copy, product_at_each_position
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

_NAMED: Final = {1: "conv_1d_nwc_wcf", 2: "conv_2d_nhwc_hwcf", 3: "conv_3d_ndhwc_dhwcf"}


def lower_convolution(
    ctx: LoweringContext,
    lhs: Value,
    rhs: Value,
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
) -> Value:
    """One of the forms above, on an image and a kernel in the layout that it takes."""
    b = ctx.builder
    source = ctx.result_type.dtype
    carried = accumulation_dtype(source)
    window = Window(window_strides, padding, lhs_dilation, rhs_dilation)
    attributes = Convolution(
        window_strides=window_strides,
        padding=padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        lhs_spec=lhs_spec,
        rhs_spec=rhs_spec,
        out_spec=out_spec,
        feature_group_count=feature_group_count,
        batch_group_count=batch_group_count,
    )
    by_kernel = convolution_by_kernel(ctx, lhs, rhs, attributes)
    if by_kernel is not None:
        return by_kernel
    undilated, lhs = lhs, _dilate_and_pad(b, lhs, window, lhs_spec[2:], source)
    groups = feature_group_count * batch_group_count
    image_axes = (lhs_spec[0], *lhs_spec[2:], lhs_spec[1])
    kernel_axes = (*rhs_spec[2:], rhs_spec[1], rhs_spec[0])
    seen, weights = [b.shape(lhs)[a] for a in image_axes], [b.shape(rhs)[a] for a in kernel_axes]
    b.require_equal(
        _per_group(b, seen[-1], feature_group_count),
        weights[-2],
        "adze: image and kernel of a convolution differ in their number of features",
    )
    positions = _window_positions(b, seen[1:-1], weights[:-2], window)
    sizes = (_per_group(b, seen[0], batch_group_count), *positions, weights[-1])
    lies = (out_spec[0], *out_spec[2:], out_spec[1])
    if 0 in sizes or 0 in weights:
        result = b.fill(b.scalars.constant(carried, 0), sizes, carried)
    elif groups == 1 and configuration.few_positions(positions, weights[:-2]):
        result = product_at_each_position(
            ctx, lhs, rhs, lhs_spec, rhs_spec, positions, window, source, carried
        )
        lies = (*out_spec[2:], out_spec[0], out_spec[1])
    else:
        image = permuted_copy(b, lhs, image_axes)
        kernel = permuted_copy(b, rhs, kernel_axes)
        if groups == 1 and _has_phases(b, undilated, sizes, weights, window):
            undilated = permuted_copy(b, undilated, image_axes)
            result = _convolve_phases(ctx, undilated, kernel, sizes, window, source, carried)
        elif groups == 1:
            result = _ungrouped_convolution(ctx, image, kernel, sizes, window, source, carried)
        else:
            counts = (feature_group_count, batch_group_count)
            result = _grouped_convolution(b, image, kernel, sizes, window, source, carried, counts)
    result = convert_elements(b, carried, source, result)
    return permute(b, result, [lies.index(axis) for axis in range(len(lies))])


def _per_group(b: LinalgBuilder, n: Size, count: int) -> Size:
    return n if count == 1 else b.calculate("size_div", n, count)


def _window_positions(
    b: LinalgBuilder, image: Sequence[Size], kernel: Sequence[Size], window: Window
) -> list[Size]:
    """How many positions the window has along each spatial axis of the padded image."""
    positions = []
    sizes = zip(image, kernel, strict=True)
    for (n, m), stride, dilation in zip(sizes, window.window_strides, window.rhs_dilation, strict=True):
        span = b.calculate("size_sub", n, _dilated_size(b, m, dilation))
        positions.append(
            b.calculate("size_max", b.calculate("size_add", b.calculate("size_div", span, stride), 1), 0)
        )
    return positions


def _dilated_size(b: LinalgBuilder, n: Size, dilation: int) -> Size:
    if dilation == 1:
        return n
    gaps = b.calculate("size_mul", b.calculate("size_sub", n, 1), dilation)
    return b.calculate("size_max", b.calculate("size_add", gaps, 1), 0)


def _dilate_and_pad(
    b: LinalgBuilder, image: Value, window: Window, spatial: Sequence[int], dtype: np.dtype
) -> Value:
    """Zeros between the elements of the image along its spatial axes, then around it, or less of it."""
    zero = b.scalars.constant(dtype, 0)
    image = _dilate(b, image, dict(zip(spatial, window.lhs_dilation, strict=True)), zero)
    shape = b.shape(image)
    low, high = [0] * len(shape), [0] * len(shape)
    for axis, (before, after), dilation in zip(spatial, window.padding, window.lhs_dilation, strict=True):
        # A dilated axis ends with `dilation - 1` zeros too many.
        low[axis], high[axis] = before, after - dilation + 1
    if min(low + high) < 0:
        kept = []
        for n, before, after in zip(shape, low, high, strict=True):
            less = max(-before, 0) + max(-after, 0)
            kept.append(b.calculate("size_max", b.calculate("size_sub", n, less), 0) if less else n)
        image = extract_slice(b, image, [max(-n, 0) for n in low], kept, [1] * len(shape))
    return pad_tensor(b, image, [max(n, 0) for n in low], [max(n, 0) for n in high], zero)


def _dilate(b: LinalgBuilder, image: Value, dilation: Mapping[int, int], zero: Value) -> Value:
    """The image with `dilation[axis] - 1` zeros after each element along `axis`."""
    if all(d == 1 for d in dilation.values()):
        return image
    apart: list[Size] = []
    groups, room = [], []
    for axis, n in enumerate(b.shape(image)):
        pair = axis in dilation
        groups.append([len(apart), len(apart) + 1] if pair else [len(apart)])
        apart += [n, 1] if pair else [n]
        room += [0, dilation[axis] - 1] if pair else [0]
    image = expand_axes(b, image, groups, apart)
    image = pad_tensor(b, image, [0] * len(apart), room, zero)
    return collapse_axes(b, image, groups)


def _ungrouped_convolution(
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
    if spatial in _NAMED and source not in COMPLEX:
        axis = _only_window_axis(sizes, b.shape(kernel)[:-2]) if spatial > 1 else None
        if axis is not None:
            return _convolve_along(ctx, axis, image, kernel, sizes, window, source, carried)
        return _named_convolution(ctx, image, kernel, sizes, window, source, carried)
    return _generic_convolution(b, image, kernel, sizes, window, source, carried)


def _has_phases(
    b: LinalgBuilder, image: Value, sizes: Sequence[Size], weights: Sequence[Size], window: Window
) -> bool:
    """Whether the image is dilated, and its zeros can be left out."""
    known = all(isinstance(n, int) for n in (*b.shape(image), *sizes, *weights))
    apart = zip(window.lhs_dilation, window.rhs_dilation, strict=True)
    return (
        known
        and max(window.lhs_dilation, default=1) > 1
        and set(window.window_strides) == {1}
        and all(gcd(d, r) == 1 for d, r in apart)
    )


def _convolve_phases(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    sizes: Sequence[int],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    """The convolution of an lhs-dilated image without its zeros: the gradient of a strided convolution.

    Positions that are equal modulo the dilation meet the image under the same part of the kernel: for each
    such phase a convolution of the image as it was, whose results go to every so many positions.
    """
    b = ctx.builder
    shape, spatial = b.shape(image), len(window.lhs_dilation)
    axes = [
        phases_of(window.lhs_dilation[k], window.rhs_dilation[k], window.padding[k][0], sizes[1 + k], taps)
        for k, taps in enumerate(b.shape(kernel)[:spatial])
    ]
    low = [max(0, *(-phase.start for phase in phases)) for phases in axes]
    high = [max(0, *(phase.end - n for phase in phases)) for n, phases in zip(shape[1:-1], axes, strict=True)]
    image = pad_tensor(b, image, [0, *low, 0], [0, *high, 0], b.scalars.constant(source, 0))
    result = b.fill(b.scalars.constant(carried, 0), sizes, carried)
    plain = Window((1,) * spatial, ((0, 0),) * spatial, (1,) * spatial, window.rhs_dilation)
    for phases in product(*axes):
        if not all(phase.taps for phase in phases):
            continue
        starts = [phase.start + before for phase, before in zip(phases, low, strict=True)]
        seen = extract_slice(
            b,
            image,
            [0, *starts, 0],
            [shape[0], *(phase.end - phase.start for phase in phases), shape[-1]],
            [1] * len(shape),
        )
        part = extract_slice(
            b,
            kernel,
            [*(phase.tap for phase in phases), 0, 0],
            [*(phase.taps for phase in phases), *b.shape(kernel)[spatial:]],
            [*(1 if p.taps == 1 else d for p, d in zip(phases, window.lhs_dilation, strict=True)), 1, 1],
        )
        places = [phase.places for phase in phases]
        phase_result = _ungrouped_convolution(
            ctx, seen, part, (sizes[0], *places, sizes[-1]), plain, source, carried
        )
        firsts = [phase.first for phase in phases]
        result = insert_slice(b, phase_result, result, [0, *firsts, 0], [1, *window.lhs_dilation, 1])
    return result


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
    tiles = configuration.convolution(ctx.target, sizes, weights[:-2], weights[-2], carried)
    if tiles is not None and source != carried:
        # Tiles of f32 on f32 operands are faster than tiles that widen each element they load.
        image, kernel = (b.materialise(convert_elements(b, source, carried, v)) for v in (image, kernel))
    init = b.fill(b.scalars.constant(carried, 0), sizes, carried)
    build = getattr(mlir.linalg, _NAMED[len(weights) - 2])
    result = build(
        image,
        kernel,
        outs=[init],
        strides=list(window.window_strides),
        dilations=list(window.rhs_dilation),
    )
    if tiles is not None:
        result.owner.attributes["compilation_info"] = parse_attribute(b, tiles)
    return b.bind_shape(result, b.shape(init))


def _grouped_convolution(
    b: LinalgBuilder,
    image: Value,
    kernel: Value,
    sizes: Sequence[Size],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
    counts: tuple[int, int],
) -> Value:
    """With an axis for the groups: image (.., g, c) or (g, n, ..), kernel (.., c, g, f)."""
    feature_groups, batch_groups = counts
    rank = len(b.shape(image))
    groups = feature_groups * batch_groups
    per_group = _per_group(b, b.shape(kernel)[-1], groups)
    kernel_shape = [*b.shape(kernel)[:-1], groups, per_group]
    kernel = expand_axes(b, kernel, [*([a] for a in range(rank - 1)), [rank - 1, rank]], kernel_shape)
    shape = b.shape(image)
    if batch_groups > 1:
        apart = [batch_groups, sizes[0], *shape[1:]]
        image = expand_axes(b, image, [[0, 1], *([a + 1] for a in range(1, rank))], apart)
        group_axis = 0
    else:
        apart = [*shape[:-1], feature_groups, _per_group(b, shape[-1], feature_groups)]
        image = expand_axes(b, image, [*([a] for a in range(rank - 1)), [rank - 1, rank]], apart)
        group_axis = rank - 1
    grouped = (*sizes[:-1], groups, per_group)
    result = _generic_convolution(b, image, kernel, grouped, window, source, carried, group_axis)
    return collapse_axes(b, result, [*([a] for a in range(rank - 1)), [rank - 1, rank]])


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
