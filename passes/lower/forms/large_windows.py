"""Convolutions whose window is as large as the image and has few places: the gradients of kernels.

In: an image and a kernel that lie in any order, the image spread and padded. Out: for each place of the
window the matrix of batch by features, as one product of matrices: IREE's named convolution would walk a
window of thousands of elements for each of them, 30 times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ....dialects.ops.contraction.convolution_window import Layout, Window
from ..tuning import configuration
from .contraction import ContractionForms


class LargeWindowForms(ContractionForms):
    """Products of matrices in place of a convolution."""

    def laid_out(self, x: Any, axes: Sequence[int]) -> Any:
        """`x` with its axes in this order, copied: IREE would read it as it lies in the innermost loop."""
        permuted = self.permute(x, axes)
        return x if permuted is x else self.materialise(permuted)

    def at_each_position(
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

        The kernel gets zeros until it is as large as the image; then both are walked as vectors. Each
        feature that is summed over (of a gradient: each image of the batch) makes a product of its own,
        which occupies threads, and their sum comes last. Places of a very narrow image go side by side.
        """
        spatial = range(2, len(lhs_spec))
        seen = [self.shape(image)[lhs_spec[k]] for k in spatial]
        sizes = [self.shape(kernel)[rhs_spec[k]] for k in spatial]
        steps = [prod(seen[k + 1 :]) for k in range(len(seen))]
        length = 1 + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True))
        image, kernel = self.convert(source, carried, image), self.convert(source, carried, kernel)
        image = self.laid_out(image, (lhs_spec[1], *lhs_spec[2:], lhs_spec[0]))
        kernel = self.laid_out(kernel, (rhs_spec[1], *rhs_spec[2:], rhs_spec[0]))
        # Around the window, as the gradient of the image has it too.
        room = [n - m for n, m in zip(seen, sizes, strict=True)]
        low, high = [n // 2 for n in room], [n - n // 2 for n in room]
        kernel = self.pad_with(kernel, [0, *low, 0], [0, *high, 0], self.scalar_constant(carried, 0))
        groups = [[0], [k - 1 for k in spatial], [len(lhs_spec) - 1]]
        image, kernel = self.collapse(image, groups), self.collapse(kernel, groups)
        (summed, elements, batch), (_, _, features) = self.shape(image), self.shape(kernel)
        first = sum(n * step for n, step in zip(low, steps, strict=True))
        kernel = self.window(kernel, [0, first, 0], [summed, length, features], [1, 1, 1])
        strides = [stride * step for stride, step in zip(window.window_strides, steps, strict=True)]
        beside = configuration.places_beside(batch, positions[-1])
        if beside > 1:
            elements -= strides[-1] * (beside - 1)
            wide = self.empty([summed, elements, beside * batch], carried)
            for at in range(beside):
                part = self.window(image, [0, at * strides[-1], 0], [summed, elements, batch], [1, 1, 1])
                wide = self.insert(part, wide, [0, 0, at * batch], [1, 1, 1])
            image = wide
        places = list(np.ndindex(*positions[:-1], positions[-1] // beside))
        partial = self.empty([len(places), summed, beside * batch, features], carried)
        for number, place in enumerate(places):
            start = sum(at * stride for at, stride in zip(place, strides, strict=True))
            shifted = self.window(image, [0, start, 0], [summed, length, beside * batch], [1, 1, 1])
            product = self.matrix_product(shifted, "bkm", kernel, "bkn", carried, carried)
            product = self.expand(product, [[0, 1], [2], [3]], [1, *self.shape(product)])
            partial = self.insert(product, partial, [number, 0, 0, 0], [1, 1, 1, 1])
        total = self.fold("reduce_sum", partial, (1,), 0, carried, carried)
        if beside > 1:
            total = self.expand(total, [[0], [1, 2], [3]], [len(places), beside, batch, features])
            total = self.collapse(total, [[0, 1], [2], [3]])
        return total
