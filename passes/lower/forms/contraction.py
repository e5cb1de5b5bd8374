"""Lowering of `dot_general`: a batched matrix product of at most four loops.

Input: two tensors, whose axes are batch, free or contracting ones. Output: their contraction.
Idea: each group of axes is merged to one (the operand is permuted first where a group is not contiguous).
Groups that are absent or of size 1 are left out of the loops. What remains is a `linalg.generic` on operands
in any layout: vecdot, matvec, matmul with either operand transposed, or a batched one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....dialects.ops.contraction.dot_general import Axes, DotGeneral, Pairs, operand_axes
from ....dialects.ops.reduction import accumulation_dtype
from ..builder import LinalgBuilder, Size, Value
from ..lowering import LoweringContext, lowers
from ..tuning import configuration
from .reductions import reduce_axes
from .tensor_ops import (
    collapse_axes,
    convert_elements,
    drop_unit_axes,
    expand_axes,
    extract_slice,
    pad_tensor,
    parse_attribute,
    permute,
    splat,
    units_beside,
)

LEFT, RIGHT, OUT = "bmk", "bnk", "bmn"


@lowers(DotGeneral)
def lower_dot_general(
    ctx: LoweringContext, x: Value, y: Value, *, contracting: Pairs, batch: Pairs, dtype: np.dtype
) -> Value:
    """A matrix product of the operands with each group of axes merged, its result axes split again."""
    b = ctx.builder
    source, target = ctx.operand_dtype, dtype
    for rows in (contracting, batch):
        for i, j in zip(rows[0], rows[1], strict=True):
            b.require_equal(b.shape(x)[i], b.shape(y)[j], "adze: contracted or batch axes differ in size")
    left = operand_axes(len(b.shape(x)), 0, contracting, batch)
    right = operand_axes(len(b.shape(y)), 1, contracting, batch)
    shape = [b.shape(x)[a] for a in left.batch + left.free]
    shape += [b.shape(y)[a] for a in right.free]
    # Sizes that both operands have are taken from whichever knows them.
    for position, (i, j) in enumerate(zip(batch[0], batch[1], strict=True)):
        shape[position] = _static_size(b.shape(x)[i], b.shape(y)[j])
    carried = accumulation_dtype(target)
    product = grouped_product(ctx, x, y, contracting, batch, source, carried)
    product = convert_elements(b, carried, target, product)
    groups, position = [], 0
    for count in (len(left.batch), len(left.free), len(right.free)):
        groups.append(list(range(position, position + count)))
        position += count
    return _split_groups(b, product, groups, shape)


def grouped_product(
    ctx: LoweringContext,
    x: Value,
    y: Value,
    contracting: Pairs,
    batch: Pairs,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    """The contraction as `out[b, m, n]`, each group of axes merged."""
    b = ctx.builder
    left = operand_axes(len(b.shape(x)), 0, contracting, batch)
    right = operand_axes(len(b.shape(y)), 1, contracting, batch)
    x, x_order = _merge_groups(ctx, x, left, LEFT)
    y, y_order = _merge_groups(ctx, y, right, RIGHT)
    return matrix_product(ctx, x, x_order, y, y_order, source, carried)


def _static_size(m: Size, n: Size) -> Size:
    return n if isinstance(n, int) else m


def _merge_groups(ctx: LoweringContext, x: Value, axes: Axes, letters: str) -> tuple[Value, str]:
    """`x` with its groups merged, one axis for each that is not empty, and their letters in order."""
    b = ctx.builder
    groups = dict(zip(letters, axes, strict=True))
    order = [g for g, _ in sorted((g, letter) for letter, g in groups.items() if g)]
    rank = len(b.shape(x))
    if [a for g in order for a in g] != list(range(rank)):
        flat = [a for g in groups.values() for a in g]
        x = permute(b, x, flat)
        if ctx.hints.data_tiling:  # which fails on dynamic axes that are moved and merged at once
            x = b.materialise(x)
        position = 0
        for letter, group in groups.items():
            groups[letter] = tuple(range(position, position + len(group)))
            position += len(group)
    present = sorted((g, letter) for letter, g in groups.items() if g)
    return collapse_axes(b, x, [g for g, _ in present]), "".join(letter for _, letter in present)


def _split_groups(
    b: LinalgBuilder, product: Value, groups: Sequence[Sequence[int]], shape: Sequence[Size]
) -> Value:
    """The result (batch, left, right) with each of its axes expanded to what it was merged from."""
    present = [g for g in groups if g]
    if len(present) < len(groups):
        product = drop_unit_axes(b, product, [bool(g) for g in groups])
    if not present:
        return product
    return expand_axes(b, product, present, shape)


def matrix_product(
    ctx: LoweringContext, x: Value, x_order: str, y: Value, y_order: str, source: np.dtype, carried: np.dtype
) -> Value:
    """`out[b, m, n] = sum_k x[...] y[...]`; the orders name the axes of the operands as they lie."""
    b = ctx.builder
    sizes: dict[str, Size] = {}
    for order, value in ((x_order, x), (y_order, y)):
        for letter, n in zip(order, b.shape(value), strict=True):
            sizes[letter] = _static_size(sizes.get(letter, n), n)
    for letter in "bmnk":
        sizes.setdefault(letter, 1)
    if 0 in sizes.values():  # IREE's data tiling fails on a product that is statically empty
        return splat(b, np.zeros((), carried), [sizes[letter] for letter in OUT])
    x = b.retype(x, [sizes[letter] for letter in x_order])
    y = b.retype(y, [sizes[letter] for letter in y_order])
    # A loop of one iteration is left out.
    loops = [letter for letter in "bmnk" if not is_one(sizes[letter])]
    x, x_order = _without_units(b, x, x_order, loops)
    y, y_order = _without_units(b, y, y_order, loops)
    if not all(isinstance(sizes[letter], int) for letter in loops):
        # Observed: a sum of dynamic size, fused with operands that are used elsewhere too, keeps them
        # on the stack ("exceeded stack allocation limit").
        x, y = b.materialise(x), b.materialise(y)
    if loops == ["k"]:
        product = _inner_product(ctx, x, y, source, carried)
    elif {"m", "n", "k"} <= set(loops):
        product = _tiled_product(ctx, x, x_order, y, y_order, sizes, loops, source, carried)
    else:
        tiles = configuration.vector_product(ctx.target, sizes, (x_order, y_order), loops, source)
        product = _emit_product(b, x, x_order, y, y_order, sizes, loops, source, carried, tiles)
    kept = [letter in loops for letter in OUT]
    return expand_axes(b, product, units_beside(kept) if any(kept) else [], [sizes[c] for c in OUT])


def _inner_product(ctx: LoweringContext, x: Value, y: Value, source: np.dtype, carried: np.dtype) -> Value:
    """The sum of the products of two vectors, in the stages of any sum."""
    b = ctx.builder

    def body(left: Value, right: Value, _: Value) -> Value:
        left = b.scalars.convert(source, carried, left)
        right = b.scalars.convert(source, carried, right)
        return b.scalars.mul(carried, left, right)

    init = b.empty(b.shape(x), carried)
    products = b.generic([x, y], [init], [b.identity_map(1)] * 3, ["parallel"], body)
    return reduce_axes(ctx, "reduce_sum", products, (0,), 0, carried, carried)


def _tiled_product(
    ctx: LoweringContext,
    x: Value,
    x_order: str,
    y: Value,
    y_order: str,
    sizes: dict[str, Size],
    loops: Sequence[str],
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    b = ctx.builder
    form = None
    if not ctx.hints.data_tiling:
        form = configuration.matrix_product(ctx.target, sizes, y_order, loops, carried)
        larger = configuration.rounded_product(ctx.target, sizes, loops, carried)
        if form is None and larger is not None:
            x, y = _pad_to_sizes(b, x, x_order, larger, source), _pad_to_sizes(b, y, y_order, larger, source)
            product = _tiled_product(ctx, x, x_order, y, y_order, larger, loops, source, carried)
            out = [letter for letter in loops if letter != "k"]
            if larger["m"] != sizes["m"]:  # IREE would take the slice of the operand instead
                product = b.materialise(product)
            return extract_slice(b, product, [0] * len(out), [sizes[c] for c in out], [1] * len(out))
    if form is not None and source != carried:
        # Tiles of f32 on f32 operands are faster than tiles that widen each element they load.
        x, y = (b.materialise(convert_elements(b, source, carried, v)) for v in (x, y))
        source = carried
    if form is None:
        return _emit_product(b, x, x_order, y, y_order, sizes, loops, source, carried, None)
    if form.panel is None:
        if form.transpose:
            y, y_order = _copy_reordered(b, y, y_order, y_order[:-2] + "kn")
        return _emit_product(b, x, x_order, y, y_order, sizes, loops, source, carried, form.tiles)
    # n becomes p panels of t columns
    at = y_order.index("n")
    groups = [[a + (a > at)] if a != at else [a, a + 1] for a in range(len(y_order))]
    apart = {**sizes, "p": sizes["n"] // form.panel, "t": form.panel}
    order = y_order.replace("n", "pt")
    y = expand_axes(b, y, groups, [apart[letter] for letter in order])
    y, y_order = _copy_reordered(b, y, order, y_order[:-2] + "pkt")
    panels = [c for letter in loops for c in ("pt" if letter == "n" else letter)]
    product = _emit_product(b, x, x_order, y, y_order, apart, panels, source, carried, form.tiles)
    last = len(loops) - 2
    return collapse_axes(b, product, [*([a] for a in range(last)), [last, last + 1]])


def _pad_to_sizes(b: LinalgBuilder, x: Value, order: str, sizes: dict[str, Size], dtype: np.dtype) -> Value:
    """`x` with zeros behind it until its axes have these sizes."""
    more = [sizes[letter] - n for letter, n in zip(order, b.shape(x), strict=True)]
    return pad_tensor(b, x, [0] * len(more), more, b.scalars.constant(dtype, 0))


def _copy_reordered(b: LinalgBuilder, y: Value, order: str, wanted: str) -> tuple[Value, str]:
    """`y` copied to another order of its axes; IREE would undo the copy if it could see through it."""
    return b.materialise(permute(b, y, [order.index(letter) for letter in wanted])), wanted


def _emit_product(
    b: LinalgBuilder,
    x: Value,
    x_order: str,
    y: Value,
    y_order: str,
    sizes: dict[str, Size],
    loops: Sequence[str],
    source: np.dtype,
    carried: np.dtype,
    tiles: str | None,
) -> Value:
    """The `linalg.generic` over `loops`, of which k, if there, is summed over."""
    out = [letter for letter in loops if letter != "k"]
    shape = [sizes[letter] for letter in out]
    zero = b.scalars.constant(carried, 0)
    init = b.fill(zero, shape, carried) if "k" in loops else b.empty(shape, carried)

    def body(left: Value, right: Value, total: Value) -> Value:
        left = b.scalars.convert(source, carried, left)
        right = b.scalars.convert(source, carried, right)
        product = b.scalars.mul(carried, left, right)
        return b.scalars.add(carried, total, product) if "k" in loops else product

    maps = [
        b.axes_map(len(loops), [loops.index(letter) for letter in order]) for order in (x_order, y_order, out)
    ]
    iterators = ["reduction" if letter == "k" else "parallel" for letter in loops]
    return b.generic([x, y], [init], maps, iterators, body, parse_attribute(b, tiles))


def is_one(n: Size) -> bool:
    return isinstance(n, int) and n == 1


def _without_units(b: LinalgBuilder, x: Value, order: str, loops: Sequence[str]) -> tuple[Value, str]:
    keep = [letter in loops for letter in order]
    if all(keep):
        return x, order
    return drop_unit_axes(b, x, keep), "".join(c for c in order if c in loops)
