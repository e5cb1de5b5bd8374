"""Products of complex matrices as four real ones, on targets whose real ones are kernels.

Input: two factors, and their dtype. Output: the product.
Idea: IREE has no vectors of complex numbers, so the parts are taken apart before and put together behind. The
sums of the real and of the imaginary products differ from the sum of their differences by rounding alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from ....dialects import mlir
from ..builder import Size, Value
from ..lowering import LoweringContext
from ..tuning import configuration

LEAST_WORK: Final = 1 << 13  # multiplications of complex numbers
FEWEST: Final = 4  # rows, columns, and products in a sum

Multiply = Callable[[Value, Value, np.dtype], Value]


def is_divided(ctx: LoweringContext, sizes: Mapping[str, Size], dtype: np.dtype) -> bool:
    """Whether a product of this dtype and these sizes (letters b, m, n, k) is done as real ones."""
    counts = [sizes[letter] for letter in "bmnk"]
    if dtype.kind != "c" or not configuration.has_kernels(ctx.target):
        return False
    known = [n for n in counts if isinstance(n, int)]
    return len(known) == 4 and min(known[1:]) >= FEWEST and int(np.prod(known)) >= LEAST_WORK


def product_of_parts(
    ctx: LoweringContext, left: Value, right: Value, dtype: np.dtype, multiply: Multiply
) -> Value:
    """The complex product by `multiply(left, right, dtype)` of real arrays."""
    b = ctx.builder
    real = np.dtype(f"f{dtype.itemsize // 2}")
    (a, c), (d, e) = (parts_of(ctx, value, real) for value in (left, right))
    products = [multiply(x, y, real) for x, y in ((a, d), (c, e), (a, e), (c, d))]
    rank = len(b.shape(products[0]))
    kind = b.tensor_type((), dtype).element_type

    def body(ad: Value, ce: Value, ae: Value, cd: Value, _: Value) -> Value:
        re, im = mlir.arith.subf(ad, ce), mlir.arith.addf(ae, cd)
        return mlir.complex.CreateOp(kind, re, im).result

    init = b.empty(b.shape(products[0]), dtype)
    return b.generic(products, [init], [b.identity_map(rank)] * 5, ["parallel"] * rank, body)


def parts_of(ctx: LoweringContext, value: Value, real: np.dtype) -> tuple[Value, Value]:
    """The real and the imaginary parts, each an array of its own in memory."""
    b = ctx.builder
    rank = len(b.shape(value))

    def part(op: Callable[[Value], mlir.ir.Operation]) -> Value:
        init = b.empty(b.shape(value), real)
        maps = [b.identity_map(rank)] * 2
        taken = b.generic([value], [init], maps, ["parallel"] * rank, lambda z, _: op(z).result)
        return b.materialise(taken)

    return part(mlir.complex.ReOp), part(mlir.complex.ImOp)
