"""Forms of convolution: IREE's named ops on channels-last images, matrix products, generics for the rest.

Operands are first brought to image (batch, spatial, feature) and kernel (spatial, in, out), and the image is
spread, padded and cropped, so that one of these forms remains: a matrix product where the window has one
element, one product for each place of a window as large as the image (the gradient of a kernel), the named
convolution without groups, a `linalg.generic` with a loop over groups otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.ops.convolution_window import Layout, Window
from ...dialects.ops.reductions import accumulation_dtype
from ...dialects.types import COMPLEX
from . import configuration
from .contraction import ContractionForms
from .core import Size

_NAMED: Final = {1: "conv_1d_nwc_wcf", 2: "conv_2d_nhwc_hwcf", 3: "conv_3d_ndhwc_dhwcf"}


class ConvolutionForms(ContractionForms):
    """`conv_general`."""

    def convolve(
        self,
        lhs: Any,
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
        """The convolution of the op being lowered."""
        source = self.result_type.dtype
        carried = accumulation_dtype(source)
        window = Window(window_strides, padding, lhs_dilation, rhs_dilation)
        lhs = self._spread_and_pad(lhs, window, lhs_spec[2:], source)
        groups = feature_group_count * batch_group_count
        image_axes = (lhs_spec[0], *lhs_spec[2:], lhs_spec[1])
        kernel_axes = (*rhs_spec[2:], rhs_spec[1], rhs_spec[0])
        seen, weights = [self.shape(lhs)[a] for a in image_axes], [self.shape(rhs)[a] for a in kernel_axes]
        self.require_equal(
            self._part(seen[-1], feature_group_count),
            weights[-2],
            "adze: image and kernel of a convolution differ in their number of features",
        )
        positions = self._positions_of_window(seen[1:-1], weights[:-2], window)
        sizes = (self._part(seen[0], batch_group_count), *positions, weights[-1])
        lies = (out_spec[0], *out_spec[2:], out_spec[1])
        if 0 in sizes or 0 in weights:
            result = self.fill(self.scalar_constant(carried, 0), sizes, carried)
        elif groups == 1 and configuration.few_positions(positions, weights[:-2]):
            result = self._at_each_position(lhs, rhs, lhs_spec, rhs_spec, positions, window, source, carried)
            lies = (*out_spec[2:], out_spec[0], out_spec[1])
        else:
            image = self._laid_out(lhs, image_axes)
            kernel = self._laid_out(rhs, kernel_axes)
            if groups == 1:
                result = self._ungrouped(image, kernel, sizes, window, source, carried)
            else:
                counts = (feature_group_count, batch_group_count)
                result = self._grouped_convolution(image, kernel, sizes, window, source, carried, counts)
        result = self.convert(carried, source, result)
        return self.permute(result, [lies.index(axis) for axis in range(len(lies))])

    def _laid_out(self, x: Any, axes: Sequence[int]) -> Any:
        """`x` with its axes in this order, copied: IREE would read it as it lies in the innermost loop."""
        permuted = self.permute(x, axes)
        return x if permuted is x else self.materialise(permuted)

    # -- sizes ---------------------------------------------------------------------------------

    def _part(self, n: Size, count: int) -> Size:
        return n if count == 1 else self.size(self.size_arithmetic("size_div", n, count))

    def _positions_of_window(
        self, image: Sequence[Size], kernel: Sequence[Size], window: Window
    ) -> list[Size]:
        """How many places the window has along each spatial axis of the padded image."""
        places = []
        sizes = zip(image, kernel, strict=True)
        for (n, m), stride, dilation in zip(sizes, window.window_strides, window.rhs_dilation, strict=True):
            span = self._calculate("size_sub", n, self._dilated(m, dilation))
            places.append(
                self._calculate(
                    "size_max", self._calculate("size_add", self._calculate("size_div", span, stride), 1), 0
                )
            )
        return places

    def _dilated(self, n: Size, dilation: int) -> Size:
        if dilation == 1:
            return n
        gaps = self._calculate("size_mul", self._calculate("size_sub", n, 1), dilation)
        return self._calculate("size_max", self._calculate("size_add", gaps, 1), 0)

    def _calculate(self, name: str, m: Size, n: Size) -> Size:
        return self.size(self.size_arithmetic(name, m, n))

    # -- the image -----------------------------------------------------------------------------

    def _spread_and_pad(self, image: Any, window: Window, spatial: Sequence[int], dtype: np.dtype) -> Any:
        """Zeros between the elements of the image along its spatial axes, then around it, or less of it."""
        zero = self.scalar_constant(dtype, 0)
        image = self._spread(image, dict(zip(spatial, window.lhs_dilation, strict=True)), zero)
        shape = self.shape(image)
        low, high = [0] * len(shape), [0] * len(shape)
        for axis, (before, after), dilation in zip(spatial, window.padding, window.lhs_dilation, strict=True):
            # A spread axis ends with `dilation - 1` zeros too many.
            low[axis], high[axis] = before, after - dilation + 1
        if min(low + high) < 0:
            kept = []
            for n, before, after in zip(shape, low, high, strict=True):
                less = max(-before, 0) + max(-after, 0)
                kept.append(
                    self._calculate("size_max", self._calculate("size_sub", n, less), 0) if less else n
                )
            image = self.window(image, [max(-n, 0) for n in low], kept, [1] * len(shape))
        return self.pad_with(image, [max(n, 0) for n in low], [max(n, 0) for n in high], zero)

    def _spread(self, image: Any, dilation: Mapping[int, int], zero: Any) -> Any:
        """The image with `dilation[axis] - 1` zeros after each element along `axis`."""
        if all(d == 1 for d in dilation.values()):
            return image
        apart: list[Size] = []
        groups, room = [], []
        for axis, n in enumerate(self.shape(image)):
            pair = axis in dilation
            groups.append([len(apart), len(apart) + 1] if pair else [len(apart)])
            apart += [n, 1] if pair else [n]
            room += [0, dilation[axis] - 1] if pair else [0]
        image = self.expand(image, groups, apart)
        image = self.pad_with(image, [0] * len(apart), room, zero)
        return self.collapse(image, groups)

    # -- forms ---------------------------------------------------------------------------------

    def _at_each_position(
        self,
        image: Any,
        kernel: Any,
        lhs_spec: Layout,
        rhs_spec: Layout,
        positions: Sequence[int],
        window: Window,
        source: np.dtype,
        carried: np.dtype,
    ) -> Any:
        """One matrix product for each place of a large window; the result is (places, batch, feature)."""
        features = self.shape(kernel)[rhs_spec[0]]
        shape = self.shape(image)
        batch, seen = shape[lhs_spec[0]], [shape[a] for a in lhs_spec[2:]]
        sizes = [self.shape(kernel)[a] for a in rhs_spec[2:]]
        if set(window.rhs_dilation) == {1} and configuration.shifts_rows(
            positions, sizes, seen, shape[lhs_spec[1]], features
        ):
            result = self._at_each_shift(
                image, kernel, lhs_spec, rhs_spec, positions, window, source, carried
            )
        else:
            result = self._at_each_slice(
                image, kernel, lhs_spec, rhs_spec, positions, window, source, carried
            )
        spatial = len(positions)
        groups = [list(range(spatial)), [spatial], [spatial + 1]]
        return self.expand(result, groups, [*positions, batch, features])

    def _at_each_slice(
        self,
        image: Any,
        kernel: Any,
        lhs_spec: Layout,
        rhs_spec: Layout,
        positions: Sequence[int],
        window: Window,
        source: np.dtype,
        carried: np.dtype,
    ) -> Any:
        """Products of what the window sees at each place, copied for it, with the kernel."""
        shape = self.shape(image)
        contracting = (lhs_spec[1:], rhs_spec[1:])
        batch, features = shape[lhs_spec[0]], self.shape(kernel)[rhs_spec[0]]
        places = list(np.ndindex(*positions))
        result = self.empty([len(places), batch, features], carried)
        for number, place in enumerate(places):
            offsets, sizes, strides = [0] * len(shape), list(shape), [1] * len(shape)
            for axis, own, at in zip(lhs_spec[2:], range(len(place)), place, strict=True):
                offsets[axis] = at * window.window_strides[own]
                sizes[axis] = self.shape(kernel)[rhs_spec[2 + own]]
                strides[axis] = window.rhs_dilation[own]
            seen = self.window(image, offsets, sizes, strides)
            product = self.product_over(seen, kernel, contracting, ((), ()), source, carried)
            result = self.insert(product, result, [number, 0, 0], [1, 1, 1])
        return result

    def _at_each_shift(
        self,
        image: Any,
        kernel: Any,
        lhs_spec: Layout,
        rhs_spec: Layout,
        positions: Sequence[int],
        window: Window,
        source: np.dtype,
        carried: np.dtype,
    ) -> Any:
        """The same without copies: products with the image read in order, from another start for each place.

        The kernel gets zeros until its rows are as long as the image's; then both are walked as vectors.
        Each feature that is summed over (of a gradient: each image of the batch) makes a product of its own,
        which occupies threads, and their sum comes last.
        """
        spatial = range(2, len(lhs_spec))
        seen = [self.shape(image)[lhs_spec[k]] for k in spatial]
        sizes = [self.shape(kernel)[rhs_spec[k]] for k in spatial]
        steps = [prod(seen[k + 1 :]) for k in range(len(seen))]
        length = 1 + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True))
        image, kernel = self.convert(source, carried, image), self.convert(source, carried, kernel)
        image = self._laid_out(image, (lhs_spec[1], *lhs_spec[2:], lhs_spec[0]))
        kernel = self._laid_out(kernel, (rhs_spec[1], *rhs_spec[2:], rhs_spec[0]))
        longer = [n - m for n, m in zip(seen[1:], sizes[1:], strict=True)]
        kernel = self.pad_with(
            kernel, [0] * len(lhs_spec), [0, 0, *longer, 0], self.scalar_constant(carried, 0)
        )
        groups = [[0], [k - 1 for k in spatial], [len(lhs_spec) - 1]]
        image, kernel = self.collapse(image, groups), self.collapse(kernel, groups)
        (summed, _, batch), (_, _, features) = self.shape(image), self.shape(kernel)
        kernel = self.window(kernel, [0, 0, 0], [summed, length, features], [1, 1, 1])
        places = list(np.ndindex(*positions))
        partial = self.empty([len(places), summed, batch, features], carried)
        for number, place in enumerate(places):
            start = sum(
                at * stride * step
                for at, stride, step in zip(place, window.window_strides, steps, strict=True)
            )
            shifted = self.window(image, [0, start, 0], [summed, length, batch], [1, 1, 1])
            product = self.matrix_product(shifted, "bkm", kernel, "bkn", carried, carried)
            product = self.expand(product, [[0, 1], [2], [3]], [1, summed, batch, features])
            partial = self.insert(product, partial, [number, 0, 0, 0], [1, 1, 1, 1])
        return self.fold("reduce_sum", partial, (1,), 0, carried, carried)

    def _ungrouped(
        self,
        image: Any,
        kernel: Any,
        sizes: Sequence[Size],
        window: Window,
        source: np.dtype,
        carried: np.dtype,
    ) -> Any:
        spatial = len(sizes) - 2
        pointwise = all(self._is_one(n) for n in self.shape(kernel)[:-2])
        if pointwise and set(window.window_strides) <= {1}:
            rows = self.collapse(image, [list(range(spatial + 1)), [spatial + 1]])
            weights = self.collapse(kernel, [list(range(spatial + 1)), [spatial + 1]])
            product = self.matrix_product(rows, "mk", weights, "kn", source, carried)
            return self._product_as(product, sizes)
        if spatial in _NAMED and source not in COMPLEX:
            return self._named(_NAMED[spatial], image, kernel, sizes, window, carried)
        return self._generic_convolution(image, kernel, sizes, window, source, carried)

    def _product_as(self, product: Any, sizes: Sequence[Size]) -> Any:
        product = self.drop_units(product, [False, True, True])
        return self.expand(product, [list(range(len(sizes) - 1)), [len(sizes) - 1]], sizes)

    def _named(
        self, name: str, image: Any, kernel: Any, sizes: Sequence[Size], window: Window, carried: np.dtype
    ) -> Any:
        init = self.fill(self.scalar_constant(carried, 0), sizes, carried)
        build = getattr(mlir.linalg, name)
        result = build(
            image,
            kernel,
            outs=[init],
            strides=list(window.window_strides),
            dilations=list(window.rhs_dilation),
        )
        return self.bind_shape(result, self.shape(init))

    def _grouped_convolution(
        self,
        image: Any,
        kernel: Any,
        sizes: Sequence[Size],
        window: Window,
        source: np.dtype,
        carried: np.dtype,
        counts: tuple[int, int],
    ) -> Any:
        """With an axis for the groups: image (.., g, c) or (g, n, ..), kernel (.., c, g, f)."""
        feature_groups, batch_groups = counts
        rank = len(self.shape(image))
        groups = feature_groups * batch_groups
        per_group = self._part(self.shape(kernel)[-1], groups)
        kernel_shape = [*self.shape(kernel)[:-1], groups, per_group]
        kernel = self.expand(kernel, [*([a] for a in range(rank - 1)), [rank - 1, rank]], kernel_shape)
        shape = self.shape(image)
        if batch_groups > 1:
            apart = [batch_groups, sizes[0], *shape[1:]]
            image = self.expand(image, [[0, 1], *([a + 1] for a in range(1, rank))], apart)
            group_axis = 0
        else:
            apart = [*shape[:-1], feature_groups, self._part(shape[-1], feature_groups)]
            image = self.expand(image, [*([a] for a in range(rank - 1)), [rank - 1, rank]], apart)
            group_axis = rank - 1
        grouped = (*sizes[:-1], groups, per_group)
        result = self._generic_convolution(image, kernel, grouped, window, source, carried, group_axis)
        return self.collapse(result, [*([a] for a in range(rank - 1)), [rank - 1, rank]])

    def _generic_convolution(
        self,
        image: Any,
        kernel: Any,
        sizes: Sequence[Size],
        window: Window,
        source: np.dtype,
        carried: np.dtype,
        group_axis: int | None = None,
    ) -> Any:
        """Loops: batch, positions, (group,) output feature; then window, input feature."""
        ir = mlir.ir
        spatial = len(window.window_strides)
        outer = len(sizes)
        loops = outer + spatial + 1
        dims = [ir.AffineExpr.get_dim(a, self.context) for a in range(loops)]
        reads = [dims[0]]
        for axis, (stride, dilation) in enumerate(
            zip(window.window_strides, window.rhs_dilation, strict=True)
        ):
            reads.append(dims[1 + axis] * stride + dims[outer + axis] * dilation)
        reads.append(dims[-1])
        weights = [*dims[outer:], dims[outer - 1]]
        if group_axis is not None:
            reads.insert(group_axis, dims[outer - 2])
            weights.insert(spatial + 1, dims[outer - 2])
        maps = [
            ir.AffineMapAttr.get(ir.AffineMap.get(loops, 0, each, self.context))
            for each in (reads, weights, dims[:outer])
        ]
        init = self.fill(self.scalar_constant(carried, 0), sizes, carried)

        def body(pixel: Any, weight: Any, total: Any) -> Any:
            pixel = self.scalars.convert(source, carried, pixel)
            weight = self.scalars.convert(source, carried, weight)
            return self.scalars.add(carried, total, self.scalars.mul(carried, pixel, weight))

        iterators = ["parallel"] * outer + ["reduction"] * (spatial + 1)
        return self.generic([image, kernel], [init], maps, iterators, body)
