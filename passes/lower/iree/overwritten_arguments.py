"""Who owns a buffer: the copy before every form that writes into one of its operands.

IREE treats an argument of an exported function as scratch: `scatter`, `insert_slice`, `sort` and whatever
else updates a tensor overwrite the caller's array, and the program's own later uses of it
(https://github.com/iree-org/iree/issues/16168; copies and clones are elided). So a value that may be an
argument is copied first, by a dispatch that the optimizer cannot see to be a copy. So is a constant: two
updates of one splat (equal splats become one) write into one and the same buffer. And so is any value that
has another use: IREE should copy it then, but may schedule the update before the other use, or update the
value that it is still computing the update from.

Symptom: an update in place changes the caller's array, a constant, or another use of the value.
Seen in: IREE 3.13.
Smallest: `return x.at[i].set(v), x` returns the updated x twice.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_arguments_are_still_overwritten` fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.types import BOOL, INT32
from ..barriers import BARRIER
from ..builder import LinalgBuilder, Operation, Size, Value
from ..lowering import LoweringContext
from .copied_loop_state import RESIDENT

VIEWS: Final = frozenset(
    {
        "tensor.cast",
        "tensor.collapse_shape",
        "tensor.expand_shape",
        "tensor.extract_slice",
        BARRIER,
        RESIDENT,
        "flow.tensor.tie_shape",
    }
)


def owned(ctx: LoweringContext, x: Value, dtype: np.dtype) -> Value:
    """`x`, or a copy of it where it may be a caller's array or has other readers: safe to write into."""
    return copied(ctx, x, dtype) if _may_be_shared(ctx, x) or _is_known(x) else x


def copied(ctx: LoweringContext, x: Value, dtype: np.dtype) -> Value:
    """A copy of `x`, by a dispatch of its own that the optimizer cannot see to be one."""
    b = ctx.builder
    shape = b.shape(x)
    rank = len(shape)
    always = _opaque_scalar(b.scalars.constant(BOOL, True))
    # An i32, converted inside: outside of dispatches IREE has no scalars of bf16 or complex.
    other = _opaque_scalar(b.scalars.constant(INT32, 0))

    def body(element: Value, _: Value) -> Value:
        return mlir.arith.select(always, element, b.scalars.convert(INT32, dtype, other))

    maps = [b.identity_map(rank)] * 2
    return b.generic([x], [b.empty(shape, dtype)], maps, ["parallel"] * rank, body)


def own_array(b: LinalgBuilder, scalar: Value, shape: Sequence[Size]) -> Value:
    """An array of complex numbers that all are `scalar`, which no equal array becomes one with.

    By a dispatch of its own that the optimizer cannot see to be a splat, as `copied`.
    """
    always = _opaque_scalar(b.scalars.constant(BOOL, True))
    other = _opaque_scalar(b.scalars.constant(INT32, 0))

    def body(_: Value) -> Value:
        zero = mlir.arith.sitofp(mlir.ir.ComplexType(scalar.type).element_type, other)
        return mlir.arith.select(always, scalar, mlir.complex.CreateOp(scalar.type, zero, zero).result)

    rank = len(shape)
    empty = b.empty_of_element(scalar.type, shape)
    return b.generic([], [empty], [b.identity_map(rank)], ["parallel"] * rank, body)


def _opaque_scalar(scalar: Value) -> Value:
    """A scalar that the optimiser knows nothing of: with a known one a copied splat folds away."""
    return mlir.util.OptimizationBarrierOp([scalar.type], [scalar]).results[0]


def _may_be_shared(ctx: LoweringContext, value: Value) -> bool:
    """Whether `value` is (a view of) an argument, a result of control flow, a constant, or read twice."""
    while not isinstance(value.owner, mlir.ir.Block):
        if ctx.uses.get(value, 0) > 1 or _reads(value) > 1:
            return True
        owner = value.owner.operation
        if owner.name not in VIEWS and not _only_moves(owner):
            return bool(owner.name.startswith(("func.", "scf.", "arith.constant", "linalg.fill")))
        value = owner.operands[0]
    return bool(value.owner.owner.operation.name == "func.func")


def _is_known(value: Value) -> bool:
    """Whether `value` follows from constants alone: IREE 3.13 computes it once into a global, and a loop that
    carries it frees that global (a call fails: "binding capacity of the command buffer")."""
    pending, seen = [value], set()
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, mlir.ir.Block) or owner.operation.name.startswith(("func.", "scf.")):
            return False
        if owner.operation not in seen:
            seen.add(owner.operation)
            pending += list(owner.operation.operands)
    return True


def _reads(value: Value) -> int:
    """How many lowered ops read the elements of `value`."""
    return sum(1 for use in value.uses if use.owner.operation.name != "tensor.dim")


def _only_moves(operation: Operation) -> bool:
    """Whether this is a `linalg.generic` that yields what it reads: it may be folded to a view."""
    if operation.name != "linalg.generic":
        return False
    block = operation.regions[0].blocks[0]
    return bool(block.operations[0].operation.name == "linalg.yield")
