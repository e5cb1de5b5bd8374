"""Lowering of concatenate: parts of one new array, or columns and equal parts that are chosen from.

Input: tensors of static and dynamic sizes. Output: a `tensor.insert_slice` of each, or one `linalg.generic`.
Idea: an array that is written part by part fuses with nothing. Where few columns, or parts of one size, are
joined, each element chooses by its place what it is, which fuses with what computes the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.ops.indexing.gather import Gather
from ....dialects.ops.indexing.scatter import Scatter
from ...ir.aliases import Operation
from ..builder import LinalgBuilder, Size, Value
from ..lowering import LoweringContext
from ..tuning import configuration
from .movement import empty_like, reshape
from .tensor_ops import collapse_axes, extract_slice, insert_slice

MOST_FOLLOWED: Final = 200  # ops that an array may be computed of, and is known to be of constants or slices
_SLICED: Final = ("tensor.collapse_shape", "tensor.expand_shape", "tensor.extract_slice")
_ARITHMETIC: Final = frozenset(
    f"arith.{name}"
    for name in ("addf", "subf", "mulf", "divf", "negf", "maximumf", "minimumf", "addi", "subi", "muli")
)


def lower_concatenate(ctx: LoweringContext, *xs: Value, axis: int) -> Value:
    """`tensor.insert_slice` of each operand into one new tensor.

    Observed: `tensor.concat` along an inner axis is twenty times slower on CPU.
    """
    b = ctx.builder
    shapes = [b.shape(x) for x in xs]
    merged: list[Size] = list(shapes[0])
    for shape in shapes[1:]:
        for a in range(len(merged)):
            if a != axis:
                b.require_equal(merged[a], shape[a], f"adze: sizes of axis {a} differ in concatenate")
                merged[a] = merged[a] if isinstance(merged[a], int) else shape[a]
    offsets: list[Size] = [0]
    for shape in shapes:
        offsets.append(b.calculate("size_add", offsets[-1], shape[axis]) if offsets[-1] != 0 else shape[axis])
    merged[axis] = offsets[-1]
    whole = empty_like(b, xs[0], merged)
    if 0 in merged:
        return whole
    widths = [shape[axis] for shape in shapes]
    are_chosen = not _are_places(ctx)
    xs = tuple(b.retype(x, [*merged[:axis], n, *merged[axis + 1 :]]) for x, n in zip(xs, widths, strict=True))
    if are_chosen and configuration.weaves(ctx.target, merged, axis, len(xs)):
        is_stack = configuration.stacks(ctx.target, merged) and _are_slices(ctx, xs)
        kept = xs if is_stack else _kept(b, xs)
        return _woven(b, [column for x in kept for column in _columns_of(b, x)], whole, merged)
    if are_chosen and configuration.chooses_parts(ctx.target, widths):
        return _chosen_parts(b, _kept(b, xs), whole, axis)
    for x, width, offset in zip(xs, widths, offsets, strict=False):
        if width == 0:
            continue
        place = [0] * len(merged)
        place[axis] = offset
        whole = insert_slice(b, x, whole, place, [1] * len(merged))
    return whole


def _are_places(ctx: LoweringContext) -> bool:
    """Whether all that takes the result are places to read or write, which take its columns apart again."""
    uses = [use for result in ctx.operation.results for use in result.uses]
    names = {f"adze.{op.name}" for op in (Gather, Scatter)}
    return all(use.owner.operation.name in names and use.operand_number == 1 for use in uses)


def _kept(b: LinalgBuilder, xs: Sequence[Value]) -> list[Value]:
    """Arrays of which each element of the result computes one: those that take more are computed before."""
    return [b.materialise(x) if _takes_more(x, configuration.REPEATED) else x for x in xs]


def _chosen_parts(b: LinalgBuilder, xs: Sequence[Value], whole: Value, axis: int) -> Value:
    """Arrays of one size, one behind the other: one generic over parts and their places, which fuses with
    what computes the arrays, and with what is computed of them."""
    shape = b.shape(xs[0])
    loops = [*shape[:axis], len(xs), *shape[axis:]]
    rank = len(loops)

    def body(*scalars: Value) -> Value:
        return _numbered(b, scalars[:-1], mlir.linalg.IndexOp(axis).result)

    taken = b.axes_map(rank, [loop for loop in range(rank) if loop != axis])
    init = empty_like(b, whole, loops)
    chosen = b.generic([*xs], [init], [*[taken] * len(xs), b.identity_map(rank)], ["parallel"] * rank, body)
    groups = [[k] if k < axis else [k, k + 1] if k == axis else [k + 1] for k in range(rank - 1)]
    return collapse_axes(b, chosen, groups)


def _takes_more(x: Value, most: int) -> bool:
    """Whether more than `most` operations compute an element of what may be fused with its user.

    What is computed of constants alone is not counted: IREE computes it when it compiles.
    """
    left, work = [x], 0
    while left and work <= most:
        value = left.pop()
        if isinstance(value.owner, mlir.ir.Block) or _is_known(value):
            continue
        owner = value.owner.operation
        if owner.name in ("tensor.collapse_shape", "tensor.expand_shape"):
            left.append(owner.operands[0])
        elif owner.name == "linalg.generic":
            names = [each.operation.name for each in owner.regions[0].blocks[0].operations][:-1]
            work += sum(configuration.CALLED if name == "func.call" else 1 for name in names)
            left += owner.operands
    return work > most


def _are_slices(ctx: LoweringContext, xs: Sequence[Value]) -> bool:
    """Whether a returned array joins columns that sums and products of slices of arguments are.

    One kernel computes each of them for itself then, and loads what they share once (`stack-kernels`).
    """
    uses = [use.owner.operation for use in ctx.operation.results[0].uses]
    if len(uses) != 1 or uses[0].name != "func.return":
        return False
    left, seen, is_sliced = [*xs], set[Value](), False
    while left:
        value = left.pop()
        if value in seen or _is_known(value):
            continue
        seen.add(value)
        if len(seen) > MOST_FOLLOWED:
            return False
        if isinstance(value.owner, mlir.ir.Block):
            continue
        owner = value.owner.operation
        is_sliced |= owner.name == "tensor.extract_slice"
        if owner.name in _SLICED:
            left.append(owner.operands[0])
        elif owner.name == "linalg.generic" and _is_arithmetic(owner):
            left += list(owner.operands)[:-1]
        else:
            return False
    return is_sliced or len(xs) <= configuration.MOST_STACKED


def _is_arithmetic(generic: Operation) -> bool:
    """Whether an op computes sums and products of elements at the same places."""
    maps = [
        mlir.ir.AffineMapAttr(each).value for each in mlir.ir.ArrayAttr(generic.attributes["indexing_maps"])
    ]
    *body, _ = [each.operation.name for each in generic.regions[0].blocks[0].operations]
    are_same = all(each == maps[-1] or not list(each.results) for each in maps)
    return are_same and _ARITHMETIC.issuperset(body)


def _is_known(x: Value) -> bool:
    """Whether an array is computed of constants alone."""
    left, seen = [x], set[Value]()
    while left:
        value = left.pop()
        if value in seen:
            continue
        if isinstance(value.owner, mlir.ir.Block) or len(seen) > MOST_FOLLOWED:
            return False
        seen.add(value)
        left += value.owner.operation.operands
    return True


def _numbered(b: LinalgBuilder, elements: Sequence[Value], number: Value) -> Value:
    """The element with this number."""
    chosen = elements[-1]
    for k in range(len(elements) - 2, -1, -1):
        is_here = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, number, b.size_value(k))
        chosen = mlir.arith.select(is_here, elements[k], chosen)
    return chosen


def _woven(b: LinalgBuilder, columns: Sequence[Value], whole: Value, merged: Sequence[Size]) -> Value:
    """Columns side by side: one generic that takes each element from its column."""
    rank = len(merged)

    def body(*scalars: Value) -> Value:
        return _numbered(b, scalars[:-1], mlir.linalg.IndexOp(rank - 1).result)

    maps = [*[b.axes_map(rank, tuple(range(rank - 1)))] * len(columns), b.identity_map(rank)]
    return b.generic(columns, [whole], maps, ["parallel"] * rank, body)


def _columns_of(b: LinalgBuilder, x: Value) -> list[Value]:
    """The columns of an array of a few, each without the last axis."""
    *leading, count = b.shape(x)
    if count == 1:
        return [reshape(b, x, leading)]
    starts = [[0] * len(leading) + [k] for k in range(int(count))]
    ones = [1] * (len(leading) + 1)
    return [reshape(b, extract_slice(b, x, start, [*leading, 1], ones), leading) for start in starts]
