"""Long computations of elements, written as one op: what fuses ops one by one takes time with their square.

Input: lowered functions, or the code of a kernel on tensors. Output: the same, where many elementwise
generics of one shape, each used only by others of them, are the last of them, with the bodies of all. Idea:
MLIR and IREE fuse the same ops, but two at a time, and copy the body that has grown so far each time.
Computations of fewer than `FEWEST` ops stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...dialects import mlir
from ..base import Pass
from ..ir.aliases import Attribute, Block, Operation, Value
from ..ir.functions import functions

GENERIC: Final = "linalg.generic"
FEWEST: Final = 32  # ops; the time to fuse these is a few milliseconds
MOST_INPUTS: Final = 12  # of one op: IREE fuses no ops into one of more than 16 operands


Input = tuple[Value, Attribute]
"""An operand from outside, and the map of its elements."""

Counted = Callable[[Input], Hashable]
"""What counts of an input, where there may be so many only; None for nothing."""


def each_input(key: Input) -> Hashable:
    """IREE fuses operands one by one."""
    return key


@dataclass(frozen=True)
class MergeElementwise(Pass):
    """Write long computations of elements, which are fused in any case, as one op each."""

    name = "merge-elementwise"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        return merge_elementwise(module) > 0


def merge_elementwise(module: mlir.ir.Module) -> int:
    """Merge the long computations of the functions of `module`, those in loops too; how many there are."""
    merged = 0
    for function in functions(module).values():
        for block in list(blocks_of(function.operation)):
            long = [part for part in parts_of(block) if len(part.members) >= FEWEST]
            for part in long:
                merge(part)
            merged += len(long)
    return merged


@dataclass
class Part:
    """Generics, the last one first, of which only the last one's result is used by others."""

    members: list[Operation] = field(default_factory=list)
    inputs: dict[Input, None] = field(default_factory=dict)
    counted: set[Hashable] = field(default_factory=set)


def blocks_of(operation: Operation) -> Iterator[Block]:
    """The blocks of at least `FEWEST` ops within, but for bodies of generics."""
    for region in operation.regions:
        for block in region.blocks:
            operations = [child.operation for child in block.operations]
            if len(operations) >= FEWEST:
                yield block
            for child in operations:
                if len(child.regions) and child.name != GENERIC:
                    yield from blocks_of(child)


def parts_of(block: Block, counted: Counted = each_input, most: int = MOST_INPUTS) -> list[Part]:
    """The elementwise generics of a block, each in the part of all its users, or in one of its own.

    `most`: of what is `counted` of the inputs of a part.
    """
    parts: dict[Operation, Part] = {}
    is_identity: dict[Attribute, bool] = {}
    for child in reversed(list(block.operations)):
        operation = child.operation
        if operation.name != GENERIC or not _is_elementwise(operation, is_identity):
            continue
        part = _part_of_users(operation, parts, is_identity)
        if part is None or not _add(part, operation, counted, most):
            part = Part()
            _add(part, operation, counted, most)
        parts[operation] = part
    return list({id(part): part for part in parts.values()}.values())


def _is_elementwise(generic: Operation, is_identity: dict[Attribute, bool]) -> bool:
    """Whether each element of the one result, of known sizes, is computed of elements of the operands."""
    if len(generic.results) != 1 or len(generic.operands) < 2 or "compilation_info" in generic.attributes:
        return False
    if not mlir.ir.RankedTensorType(generic.results[0].type).has_static_shape:
        return False
    maps = generic.attributes["indexing_maps"]
    if not _maps_to_itself(maps[len(maps) - 1], is_identity):
        return False
    if any("parallel" not in str(kind) for kind in generic.attributes["iterator_types"]):
        return False
    return not any(True for _ in generic.regions[0].blocks[0].arguments[-1].uses)


def _maps_to_itself(map_: Attribute, is_identity: dict[Attribute, bool]) -> bool:
    known = is_identity.get(map_)
    if known is None:
        affine = mlir.ir.AffineMapAttr(map_).value
        known = affine == mlir.ir.AffineMap.get_identity(affine.n_dims, context=map_.context)
        is_identity[map_] = known
    return known


def _part_of_users(
    generic: Operation, parts: dict[Operation, Part], is_identity: dict[Attribute, bool]
) -> Part | None:
    """The part that has all users of a result, each of which takes its elements in their own places."""
    found: Part | None = None
    for use in generic.results[0].uses:
        user = use.owner.operation
        part = parts.get(user)
        if part is None or (found is not None and part is not found):
            return None
        if use.operand_number == len(user.operands) - 1:  # its destination
            return None
        if not _maps_to_itself(user.attributes["indexing_maps"][use.operand_number], is_identity):
            return None
        found = part
    return found


def _inputs(generic: Operation) -> list[Input]:
    maps = generic.attributes["indexing_maps"]
    return [(value, maps[k]) for k, value in enumerate(list(generic.operands)[:-1])]


def _add(part: Part, generic: Operation, counted: Counted, most: int) -> bool:
    """Put a generic before those of a part, if its inputs are not too many then; whether it is in it."""
    maps = generic.attributes["indexing_maps"]
    result = (generic.results[0], maps[len(maps) - 1])  # as all its users take it
    added = [key for key in dict.fromkeys(_inputs(generic)) if key not in part.inputs]
    counts = part.counted - {counted(result)} | {
        number for key in added if (number := counted(key)) is not None
    }
    if part.members and len(counts) > most:
        return False
    part.members.append(generic)
    part.inputs.pop(result, None)
    part.inputs.update(dict.fromkeys(added))
    part.counted = counts
    return True


def merge(part: Part) -> Operation:
    """Replace the generics of a part by one in the place of the last one, which is returned."""
    ir = mlir.ir
    root, members = part.members[0], part.members[::-1]
    inputs, destination = _in_order(members), root.operands[len(root.operands) - 1]
    own_map = root.attributes["indexing_maps"][len(root.operands) - 1]
    operands = [*(value for value, _ in inputs), destination]
    with root.context, root.location:
        merged = ir.Operation.create(
            GENERIC,
            results=[root.results[0].type],
            operands=operands,
            attributes={
                "indexing_maps": ir.ArrayAttr.get([*(map_ for _, map_ in inputs), own_map]),
                "iterator_types": root.attributes["iterator_types"],
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), 1]),
            },
            regions=1,
            ip=ir.InsertionPoint(root),
        )
        types = [value.type.element_type for value in operands]
        block = merged.regions[0].blocks.append(*types, arg_locs=[root.location] * len(types))
        end = ir.Operation.create("linalg.yield", operands=[], ip=ir.InsertionPoint(block))
    _move_bodies(members, dict(zip(inputs, block.arguments, strict=False)), end)
    end.erase()
    root.results[0].replace_all_uses_with(merged.results[0])
    for member in part.members:
        member.erase()
    return merged


def _in_order(members: Sequence[Operation]) -> list[Input]:
    """The inputs of a part from outside of it, in the order of their first use."""
    made = {member.results[0] for member in members}
    return list(dict.fromkeys(key for m in members for key in _inputs(m) if key[0] not in made))


def _move_bodies(members: Sequence[Operation], elements: dict[Input, Value], end: Operation) -> None:
    """Move the bodies of generics before `end`, one behind the other, and what the last one yields."""
    made: dict[Value, Value] = {}
    for member in members:
        body = member.regions[0].blocks[0]
        for key, argument in zip(_inputs(member), list(body.arguments), strict=False):
            argument.replace_all_uses_with(made[key[0]] if key[0] in made else elements[key])
        *steps, yielded = [child.operation for child in body.operations]
        for step in steps:
            step.move_before(end)
        made[member.results[0]] = yielded.operands[0]
    yielded.move_before(end)
