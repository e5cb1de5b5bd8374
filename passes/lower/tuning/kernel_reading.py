"""What passes over IREE's kernels read: the kernels of a program, and the loops of a `linalg.generic`.

Input: a program in IREE's phase `flow`, or a generic. Output: lists of operations, sizes, kinds of loops.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....dialects import mlir
from ...ir.aliases import Operation, Type, Value


def kernels(module: mlir.ir.Module) -> Iterator[list[Operation]]:
    """The operations of each kernel that has one block."""
    for executable in module.body.operations:
        if executable.operation.name != "flow.executable":
            continue
        for inner in executable.operation.regions[0].blocks[0].operations:
            if inner.operation.name == "builtin.module":
                for function in inner.operation.regions[0].blocks[0].operations:
                    blocks = list(function.operation.regions[0].blocks)
                    if len(blocks) == 1:
                        yield [child.operation for child in blocks[0].operations]


def has_reduction(generic: Operation) -> bool:
    return "reduction" in str(generic.attributes["iterator_types"])


def is_summed(generic: Operation) -> list[bool]:
    """For each loop whether it is a reduction."""
    return ["reduction" in str(kind) for kind in mlir.ir.ArrayAttr(generic.attributes["iterator_types"])]


def access(generic: Operation) -> Iterator[tuple[Type, list[int] | None]]:
    """The type of each operand and, an axis each, the loops that it is accessed by (None: by no loop)."""
    maps = mlir.ir.ArrayAttr(generic.attributes["indexing_maps"])
    for value, attribute in zip(generic.operands, maps, strict=True):
        places = list(mlir.ir.AffineMapAttr(attribute).value.results)
        if all(isinstance(place, mlir.ir.AffineDimExpr) for place in places):
            yield value.type, [place.position for place in places]
        else:
            yield value.type, None


def loop_sizes(generic: Operation) -> list[int] | None:
    """The size of each loop, None where one is not known or zero."""
    sizes = all_loop_sizes(generic)
    return sizes if sizes and min(sizes) > 0 else None


def all_loop_sizes(generic: Operation) -> list[int]:
    """The size of each loop, a negative number for a dynamic one, 0 for one that goes along no axis."""
    sizes: dict[int, int] = {}
    for type_, loops in access(generic):
        if isinstance(type_, mlir.ir.RankedTensorType) and loops is not None:
            for loop, size in zip(loops, mlir.ir.RankedTensorType(type_).shape, strict=True):
                sizes[loop] = size
    count = len(mlir.ir.ArrayAttr(generic.attributes["iterator_types"]))
    return [sizes.get(loop, 0) for loop in range(count)]


def bits(type_: Type) -> int | None:
    """The bits of an element in a register; None for what has no registers, or an encoding of its own."""
    if isinstance(type_, mlir.ir.RankedTensorType):
        array = mlir.ir.RankedTensorType(type_)
        if array.encoding is not None:
            return None
        type_ = array.element_type
    if isinstance(type_, mlir.ir.IntegerType):
        width = mlir.ir.IntegerType(type_).width
        return 8 if width == 1 else width if width % 8 == 0 else None
    if isinstance(type_, mlir.ir.FloatType):
        return int(mlir.ir.FloatType(type_).width)
    if isinstance(type_, mlir.ir.ComplexType):
        return bits(mlir.ir.ComplexType(type_).element_type)  # the two parts have registers of their own
    return 64 if isinstance(type_, mlir.ir.IndexType) else None


def values(generic: Operation) -> Iterator[Value]:
    """What the body of a generic computes."""
    for step in generic.regions[0].blocks[0].operations:
        yield from step.operation.results
