"""What MLIR's canonicalization makes and bufferization or the bindings refuse, written otherwise.

Input: simplified code of a kernel on tensors. Output: the same, where the choice between two arrays is
elementwise (`arith.select` of tensors wants both in one buffer), and a complex constant, which is folded of a
single number, is filled with that number (the bindings have no attribute for it).
"""

from __future__ import annotations

import re
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from ...named_ops import filled
from .builder import KernelBuilder
from .errors import KernelError
from .walk import operations_inside

_SPLAT: Final = re.compile(r"dense<\((?P<real>[^,()]+),(?P<imaginary>[^,()]+)\)>")


def rewrite_refused(module: mlir.ir.Module) -> None:
    """Rewrite choices between arrays, and complex constants."""
    b = KernelBuilder(module.context, {})
    for operation in list(operations_inside(module)):
        if not len(operation.results) or not isinstance(operation.results[0].type, mlir.ir.RankedTensorType):
            continue
        if operation.name == "arith.select" and operation.operands[0].type != operation.results[0].type:
            with mlir.ir.InsertionPoint(operation):
                _replace(operation, _chosen(b, operation))
        elif operation.name == "arith.constant" and _is_complex(operation.results[0]):
            with mlir.ir.InsertionPoint(operation):
                _replace(operation, _filled(b, operation))


def _replace(operation: Operation, value: Value) -> None:
    operation.results[0].replace_all_uses_with(value)
    operation.erase()


def _is_complex(value: Value) -> bool:
    return isinstance(value.type.element_type, mlir.ir.ComplexType)


def _chosen(b: KernelBuilder, operation: Operation) -> Value:
    condition, yes, no = operation.operands
    if not isinstance(condition.type, mlir.ir.IntegerType):
        raise KernelError("arrays are chosen between by an array")
    rank = len(yes.type.shape)
    maps = [b.identity_map(rank)] * 3

    def body(x: Value, y: Value, _: Value) -> Value:
        return mlir.arith.select(condition, x, y)

    init = b.empty_like(yes, b.shape(yes))
    return b.generic([yes, no], [init], maps, ["parallel"] * rank, body)


def _filled(b: KernelBuilder, operation: Operation) -> Value:
    type_ = operation.results[0].type
    splat = _SPLAT.search(str(operation))
    if splat is None:
        raise KernelError("it has an array of complex constants")
    kind = type_.element_type
    part = mlir.ir.ComplexType(kind).element_type
    parts = [mlir.ir.Attribute.parse(f"{splat[name].strip()} : {part}") for name in ("real", "imaginary")]
    number = mlir.complex.ConstantOp(kind, mlir.ir.ArrayAttr.get(parts)).result
    if not len(type_.shape):
        return b.single(number, ())
    return filled(number, b.empty_of_element(kind, list(type_.shape)))
