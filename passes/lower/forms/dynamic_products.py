"""Products on GPUs of which some sizes are known only when the program runs, in blocks of known sizes.

Input: the factors of a product, whose rows, columns or terms have no known number. Output: the product.
Idea: IREE computes each element of such a product by a workgroup of its own, without tensor cores. With zeros
behind the axis until a block divides it, it is a batch of products of known sizes, whose number is not known:
blocks of rows or of columns are parts of the result, those of terms are added up. Where several axes have no
known size, each is cut into blocks, and one kernel adds up those of terms as it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Final

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
BLOCKS: Final = {"m": "r", "n": "s", "k": "q"}
"""The loop over the blocks of an axis, where several axes are cut."""


def product_in_blocks(
    ctx: LoweringContext,
    factors: tuple[Operand, Operand],
    sizes: Mapping[str, Size],
    loops: Sequence[str],
    dtypes: tuple[np.dtype, np.dtype],
    multiply: Multiply,
) -> Value | None:
    """The product over `loops`; None for one that has no such form. The dtypes: of factors, of their sums."""
    found = gpu_products.block_of(ctx.target, sizes, loops, dtypes[1])
    if found is not None:
        return _product_of_blocks(ctx, factors, sizes, loops, found, dtypes, multiply)
    blocks = gpu_products.blocks_of(ctx.target, sizes, loops, dtypes[1])
    if blocks is not None:
        return _product_of_tiles(ctx.builder, factors, sizes, loops, blocks, dtypes[0], multiply)
    return None


def _product_of_blocks(
    ctx: LoweringContext,
    factors: tuple[Operand, Operand],
    sizes: Mapping[str, Size],
    loops: Sequence[str],
    found: tuple[str, int],
    dtypes: tuple[np.dtype, np.dtype],
    multiply: Multiply,
) -> Value:
    """The product over `loops` and p, of blocks of the one axis without a known size."""
    b, (source, carried), (letter, block) = ctx.builder, dtypes, found
    size = sizes[letter]
    count = b.calculate("size_div", b.calculate("size_add", size, block - 1), block)
    padded: dict[str, Size] = {**sizes, "p": count, letter: block}
    whole = b.calculate("size_mul", count, block)
    left, right = (_in_blocks(b, factor, letter, padded, whole, source) for factor in factors)
    if letter == "m" and (source == carried or gpu_products.is_through_spirv(ctx.target)):
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


def _product_of_tiles(
    b: LinalgBuilder,
    factors: tuple[Operand, Operand],
    sizes: Mapping[str, Size],
    loops: Sequence[str],
    blocks: Mapping[str, int],
    dtype: np.dtype,
    multiply: Multiply,
) -> Value:
    """The product over `loops` and those of `BLOCKS`, where several axes have no known size."""
    padded: dict[str, Size] = {**sizes}
    wholes: dict[str, Size] = {}
    for letter, block in blocks.items():
        count = b.calculate("size_div", b.calculate("size_add", sizes[letter], block - 1), block)
        wholes[letter] = b.calculate("size_mul", count, block)
        is_cut = not isinstance(sizes[letter], int)
        padded[letter] = block if is_cut else wholes[letter]
        if is_cut:
            padded[BLOCKS[letter]] = count
    left, right = (_in_tiles(b, factor, padded, wholes, dtype) for factor in factors)
    all_loops = [c for part in _cut(loops, padded) for c in part]
    product = b.materialise(multiply(left, right, padded, all_loops))
    joined = collapse_axes(b, product, _positions(_cut([c for c in loops if c != "k"], padded)))
    shape = [sizes[letter] for letter in loops if letter != "k"]
    return extract_slice(b, joined, [0] * len(shape), shape, [1] * len(shape))


def _in_tiles(
    b: LinalgBuilder, factor: Operand, sizes: Mapping[str, Size], wholes: Mapping[str, Size], dtype: np.dtype
) -> Operand:
    """A factor with zeros behind its axes, in blocks: loops over blocks first, rows and columns last.

    An axis that lies behind its blocks in both the factor and the result would be joined with them by IREE,
    which drops the tiles then.
    """
    value, axes = factor
    more = [b.calculate("size_sub", wholes.get(c, n), n) for c, n in zip(axes, b.shape(value), strict=True)]
    value = pad_tensor(b, value, [0] * len(more), more, b.scalars.constant(dtype, 0))
    cut = _cut(axes, sizes)
    names = "".join(cut)
    value = expand_axes(b, value, _positions(cut), [sizes[c] for c in names])
    within = "mk" if {"r", "q"} <= {*names} else "kmn"
    order = "".join(c for c in f"brsq{within}" if c in names)
    return b.materialise(permute(b, value, [names.index(c) for c in order])), order


def _cut(axes: Sequence[str], sizes: Mapping[str, Size]) -> list[str]:
    """The letters of each axis, two where it is cut into blocks."""
    return [f"{BLOCKS[c]}{c}" if BLOCKS.get(c) in sizes else c for c in axes]


def _positions(parts: Sequence[str]) -> list[list[int]]:
    """The axes that each part has among those of all, one a letter."""
    ends = list(accumulate(map(len, parts)))
    return [[*range(end - len(part), end)] for part, end in zip(parts, ends, strict=True)]


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
