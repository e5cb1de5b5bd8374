"""Lowering of `dot_general`: a batched matrix product of at most four loops.

Input: two tensors, whose axes are batch, free or contracting ones. Output: their contraction.
Idea: each group of axes is merged to one (the operand is permuted first where a group is not contiguous).
Groups that are absent or of size 1 are left out of the loops. What remains is a `linalg.generic` on operands
in any layout: vecdot, matvec, matmul with either operand transposed, or a batched one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.ops.contraction.dot_general import Axes, Pairs, operand_axes
from ....dialects.ops.reduction import accumulation_dtype
from ....dialects.types import FLOAT16, FLOAT32, INT32
from ..builder import LinalgBuilder, Size, Value
from ..lowering import LoweringContext
from ..tuning import gpu_columns, gpu_products, product_forms
from ..tuning.gpu_facts import is_tiled
from .complex_products import is_divided, product_of_parts
from .dynamic_products import Operand, product_in_blocks
from .products import product_by_kernel, product_of_groups, product_on_tensor_cores
from .reductions import hidden_length, of_hidden_length, reduce_axes
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
from .widened_factors import narrowed_factors

LEFT, RIGHT, OUT = "bmk", "bnk", "bmn"
PASSED_BY: Final = ("adze.reshape", "adze.convert", "adze.mul", "adze.add")
PASSED: Final = 4  # so many of these, one behind the other


@dataclass(frozen=True, slots=True)
class Factor:
    """An operand of a matrix product, and a letter for each axis: b batch, m left, n right, k summed over."""

    value: Value
    axes: str


def lower_dot_general(
    ctx: LoweringContext, x: Value, y: Value, *, contracting: Pairs, batch: Pairs, dtype: np.dtype
) -> Value:
    """A matrix product of the operands with each group of axes merged, its result axes split again."""
    b = ctx.builder
    x, y, source = narrowed_factors(ctx, x, y, dtype)
    target = dtype
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
    if product_forms.widens_factors(ctx.target, target):
        product = b.materialise(product)
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
    factors = _merge_groups(ctx, x, left, LEFT), _merge_groups(ctx, y, right, RIGHT)
    return matrix_product(ctx, *factors, source, carried)


def _static_size(m: Size, n: Size) -> Size:
    return n if isinstance(n, int) else m


def _merge_groups(ctx: LoweringContext, x: Value, axes: Axes, letters: str) -> Factor:
    """`x` with its groups merged, one axis for each that is not empty."""
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
    merged = collapse_axes(b, x, [g for g, _ in present])
    return Factor(merged, "".join(letter for _, letter in present))


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
    ctx: LoweringContext, left: Factor, right: Factor, source: np.dtype, carried: np.dtype
) -> Value:
    """`out[b, m, n] = sum_k left[...] right[...]` of factors of dtype `source`, in dtype `carried`."""
    b = ctx.builder
    sizes: dict[str, Size] = {}
    for factor in (left, right):
        for letter, n in zip(factor.axes, b.shape(factor.value), strict=True):
            sizes[letter] = _static_size(sizes.get(letter, n), n)
    for letter in "bmnk":
        sizes.setdefault(letter, 1)
    if 0 in sizes.values():  # IREE's data tiling fails on a product that is statically empty
        return splat(b, np.zeros((), carried), [sizes[letter] for letter in OUT])
    left, right = (
        Factor(b.retype(factor.value, [sizes[letter] for letter in factor.axes]), factor.axes)
        for factor in (left, right)
    )
    by_groups = product_of_groups(ctx, left.value, left.axes, right.value, right.axes, sizes, source, carried)
    if by_groups is not None:
        return by_groups
    if product_forms.widens_factors(ctx.target, source):
        left, right = (
            Factor(b.materialise(convert_elements(b, source, carried, f.value)), f.axes)
            for f in (left, right)
        )
        source = carried
    # A loop of one iteration is left out.
    loops = [letter for letter in "bmnk" if not is_one(sizes[letter])]
    left, right = _without_units(b, left, loops), _without_units(b, right, loops)
    if not all(isinstance(sizes[letter], int) for letter in loops):
        # Observed: a sum of dynamic size, fused with operands that are used elsewhere too, keeps them
        # on the stack ("exceeded stack allocation limit").
        left, right = (Factor(b.materialise(f.value), f.axes) for f in (left, right))
    if source == carried and is_divided(ctx, sizes, carried):
        axes = left.axes, right.axes

        def multiply(x: Value, y: Value, dtype: np.dtype) -> Value:
            return matrix_product(ctx, Factor(x, axes[0]), Factor(y, axes[1]), dtype, dtype)

        return product_of_parts(ctx, left.value, right.value, carried, multiply)
    by_kernel = product_by_kernel(ctx, left.value, left.axes, right.value, right.axes, sizes, source, carried)
    if by_kernel is not None:
        return by_kernel
    thin = gpu_products.thin_parts(ctx.target, sizes, right.axes, loops, source, carried)
    if thin is not None:
        product = _thin_product(ctx, left, right, sizes, loops, thin, source, carried)
    elif loops == ["k"]:
        product = _inner_product(ctx, left.value, right.value, source, carried)
    elif {"m", "n", "k"} <= set(loops):
        product = _product_of_matrices(ctx, left, right, sizes, loops, source, carried)
    else:
        left, right = _shared_by_lanes(ctx, left, right, sizes, loops, carried)
        tiles = product_forms.vector_product(ctx.target, sizes, (left.axes, right.axes), loops, source)
        product = _emit_product(b, left, right, sizes, loops, source, carried, tiles)
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


def _product_of_matrices(
    ctx: LoweringContext,
    left: Factor,
    right: Factor,
    sizes: dict[str, Size],
    loops: Sequence[str],
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    """A product with a loop for rows, for columns and for what is summed over; its sums in parts on GPUs."""
    b = ctx.builder

    def multiply(x: Operand, y: Operand, block_sizes: dict[str, Size], block_loops: list[str]) -> Value:
        return _tiled_product(ctx, Factor(*x), Factor(*y), block_sizes, block_loops, source, carried)

    operands = (left.value, left.axes), (right.value, right.axes)
    blocks = product_in_blocks(ctx, operands, sizes, loops, (source, carried), multiply)
    if blocks is not None:
        return blocks
    parts = gpu_products.exact_parts(ctx.target, sizes, loops, source)
    if parts is not None:
        left, right = (
            Factor(b.materialise(convert_elements(b, source, FLOAT16, f.value)), f.axes)
            for f in (left, right)
        )
        sums = _product_in_parts(ctx, left, right, sizes, loops, parts, (FLOAT16, FLOAT32, INT32))
        return convert_elements(b, INT32, carried, sums)
    parts = gpu_products.deep_parts(ctx.target, sizes, loops, carried)
    if parts is not None:
        return _product_in_parts(ctx, left, right, sizes, loops, parts, (source, carried, carried))
    return _tiled_product(ctx, left, right, sizes, loops, source, carried)


def _product_in_parts(
    ctx: LoweringContext,
    left: Factor,
    right: Factor,
    sizes: dict[str, Size],
    loops: Sequence[str],
    parts: gpu_products.Parts,
    dtypes: tuple[np.dtype, np.dtype, np.dtype],
) -> Value:
    """A product whose sums are cut into parts. The dtypes: of the factors, of a part, of their sum."""
    b, (source, part, carried) = ctx.builder, dtypes
    if parts.count > 1:
        padded = {**sizes, "k": parts.count * parts.depth}
        sizes = {**sizes, "p": parts.count, "k": parts.depth}
        left, right = (
            _split_axis(b, _pad_to_sizes(b, factor, padded, source), "k", "pk", sizes)
            for factor in (left, right)
        )
        at = loops.index("m")
        loops = [*loops[:at], "p", *loops[at:]]
    product = _tiled_product(ctx, left, right, sizes, loops, source, part)
    product = convert_elements(b, part, carried, product)
    if parts.count == 1:
        return product
    return reduce_axes(ctx, "reduce_sum", product, (loops.index("p"),), 0, carried, carried)


def _thin_product(
    ctx: LoweringContext,
    left: Factor,
    right: Factor,
    sizes: dict[str, Size],
    loops: Sequence[str],
    parts: gpu_products.Parts,
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    """A product of few rows on a GPU, whose sums are cut into parts so that more threads read the matrix."""
    b = ctx.builder
    split = {**sizes, "p": parts.count, "k": parts.depth}
    left, right = (_split_axis(b, factor, "k", "pk", split) for factor in (left, right))
    at = loops.index("b") + 1 if "b" in loops else 0
    loops = [*loops[:at], "p", *loops[at:]]
    product = b.materialise(_emit_product(b, left, right, split, loops, source, carried, None))
    return reduce_axes(ctx, "reduce_sum", product, (at,), 0, carried, carried)


def _shared_by_lanes(
    ctx: LoweringContext,
    left: Factor,
    right: Factor,
    sizes: dict[str, Size],
    loops: Sequence[str],
    carried: np.dtype,
) -> tuple[Factor, Factor]:
    """The factors of a matrix and a vector, on GPUs so that lanes share the rows of the matrix."""
    b, rows = ctx.builder, [sizes[letter] for letter in loops if letter != "k"]
    is_along_rows = all(factor.axes.endswith("k") for factor in (left, right))
    if (
        not is_along_rows
        or carried.itemsize != 4
        or not gpu_columns.hides_length(ctx.target, (*rows, sizes["k"]), (len(rows),))
    ):
        return left, right
    length = hidden_length(b, sizes["k"])
    left, right = (Factor(of_hidden_length(b, b.materialise(f.value), length), f.axes) for f in (left, right))
    return left, right


def _tiled_product(
    ctx: LoweringContext,
    left: Factor,
    right: Factor,
    sizes: dict[str, Size],
    loops: Sequence[str],
    source: np.dtype,
    carried: np.dtype,
) -> Value:
    """A product of matrices with register tiles, where the target has some for these sizes."""
    b = ctx.builder
    form = None
    if not ctx.hints.data_tiling:
        form = product_forms.matrix_product(ctx.target, sizes, right.axes, loops, carried)
        larger = product_forms.rounded_product(ctx.target, sizes, loops, carried)
        if form is None and larger is not None:
            left, right = (_pad_to_sizes(b, factor, larger, source) for factor in (left, right))
            product = _tiled_product(ctx, left, right, larger, loops, source, carried)
            out = [letter for letter in loops if letter != "k"]
            is_batched = is_tiled(ctx.target) and len(loops) > len("mnk")
            if larger["m"] != sizes["m"] or (is_batched and larger["n"] != sizes["n"]):
                # IREE would take the slice of the operand instead.
                product = b.materialise(product)
            return extract_slice(b, product, [0] * len(out), [sizes[c] for c in out], [1] * len(out))
    if form is not None and source != carried:
        # Tiles of f32 on f32 operands are faster than tiles that widen each element they load.
        left, right = (
            Factor(b.materialise(convert_elements(b, source, carried, f.value)), f.axes)
            for f in (left, right)
        )
        source = carried
    block = gpu_products.tensor_block(ctx.target, sizes, loops, source, carried)
    is_of_batches = {*loops} <= {*left.axes, "n"} & {*right.axes, "m"}  # no factor is one for all of a batch
    if block is not None and is_of_batches:
        return product_on_tensor_cores(
            ctx, (left.value, left.axes), (right.value, right.axes), sizes, loops, block
        )
    if form is None:
        tiles = gpu_products.tiles(ctx.target, sizes, loops, carried) if source == carried else None
        matrix_tiles = gpu_products.matrix_tiles(ctx.target, sizes, loops, source, carried)
        tiles_of_blocks = gpu_products.block_tiles(ctx.target, sizes, loops)
        product = _emit_product(
            b, left, right, sizes, loops, source, carried, tiles or matrix_tiles or tiles_of_blocks
        )
        # IREE would compute the transpose itself, of which it drops the tiles.
        return b.materialise(product) if tiles is not None and _is_transposed(ctx) else product
    if form.panel is None:
        if form.transpose:
            right = _copy_reordered(b, right, right.axes[:-2] + "kn")
        return _emit_product(b, left, right, sizes, loops, source, carried, form.tiles)
    # n becomes p panels of t columns
    panel_sizes = {**sizes, "p": sizes["n"] // form.panel, "t": form.panel}
    right = _copy_reordered(b, _split_axis(b, right, "n", "pt", panel_sizes), right.axes[:-2] + "pkt")
    panel_loops = [c for letter in loops for c in ("pt" if letter == "n" else letter)]
    product = _emit_product(b, left, right, panel_sizes, panel_loops, source, carried, form.tiles)
    last = len(loops) - 2
    return collapse_axes(b, product, [*([a] for a in range(last)), [last, last + 1]])


def _is_transposed(ctx: LoweringContext) -> bool:
    """Whether an op transposes what this one returns, also behind ops that IREE transposes as well."""
    users = {use.owner for use in ctx.operation.results[0].uses}
    for _ in range(PASSED):
        if any(user.name == "adze.transpose" for user in users):
            return True
        passed = [user for user in users if user.name in PASSED_BY]
        users = {use.owner for user in passed for use in user.results[0].uses}
    return False


def _pad_to_sizes(b: LinalgBuilder, factor: Factor, sizes: dict[str, Size], dtype: np.dtype) -> Factor:
    """`factor` with zeros behind it until its axes have these sizes."""
    pairs = [(sizes[letter], n) for letter, n in zip(factor.axes, b.shape(factor.value), strict=True)]
    more = [new - n if isinstance(new, int) and isinstance(n, int) else 0 for new, n in pairs]
    if not any(more):
        return factor
    zero = b.scalars.constant(dtype, 0)
    return Factor(pad_tensor(b, factor.value, [0] * len(more), more, zero), factor.axes)


def _split_axis(b: LinalgBuilder, factor: Factor, old: str, into: str, sizes: dict[str, Size]) -> Factor:
    """`factor` with its axis `old` split into two."""
    at = factor.axes.index(old)
    groups = [[a + (a > at)] if a != at else [a, a + 1] for a in range(len(factor.axes))]
    axes = factor.axes.replace(old, into)
    return Factor(expand_axes(b, factor.value, groups, [sizes[letter] for letter in axes]), axes)


def _copy_reordered(b: LinalgBuilder, factor: Factor, axes: str) -> Factor:
    """`factor` copied to another order of its axes; IREE would undo the copy if it could see through it."""
    return Factor(
        b.materialise(permute(b, factor.value, [factor.axes.index(letter) for letter in axes])), axes
    )


def _emit_product(
    b: LinalgBuilder,
    left: Factor,
    right: Factor,
    sizes: dict[str, Size],
    loops: Sequence[str],
    source: np.dtype,
    carried: np.dtype,
    tiles: str | None,
) -> Value:
    """The `linalg.generic` over `loops`, of which k and its blocks, if there, are summed over."""
    out = "".join(letter for letter in loops if letter not in gpu_products.SUMMED)
    shape = [sizes[letter] for letter in out]
    zero = b.scalars.constant(carried, 0)
    init = b.fill(zero, shape, carried) if "k" in loops else b.empty(shape, carried)

    def body(x: Value, y: Value, total: Value) -> Value:
        x = b.scalars.convert(source, carried, x)
        y = b.scalars.convert(source, carried, y)
        product = b.scalars.mul(carried, x, y)
        return b.scalars.add(carried, total, product) if "k" in loops else product

    maps = [
        b.axes_map(len(loops), [loops.index(letter) for letter in axes])
        for axes in (left.axes, right.axes, out)
    ]
    iterators = ["reduction" if letter in gpu_products.SUMMED else "parallel" for letter in loops]
    return b.generic([left.value, right.value], [init], maps, iterators, body, parse_attribute(b, tiles))


def is_one(n: Size) -> bool:
    """Whether a size is known to be 1."""
    return isinstance(n, int) and n == 1


def _without_units(b: LinalgBuilder, factor: Factor, loops: Sequence[str]) -> Factor:
    """`factor` without the axes that have no loop."""
    keep = [letter in loops for letter in factor.axes]
    if all(keep):
        return factor
    return Factor(drop_unit_axes(b, factor.value, keep), "".join(c for c in factor.axes if c in loops))
