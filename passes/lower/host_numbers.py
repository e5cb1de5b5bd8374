"""Integers that the host computes for a program on a GPU: counts of loops, and what is computed from them.

Input: a lowered module for CUDA. Output: the same, where an elementwise op on integers of rank 0 that the
host has is arithmetic on its numbers. Loops over the counts of their steps begin such chains
(`forms/scans.py`).
Idea: where the host needs a number that a GPU computed, the start of a slice, it waits for all that the GPU
has to do. A loop of 64 steps of four kernels took 15 ms so on an NVIDIA H100, whose kernels took 0.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ...runtime.targets import TargetKind
from ..base import Pass
from ..ir.aliases import Block, Operation, Value, ValueMap
from ..ir.functions import functions
from .builder import LinalgBuilder
from .plan import target_of

_FROM_HOST: Final = "tensor.from_elements"
_CONSTANT: Final = "arith.constant"
_READ: Final = "tensor.extract"


@dataclass(frozen=True)
class HostNumbers(Pass):
    """For CUDA, let the host compute integers of rank 0 from integers that it has."""

    name = "host-numbers"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        if target_of(module).kind is not TargetKind.CUDA:
            return False
        with module.context, mlir.ir.Location.unknown():
            builder = LinalgBuilder(module.context, TargetKind.CUDA)
            for function in functions(module).values():
                blocks = list(_blocks(function.operation))
                for operation in _operations(blocks):
                    if _is_arithmetic_of_numbers(operation):
                        _compute_on_host(operation)
                for operation in _operations(blocks):
                    if operation.name == _FROM_HOST and _is_number(operation.results[0]):
                        _give_to_kernels(builder, operation)
        return True


def _blocks(operation: Operation) -> Iterator[Block]:
    """The blocks within, an outer one before those inside."""
    for region in operation.regions:
        for block in region.blocks:
            yield block
            for child in block.operations:
                if not child.operation.name.startswith("linalg."):
                    yield from _blocks(child.operation)


def _operations(blocks: list[Block]) -> Iterator[Operation]:
    for block in blocks:
        for child in list(block.operations):
            yield child.operation


def _is_arithmetic_of_numbers(operation: Operation) -> bool:
    """Whether an op computes integers of rank 0, of such that the host has, and not of constants alone."""
    if operation.name != "linalg.generic" or len(operation.attributes["iterator_types"]):
        return False
    if not all(_is_number(value) for value in (*operation.operands, *operation.results)):
        return False
    producers = {_producer(value) for value in _inputs(operation)}
    return _FROM_HOST in producers and producers <= {_FROM_HOST, _CONSTANT}


def _is_number(value: Value) -> bool:
    kind = mlir.ir.RankedTensorType(value.type)
    return kind.rank == 0 and isinstance(kind.element_type, mlir.ir.IntegerType)


def _inputs(generic: Operation) -> list[Value]:
    return list(generic.operands)[: len(generic.operands) - len(generic.results)]


def _producer(value: Value) -> str:
    return "" if isinstance(value.owner, mlir.ir.Block) else str(value.owner.name)


def _compute_on_host(generic: Operation) -> None:
    """Put the body of `generic` before it, on the numbers that its inputs are made of."""
    body = generic.regions[0].blocks[0]
    known: ValueMap = {}
    with mlir.ir.InsertionPoint(generic), generic.location:
        for argument, value in zip(body.arguments, _inputs(generic), strict=False):
            known[argument] = _number(value)
        *steps, end = body.operations
        for step in steps:
            copy = step.operation.clone()
            for position, operand in enumerate(step.operation.operands):
                copy.operands[position] = known.get(operand, operand)
            known.update(zip(step.operation.results, copy.results, strict=True))
        for result, number in zip(generic.results, end.operation.operands, strict=True):
            scalar = known.get(number, number)
            result.replace_all_uses_with(mlir.tensor.from_elements(result.type, [scalar]))
    generic.erase()


def _give_to_kernels(b: LinalgBuilder, made: Operation) -> None:
    """Let kernels get a number of the host as their own parameter.

    As an array it would be filled first, and IREE refuses such an array in a loop in a loop ("streamable op
    expected to be in an execution region").
    """
    (array,) = made.results
    if all(use.owner.name == _READ for use in array.uses):
        return
    with mlir.ir.InsertionPoint.after(made), made.location:
        element = mlir.ir.RankedTensorType(array.type).element_type
        init = b.empty_of_element(element, ())
        given = b.generic([], [init], [b.identity_map(0)], [], lambda _: made.operands[0])
    readers = [use.owner.operation for use in array.uses if use.owner.name == _READ]
    array.replace_all_uses_except(given, readers)


def _number(value: Value) -> Value:
    """The scalar that an array of rank 0 is made of, or that the constant is."""
    operation = value.owner.operation
    if operation.name == _FROM_HOST:
        return operation.operands[0]
    elements = mlir.ir.DenseIntElementsAttr(operation.attributes["value"])
    element = mlir.ir.RankedTensorType(value.type).element_type
    number = mlir.ir.IntegerAttr.get(element, int(elements[0]))
    return mlir.ir.Operation.create(_CONSTANT, [element], attributes={"value": number}).result
