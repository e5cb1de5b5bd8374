"""Few sums that are broadcast to many elements: IREE would compute these in as few workgroups as the sums.

Input: adze IR with a plan. Output: the reductions and products whose results go behind a barrier
(`mark-barriers` marks them), so that all workgroups of a GPU compute the elements.

Symptom: on GPUs, all elements of a normalised vector are computed by the one workgroup that adds up the last
    sums; on lavapipe, silently, most of them are not computed: it ends the loops of a kernel early.
Seen in: IREE 3.13.
Smallest: `x / sum(x)` of f32[1000000].
Goes when: `tests/gpu/test_broadcast_sums.py::test_iree_still_has_one_workgroup` fails.
"""

from __future__ import annotations

from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.reduction import Reduction
from ....dialects.ops.shape.rearrange import BroadcastInDim, Movement
from ....runtime.targets import TargetKind
from ...ir.aliases import Operation, Value
from ...ir.functions import functions, split_body
from ..plan import target_of

FEW: Final = 64
"""So many workgroups leave most of a GPU idle."""
MANY: Final = 32_768
"""A workgroup takes as long for so many elements as another kernel takes to start."""
Sums = frozenset[Value]
NONE: Final[Sums] = frozenset()


def broadcast_sums(module: mlir.ir.Module, reader: Reader) -> set[Value]:
    """The results that must go behind a barrier."""
    values: set[Value] = set()
    for function in functions(module).values():
        made_of: dict[Value, Sums] = {}
        for operation in split_body(function)[0]:
            values |= _read(reader, operation.operation, made_of)
    return values if values and target_of(module).kind is not TargetKind.CPU else set()


def _read(reader: Reader, operation: Operation, made_of: dict[Value, Sums]) -> Sums:
    """The sums that an op broadcasts to many elements; `made_of` are those that a value is made of."""
    op = reader.declaration(operation.name)
    if op is None:
        return NONE
    if op is DotGeneral or issubclass(op, Reduction):
        for result in operation.results:
            count = _count(result)
            made_of[result] = frozenset((result,)) if count is not None and count <= FEW else NONE
    elif issubclass(op, (Elementwise, Movement)):
        sums = NONE.union(*(made_of.get(value, NONE) for value in operation.operands))
        if op is BroadcastInDim:
            return frozenset(each for each in sums if _is_much(operation.results[0], each))
        if sums:
            made_of[operation.results[0]] = sums
    return NONE


def _is_much(result: Value, sums: Value) -> bool:
    """Whether a workgroup for each of some sums has many elements of a result, or may for one sum."""
    elements, count = _count(result), _count(sums)
    assert count is not None
    return count == 1 if elements is None else elements >= MANY * max(count, 1)


def _count(value: Value) -> int | None:
    """The number of elements, None where it is not known."""
    type_ = mlir.ir.RankedTensorType(value.type)
    return prod(type_.shape) if type_.has_static_shape else None
