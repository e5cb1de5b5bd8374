"""Lowering of `conv_general`: IREE's named ops on channels-last images, matrix products, generics.

Convolutions that are kernels of our own have become dispatches before (`kernels/convolutions/`).

Input: an image and a kernel in any layout. Output: their convolution.
Idea: operands are first brought to image (batch, spatial, feature) and kernel (spatial, in, out), and the
image is dilated, padded and cropped. One of these forms remains:

- a product as the operands lie, where features lie before positions on CUDA (`channels_first.py`);
- a matrix product where the window has one element, or one for each position of a large window
  (`large_windows.py`);
- a convolution for each phase of an lhs-dilated image;
- a convolution along one axis where the window is wider than 1 along that axis only;
- the named convolution where there are no groups, a `linalg.generic` with a loop over groups otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ....dialects.ops.contraction.convolution_window import Convolution, Layout, Window, dilated, phases_of
from ....dialects.ops.reduction import accumulation_dtype
from ....dialects.types import COMPLEX
from ..builder import LinalgBuilder, Size, Value
from ..iree.overwritten_arguments import own_array
from ..lowering import LoweringContext
from ..tuning import configuration, gpu_convolutions
from .channels_first import product_over_positions, product_with_windows
from .channels_last import grouped_convolution, per_group, ungrouped_convolution
from .large_windows import permuted_copy, product_at_each_position
from .scattered_windows import sums_of_products
from .tensor_ops import (
    collapse_axes,
    convert_elements,
    expand_axes,
    extract_slice,
    insert_slice,
    pad_tensor,
    permute,
)


def lower_convolution(
    ctx: LoweringContext,
    lhs: Value,
    rhs: Value,
    **attributes: Any,
) -> Value:
    """One of the forms above, on an image and a kernel in the layout that it takes."""
    b = ctx.builder
    source = ctx.result_type.dtype
    carried = accumulation_dtype(source)
    convolution = Convolution(**attributes)
    lhs_spec, rhs_spec, out_spec = convolution.lhs_spec, convolution.rhs_spec, convolution.out_spec
    window, feature_groups = convolution.window, convolution.feature_group_count
    spatial = zip(lhs_spec[2:], rhs_spec[2:], strict=True)
    window = _trimmed(window, [(b.shape(lhs)[i], b.shape(rhs)[k]) for i, k in spatial])
    undilated, lhs = lhs, _dilate_and_pad(b, lhs, window, lhs_spec[2:], source)
    groups = feature_groups * convolution.batch_group_count
    image_axes = (lhs_spec[0], *lhs_spec[2:], lhs_spec[1])
    kernel_axes = (*rhs_spec[2:], rhs_spec[1], rhs_spec[0])
    seen, weights = [b.shape(lhs)[a] for a in image_axes], [b.shape(rhs)[a] for a in kernel_axes]
    b.require_equal(
        per_group(b, seen[-1], feature_groups),
        weights[-2],
        "adze: image and kernel of a convolution differ in their number of features",
    )
    positions = _window_positions(b, seen[1:-1], weights[:-2], window)
    sizes = (per_group(b, seen[0], convolution.batch_group_count), *positions, weights[-1])
    lies = (out_spec[0], *out_spec[2:], out_spec[1])
    counts = (feature_groups, convolution.batch_group_count)

    def convolve(image: Value, kernel: Value, sizes: Sequence[Size], window: Window) -> Value:
        if groups == 1:
            return ungrouped_convolution(ctx, image, kernel, sizes, window, source, carried)
        return grouped_convolution(b, image, kernel, sizes, window, source, carried, counts)

    has_phases = _has_phases(b, undilated, sizes, weights, window)
    flat = [b.shape(undilated)[a] for a in image_axes]
    as_it_lies = None
    if groups == 1 and not has_phases and 0 not in (*sizes, *weights):
        as_it_lies = _product_as_it_lies(ctx, lhs, rhs, convolution, window, sizes, source, carried)
    if as_it_lies is not None:
        result, lies = as_it_lies
    elif 0 in sizes or 0 in weights:
        result = b.fill(b.scalars.constant(carried, 0), sizes, carried)
    elif (
        groups == 1
        and has_phases
        and gpu_convolutions.sums_products(ctx.target, flat, weights[:-2], weights[-1], window, source)
    ):
        image, kernel = permuted_copy(b, undilated, image_axes), permuted_copy(b, rhs, _in_first(rhs_spec))
        result = sums_of_products(ctx, image, kernel, sizes, window, source, carried)
        if lies != tuple(range(len(lies))):
            result = b.materialise(result)  # neighbouring threads take neighbouring features
    elif groups == 1 and not has_phases and configuration.few_positions(positions, weights[:-2]):
        result = product_at_each_position(
            ctx, lhs, rhs, lhs_spec, rhs_spec, positions, window, source, carried
        )
        lies = (*out_spec[2:], out_spec[0], out_spec[1])
    else:
        image = permuted_copy(b, undilated if has_phases else lhs, image_axes)
        kernel = permuted_copy(b, rhs, kernel_axes)
        if has_phases:
            result = _convolve_phases(b, image, kernel, sizes, window, (source, carried), convolve)
        else:
            result = convolve(image, kernel, sizes, window)
        if lies != tuple(range(len(lies))) and _has_tiles(ctx, sizes, weights, source, carried):
            result = b.materialise(result)  # IREE would transpose in the product, and drop its tiles
    result = convert_elements(b, carried, source, result)
    return permute(b, result, [lies.index(axis) for axis in range(len(lies))])


def _in_first(spec: Layout) -> Layout:
    return (spec[1], *spec[2:], spec[0])


def _product_as_it_lies(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    convolution: Convolution,
    window: Window,
    sizes: Sequence[Size],
    source: np.dtype,
    carried: np.dtype,
) -> tuple[Value, tuple[int, ...]] | None:
    """The convolution without transposed images, and how its axes lie; None where there is no such form."""
    b, lhs, rhs, out = ctx.builder, convolution.lhs_spec, convolution.rhs_spec, convolution.out_spec
    taps = [b.shape(kernel)[a] for a in rhs[2:]]
    if configuration.few_positions(sizes[1:-1], taps):
        swapped = [(spec[1], spec[0], *spec[2:]) for spec in (lhs, rhs)]
        seen = (b.shape(kernel)[rhs[1]], *taps, sizes[-1])
        parts = gpu_convolutions.gradient_parts(ctx.target, swapped, seen, sizes[1:-1], sizes[0], source)
        if parts is None:
            return None
        moved = window._replace(window_strides=window.rhs_dilation, rhs_dilation=window.window_strides)
        result = product_over_positions(ctx, image, kernel, sizes[1:-1], moved, source, carried, parts)
        return result, (out[1], out[0], *out[2:])
    channels = b.shape(kernel)[rhs[1]]
    parts = gpu_convolutions.column_parts(ctx.target, (lhs, out), sizes, taps, channels, source)
    if parts is None:
        return None
    weights = permuted_copy(b, kernel, rhs)
    return product_with_windows(ctx, image, weights, sizes[1:-1], window, source, carried, parts), out


def _has_tiles(
    ctx: LoweringContext,
    sizes: Sequence[Size],
    weights: Sequence[Size],
    source: np.dtype,
    carried: np.dtype,
) -> bool:
    """Whether a convolution is a product in tiles of our own on a GPU."""
    parts = configuration.window_parts(ctx.target, sizes, weights[:-2], weights[-2], source)
    return parts is not None and source == carried


def _trimmed(window: Window, sizes: Sequence[tuple[Size, Size]]) -> Window:
    """The window on an image without the elements beyond its last position, where sizes are known.

    Where there is one position, IREE drops that loop and takes the size of the image for the window's.
    """
    padding = []
    for (n, taps), stride, (low, high), *spread in zip(sizes, *window, strict=True):
        if isinstance(n, int) and isinstance(taps, int):
            beyond = dilated(n, spread[0]) + low + high - dilated(taps, spread[1])
            high -= beyond % stride if beyond >= 0 else 0
        padding.append((low, high))
    return window._replace(padding=tuple(padding))


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
        # A dilated axis ends with `dilation - 1` zeros too many, if it has elements.
        low[axis], high[axis] = before, after if shape[axis] == 0 else after - dilation + 1
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


def _has_phases(
    b: LinalgBuilder, image: Value, sizes: Sequence[Size], weights: Sequence[Size], window: Window
) -> bool:
    """Whether the image is dilated, and its zeros can be left out."""
    return window.has_phases and all(isinstance(n, int) for n in (*b.shape(image), *sizes, *weights))


def _convolve_phases(
    b: LinalgBuilder,
    image: Value,
    kernel: Value,
    sizes: Sequence[int],
    window: Window,
    dtypes: tuple[np.dtype, np.dtype],
    convolve: Callable[[Value, Value, Sequence[Size], Window], Value],
) -> Value:
    """The convolution of an lhs-dilated image without its zeros: the gradient of a strided convolution.

    Positions that are equal modulo the dilation meet the image under the same part of the kernel: for each
    such phase a convolution of the image as it was, whose results go to every so many positions.
    """
    source, carried = dtypes
    shape, spatial = b.shape(image), len(window.lhs_dilation)
    axes = [
        phases_of(window.lhs_dilation[k], window.rhs_dilation[k], window.padding[k][0], sizes[1 + k], taps)
        for k, taps in enumerate(b.shape(kernel)[:spatial])
    ]
    low = [max(0, *(-phase.start for phase in phases)) for phases in axes]
    high = [max(0, *(phase.end - n for phase in phases)) for n, phases in zip(shape[1:-1], axes, strict=True)]
    image = pad_tensor(b, image, [0, *low, 0], [0, *high, 0], b.scalars.constant(source, 0))
    zero = b.scalars.constant(carried, 0)
    result = own_array(b, zero, sizes) if carried in COMPLEX else b.fill(zero, sizes, carried)
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
        phase_result = convolve(seen, part, (sizes[0], *places, sizes[-1]), plain)
        firsts = [phase.first for phase in phases]
        result = insert_slice(b, phase_result, result, [0, *firsts, 0], [1, *window.lhs_dilation, 1])
    return result
