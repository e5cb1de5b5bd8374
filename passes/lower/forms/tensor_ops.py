"""Ops on tensors that many lowerings emit: dtype conversion, groups of axes, permutation, padding, slices.

Input: lowered tensors. Output: a tensor whose shape the builder remembers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....dialects import mlir
from ....dialects.types import COMPLEX
from ..builder import DYNAMIC, Attribute, LinalgBuilder, Size, Type, Value
from ..iree.complex_pads import is_padded
from ..iree.overwritten_arguments import own_array
from ..linalg_ops import RESHAPES


def parse_attribute(b: LinalgBuilder, text: str | None) -> Attribute | None:
    """The MLIR attribute written as `text`, None for none."""
    return None if text is None else mlir.ir.Attribute.parse(text, b.context)


def splat(b: LinalgBuilder, value: np.ndarray, shape: Sequence[Size]) -> Value:
    """An array of equal elements of any dtype: IREE has no fill for elements of 128 bits."""
    rank = len(shape)
    maps = [b.axes_map(rank, ()), b.identity_map(rank)]
    init = b.empty(shape, value.dtype)
    result = b.generic([b.constant(value)], [init], maps, ["parallel"] * rank, lambda v, _: v)
    if value.dtype in COMPLEX:
        b.complex_numbers[result] = value.reshape(-1)[0]
    return result


def convert_elements(b: LinalgBuilder, source: np.dtype, target: np.dtype, x: Value) -> Value:
    """`x` with its elements converted, itself when they already are of dtype `target`."""
    if source == target:
        return x
    shape = b.shape(x)
    maps = [b.identity_map(len(shape))] * 2
    return b.generic(
        [x],
        [b.empty(shape, target)],
        maps,
        ["parallel"] * len(shape),
        lambda element, _: b.scalars.convert(source, target, element),
    )


def permute(b: LinalgBuilder, x: Value, order: Sequence[int]) -> Value:
    """Axis `i` of the result is axis `order[i]` of `x`; `x` itself where nothing moves."""
    shape = b.shape(x)
    rank = len(shape)
    if list(order) == list(range(rank)):
        return x
    element = mlir.ir.RankedTensorType(x.type).element_type
    init = b.empty_of_element(element, [shape[a] for a in order])
    inverse = [list(order).index(a) for a in range(rank)]
    maps = [b.axes_map(rank, inverse), b.identity_map(rank)]
    return b.generic([x], [init], maps, ["parallel"] * rank, lambda value, _: value)


def size_product(b: LinalgBuilder, sizes: Sequence[Size]) -> Size:
    """The product of sizes, an int where all are known."""
    total: Size = 1
    for n in sizes:
        if isinstance(n, int) and n == 1:
            continue
        total = n if isinstance(total, int) and total == 1 else b.calculate("size_mul", total, n)
    return total


def collapse_axes(b: LinalgBuilder, x: Value, groups: Sequence[Sequence[int]]) -> Value:
    """Merge each group of neighbouring axes into one; an empty group becomes an axis of size 1."""
    shape = b.shape(x)
    if len(groups) == len(shape) and all(len(g) == 1 for g in groups):
        return x
    merged = [size_product(b, [shape[a] for a in g]) for g in groups if g]
    if any(len(g) > 1 for g in groups) or (not merged and shape):
        type_ = tensor_type_like(x, merged)
        rows = [list(g) for g in groups if g]
        x = b.bind_shape(mlir.tensor.collapse_shape(type_, x, rows), merged)
    if all(groups):
        return x
    full = [size_product(b, [shape[a] for a in g]) for g in groups]
    return expand_axes(b, x, units_beside([bool(g) for g in groups]), full)


def drop_unit_axes(b: LinalgBuilder, x: Value, keep: Sequence[bool]) -> Value:
    """`x` without the axes, of size 1, that `keep` is False for."""
    kept = [n for n, here in zip(b.shape(x), keep, strict=True) if here]
    rows = units_beside(keep) if kept else []
    return b.bind_shape(mlir.tensor.collapse_shape(tensor_type_like(x, kept), x, rows), kept)


def expand_axes(b: LinalgBuilder, x: Value, groups: Sequence[Sequence[int]], shape: Sequence[Size]) -> Value:
    """The inverse of `collapse`: axis `i` of `x` becomes the axes `groups[i]` of `shape`."""
    shape = [b.size(n) for n in shape]
    if all(len(g) == 1 for g in groups) and len(groups) == len(shape):
        return x
    static = [n if isinstance(n, int) else DYNAMIC for n in shape]
    dynamic = [n for n in shape if not isinstance(n, int)]
    rows = [list(g) for g in groups]
    value = mlir.tensor.expand_shape(tensor_type_like(x, shape), x, rows, dynamic, static)
    return b.bind_shape(value, shape)


def tensor_type_like(x: Value, shape: Sequence[Size]) -> Type:
    """The type of tensors of this shape with the elements of `x`."""
    static = [n if isinstance(n, int) else DYNAMIC for n in shape]
    return mlir.ir.RankedTensorType.get(static, mlir.ir.RankedTensorType(x.type).element_type)


def pad_tensor(b: LinalgBuilder, x: Value, low: Sequence[Size], high: Sequence[Size], scalar: Value) -> Value:
    """`tensor.pad` with non-negative amounts."""
    low, high = [b.size(n) for n in low], [b.size(n) for n in high]
    if all(isinstance(n, int) and n == 0 for n in (*low, *high)):
        return x
    shape = [
        b.calculate("size_add", b.calculate("size_add", n, before), after)
        for n, before, after in zip(b.shape(x), low, high, strict=True)
    ]
    ir = mlir.ir
    element = ir.RankedTensorType(x.type).element_type
    if not is_padded(element):
        return insert_slice(b, x, own_array(b, scalar, shape), low, [1] * len(shape))
    sizes = [[n if isinstance(n, int) else DYNAMIC for n in part] for part in (low, high)]
    values = [[n for n in part if not isinstance(n, int)] for part in (low, high)]
    op = mlir.tensor.PadOp(tensor_type_like(x, shape), x, *values, *sizes)
    index = ir.IndexType.get(b.context)
    rank = len(shape)
    block = op.regions[0].blocks.append(*[index] * rank, arg_locs=[ir.Location.current] * rank)
    with ir.InsertionPoint(block):
        mlir.tensor.yield_(scalar)
    return b.bind_shape(op.result, shape)


def extract_slice(
    b: LinalgBuilder, x: Value, offsets: Sequence[Size], sizes: Sequence[Size], strides: Sequence[int]
) -> Value:
    """`tensor.extract_slice`; the caller answers for its bounds."""
    offsets, sizes = [b.size(n) for n in offsets], [b.size(n) for n in sizes]
    if 0 in sizes:  # MLIR's verifier refuses offset 0 of an axis without elements
        return b.empty_of_element(mlir.ir.RankedTensorType(x.type).element_type, sizes)
    static = [[n if isinstance(n, int) else DYNAMIC for n in part] for part in (offsets, sizes)]
    values = [[n for n in part if not isinstance(n, int)] for part in (offsets, sizes)]
    type_ = tensor_type_like(x, sizes)
    value = mlir.tensor.extract_slice(type_, x, values[0], values[1], [], *static, list(strides))
    return b.bind_shape(value, sizes)


def insert_slice(
    b: LinalgBuilder, part: Value, whole: Value, offsets: Sequence[Size], strides: Sequence[int]
) -> Value:
    """`tensor.insert_slice` of all of `part`; the caller answers for its bounds."""
    offsets, sizes = [b.size(n) for n in offsets], b.shape(part)
    static = [[n if isinstance(n, int) else DYNAMIC for n in group] for group in (offsets, sizes)]
    values = [[n for n in group if not isinstance(n, int)] for group in (offsets, sizes)]
    value = mlir.tensor.insert_slice(part, whole, values[0], values[1], [], *static, list(strides))
    return b.bind_shape(value, b.shape(whole))


def units_beside(present: Sequence[bool]) -> list[list[int]]:
    """Reassociation that puts an axis of size 1 wherever `present` is False."""
    groups: list[list[int]] = []
    waiting: list[int] = []
    for position, here in enumerate(present):
        if here:
            groups.append([*waiting, position])
            waiting = []
        elif groups:
            groups[-1].append(position)
        else:
            waiting.append(position)
    return groups


def broadcast_number(value: Value) -> Value | None:
    """The array without axes that an op has broadcast to `value`, or to what it is a reshape of."""
    while (name := _producer(value)) in RESHAPES:
        value = value.owner.operands[0]
    if name != "linalg.generic" or len(value.owner.operands) != 2:
        return None
    source = value.owner.operands[0]
    first = value.owner.regions[0].blocks[0]
    is_forwarded = list(first.operations[0].operands) == [first.arguments[0]]
    if mlir.ir.RankedTensorType(source.type).rank or len(first.operations) != 1 or not is_forwarded:
        return None
    return source


def _producer(value: Value) -> str:
    owner = value.owner
    return "" if isinstance(owner, mlir.ir.Block) else owner.operation.name
