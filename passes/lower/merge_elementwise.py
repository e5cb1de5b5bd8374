"""Long computations of elements, written as one op: what fuses ops one by one takes time with their square.

Input: lowered functions, or the code of a kernel on tensors. Output: the same, where many elementwise
generics of one shape, each used only by others of them, are the last of them, with the bodies of all. Idea:
MLIR and IREE fuse the same ops, but two at a time, and copy the body that has grown so far each time.
Computations of fewer than `FEWEST` ops stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ..analysis.shared import shared
from ..base import Pass
from ..ir.aliases import Operation, Value
from .elementwise_parts import FEWEST, GENERIC, Input, Part, elementwise_blocks, parts_of

MOST_INPUTS: Final = 12  # of one op: IREE fuses no ops into one of more than 16 operands


@dataclass(frozen=True)
class MergeElementwise(Pass):
    """Write long computations of elements, which are fused in any case, as one op each."""

    name = "merge-elementwise"
    needs = (GENERIC,)
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        return merge_elementwise(module) > 0


def merge_elementwise(module: mlir.ir.Module) -> int:
    """Merge the long computations of the functions of `module`, those in loops too; how many there are."""
    long = [
        part
        for block in shared(elementwise_blocks, module)
        for part in parts_of(block, MOST_INPUTS)
        if len(part.members) >= FEWEST
    ]
    for part in long:
        merge(part)
    return len(long)


def _inputs(generic: Operation) -> list[Input]:
    maps = generic.attributes["indexing_maps"]
    return [(value, maps[k]) for k, value in enumerate(list(generic.operands)[:-1])]


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
