"""Lowering of `scan`: `scf.for` that carries the state and the stacked results, a row a step.

Input: the scan's constants, carry and arrays, and the symbol of its body. Output: the final carry and the
stacks.
Idea: IREE copies what a loop carries once an iteration. So an iteration of a long loop with a small body does
several steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....dialects.types import INT64, TensorType
from ....runtime.targets import TargetKind
from ..builder import DYNAMIC, LinalgBuilder, Size, Type, Value
from ..lowering import LoweringContext
from .bodies import call_body, initial_value, resident_arguments, result_tensor_types, tie_shapes
from .movement import reshape
from .tensor_ops import extract_slice, insert_slice

UNROLLED_STEPS: Final = 8
SMALL_BODY: Final = 30  # ops
MOST_UNROLLED: Final = 6  # scans of a module that are unrolled: more take minutes to compile
AHEAD: Final = 1 << 20  # bytes that inner loops yield in an iteration: with more, the host waits for each
LOOPS_AND_BRANCHES: Final = frozenset(
    {"adze.cond", "adze.while", "adze.scan", "scf.if", "scf.while", "scf.for"}
)


@dataclass(frozen=True, slots=True)
class _Steps:
    """What every step of a scan is made of."""

    body: str
    constants: tuple[Value, ...]
    arrays: tuple[Value, ...]
    types: list[Type]  # of the results of the scan: its carry and its stacks
    carry_count: int
    length: Size
    reverse: bool

    @property
    def result_types(self) -> list[Type]:
        """The types of the results of the body: the carry and a row of each stack."""
        return [*self.types[: self.carry_count], *map(_row_type, self.types[self.carry_count :])]


def lower_scan(
    ctx: LoweringContext,
    *operands: Value,
    body: str,
    constant_count: int,
    carry_count: int,
    length: Sequence[Size],
    reverse: bool,
    **others: object,
) -> tuple[Value, ...]:
    """`scf.for` that carries the state and the stacks."""
    b = ctx.builder
    constants, scanned = operands[:constant_count], operands[constant_count:]
    carry, arrays = scanned[:carry_count], scanned[carry_count:]
    steps = _Steps(body, constants, arrays, result_tensor_types(ctx), carry_count, b.size(length[0]), reverse)
    for x in arrays:
        b.require_equal(b.shape(x)[0], steps.length, "adze: scan over arrays of unequal length")
    if steps.length == 0:
        # A loop that is never taken would slice rows of arrays without rows, which MLIR refuses.
        return _empty_scan(ctx, steps, carry)
    state = [initial_value(ctx, v, t) for v, t in zip(carry, ctx.result_tensors, strict=False)]
    stacked = ctx.result_tensors[carry_count:]
    shapes: list[Sequence[Size | None]] = [t.shape[1:] for t in stacked]
    if any(None in shape for shape in shapes):
        shapes = _row_shapes(ctx, steps, state, [_read_row(b, x, b.size_value(0)) for x in arrays])
    stacks = [_empty_stack(b, t, steps.length, shape) for t, shape in zip(stacked, shapes, strict=True)]
    carried = [*state, *stacks]
    unrolled: Size = 0
    if isinstance(steps.length, int) and steps.length >= 2 * UNROLLED_STEPS and _is_unrolled(ctx, body):
        unrolled = steps.length - steps.length % UNROLLED_STEPS
        carried = _emit_loop(ctx, steps, carried, 0, unrolled, UNROLLED_STEPS)
    if unrolled != steps.length:
        carried = _emit_loop(ctx, steps, carried, unrolled, steps.length, 1)
    return tuple(carried)


def _empty_scan(ctx: LoweringContext, steps: _Steps, carry: Sequence[Value]) -> tuple[Value, ...]:
    """A scan of no steps: the carry as it is, and stacks without rows."""
    b = ctx.builder
    final = [b.cast(v, t) for v, t in zip(carry, steps.types, strict=False)]
    stacked = ctx.result_tensors[steps.carry_count :]
    shapes: list[Sequence[Size | None]] = [t.shape[1:] for t in stacked]
    if any(None in shape for shape in shapes):
        types = ctx.operand_tensors[len(ctx.operand_tensors) - len(steps.arrays) :]
        rows = [b.empty(b.shape(x)[1:], t.dtype) for x, t in zip(steps.arrays, types, strict=True)]
        shapes = _row_shapes(ctx, steps, final, rows)
    return (*final, *(_empty_stack(b, t, 0, shape) for t, shape in zip(stacked, shapes, strict=True)))


def _row_shapes(
    ctx: LoweringContext, steps: _Steps, state: Sequence[Value], rows: Sequence[Value]
) -> list[Sequence[Size | None]]:
    """The shapes of the rows of the stacks, from a step before the loop: only its shapes are computed."""
    results = call_body(ctx, steps.body, [*steps.constants, *state, *rows], steps.result_types)
    return [ctx.builder.shape(row) for row in results[steps.carry_count :]]


def _emit_loop(
    ctx: LoweringContext, steps: _Steps, carried: Sequence[Value], first: Size, last: Size, width: int
) -> list[Value]:
    """The loop from step `first` to `last`, `width` of them in an iteration."""
    b = ctx.builder
    start, stop, step = (b.size_value(v) for v in (first, last, width))
    loop = mlir.scf.ForOp(start, stop, step, list(carried))
    with mlir.ir.InsertionPoint(loop.body):
        inner = resident_arguments(b, loop.inner_iter_args, carried)
        if _bytes_inside(ctx, steps.body) >= AHEAD:
            _wait_for(b, inner[: steps.carry_count])
        for offset in range(width):
            inner = _emit_step(
                ctx, steps, inner, b.size_arithmetic("size_add", loop.induction_variable, offset)
            )
        mlir.scf.YieldOp(inner)
    return list(tie_shapes(b, loop.results, carried))


def _emit_step(ctx: LoweringContext, steps: _Steps, carried: Sequence[Value], step: Value) -> list[Value]:
    """The call of the body in one step, and the rows of the stacks that it computes."""
    b, n, position = ctx.builder, steps.carry_count, step
    if steps.reverse:
        last = b.size_arithmetic("size_sub", steps.length, 1)
        position = b.size_arithmetic("size_sub", last, step)
    rows = [_read_row(b, x, position) for x in steps.arrays]
    results = call_body(ctx, steps.body, [*steps.constants, *carried[:n], *rows], steps.result_types)
    stacks = [_write_row(b, y, stack, position) for y, stack in zip(results[n:], carried[n:], strict=True)]
    return [*results[:n], *stacks]


def _wait_for(b: LinalgBuilder, carry: Sequence[Value]) -> None:
    """Let the host read a number of the carry, so that it starts no iteration before the last one is done."""
    for value in carry:
        shape, element = b.shape(value), mlir.ir.RankedTensorType(value.type).element_type
        if all(isinstance(n, int) and n for n in shape) and str(element) in ("f32", "f64", "i32", "i64"):
            number = mlir.tensor.extract(value, [b.size_value(0)] * len(shape))
            mlir.util.OptimizationBarrierOp([element], [number])
            return


def _bytes_inside(ctx: LoweringContext, symbol: str) -> int:
    """How many bytes the loops and branches in a body yield."""
    inside = [op for op in ctx.functions.operations(symbol) if op.name in LOOPS_AND_BRANCHES]
    types = [mlir.ir.RankedTensorType(r.type) for op in inside for r in op.results if _is_tensor(r)]
    return sum(prod(t.shape) * _width(t.element_type) for t in types if DYNAMIC not in t.shape)


def _is_unrolled(ctx: LoweringContext, symbol: str) -> bool:
    """Whether an iteration does several steps: few ops, no loops or branches inside, few scans in all."""
    if ctx.functions.scan_count > MOST_UNROLLED:
        return False
    inside = ctx.functions.operations(symbol)
    return len(inside) <= SMALL_BODY and LOOPS_AND_BRANCHES.isdisjoint(op.name for op in inside)


def _empty_stack(b: LinalgBuilder, declared: TensorType, length: Size, row: Sequence[Size | None]) -> Value:
    """Where the rows of a result are written: an array of its own, where equal empty ones become one."""
    shape = (length, *row)
    type_ = b.tensor_type(shape, declared.dtype)
    dynamic = [n for n in shape if not isinstance(n, int)]
    stack = mlir.ir.Operation.create("flow.tensor.alloca", results=[type_], operands=dynamic).result
    b.bind_shape(stack, shape)
    return b.cast(stack, b.tensor_type(declared.shape, declared.dtype))


def _row_type(type_: Type) -> Type:
    ranked = mlir.ir.RankedTensorType(type_)
    return mlir.ir.RankedTensorType.get(ranked.shape[1:], ranked.element_type)


def _read_row(b: LinalgBuilder, x: Value, position: Size) -> Value:
    """`x[position]`; of a vector 0, 1, 2, ... a number of the host, where these stay there."""
    shape = b.shape(x)
    if b.kind is TargetKind.CUDA and x in b.counts:
        dtype = b.counts[x]
        count = b.scalars.convert(INT64, dtype, b.size_scalar(position))
        return mlir.tensor.from_elements(b.tensor_type((), dtype), [count])
    row = extract_slice(b, x, [position, *[0] * (len(shape) - 1)], [1, *shape[1:]], [1] * len(shape))
    return reshape(b, row, shape[1:])


def _write_row(b: LinalgBuilder, row: Value, stack: Value, position: Size) -> Value:
    """`stack` with `stack[position] = row`."""
    shape = b.shape(row)
    if 0 in shape:
        return stack
    part = reshape(b, row, (1, *shape))
    return insert_slice(b, part, stack, [position, *[0] * len(shape)], [1] * (len(shape) + 1))


def _is_tensor(value: Value) -> bool:
    return isinstance(value.type, mlir.ir.RankedTensorType)


def _width(element: Type) -> int:
    """The bytes of an element."""
    if isinstance(element, mlir.ir.ComplexType):
        return 2 * _width(element.element_type)
    return max(int(element.width) // 8, 1)
