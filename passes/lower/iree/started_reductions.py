"""Reductions of integers that kernels for GPUs begin with a wrong first value.

Input: a lowered module for a GPU. Output: the same, where a reduction by `arith.maxsi` or `arith.minsi` is
one by `maxui` or `minui` of integers whose sign bit is flipped, and so is that of its initial value and
result: the order of both is the same. Of 64 bits it is the other way round: unsigned ones become signed ones.
A reduction by `arith.andi` is one by `ori` of integers whose bits are all flipped.

Symptom: silently, the greatest of negative integers is 0, the least of positive ones is -1, and the bits that
all have in common are none but the lowest. Threads without an element, and lanes beyond the end of a row of
unknown size, begin with the extremes of *signed* integers of 64 bits, cut to the width: right for unsigned
ones of less, and for signed ones of 64; and with 1 where bits are joined by `and`.
Seen in: IREE 3.13.
Smallest: `min(x)` of i32[24] on Vulkan with subgroups of 8; `min(x, axis=1)` of i32[64,96] for CUDA, and of
ui64[?,?]; `reduce_and(x)` of i32[?] for CUDA.
Goes when: `tests/gpu/test_fences.py::test_iree_still_compares_with_a_wrong_value` fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import TargetKind
from ...base import Pass
from ...ir.aliases import Operation, Value
from ...ir.functions import functions
from ..builder import LinalgBuilder
from ..linalg_ops import linalg_ops
from ..plan import target_of
from ..scalars import Scalars

_UNSIGNED: Final = {"arith.maxsi": "arith.maxui", "arith.minsi": "arith.minui"}
_SIGNED: Final = {unsigned: signed for signed, unsigned in _UNSIGNED.items()}
WIDEST: Final = 64  # bits


@dataclass(frozen=True)
class StartedReductions(Pass):
    """For GPUs, let reductions of integers combine those whose first value is right."""

    name = "started-reductions"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        target = target_of(module)
        if target.kind is TargetKind.CPU:
            return False
        with module.context, mlir.ir.Location.unknown():
            builder = LinalgBuilder(module.context, target.kind)
            for function in functions(module).values():
                for reduction in list(_reductions(function)):
                    _begin_right(builder, reduction)
        return True


def _reductions(operation: Operation) -> Iterator[Operation]:
    """The generic ops within that combine elements, also those of loops and branches."""
    for inner in linalg_ops(operation):
        if inner.name == "linalg.generic" and "reduction" in str(inner.attributes["iterator_types"]):
            yield inner


def _replacement(name: str, width: int) -> tuple[str, int] | None:
    """The op that begins right in place of one that does not, and the bits to flip around it."""
    if name == "arith.andi":
        return ("arith.ori", -1) if width > 1 else None
    other = (_SIGNED if width == WIDEST else _UNSIGNED).get(name)
    return None if other is None else (other, -(1 << (width - 1)))


def _begin_right(builder: LinalgBuilder, reduction: Operation) -> None:
    """Let each result of integers that would begin with a wrong value be computed of flipped ones."""
    body = reduction.regions[0].blocks[0]
    inputs = len(reduction.operands) - len(reduction.results)
    results = list(body.operations)[-1]
    for number, value in enumerate(list(results.operands)):
        total = body.arguments[inputs + number]
        combining = value.owner
        if isinstance(combining, mlir.ir.Block) or not isinstance(value.type, mlir.ir.IntegerType):
            continue
        found = _replacement(combining.name, mlir.ir.IntegerType(value.type).width)
        if found is None:
            continue
        name, bits = found
        parts = list(combining.operands)
        if total not in parts:
            continue
        element = parts[1] if parts[0] == total else parts[0]
        with mlir.ir.InsertionPoint(combining), reduction.location:
            flipped = _flip(element, bits)
            results.operands[number] = mlir.ir.Operation.create(name, [value.type], [flipped, total]).result
        _flip_around(builder, reduction, number, bits)


def _flip_around(builder: LinalgBuilder, reduction: Operation, number: int, bits: int) -> None:
    """Flip `bits` of the initial value of a result of a reduction, and of that result."""
    initial = len(reduction.operands) - len(reduction.results) + number
    with mlir.ir.InsertionPoint(reduction), reduction.location:
        reduction.operands[initial] = _flipped(builder, reduction.operands[initial], bits)
    result = reduction.results[number]
    with mlir.ir.InsertionPoint.after(reduction), reduction.location:
        flipped = _flipped(builder, result, bits)
    result.replace_all_uses_except(flipped, _users_of_flipping(result, flipped))


def _users_of_flipping(result: Value, flipped: Value) -> list[Operation]:
    """What was emitted to flip `result`: the op itself, and the ops that ask for its sizes."""
    owner = flipped.owner
    places = [result.owner.operation, owner.operation]
    block = list(owner.operation.block.operations)
    start, end = (next(i for i, op in enumerate(block) if op.operation == place) for place in places)
    return [op.operation for op in block[start + 1 : end + 1]]


def _flipped(builder: LinalgBuilder, value: Value, bits: int) -> Value:
    """A tensor of signless integers with some `bits` flipped.

    One that a scalar fills is filled anew: IREE computes what follows from constants once, and a reduction
    would write its result there.
    """
    width = mlir.ir.IntegerType(mlir.ir.RankedTensorType(value.type).element_type).width
    dtype = np.dtype(f"int{width}")
    if not isinstance(value.owner, mlir.ir.Block) and value.owner.name == "linalg.fill":
        return builder.fill(_flip(value.owner.operands[0], bits), builder.shape(value), dtype)

    def rule(_: Scalars, dtypes: tuple[np.dtype, ...], element: Value) -> Value:
        return _flip(element, bits)

    return builder.map_elements(dtype, rule, value)


def _flip(element: Value, bits: int) -> Value:
    value = mlir.ir.IntegerAttr.get(element.type, bits)
    constant = mlir.ir.Operation.create("arith.constant", [element.type], attributes={"value": value}).result
    return mlir.ir.Operation.create("arith.xori", [element.type], [element, constant]).result
