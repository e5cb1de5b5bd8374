"""Convolutions of each channel whose sizes show at the call: sums of products of the image, shifted.

Input: a padded image and a kernel with few elements in its window, which sees one channel at each place.
Output: their convolution.
Idea: IREE makes no vectors of a window over sizes that it does not know. An elementwise op that takes the
image once for each element of the window is one of those that adze writes itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final

import numpy as np

from ....dialects.ops.contraction.convolution_window import Layout, Window
from ..builder import LinalgBuilder, Size, Value
from .tensor_ops import collapse_axes, drop_unit_axes, expand_axes, extract_slice, permute

TOGETHER: Final = 12  # images of a kernel, each of which is passed with its place, as are its weights


def sum_of_shifted(
    b: LinalgBuilder,
    image: Value,
    kernel: Value,
    axes: tuple[Layout, Layout],
    sizes: Sequence[Size],
    window: Window,
    dtypes: tuple[np.dtype, np.dtype],
) -> Value:
    """The convolution of `sizes` (batch, spatial, channels).

    `axes`: those of the image in the order batch, spatial, feature, and of the kernel in the order spatial,
    in, out. `dtypes`: of the operands, and of sums.
    """
    source, carried = dtypes
    spatial = len(sizes) - 2
    channels = sizes[-1]
    taps = [b.shape(kernel)[a] for a in axes[1][:spatial]]
    image = permute(b, image, axes[0])
    weights = collapse_axes(b, permute(b, kernel, axes[1]), [list(range(spatial)), [spatial, spatial + 1]])
    kept = sizes
    if channels == 1:
        kept = sizes[:-1]
        image = drop_unit_axes(b, image, [True] * len(kept) + [False])
    rank, found = len(kept), None
    places = list(product(*(range(int(n)) for n in taps)))
    for start in range(0, len(places), TOGETHER):
        images, factors = [], []
        for number, place in enumerate(places[start : start + TOGETHER], start):
            first = [p * d for p, d in zip(place, window.rhs_dilation, strict=True)]
            offsets = [0, *first, 0][:rank]
            images.append(extract_slice(b, image, offsets, kept, [1] * rank))
            row = extract_slice(b, weights, [number, 0], [1, channels], [1, 1])
            factors.append(drop_unit_axes(b, row, [False, channels != 1]))

        def body(*scalars: Value, count: int = len(images)) -> Value:
            total = scalars[2 * count] if len(scalars) > 2 * count + 1 else None
            for pair in zip(scalars[:count], scalars[count : 2 * count], strict=True):
                term = b.scalars.mul(carried, *(b.scalars.convert(source, carried, v) for v in pair))
                total = term if total is None else b.scalars.add(carried, total, term)
            return total

        before: list[Value] = [] if found is None else [b.materialise(found)]
        whole, row_map = b.identity_map(rank), b.axes_map(rank, () if channels == 1 else (rank - 1,))
        maps = [*[whole] * len(images), *[row_map] * len(factors), *[whole] * (len(before) + 1)]
        init = b.empty(kept, carried)
        found = b.generic([*images, *factors, *before], [init], maps, ["parallel"] * rank, body)
    if channels == 1:
        return expand_axes(b, found, [*([a] for a in range(spatial)), [spatial, spatial + 1]], sizes)
    return found
