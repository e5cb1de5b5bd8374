"""Products of matrices by a kernel of our own (`kernels/products.py`), where the target has a good one.

Input: two factors, the letters of their axes (b batch, m left, n right, k summed over), and the sizes.
Output: the product `[b, m, n]`, or None where IREE's own form is as good. A right operand that is known is
packed here, so that the program begins with the panels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.ops.contraction.convolution_window import Window
from ..builder import LinalgBuilder, Size, Value
from ..kernels.gpu_products import multiply_on_tensor_cores
from ..kernels.group_packing import GROUPS, pack_panels, pack_rows, packed_panels
from ..kernels.grouped_products import multiply_few_rows, multiply_groups
from ..kernels.matrix_tiles import ROWS
from ..kernels.mirrored import mirror
from ..kernels.panels import pack, packed_array
from ..kernels.products import multiply
from ..kernels.row_products import multiply_rows
from ..kernels.window_products import WindowRows, multiply_windows
from ..lowering import LoweringContext
from ..tuning.configuration import has_kernels
from ..tuning.gpu_products import TensorBlock
from ..tuning.group_tiles import BYTES_OF_GROUP, group_tiles
from ..tuning.product_tiles import (
    FEW,
    ProductSizes,
    computes_half,
    product_tiles,
    row_tiles,
    window_tiles,
)
from .tensor_ops import (
    collapse_axes,
    convert_elements,
    drop_unit_axes,
    expand_axes,
    permute,
    units_beside,
)

_KEEPING: Final = ("tensor.expand_shape", "tensor.collapse_shape", "iree_tensor_ext.compute_barrier.start")
"""What keeps the elements of its operand, in their order."""


def product_by_kernel(
    ctx: LoweringContext,
    left: Value,
    left_axes: str,
    right: Value,
    right_axes: str,
    sizes: Mapping[str, Size],
    source: np.dtype,
    carried: np.dtype,
) -> Value | None:
    """The product of factors of dtype `source` in dtype `carried`; the axes of size 1 may be left out."""
    b, m, n, k = (sizes[letter] for letter in "bmnk")
    known = ProductSizes(*(size if isinstance(size, int) else None for size in (b, m, n, k)))
    is_static = None not in (known.b, known.m, known.n, known.k)
    left_along_k, right_along_k = left_axes.endswith("k"), right_axes.endswith("k")
    if carried.kind == "c" and (source != carried or not has_kernels(ctx.target)):
        return None
    if source == carried and known.k != 1 and is_static:
        if known.n == 1 and known.m != 1 and left_along_k and not _is_computed(left):
            return _by_vector(ctx, (left, left_axes), (right, right_axes), "bmk", sizes, carried)
        if known.m == 1 and known.n != 1 and right_along_k and not _is_computed(right):
            return _by_vector(ctx, (right, right_axes), (left, left_axes), "bnk", sizes, carried)
    tiles = product_tiles(ctx.target, known, left_along_k, right_along_k, carried)
    if tiles is None:
        return None
    if known.m is not None and known.m <= FEW and source != carried:
        return None
    if known.m == 1 and _is_computed(right):
        return None
    if left == right and left_axes.replace("m", "n") == right_axes and computes_half(known):
        tiles = replace(tiles, is_symmetric=True)
    first = _whole(ctx, left, left_axes, "bmk" if left_along_k else "bkm", sizes, source, carried)
    second = _whole(ctx, right, right_axes, "bnk" if right_along_k else "bkn", sizes, source, carried)
    if tiles.packs_left:
        first = pack(ctx.kernels, first, known, tiles.of_left, along_k=False)
    unpacked = None
    if tiles.is_packed:
        array = _known_array(ctx, second)
        if array is None:
            # Packing does not repay for few rows; columns that lie along k are transposed by it.
            unpacked = second if known.m is None and not right_along_k else None
            shape, rows = ctx.builder.shape, None if unpacked is None else m
            second = pack(ctx.kernels, second, known, tiles, along_k=right_along_k, rows=rows, shape=shape)
        else:
            second = ctx.builder.constant(packed_array(array, tiles, along_k=right_along_k))
    product = multiply(
        ctx.kernels,
        first,
        second,
        known,
        tiles,
        left_along_k=left_along_k,
        columns=n,
        unpacked=unpacked,
        shape=ctx.builder.shape,
    )
    if tiles.is_symmetric:
        product = mirror(ctx.kernels, product, tiles.width)
    return ctx.builder.bind_shape(product, (b, m, n))


def product_on_tensor_cores(
    ctx: LoweringContext,
    left: tuple[Value, str],
    right: tuple[Value, str],
    sizes: Mapping[str, Size],
    loops: Sequence[str],
    block: TensorBlock,
) -> Value:
    """The product over `loops`, whose static sizes `block` divides, by the kernel of NVIDIA's GPUs.

    The factors have a letter for each of their axes.
    """
    b, lead = ctx.builder, "".join(letter for letter in loops if letter not in "mnk")
    values, along_k = [], []
    for (value, axes), own in ((left, "m"), (right, "n")):
        order = axes if axes in (f"{lead}{own}k", f"{lead}k{own}") else f"{lead}{own}k"
        if order != axes:
            value = b.materialise(permute(b, value, [axes.index(letter) for letter in order]))
        groups = [[*range(len(lead))], [len(lead)], [len(lead) + 1]]
        values.append(collapse_axes(b, value, groups))
        along_k.append(order.endswith("k"))
    first, second = values
    product = multiply_on_tensor_cores(ctx.kernels, first, second, block, along_k=(along_k[0], along_k[1]))
    shape = [sizes[letter] for letter in (*lead, "m", "n")]
    product = b.bind_shape(product, [prod(n for n in shape[:-2] if isinstance(n, int)), *shape[-2:]])
    if not lead:
        return drop_unit_axes(b, product, [False, True, True])
    return expand_axes(b, product, [[*range(len(lead))], [len(lead)], [len(lead) + 1]], shape)


def window_product_by_kernel(
    ctx: LoweringContext,
    image: Value,
    kernel: Value,
    sizes: Sequence[Size],
    window: Window,
    dtypes: tuple[np.dtype, np.dtype],
) -> Value | None:
    """The convolution of an image whose height or width shows at the call, None for one of another kind.

    The image (batch, spatial, feature) has its zeros around; `sizes` are those of the result. The dtypes: of
    the elements, and of their sums.
    """
    b, (source, carried) = ctx.builder, dtypes
    *taps, channels, features = b.shape(kernel)
    known = [n for n in (*taps, channels, features) if isinstance(n, int)]
    is_of_rows = len(taps) in (1, 2) and len(known) == len(taps) + 2 and window.rhs_dilation[-1] == 1
    if source != carried or not is_of_rows or all(isinstance(n, int) for n in sizes[1:-1]):
        return None
    *_, channels, features = known
    columns = sizes[-2] if isinstance(sizes[-2], int) else None
    of_product = ProductSizes(None, columns, features, prod(known[:-1]))
    tiles = window_tiles(ctx.target, of_product, carried)
    if tiles is None:
        return None
    rows = _rows_of(b, image, is_line=len(taps) == 1)
    weights = collapse_axes(b, kernel, [list(range(len(taps) + 1)), [len(taps) + 1]])
    weights = expand_axes(b, weights, [[0, 1], [2]], [1, of_product.k or 0, features])
    array = _known_array(ctx, weights) if tiles.is_packed else None
    if array is not None:
        weights = b.constant(packed_array(array, tiles, along_k=False))
    elif tiles.is_packed:
        weights = pack(ctx.kernels, weights, of_product, tiles, along_k=False, rows=None, shape=b.shape)
    count, down, apart = 1, 1, 1
    lines: Size = sizes[0]
    if len(taps) == 2:
        count, down, apart = known[0], window.window_strides[0], window.rhs_dilation[0]
        lines = b.calculate("size_mul", sizes[0], sizes[1])
    moves = WindowRows(count, apart, down, window.window_strides[-1], channels)
    result = (lines, sizes[-2], features)
    product = multiply_windows(ctx.kernels, rows, weights, of_product, tiles, moves, result, b.shape)
    product = b.bind_shape(product, result)
    groups = [list(range(len(taps))), [len(taps)], [len(taps) + 1]]
    return expand_axes(b, product, groups, sizes) if len(taps) == 2 else product


def _rows_of(b: LinalgBuilder, image: Value, *, is_line: bool) -> Value:
    """An image as rows of all features of its columns, one row of an image of one axis."""
    shape = b.shape(image)
    if not is_line:
        return collapse_axes(b, image, [[0], [1], [2, 3]])
    flat = collapse_axes(b, image, [[0], [1, 2]])
    return expand_axes(b, flat, [[0, 1], [2]], [shape[0], 1, b.shape(flat)[1]])


def product_of_groups(
    ctx: LoweringContext,
    left: Value,
    left_axes: str,
    right: Value,
    right_axes: str,
    sizes: Mapping[str, Size],
    source: np.dtype,
    carried: np.dtype,
) -> Value | None:
    """The product of factors of a short dtype, where the target multiplies groups of their elements."""
    b, m, n, k = (sizes[letter] for letter in "bmnk")
    known = ProductSizes(*(size if isinstance(size, int) else None for size in (b, m, n, k)))
    tiles = group_tiles(ctx.target, known, source, carried)
    if tiles is None:
        return None
    left_along_k, right_along_k = left_axes.endswith("k"), right_axes.endswith("k")
    shape = ctx.builder.shape
    rows = _whole(ctx, left, left_axes, "bmk" if left_along_k else "bkm", sizes, source, source)
    columns = _whole(ctx, right, right_axes, "bnk" if right_along_k else "bkn", sizes, source, source)
    array = _known_array(ctx, columns)
    are_known = None not in (known.b, known.m, known.n, known.k)
    has_few_rows = tiles.is_of_few_rows and are_known and array is None
    is_whole = known.k is not None and known.k % (GROUPS * tiles.group) == 0
    has_bytes = tiles.group * source.itemsize == BYTES_OF_GROUP
    is_enough = known.m is not None and (tiles.is_of_vectors or has_few_rows or known.m >= ROWS)
    if not (left_along_k and is_whole and has_bytes and is_enough):
        rows = pack_rows(ctx.kernels, rows, tiles, along_k=left_along_k, shape=shape)
    if has_few_rows:
        assert isinstance(m, int)
        return multiply_few_rows(ctx.kernels, rows, columns, tiles, rows=m, along_k=right_along_k)
    if array is None:
        panels = pack_panels(ctx.kernels, columns, tiles, along_k=right_along_k, shape=shape)
    else:
        panels = ctx.builder.constant(packed_panels(array, tiles, along_k=right_along_k))
    product = multiply_groups(ctx.kernels, rows, panels, tiles, rows=m, columns=n, shape=shape)
    return ctx.builder.bind_shape(product, (b, m, n))


def _by_vector(
    ctx: LoweringContext,
    matrix: tuple[Value, str],
    vector: tuple[Value, str],
    order: str,
    sizes: Mapping[str, Size],
    dtype: np.dtype,
) -> Value | None:
    """The rows of a matrix by a vector, as `[b, m, n]`; one of `m` and `n` is 1."""
    b, free, k = (sizes[letter] for letter in order)
    assert isinstance(b, int) and isinstance(free, int) and isinstance(k, int)
    parts = 2 if dtype.kind == "c" else 1
    real = dtype if parts == 1 else np.dtype(f"f{dtype.itemsize // 2}")
    tiles = row_tiles(ctx.target, ProductSizes(b, free, 1, parts * k), real, parts)
    if tiles is None:
        return None
    rows = _whole(ctx, *matrix, order, sizes, dtype, dtype)
    column = _whole(ctx, *vector, "bk", sizes, dtype, dtype)
    if parts > 1:
        column = _parts_beside(ctx, column, real)
    sums = multiply_rows(ctx.kernels, rows, column, tiles)
    groups = [[0], [1, 2]]
    return expand_axes(ctx.builder, sums, groups, [sizes[letter] for letter in "bmn"])


def _parts_beside(ctx: LoweringContext, vector: Value, real: np.dtype) -> Value:
    """Complex vectors `[b, k]` as `[b, 4 k]`: `re z, -im z` of each element, then `im z, re z` of each."""
    b = ctx.builder
    batches, size = b.shape(vector)

    def body(z: Value, _: Value) -> Value:
        re, im = mlir.complex.ReOp(z).result, mlir.complex.ImOp(z).result
        one = mlir.arith.constant(mlir.ir.IndexType.get(), 1)
        half, part = (
            mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, mlir.linalg.IndexOp(loop).result, one)
            for loop in (1, 3)
        )
        first = mlir.arith.select(part, mlir.arith.negf(im), re)
        return mlir.arith.select(half, mlir.arith.select(part, re, im), first)

    init = b.empty([batches, 2, size, 2], real)
    maps = [b.axes_map(4, [0, 2]), b.identity_map(4)]
    beside = b.generic([vector], [init], maps, ["parallel"] * 4, body)
    return collapse_axes(b, beside, [[0], [1, 2, 3]])


def _known_array(ctx: LoweringContext, x: Value) -> np.ndarray | None:
    """The elements of `x` if it is a constant of one dense array, in its shape."""
    shape, owner = mlir.ir.RankedTensorType(x.type).shape, x.owner
    while not isinstance(owner, mlir.ir.Block) and owner.operation.name in _KEEPING:
        owner = owner.operation.operands[0].owner
    if isinstance(owner, mlir.ir.Block) or owner.operation.name != "arith.constant":
        return None
    attribute, constant = owner.operation.attributes["value"], owner.operation.results[0]
    if constant in ctx.builder.bfloat16_arrays:
        return ctx.builder.bfloat16_arrays[constant].reshape(shape)
    if not isinstance(attribute, (mlir.ir.DenseFPElementsAttr, mlir.ir.DenseIntElementsAttr)):
        return None
    array: np.ndarray = np.array(attribute)
    return array.reshape(shape)


def _is_computed(x: Value) -> bool:
    """Whether `x` is computed element by element, which IREE would do where it is loaded."""
    owner = x.owner
    return not isinstance(owner, mlir.ir.Block) and owner.operation.name == "linalg.generic"


def _whole(
    ctx: LoweringContext,
    x: Value,
    axes: str,
    order: str,
    sizes: Mapping[str, Size],
    source: np.dtype,
    target: np.dtype,
) -> Value:
    """`x` in dtype `target` and in this order, with axes of size 1 where it lacks some of it."""
    x = convert_elements(ctx.builder, source, target, x)
    present = [letter in axes for letter in order]
    x = permute(ctx.builder, x, [axes.index(letter) for letter in order if letter in axes])
    if all(present):
        return x
    return expand_axes(ctx.builder, x, units_beside(present), [sizes[letter] for letter in order])
