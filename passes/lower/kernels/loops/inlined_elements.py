"""Elements of a computed array that a generic takes at places that it computes, computed there.

Input: the simplified code of a kernel on tensors. Output: the same, where a generic that takes elements
of what an elementwise generic computes (the places of `x[where(mask, i, 0)]` are such an array) computes
them itself, if it takes no more than there are. MLIR fuses operands alone; the array between would be
stored and loaded again.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .destinations import is_destination
from .times import UNKNOWN_SIZE
from .walk import operations_named

MOST_OPS: Final = 12


def inline_elements(module: mlir.ir.Module) -> int:
    """Compute elements where they are taken; how many were not before."""
    return sum(map(_inline, operations_named(module, "tensor.extract")))


def _inline(extract: Operation) -> bool:
    user, value = extract.parent.operation, extract.operands[0]
    if user.name != "linalg.generic" or isinstance(value.owner, mlir.ir.Block):
        return False
    maker = value.owner.operation
    if not _is_elementwise(maker) or maker.parent != user.parent or maker.block != user.block:
        return False
    if (
        len(list(value.uses)) != 1
        or _count(user) > _product(value.type.shape)
        or _is_updated_between(maker, user)
    ):
        return False
    with mlir.ir.InsertionPoint(extract), extract.location:
        extract.results[0].replace_all_uses_with(_element(maker, list(extract.operands)[1:]))
    extract.erase()
    maker.erase()
    return True


def _is_elementwise(maker: Operation) -> bool:
    """Whether an op computes each element for itself, in few ops."""
    if maker.name != "linalg.generic" or len(maker.results) != 1:
        return False
    block = maker.regions[0].blocks[0]
    if any("parallel" not in str(kind) for kind in maker.attributes["iterator_types"]):
        return False
    if len(list(block.arguments[len(block.arguments) - 1].uses)) or len(block.operations) > MOST_OPS:
        return False
    *inputs, output = _maps(maker)
    return output == mlir.ir.AffineMap.get_identity(output.n_dims) and all(
        isinstance(e, mlir.ir.AffineDimExpr) for map_ in inputs for e in map_.results
    )


def _maps(generic: Operation) -> list[mlir.ir.AffineMap]:
    return [mlir.ir.AffineMapAttr(a).value for a in mlir.ir.ArrayAttr(generic.attributes["indexing_maps"])]


def _count(user: Operation) -> int:
    """How many elements a generic computes or combines."""
    sizes: dict[int, int] = {}
    for map_, value in zip(_maps(user), user.operands, strict=True):
        for expression, size in zip(map_.results, value.type.shape, strict=True):
            if isinstance(expression, mlir.ir.AffineDimExpr):
                sizes[expression.position] = size
    return _product(sizes.values())


def _product(sizes: Iterable[int]) -> int:
    return prod(n if n >= 0 else UNKNOWN_SIZE for n in sizes)


def _is_updated_between(maker: Operation, user: Operation) -> bool:
    """Whether what `maker` takes would have to be copied for `user`, as it is updated before."""
    operations = [child.operation for child in maker.block.operations]
    between = operations[operations.index(maker) + 1 : operations.index(user)]
    return any(
        use.owner.operation in between and is_destination(use.owner.operation, use.operand_number)
        for value in maker.operands
        for use in value.uses
    )


def _element(maker: Operation, places: list[Value]) -> Value:
    """The element of an elementwise generic at these places."""
    block = maker.regions[0].blocks[0]
    values: dict[Value, Value] = {}
    for argument, value, map_ in zip(block.arguments, maker.operands, _maps(maker)[:-1], strict=False):
        values[argument] = mlir.tensor.extract(value, [places[e.position] for e in map_.results])
    *inside, end = [child.operation for child in block.operations]
    for operation in inside:
        if operation.name == "linalg.index":
            values[operation.results[0]] = places[int(operation.attributes["dim"].value)]
            continue
        copy = operation.clone().operation
        for position, operand in enumerate(operation.operands):
            if operand in values:
                copy.operands[position] = values[operand]
        for old, new in zip(operation.results, copy.results, strict=True):
            values[old] = new
    result = end.operands[0]
    return values.get(result, result)
