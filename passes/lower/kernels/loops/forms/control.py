"""Loops and branches in kernels: `scf.for`, `scf.while` and `scf.if`, whose scalars are scalars.

Input: lowered operands and the symbols of bodies. Output: loops that carry 0-d arrays as scalars and other
arrays as tensors; bufferization updates these in place (`state.py` makes sure that it can).
"""

from __future__ import annotations

from collections.abc import Sequence

from ......dialects import mlir
from ......dialects.types import BOOL, INT32, TensorType
from ....builder import Size, Type, Value
from ....forms.bodies import call_body, result_tensor_types
from ....lowering import LoweringContext
from ..builder import KernelBuilder
from ..counted import Counted
from .common import builder_of


def _pack(b: KernelBuilder, values: Sequence[Value]) -> list[Value]:
    """Carried values: scalars for 0-d arrays."""
    return [v if v.type.shape else b.element(v) for v in values]


def _carried_types(types: Sequence[Type]) -> list[Type]:
    return [t if t.shape else t.element_type for t in types]


def _unpack(b: KernelBuilder, values: Sequence[Value], types: Sequence[Type]) -> list[Value]:
    return [v if t.shape else b.single(v, ()) for v, t in zip(values, types, strict=True)]


def lower_scan(
    ctx: LoweringContext,
    *operands: Value,
    body: str,
    constant_count: int,
    carry_count: int,
    length: Sequence[Size],
    reverse: bool,
    **_: object,
) -> tuple[Value, ...]:
    """`scf.for` that carries the state and the stacks, of which a step writes a row."""
    b = builder_of(ctx)
    constants, scanned = operands[:constant_count], operands[constant_count:]
    carry, arrays = scanned[:carry_count], scanned[carry_count:]
    types, steps = result_tensor_types(ctx), b.size(length[0])
    for x in arrays:
        b.require_equal(b.shape(x)[0], steps, "adze: scan over arrays of unequal length")
    row_types = [_row_type(t) for t in types[carry_count:]]
    shapes: list[Sequence[Size]] = [t.shape for t in row_types]
    if not all(t.has_static_shape for t in row_types):
        # A step before the loop, of which only the shapes are used.
        first = [*constants, *carry, *(b.row(x, b.size_value(0)) for x in arrays)]
        results = call_body(ctx, body, first, [*types[:carry_count], *row_types])
        shapes = [b.shape(row) for row in results[carry_count:]]
    stacks = [_empty_stack(b, t, [steps, *s]) for t, s in zip(types[carry_count:], shapes, strict=True)]
    state = _pack(b, [*carry, *stacks])
    loop = mlir.scf.ForOp(b.size_value(0), b.size_value(steps), b.size_value(1), state)
    with mlir.ir.InsertionPoint(loop.body):
        inner = _unpack(b, list(loop.inner_iter_args), types)
        position = loop.induction_variable
        if reverse:
            position = mlir.arith.subi(b.size_arithmetic("size_sub", steps, 1), position)
        rows = [b.row(x, position) for x in arrays]
        given = [*constants, *inner[:carry_count], *rows]
        results = call_body(ctx, body, given, [*types[:carry_count], *row_types])
        written = [
            _write_row(b, row, stack, position)
            for row, stack in zip(results[carry_count:], inner[carry_count:], strict=True)
        ]
        mlir.scf.YieldOp(_pack(b, [*results[:carry_count], *written]))
    return tuple(_unpack(b, list(loop.results), types))


def _empty_stack(b: KernelBuilder, type_: Type, shape: Sequence[Size]) -> Value:
    """Where the rows of a result are written."""
    return b.cast(b.empty_of_element(type_.element_type, shape), type_)


def _row_type(type_: Type) -> Type:
    return mlir.ir.RankedTensorType.get(list(type_.shape)[1:], type_.element_type)


def _write_row(b: KernelBuilder, row: Value, stack: Value, position: Value) -> Value:
    shape = b.shape(row)
    place: list[Size] = [position, *[0] * len(shape)]
    if all(isinstance(n, int) for n in shape):
        return b.insert(b.reshape(row, [1, *shape]), stack, place)
    return b.insert_part(row, stack, place, [1, *shape], [1] * len(place))


def lower_while(
    ctx: LoweringContext,
    *operands: Value,
    condition: str,
    body: str,
    condition_constants: int,
    body_constants: int,
    **_: object,
) -> tuple[Value, ...]:
    """`scf.for` where the loop counts, else `scf.while`."""
    b = builder_of(ctx)
    n = condition_constants + body_constants
    constants = operands[condition_constants:n]
    types = result_tensor_types(ctx)
    counted = b.counted.get((condition, body))
    if counted is not None:
        return _emit_counted(ctx, counted, operands, n, constants, body, types)
    kinds = _carried_types(types)
    loop = mlir.scf.WhileOp(kinds, _pack(b, operands[n:]))
    before = mlir.ir.Block.create_at_start(loop.before, kinds)
    with mlir.ir.InsertionPoint(before):
        state = _unpack(b, list(before.arguments), types)
        flag = b.tensor_type((), BOOL)
        (goes_on,) = call_body(ctx, condition, [*operands[:condition_constants], *state], [flag])
        mlir.scf.ConditionOp(b.element(goes_on), list(before.arguments))
    after = mlir.ir.Block.create_at_start(loop.after, kinds)
    with mlir.ir.InsertionPoint(after):
        state = _unpack(b, list(after.arguments), types)
        mlir.scf.YieldOp(_pack(b, call_body(ctx, body, [*constants, *state], types)))
    return tuple(_unpack(b, list(loop.results), types))


def _emit_counted(
    ctx: LoweringContext,
    counted: Counted,
    operands: Sequence[Value],
    first_state: int,
    constants: Sequence[Value],
    body: str,
    types: list[Type],
) -> tuple[Value, ...]:
    """`while i < last: i += 1` as `scf.for` from `i` to the larger of `i` and `last`."""
    b, k, arith = builder_of(ctx), counted.counter, mlir.arith
    state = list(operands[first_state:])
    first = b.element(state[k])
    if counted.operand is None:
        last = arith.constant(first.type, counted.number)
    else:
        last = b.element(operands[counted.operand])
    index, stop = mlir.ir.IndexType.get(), arith.maxsi(first, last)
    others, kinds = [*state[:k], *state[k + 1 :]], [*types[:k], *types[k + 1 :]]
    bounds = arith.index_cast(index, first), arith.index_cast(index, stop)
    loop = mlir.scf.ForOp(*bounds, b.size_value(1), _pack(b, others))
    with mlir.ir.InsertionPoint(loop.body):
        inner = _unpack(b, list(loop.inner_iter_args), kinds)
        count = b.single(arith.index_cast(first.type, loop.induction_variable), ())
        results = call_body(ctx, body, [*constants, *inner[:k], count, *inner[k:]], types)
        mlir.scf.YieldOp(_pack(b, [*results[:k], *results[k + 1 :]]))
    final = _unpack(b, list(loop.results), kinds)
    return (*final[:k], b.single(stop, ()), *final[k:])


def lower_cond(
    ctx: LoweringContext,
    index: Value,
    *operands: Value,
    branches: Sequence[str],
    results: Sequence[TensorType],
) -> tuple[Value, ...]:
    """A chain of `scf.if`; the last branch is taken when no other is."""
    b = builder_of(ctx)
    return tuple(_choose(ctx, 0, b.element(index), operands, branches, result_tensor_types(ctx)))


def _choose(
    ctx: LoweringContext,
    position: int,
    chosen: Value,
    operands: Sequence[Value],
    branches: Sequence[str],
    types: list[Type],
) -> Sequence[Value]:
    """The choice between the branches from `position` on."""
    b = builder_of(ctx)
    if position == len(branches) - 1:
        return call_body(ctx, branches[position], operands, types)
    limit = b.scalars.constant(INT32, position)
    is_this = mlir.arith.cmpi(mlir.arith.CmpIPredicate.sle, chosen, limit)
    choice = mlir.scf.IfOp(is_this, _carried_types(types), has_else=True)
    with mlir.ir.InsertionPoint(choice.then_block):
        mlir.scf.YieldOp(_pack(b, call_body(ctx, branches[position], operands, types)))
    with mlir.ir.InsertionPoint(choice.else_block):
        mlir.scf.YieldOp(_pack(b, _choose(ctx, position + 1, chosen, operands, branches, types)))
    return _unpack(b, list(choice.results), types)
