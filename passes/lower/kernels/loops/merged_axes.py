"""Loops over several axes of arrays that are one run of memory become one loop.

Input: code of a kernel on buffers. Output: the same, in which the operations over many axes are over fewer.
Idea: 12 quantum bits are an array of 2 x 2 x ... x 2, and a gate takes one axis; the other 11 are two runs.
As 12 loops of two steps each LLVM unrolls them to straight code, which takes it minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from ..tensor_sizes import GENERIC, OfAnotherKind, access_of, kinds_of
from .vector_reductions import INDEX
from .walk import operations_inside

FEW: Final = 6
"""Loops that stay as they are: other forms know those over a few axes."""
UNROLLED: Final = 16
"""Elements that LLVM computes at once where the innermost loops over them stay (gates on the last quantum
bits take 1.4 times as long without)."""

_FILL: Final = "linalg.fill"
Access: TypeAlias = Sequence[tuple[int, ...]]
"""Of each operand, the loops along its axes."""


def merge_axes(module: mlir.ir.Module) -> None:
    """Merge the loops of the elementwise operations, products and fills of `module`."""
    for operation in list(operations_inside(module)):
        if operation.name == GENERIC:
            _merge(operation)
        elif operation.name == _FILL:
            _merge_fill(operation)


def _merge(generic: Operation) -> None:
    kinds = kinds_of(generic)
    access = _access(generic)
    if len(kinds) <= FEW or access is None or any(each.name == INDEX for each in _body(generic)):
        return
    groups = _groups(kinds, access, [_strides(each) for each in generic.operands], _sizes(generic, access))
    if len(groups) == len(kinds):
        return
    group_of = {loop: k for k, group in enumerate(groups) for loop in group}
    merged = [list(dict.fromkeys(group_of[loop] for loop in axes)) for axes in access]
    with mlir.ir.InsertionPoint(generic), generic.location:
        operands = [
            _collapsed(each, [[axes.index(loop) for loop in groups[k]] for k in along])
            for each, axes, along in zip(generic.operands, access, merged, strict=True)
        ]
        maps = [
            mlir.ir.AffineMap.get(len(groups), 0, [mlir.ir.AffineDimExpr.get(k) for k in along])
            for along in merged
        ]
        iterators = mlir.ir.ArrayAttr(generic.attributes["iterator_types"])
        attributes = {name: generic.attributes[name] for name in generic.attributes}
        attributes["indexing_maps"] = mlir.ir.ArrayAttr.get(
            [mlir.ir.AffineMapAttr.get(each) for each in maps]
        )
        attributes["iterator_types"] = mlir.ir.ArrayAttr.get([iterators[group[-1]] for group in groups])
        new = mlir.ir.Operation.create(GENERIC, operands=operands, attributes=attributes, regions=1)
    generic.regions[0].blocks[0].append_to(new.operation.regions[0])
    generic.erase()


def _merge_fill(fill: Operation) -> None:
    """Let a fill of a whole array be one loop."""
    to = fill.operands[1]
    strides = _strides(to)
    shape = mlir.ir.MemRefType(to.type).shape
    if len(shape) <= FEW or strides is None or not _is_run(strides, shape):
        return
    with mlir.ir.InsertionPoint(fill), fill.location:
        fill.operands[1] = _collapsed(to, [[*range(len(shape))]])


def _body(generic: Operation) -> list[Operation]:
    return [each.operation for each in generic.regions[0].blocks[0].operations]


def _access(generic: Operation) -> Access | None:
    """None where an operand's axis is not along one loop, or is a number."""
    try:
        found = access_of(generic)
    except OfAnotherKind:
        return None
    return found if all(len(set(axes)) == len(axes) for axes in found) else None


def _strides(array: Value) -> list[int] | None:
    """The distances of neighbours along each axis; None where a size or a distance is not known."""
    if not isinstance(array.type, mlir.ir.MemRefType):
        return None
    type_ = mlir.ir.MemRefType(array.type)
    strides, _ = type_.get_strides_and_offset()
    unknown = mlir.ir.ShapedType.get_dynamic_stride_or_offset()
    is_known = type_.has_static_shape and unknown not in strides
    return list(strides) if is_known else None


def _sizes(generic: Operation, access: Access) -> dict[int, int]:
    return {
        loop: size
        for operand, axes in zip(generic.operands, access, strict=True)
        if axes
        for loop, size in zip(axes, mlir.ir.MemRefType(operand.type).shape, strict=True)
    }


def _groups(
    kinds: Sequence[str], access: Access, strides: Sequence[list[int] | None], sizes: dict[int, int]
) -> list[list[int]]:
    """The loops that become one, in the order of the last of each; sums keep their order."""

    def is_run(loop: int, inner: int) -> bool:
        for axes, steps in zip(access, strides, strict=True):
            if loop not in axes and inner not in axes:
                continue
            if loop not in axes or inner not in axes or steps is None:
                return False
            at = axes.index(loop)
            if axes[at + 1 : at + 2] != (inner,) or steps[at] != steps[at + 1] * sizes[inner]:
                return False
        return True

    outer = _outer(sizes, len(kinds))
    following: dict[int, int] = {}
    for axes in access:
        for loop, inner in pairwise(axes):
            is_in_order = kinds[loop] == "parallel" or inner == loop + 1
            are_alike = kinds[loop] == kinds[inner] and max(loop, inner) < outer
            if are_alike and is_in_order and is_run(loop, inner):
                following[loop] = inner
    groups = []
    for loop in range(len(kinds)):
        if loop in following.values():
            continue
        group = [loop]
        while group[-1] in following:
            group.append(following[group[-1]])
        groups.append(group)
    return sorted(groups, key=lambda group: group[-1])


def _outer(sizes: dict[int, int], loops: int) -> int:
    """How many of `loops` are outside those that compute `UNROLLED` elements together, or fewer."""
    count = 1
    while loops and count * sizes[loops - 1] <= UNROLLED:
        loops -= 1
        count *= sizes[loops]
    return loops


def _is_run(strides: Sequence[int], shape: Sequence[int]) -> bool:
    places = range(len(shape) - 1)
    return all(strides[k] == strides[k + 1] * shape[k + 1] for k in places)


def _collapsed(array: Value, groups: Sequence[Sequence[int]]) -> Value:
    """`array` with one axis for each of `groups` of axes, which are one run of memory."""
    if all(len(group) == 1 for group in groups):
        return array
    type_ = mlir.ir.MemRefType(array.type)
    strides, offset = type_.get_strides_and_offset()
    shape = []
    for group in groups:
        size = 1
        for axis in group:
            size *= type_.shape[axis]
        shape.append(size)
    plain = mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get_identity(type_.rank))
    layout = None
    if type_.layout != plain:
        layout = mlir.ir.StridedLayoutAttr.get(offset, [strides[group[-1]] for group in groups])
    collapsed = mlir.ir.MemRefType.get(shape, type_.element_type, layout, type_.memory_space)
    return mlir.memref.collapse_shape(collapsed, array, [list(group) for group in groups])
