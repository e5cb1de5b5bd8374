"""Products on CUDA of which one size is known only when the program runs, in blocks of known sizes.

Input: the factors of a product, one of whose rows, columns or terms has no known number. Output: the product.
Idea: IREE computes each element of such a product by a workgroup of its own, without tensor cores. With zeros
behind the axis until a block divides it, it is a batch of products of known sizes, whose number is not known:
blocks of rows or of columns are parts of the result, those of terms are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..builder import LinalgBuilder, Size, Value
from ..lowering import LoweringContext
from ..tuning import gpu_products
from .reductions import reduce_axes
from .tensor_ops import collapse_axes, expand_axes, extract_slice, pad_tensor, permute

Operand = tuple[Value, str]
"""A factor, and a letter for each of its axes."""
Multiply = Callable[[Operand, Operand, dict[str, Size], list[str]], Value]
"""The product of two factors with these sizes over these loops."""


def product_in_blocks(
    ctx: LoweringContext,
    factors: tuple[Operand, Operand],
    sizes: Mapping[str, Size],
    loops: Sequence[str],
    dtypes: tuple[np.dtype, np.dtype],
    multiply: Multiply,
) -> Value | None:
    """The product over `loops`, p of blocks among them; None for one that has no such form.

    The dtypes: of the factors, and of their sums.
    """
    b, (source, carried) = ctx.builder, dtypes
    found = gpu_products.block_of(ctx.target, sizes, loops, carried)
    if found is None:
        return None
    letter, block = found
    size = sizes[letter]
    count = b.calculate("size_div", b.calculate("size_add", size, block - 1), block)
    padded: dict[str, Size] = {**sizes, "p": count, letter: block}
    whole = b.calculate("size_mul", count, block)
    left, right = (_in_blocks(b, factor, letter, padded, whole, source) for factor in factors)
    if letter == "m" and source == carried:
        left = _with_rows_last(b, left)
    at = loops.index("n" if letter == "n" else "m")
    product = b.materialise(multiply(left, right, padded, [*loops[:at], "p", *loops[at:]]))
    if letter == "k":
        return reduce_axes(ctx, "reduce_sum", product, (at,), 0, carried, carried)
    rank = len(b.shape(product))
    groups = [*([a] for a in range(at)), [at, at + 1], *([a] for a in range(at + 2, rank))]
    joined = collapse_axes(b, product, groups)
    sizes_of_result = [*b.shape(joined)[:at], size, *b.shape(joined)[at + 1 :]]
    return extract_slice(b, joined, [0] * (rank - 1), sizes_of_result, [1] * (rank - 1))


def _with_rows_last(b: LinalgBuilder, factor: Operand) -> Operand:
    """A factor with its rows behind its terms: IREE would join rows and blocks, and drop the tiles."""
    value, axes = factor
    order = axes.replace("m", "").replace("k", "km") if axes.index("m") < axes.index("k") else axes
    return (
        value if order == axes else b.materialise(permute(b, value, [axes.index(c) for c in order]))
    ), order


def _in_blocks(
    b: LinalgBuilder,
    factor: Operand,
    letter: str,
    sizes: Mapping[str, Size],
    whole: Size,
    dtype: np.dtype,
) -> Operand:
    """A factor with zeros behind the axis `letter`, and that axis as two: of blocks, and within one."""
    value, axes = factor
    if letter not in axes:
        return factor
    at, shape = axes.index(letter), b.shape(value)
    more: list[Size] = [0] * len(shape)
    more[at] = b.calculate("size_sub", whole, shape[at])
    padded = pad_tensor(b, value, [0] * len(shape), more, b.scalars.constant(dtype, 0))
    groups = [[a + (a > at)] if a != at else [a, a + 1] for a in range(len(axes))]
    names = axes.replace(letter, f"p{letter}")
    return b.materialise(expand_axes(b, padded, groups, [sizes[c] for c in names])), names
