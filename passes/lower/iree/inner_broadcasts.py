"""Sums that are broadcast along an axis which is not the last one: IREE would compute both in one kernel.

Input: adze IR with a plan. Output: the reductions and products whose results go behind a barrier
(`mark-barriers` marks them).

Symptom: on Vulkan, silently, an outer product with what was summed up takes other elements of its other
    factor: lanes that share the sum take every third element, where each has two (the pipeline
    `SubgroupReduce`). Where that factor is a whole array there is no code: "failed to legalize operation
    'arith.constant'". Metal's code is made by the same passes.
Seen in: IREE 3.13.
Smallest: `p[:, :, None] * (p @ w)[:, None, :]` of f32[4,16] and f32[16,8], as in gradients of each example;
    `m + m[:, :1].T @ m` of f32[40,40].
Goes when: `tests/gpu/test_fences.py::test_iree_still_has_wrong_outer_products` fails.
"""

from __future__ import annotations

from ....dialects import mlir
from ....dialects.builder.core import Application
from ....dialects.builder.emitter import Reader
from ....dialects.ops.contraction.dot_general import DotGeneral, operand_axes
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.reduction import Reduction
from ....dialects.ops.shape.rearrange import BroadcastInDim, Movement
from ....runtime.targets import TargetKind
from ...ir.aliases import Operation, Value
from ...ir.functions import functions, split_body
from ...ir.marks import TARGET
from ..plan import target_of

_KINDS = (TargetKind.VULKAN, TargetKind.METAL)
Sums = frozenset[Value]
NONE: Sums = frozenset()


def inner_broadcasts(module: mlir.ir.Module, reader: Reader) -> set[Value]:
    """The results that must go behind a barrier."""
    values: set[Value] = set()
    if TARGET in module.operation.attributes and target_of(module).kind not in _KINDS:
        return values
    for function in functions(module).values():
        made_of: dict[Value, Sums] = {}
        for operation in split_body(function)[0]:
            values |= _read(reader, operation.operation, made_of)
    return values if values and target_of(module).kind in _KINDS else set()


def _read(reader: Reader, operation: Operation, made_of: dict[Value, Sums]) -> Sums:
    """The sums that an op broadcasts along an inner axis; `made_of` are those that a value is made of."""
    op = reader.declaration(operation.name)
    if op is None:
        return NONE
    application = reader.read(operation)
    assert application is not None
    sums = [made_of.get(value, NONE) for value in operation.operands]
    if op is DotGeneral and not application.attributes["contracting"][0]:
        # An outer product: the rows of the left factor are inner axes of the right one.
        made_of[operation.results[0]] = NONE.union(*sums)
        return sums[1] if _has_rows(application) else NONE
    if op is DotGeneral or issubclass(op, Reduction):
        for result in operation.results:
            made_of[result] = frozenset((result,))
    elif issubclass(op, (Elementwise, Movement)) and any(sums):
        made_of[operation.results[0]] = NONE.union(*sums)
        if op is BroadcastInDim and not _is_along_last(application):
            return sums[0]
    return NONE


def _has_rows(product: Application) -> bool:
    """Whether the left factor of a product has axes that the right one lacks."""
    rank = mlir.ir.ShapedType(product.operands[0].type).rank
    return bool(operand_axes(rank, 0, product.attributes["contracting"], product.attributes["batch"]).free)


def _is_along_last(broadcast: Application) -> bool:
    """Whether the axes of an operand are the first ones of the result, but for those of one element."""
    result = broadcast.attributes["shape"]
    sizes = mlir.ir.ShapedType(broadcast.operands[0].type).shape
    axes = [axis for axis, n in zip(broadcast.attributes["dimensions"], sizes, strict=True) if n != 1]
    return axes == [axis for axis, n in enumerate(result) if n != 1][: len(axes)]
