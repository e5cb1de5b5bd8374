"""Lowering of `conv_general`: IREE's named ops on channels-last images, matrix products, generics.

Convolutions that are kernels of our own have become dispatches before (`kernels/convolutions/`).

Input: an image and a kernel in any layout. Output: their convolution.
Idea: operands are first brought to image (batch, spatial, feature) and kernel (spatial, in, out), and the
image is dilated, padded and cropped. One of these forms remains:

- a product as the operands lie, where features lie before positions on CUDA (`channels_first.py`);
- a matrix product where the window has one element, or one for each position of a large window
  (`large_windows.py`);
- sums of products of each channel, shifted, where its sizes show at the call (`shifted_images.py`);
- products of each element with all of the window, added up where they meet, on CUDA (`scattered_windows.py`);
- a convolution for each phase of an lhs-dilated image;
- a convolution along one axis where the window is wider than 1 along that axis only;
- the named convolution where there are no groups, else a batch of products over windows, one for each group,
  on GPUs with tiles of ours, or a `linalg.generic` with a loop over groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.ops.contraction.convolution_window import Convolution, Layout, Window, dilated, phases_of
from ....dialects.ops.reduction import accumulation_dtype
from ....dialects.types import COMPLEX
from ..builder import LinalgBuilder, Size, Value
from ..iree.overwritten_arguments import own_array
from ..lowering import LoweringContext
from ..tuning import gpu_convolutions, window_forms
from .channels_first import product_over_positions, product_with_windows
from .channels_last import grouped_convolution, per_group, ungrouped_convolution
from .large_windows import permuted_copy, product_at_each_position
from .scattered_windows import sums_of_products
from .shifted_images import sum_of_shifted
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
    problem = _problem(ctx, lhs, rhs, Convolution(**attributes))
    result, lies = _computed(problem)
    result = convert_elements(b, problem.carried, problem.source, result)
    return permute(b, result, [lies.index(axis) for axis in range(len(lies))])


@dataclass(frozen=True)
class _Problem:
    """A convolution: its operands, the image before and after zeros are put into it, and what follows.

    `sizes` are those of the result (batch, spatial, feature), for one group of the batch; `weights` those of
    the kernel (spatial, in, out). Sums are of dtype `carried`.
    """

    ctx: LoweringContext
    image: Value
    undilated: Value
    kernel: Value
    convolution: Convolution
    window: Window
    sizes: tuple[Size, ...]
    weights: list[Size]
    source: np.dtype
    carried: np.dtype

    @property
    def image_axes(self) -> Layout:
        """The axes of the image in the order batch, spatial, feature."""
        return _features_last(self.convolution.lhs_spec)

    @property
    def kernel_axes(self) -> Layout:
        """The axes of the kernel in the order spatial, in, out."""
        spec = self.convolution.rhs_spec
        return (*spec[2:], spec[1], spec[0])

    @property
    def lies(self) -> Layout:
        """The axes of the result in the order batch, spatial, feature."""
        return _features_last(self.convolution.out_spec)

    @property
    def is_grouped(self) -> bool:
        return self.convolution.feature_group_count * self.convolution.batch_group_count != 1

    @property
    def is_empty(self) -> bool:
        """Whether no product is there, or no sum."""
        return 0 in self.sizes or 0 in self.weights


def _problem(ctx: LoweringContext, lhs: Value, rhs: Value, convolution: Convolution) -> _Problem:
    """The convolution with its image dilated, padded and cropped."""
    b, source = ctx.builder, ctx.result_type.dtype
    lhs_spec, rhs_spec = convolution.lhs_spec, convolution.rhs_spec
    spatial = zip(lhs_spec[2:], rhs_spec[2:], strict=True)
    window = _trimmed(convolution.window, [(b.shape(lhs)[i], b.shape(rhs)[k]) for i, k in spatial])
    image = _dilate_and_pad(b, lhs, window, lhs_spec[2:], source)
    seen = [b.shape(image)[a] for a in _features_last(lhs_spec)]
    weights = [b.shape(rhs)[a] for a in (*rhs_spec[2:], rhs_spec[1], rhs_spec[0])]
    b.require_equal(
        per_group(b, seen[-1], convolution.feature_group_count),
        weights[-2],
        "adze: image and kernel of a convolution differ in their number of features",
    )
    positions = _window_positions(b, seen[1:-1], weights[:-2], window)
    sizes = (per_group(b, seen[0], convolution.batch_group_count), *positions, weights[-1])
    carried = accumulation_dtype(source)
    return _Problem(ctx, image, lhs, rhs, convolution, window, sizes, weights, source, carried)


def _computed(p: _Problem) -> tuple[Value, Layout]:
    """The result in the form that suits, and how its axes lie."""
    b = p.ctx.builder
    if p.is_empty:
        return b.fill(b.scalars.constant(p.carried, 0), p.sizes, p.carried), p.lies
    has_phases = _has_phases(b, p.undilated, p.sizes, p.weights, p.window)
    if not p.is_grouped and has_phases and _sums_products(p):
        return _sums_of_products(p), p.lies
    groups = (p.convolution.feature_group_count, p.convolution.batch_group_count)
    if window_forms.is_shifted(p.ctx.target, p.sizes, p.weights, groups, p.window, p.source):
        dtypes = (p.source, p.carried)
        image = b.materialise(p.image) if p.image != p.undilated else p.image
        axes = (p.image_axes, p.kernel_axes)
        return sum_of_shifted(b, image, p.kernel, axes, p.sizes, p.window, dtypes), p.lies
    if not p.is_grouped and not has_phases:
        as_it_lies = _product_as_it_lies(p)
        if as_it_lies is not None:
            return as_it_lies
        if window_forms.few_positions(p.sizes[1:-1], p.weights[:-2]):
            return _at_each_position(p)
    return _over_the_window(p, has_phases), p.lies


def _sums_products(p: _Problem) -> bool:
    """Whether each element of the image is multiplied once, and products that meet are added up."""
    b, taps = p.ctx.builder, p.weights[:-2]
    flat = [b.shape(p.undilated)[a] for a in p.image_axes]
    return gpu_convolutions.sums_products(p.ctx.target, flat, taps, p.weights[-1], p.window, p.source)


def _sums_of_products(p: _Problem) -> Value:
    b, spec = p.ctx.builder, p.convolution.rhs_spec
    image = permuted_copy(b, p.undilated, p.image_axes)
    kernel = permuted_copy(b, p.kernel, (spec[1], *spec[2:], spec[0]))
    result = sums_of_products(p.ctx, image, kernel, p.sizes, p.window, p.source, p.carried)
    # Neighbouring threads take neighbouring features.
    return result if _is_in_order(p.lies) else b.materialise(result)


def _at_each_position(p: _Problem) -> tuple[Value, Layout]:
    lhs, rhs, out = p.convolution.lhs_spec, p.convolution.rhs_spec, p.convolution.out_spec
    result = product_at_each_position(
        p.ctx, p.image, p.kernel, lhs, rhs, p.sizes[1:-1], p.window, p.source, p.carried
    )
    return result, (*out[2:], out[0], out[1])


def _over_the_window(p: _Problem, has_phases: bool) -> Value:
    """A convolution of channels-last arrays, one for each phase of an image with zeros between."""
    b = p.ctx.builder
    counts = (p.convolution.feature_group_count, p.convolution.batch_group_count)

    def convolve(image: Value, kernel: Value, sizes: Sequence[Size], window: Window) -> Value:
        if p.is_grouped:
            return grouped_convolution(p.ctx, image, kernel, sizes, window, p.source, p.carried, counts)
        return ungrouped_convolution(p.ctx, image, kernel, sizes, window, p.source, p.carried)

    image = permuted_copy(b, p.undilated if has_phases else p.image, p.image_axes)
    kernel = permuted_copy(b, p.kernel, p.kernel_axes)
    if has_phases:
        result = _convolve_phases(b, image, kernel, p.sizes, p.window, (p.source, p.carried), convolve)
    else:
        result = convolve(image, kernel, p.sizes, p.window)
    # IREE would transpose in a product in tiles, and drop them.
    return b.materialise(result) if not _is_in_order(p.lies) and _has_tiles(p) else result


def _features_last(spec: Layout) -> Layout:
    return (spec[0], *spec[2:], spec[1])


def _is_in_order(lies: Layout) -> bool:
    return lies == tuple(range(len(lies)))


def _product_as_it_lies(p: _Problem) -> tuple[Value, Layout] | None:
    """The convolution without transposed images, and how its axes lie; None where there is no such form."""
    b, target, window = p.ctx.builder, p.ctx.target, p.window
    lhs, rhs, out = p.convolution.lhs_spec, p.convolution.rhs_spec, p.convolution.out_spec
    taps, channels, positions = p.weights[:-2], p.weights[-2], p.sizes[1:-1]
    dtypes = (p.source, p.carried)
    if window_forms.few_positions(positions, taps):
        swapped = [(spec[1], spec[0], *spec[2:]) for spec in (lhs, rhs)]
        seen = (channels, *taps, p.sizes[-1])
        parts = gpu_convolutions.gradient_parts(target, swapped, seen, positions, p.sizes[0], p.source)
        if parts is None:
            return None
        moved = window._replace(window_strides=window.rhs_dilation, rhs_dilation=window.window_strides)
        result = product_over_positions(p.ctx, p.image, p.kernel, positions, moved, *dtypes, parts)
        return result, (out[1], out[0], *out[2:])
    parts = gpu_convolutions.column_parts(target, (lhs, out), p.sizes, taps, channels, p.source)
    if parts is None:
        return None
    weights = permuted_copy(b, p.kernel, rhs)
    return product_with_windows(p.ctx, p.image, weights, positions, window, *dtypes, parts), out


def _has_tiles(p: _Problem) -> bool:
    """Whether a convolution is a product in tiles of our own on a GPU."""
    parts = window_forms.window_parts(p.ctx.target, p.sizes, p.weights[:-2], p.weights[-2], p.source)
    return parts is not None and p.source == p.carried


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
