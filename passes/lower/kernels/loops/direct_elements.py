"""Elements that a generic takes at places that it computes, taken of what lies in memory.

Input: the simplified code of a kernel on tensors. Output: the same, where an element of a reshape that only
adds or drops axes of one element is one of the array that was reshaped (the places of `x[i]` are such a
reshape), and the element at the generic's own place is its operand. Bufferization updates an array in place
only where each element is an operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .walk import operations_named

_DIVIDED = "tensor.expand_shape"
_RESHAPES = (_DIVIDED, "tensor.collapse_shape")


def take_directly(module: mlir.ir.Module) -> bool:
    """Take elements of arrays and operands, in place; whether any was taken otherwise."""
    has_changed = False
    for extract in operations_named(module, "tensor.extract"):
        while (behind := _behind_reshape(extract)) is not None:
            extract, has_changed = behind, True
        has_changed |= _take_operand(extract)
    return has_changed


def _behind_reshape(extract: Operation) -> Operation | None:
    """The element of the array that was reshaped, in place of `extract`; None where it is another one."""
    array, *places = extract.operands
    reshape = None if isinstance(array.owner, mlir.ir.Block) else array.owner.operation
    if reshape is None or reshape.name not in _RESHAPES:
        return None
    source = reshape.operands[0]
    is_divided = reshape.name == _DIVIDED
    groups = [[mlir.ir.IntegerAttr(a).value for a in group] for group in _groups(reshape)]
    shape = list((array if is_divided else source).type.shape)
    if any(sum(shape[a] != 1 for a in group) > 1 for group in groups):
        return None
    if is_divided:
        at = [places[_longest(group, shape)] for group in groups]
    else:
        of_axis = {_longest(group, shape): place for group, place in zip(groups, places, strict=True)}
        with mlir.ir.InsertionPoint(extract), extract.location:
            zero = mlir.arith.constant(mlir.ir.IndexType.get(), 0)
        at = [of_axis.get(axis, zero) for axis in range(len(shape))]
    with mlir.ir.InsertionPoint(extract), extract.location:
        taken = mlir.tensor.extract(source, at)
    extract.results[0].replace_all_uses_with(taken)
    extract.erase()
    operation: Operation = taken.owner.operation if hasattr(taken.owner, "operation") else taken.owner
    return operation


def _groups(reshape: Operation) -> Iterator[mlir.ir.ArrayAttr]:
    return map(mlir.ir.ArrayAttr, mlir.ir.ArrayAttr(reshape.attributes["reassociation"]))


def _longest(group: Sequence[int], shape: Sequence[int]) -> int:
    """The axis of a group that may have several elements."""
    return next((a for a in group if shape[a] != 1), group[0])


def _take_operand(extract: Operation) -> bool:
    """Use the operand of a generic that is the element at its own place."""
    user = extract.parent.operation
    array, *places = extract.operands
    if user.name != "linalg.generic" or not _are_own(places, user):
        return False
    block = user.regions[0].blocks[0]
    maps = mlir.ir.ArrayAttr(user.attributes["indexing_maps"])
    inputs = len(user.operands) - len(user.results)
    identity = mlir.ir.AffineMap.get_identity(len(places))
    for argument, value, map_ in list(zip(block.arguments, user.operands, maps, strict=True))[:inputs]:
        if value == array and mlir.ir.AffineMapAttr(map_).value == identity:
            extract.results[0].replace_all_uses_with(argument)
            extract.erase()
            return True
    return False


def _are_own(places: Sequence[Value], user: Operation) -> bool:
    """Whether these are the places of the loops of a generic, in their order."""
    if len(mlir.ir.ArrayAttr(user.attributes["iterator_types"])) != len(places):
        return False
    for axis, place in enumerate(places):
        counter = None if isinstance(place.owner, mlir.ir.Block) else place.owner.operation
        if counter is None or counter.name != "linalg.index" or counter.attributes["dim"].value != axis:
            return False
    return True
