"""Convolutions of one channel whose sizes show at the call: sums of products of the image, shifted.

Input: a padded image and a kernel of one feature each, with few elements in its window.
Output: their convolution.
Idea: IREE makes no vectors of a window over sizes that it does not know. An elementwise op that takes the
image once for each element of the window is one of those that adze writes itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.ops.contraction.convolution_window import Layout, Window
from ..builder import LinalgBuilder, Size, Value
from ..iree.extracted_sources import extractable
from .tensor_ops import collapse_axes, drop_unit_axes, expand_axes, extract_slice, permute

TOGETHER: Final = 24  # images of a kernel, each of which is passed with its place


def sum_of_shifted(
    b: LinalgBuilder,
    image: Value,
    kernel: Value,
    axes: tuple[Layout, Layout],
    sizes: Sequence[Size],
    window: Window,
    dtypes: tuple[np.dtype, np.dtype],
) -> Value:
    """The convolution of `sizes` (batch, spatial, 1).

    `axes`: those of the image in the order batch, spatial, feature, and of the kernel in the order spatial,
    in, out. `dtypes`: of the operands, and of sums.
    """
    source, carried = dtypes
    batch, *positions, _ = sizes
    spatial = len(positions)
    keep = [*[True] * (spatial + 1), False]
    image = drop_unit_axes(b, permute(b, image, axes[0]), keep)
    flat = collapse_axes(b, permute(b, kernel, axes[1]), [list(range(spatial + 2))])
    taps = [b.shape(kernel)[a] for a in axes[1][:spatial]]
    flat = extractable(b, flat)
    images = []
    for places in product(*(range(int(n)) for n in taps)):
        first = [p * d for p, d in zip(places, window.rhs_dilation, strict=True)]
        images.append(extract_slice(b, image, [0, *first], [batch, *positions], [1] * (spatial + 1)))
    rank, found = spatial + 1, None
    for start in range(0, len(images), TOGETHER):
        some = images[start : start + TOGETHER]

        def body(*scalars: Value, start: int = start, count: int = len(some)) -> Value:
            total = scalars[count] if len(scalars) > count + 1 else None
            for number, element in enumerate(scalars[:count]):
                weight = mlir.tensor.extract(flat, [b.size_value(start + number)])
                factors = (b.scalars.convert(source, carried, v) for v in (element, weight))
                term = b.scalars.mul(carried, *factors)
                total = term if total is None else b.scalars.add(carried, total, term)
            return total

        inputs = some if found is None else [*some, b.materialise(found)]
        maps = [b.identity_map(rank)] * (len(inputs) + 1)
        init = b.empty([batch, *positions], carried)
        found = b.generic(inputs, [init], maps, ["parallel"] * rank, body)
    return expand_axes(b, found, [*([a] for a in range(spatial)), [spatial, spatial + 1]], sizes)
