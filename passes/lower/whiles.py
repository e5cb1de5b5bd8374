"""While loops whose state is read, all of it, in every turn.

In come lowered functions, out go the same with one op more for each entry of a loop's state that the loop's
body does not read (it is replaced, by a constant perhaps): its next value is chosen over the old one by a
condition that is always true. IREE 3.13 turns some loops around, condition last, and drops what the body
does not read from the values at the start; its conversion to streams then takes the second region to have as
many arguments as the first ("region branch point has 4 operands, but region successor needs 2 inputs").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dialects import mlir


def read_all(module: Any) -> None:
    """Make the body of every `scf.while` read every entry of its state."""
    for loop in [o for function in module.body.operations for o in _loops(function.operation)]:
        block = loop.regions[1].blocks[0]
        end = block.operations[len(block.operations) - 1].operation
        read = _read(block)
        for position, old in enumerate(block.arguments):
            new = end.operands[position]
            if old not in read and old != new:
                with mlir.ir.InsertionPoint(end), end.location:
                    end.operands[position] = _chosen(new, old)


def _loops(operation: Any) -> Iterator[Any]:
    if operation.name == "scf.while":
        yield operation
    if operation.name.startswith(("func.", "scf.")):
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    yield from _loops(inner.operation)


def _read(block: Any) -> set[Any]:
    """The values whose elements the results of `block` follow from; the whole of inner loops counts."""
    *steps, end = [o.operation for o in block.operations]
    found = set(end.operands)
    for step in reversed(steps):
        if step.name == "tensor.dim" or not (
            step.regions or any(r in found for r in step.results) or not step.results
        ):
            continue
        found.update(step.operands)
        if step.name.startswith("scf."):
            found.update(v for inner in _inside(step) for v in inner.operands if inner.name != "tensor.dim")
    return found


def _inside(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                if inner.operation.name.startswith("scf."):
                    yield from _inside(inner.operation)


def _chosen(new: Any, old: Any) -> Any:
    """Elementwise `new if true else old`, which nobody can fold."""
    ir = mlir.ir
    type_ = ir.RankedTensorType(new.type)
    dynamic = [
        mlir.tensor.dim(new, mlir.arith.constant(ir.IndexType.get(), axis))
        for axis in range(type_.rank)
        if type_.is_dynamic_dim(axis)
    ]
    flag = mlir.arith.constant(ir.IntegerType.get_signless(1), 1)
    always = mlir.util.OptimizationBarrierOp([flag.type], [flag]).results[0]
    empty = ir.Operation.create("tensor.empty", results=[type_], operands=dynamic).result
    same = ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    generic = ir.Operation.create(
        "linalg.generic",
        results=[type_],
        operands=[new, old, empty],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([same] * 3),
            "iterator_types": ir.ArrayAttr.get([parallel] * type_.rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1]),
        },
        regions=1,
    )
    element = type_.element_type
    block = generic.regions[0].blocks.append(element, element, element, arg_locs=[ir.Location.current] * 3)
    with ir.InsertionPoint(block):
        value = mlir.arith.select(always, block.arguments[0], block.arguments[1])
        ir.Operation.create("linalg.yield", operands=[value])
    return generic.result
