"""Functions of a row or of a number that is then broadcast: IREE would compute them for each element.

Input: adze IR with a plan. Output: the values that go behind a barrier (`mark-barriers` marks them) before
they are broadcast: those of an elementwise function that takes long, where that saves more time than a kernel
of their own takes. A number that is broadcast to a known size is computed once anyway, outside of the loop.

Symptom: `x * sin(r)` of f32[1000,1000] and f32[1000] takes ten times as long as `x * r`. In programs with
    loops as kernels, for which LLVM vectorizes, a compile does not end where such a function is a sine and
    sizes are unknown: LLVM looks at what it computes once for each way to it.
Seen in: IREE 3.13.
Smallest: `x * sin(r)`.
Goes when: `tests/passes/lower/iree/test_dear_broadcasts.py::test_iree_still_computes_them_for_each` fails.
"""

from __future__ import annotations

from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.shape.rearrange import BroadcastInDim, Movement
from ....runtime.targets import TargetKind
from ...ir.aliases import Operation, Value
from ...ir.functions import functions, split_body
from ...ir.marks import TARGET
from ..plan import target_of

DEAR: Final = 64
"""Multiplications that a function costs at least."""
WORTH: Final = 1 << 18
"""Multiplications that a kernel of its own saves at least: it takes about as long."""


def dear_broadcasts(module: mlir.ir.Module, reader: Reader) -> set[Value]:
    """The results that must go behind a barrier."""
    values: set[Value] = set()
    if TARGET in module.operation.attributes and target_of(module).kind is not TargetKind.CPU:
        return values
    for function in functions(module).values():
        costs: dict[Value, int] = {}
        for operation in split_body(function)[0]:
            values |= _read(reader, operation.operation, costs)
    return values


def _read(reader: Reader, operation: Operation, costs: dict[Value, int]) -> set[Value]:
    """What an op broadcasts that takes long; `costs` are those of an element that no kernel has computed."""
    op = reader.declaration(operation.name)
    if op is None or not issubclass(op, (Elementwise, Movement)):
        return set()
    cost = sum(costs.get(value, 0) for value in operation.operands)
    if op is BroadcastInDim:
        value = operation.operands[0]  # sizes follow
        if cost >= DEAR and _is_worth_a_kernel(cost, _count(value), _count(operation.results[0])):
            costs[value] = 0
            return {value}
    if issubclass(op, Elementwise) and op.element_cost > 1:
        cost += op.element_cost
    if cost:
        costs[operation.results[0]] = cost
    return set()


def _is_worth_a_kernel(cost: int, before: int | None, behind: int | None) -> bool:
    """Whether so many elements, or an unknown number of them, are to be computed once for so many others."""
    if before is None or behind is None:
        return True
    return before > 1 and cost * (behind - before) >= WORTH


def _count(value: Value) -> int | None:
    """The number of elements, None where it is not known."""
    type_ = mlir.ir.RankedTensorType(value.type)
    return prod(type_.shape) if type_.has_static_shape else None
