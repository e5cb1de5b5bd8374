"""Functions of a row or of a number that is then broadcast: IREE would compute them for each element.

Input: adze IR with a plan. Output: the values that go behind a barrier (`mark-barriers` marks them) before
they are broadcast: those of an elementwise function that takes long, where that saves more time than a kernel
of their own takes. A number that is broadcast to a known size is computed once anyway, outside of the loop,
and what follows from sums is computed in the kernel that adds them up, but for the sine of a number.

Symptom: `x * sin(r)` of f32[1000,1000] and f32[1000] takes ten times as long as `x * r`. In programs for
    which LLVM vectorizes, such as those of complex numbers, a compile does not end where such a function is a
    sine of a number and sizes are unknown: LLVM looks at what it computes once for each way to it.
Seen in: IREE 3.13.
Smallest: `x * sin(r)`.
Goes when: `tests/passes/lower/iree/test_dear_broadcasts.py::test_iree_still_computes_them_for_each` fails.
"""

from __future__ import annotations

from math import prod
from typing import Final, NamedTuple

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.op import Op
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.elementwise.transcendental import Cos, Sin, Tan
from ....dialects.ops.reduction import ArgumentExtremum, Reduction
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
_WAVES: Final = (Sin, Cos, Tan)


class _Made(NamedTuple):
    """What a value is computed of in the kernel that uses it: the multiplications for an element, whether of
    sums that the kernel adds up, and whether by sines of these."""

    cost: int = 0
    of_sums: bool = False
    by_waves: bool = False


_NOTHING: Final = _Made()


def dear_broadcasts(module: mlir.ir.Module, reader: Reader) -> set[Value]:
    """The results that must go behind a barrier."""
    values: set[Value] = set()
    if TARGET in module.operation.attributes and target_of(module).kind is not TargetKind.CPU:
        return values
    for function in functions(module).values():
        made: dict[Value, _Made] = {}
        for operation in split_body(function)[0]:
            values |= _read(reader, operation.operation, made)
    return values


def _read(reader: Reader, operation: Operation, made: dict[Value, _Made]) -> set[Value]:
    """What an op broadcasts that takes long; `made` are the values that no kernel of its own computes."""
    op = reader.declaration(operation.name)
    if op is None:
        return set()
    if op is DotGeneral or issubclass(op, (Reduction, ArgumentExtremum)):
        made.update(dict.fromkeys(operation.results, _Made(of_sums=True)))
    if not issubclass(op, (Elementwise, Movement)):
        return set()
    operands = [made[value] for value in operation.operands if value in made]
    if op is BroadcastInDim and operands:
        value = operation.operands[0]  # sizes follow
        if _is_worth_a_kernel(operands[0], _count(value), _count(operation.results[0])):
            made[value] = _NOTHING
            return {value}
    cost, of_sums = sum(each.cost for each in operands), any(each.of_sums for each in operands)
    if issubclass(op, Elementwise) and op.element_cost > 1:
        cost += op.element_cost
    if cost or of_sums:
        by_waves = of_sums and (_has_waves(op, operation) or any(each.by_waves for each in operands))
        made[operation.results[0]] = _Made(cost, of_sums, by_waves)
    return set()


def _has_waves(op: type[Op], operation: Operation) -> bool:
    """Whether an op computes sines: most functions of complex numbers do."""
    if op in _WAVES or op.element_cost < DEAR:
        return op in _WAVES
    element = mlir.ir.RankedTensorType(operation.operands[0].type).element_type
    return isinstance(element, mlir.ir.ComplexType)


def _is_worth_a_kernel(made: _Made, before: int | None, behind: int | None) -> bool:
    """Whether so many elements, or an unknown number of them, are to be computed once for so many others."""
    if made.of_sums:
        return made.by_waves and before == 1 and behind is None
    if made.cost < DEAR:
        return False
    if before is None or behind is None:
        return True
    return before > 1 and made.cost * (behind - before) >= WORTH


def _count(value: Value) -> int | None:
    """The number of elements, None where it is not known."""
    type_ = mlir.ir.RankedTensorType(value.type)
    return prod(type_.shape) if type_.has_static_shape else None
