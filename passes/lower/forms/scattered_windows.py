"""Convolutions of dilated images on CUDA: the gradients of strided convolutions with respect to the image.

Input: an image (batch, spatial, in) without the zeros between its elements, a kernel (in, spatial, out) and
how its window moves. Output: (batch, positions, out), in the dtype of sums.
Idea: one product of all elements of the image and the whole kernel. An element of the result is the sum of
the few products whose elements meet it: of a stride of 2 and a window of 3 x 3 at most four.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ....dialects import mlir
from ....dialects.ops.contraction.convolution_window import Window
from ..builder import Value
from ..lowering import LoweringContext
from .contraction import Factor, matrix_product
from .tensor_ops import collapse_axes, drop_unit_axes, expand_axes

Meeting = tuple[Value, Value, Value]
"""An element of the image along an axis, the one of the window that it meets, and whether both exist."""


def sums_of_products(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    sizes: Sequence[int],
    window: Window,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    b, arith = ctx.builder, mlir.arith
    spatial = len(sizes) - 2
    shape, (_, *taps, features) = b.shape(image), b.shape(kernel)
    rows = collapse_axes(b, image, [list(range(spatial + 1)), [spatial + 1]])
    weights = collapse_axes(b, kernel, [[0], list(range(1, spatial + 2))])
    products = matrix_product(ctx, Factor(rows, "mk"), Factor(weights, "kn"), source, carried)
    products = drop_unit_axes(b, products, [False, True, True])
    apart = [*shape[:-1], *taps, features]
    groups = [list(range(spatial + 1)), list(range(spatial + 1, len(apart)))]
    products = b.materialise(expand_axes(b, products, groups, apart))
    zero = b.scalars.constant(carried, 0)

    def body(_: Value) -> Value:
        axes = [_meetings(axis, shape[1 + axis], taps[axis], window) for axis in range(spatial)]
        batch, feature = (mlir.linalg.IndexOp(axis).result for axis in (0, spatial + 1))
        total = zero
        for meetings in product(*axes):
            places, within = [batch, *(m[0] for m in meetings)], [m[1] for m in meetings]
            exists = meetings[0][2]
            for meeting in meetings[1:]:
                exists = arith.andi(exists, meeting[2])
            element = mlir.tensor.extract(products, [*places, *within, feature])
            total = b.scalars.add(carried, total, arith.select(exists, element, zero))
        return total

    rank = len(sizes)
    return b.generic([], [b.empty(sizes, carried)], [b.identity_map(rank)], ["parallel"] * rank, body)


def _meetings(axis: int, size: int, taps: int, window: Window) -> list[Meeting]:
    """What a position along an axis may be the sum of; where one does not exist, its places are 0."""
    arith, index = mlir.arith, mlir.ir.IndexType.get()

    def number(n: int) -> Value:
        return arith.constant(index, n)

    step, low = window.lhs_dilation[axis], window.padding[axis][0]
    shift = max(0, -(-low // step))  # so many elements before the image keep the sum from being negative
    place = arith.addi(mlir.linalg.IndexOp(axis + 1).result, number(step * shift - low))
    behind = arith.subi(number(step), arith.remui(place, number(step)))
    first = arith.remui(behind, number(step))
    start = arith.subi(arith.divui(arith.addi(place, first), number(step)), number(shift))
    found = []
    for n in range(-(-taps // step)):
        element, tap = arith.addi(start, number(n)), arith.addi(first, number(step * n))
        below = arith.CmpIPredicate.ult  # a negative number is a large one
        exists = arith.andi(arith.cmpi(below, element, number(size)), arith.cmpi(below, tap, number(taps)))
        kept = (arith.select(exists, each, number(0)) for each in (element, tap))
        found.append((*kept, exists))
    return found
