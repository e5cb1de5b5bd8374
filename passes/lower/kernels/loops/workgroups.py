"""The steps of a kernel's outermost loops, shared by several workgroups.

Input: the code of a kernel of a CPU, as loops on buffers. Output: the same, where each workgroup runs some of
the steps, and how many workgroups there are. Idea: where all outermost loops have the same bounds, and only
steps of one number use what these write, a workgroup may run all loops for steps of its own. Each element is
computed as before, and how many workgroups there are follows from the code alone, so results do not depend on
the number of threads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Block, Operation, Value
from ....ir.functions import functions
from ..executable import workgroup_id
from .cost import UNKNOWN_STEPS
from .outline import KERNEL
from .walk import nested

LEAST: Final = 1 << 19
"""Operations of a workgroup, which take 7 microseconds in vectors: its start takes one, a thread's 50."""
MOST: Final = 32  # workgroups
MULTIPLE: Final = 16  # steps of an innermost loop, which are elements of vectors
LOADS: Final = ("memref.load", "vector.load")
STORES: Final = ("memref.store", "vector.store")  # their first operand is what is stored
PURE: Final = ("arith.", "math.", "complex.", "vector.", "scf.", "memref.alloca")


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The first step of a loop, where it stops, and the distance of steps."""

    first: int
    stop: int
    step: int

    @property
    def count(self) -> int:
        return max(-(-(self.stop - self.first) // self.step), 0)


def share_among_workgroups(module: mlir.ir.Module) -> int:
    """Let workgroups share the outermost loops of a kernel where that is possible and pays; how many do."""
    block = functions(module)[KERNEL].operation.regions[0].blocks[0]
    loops = [o.operation for o in block.operations if o.operation.name == "scf.for"]
    bounds = {_bounds(loop) for loop in loops}
    if len(bounds) != 1:
        return 1
    (common,) = bounds
    if common is None or common.count < 2:
        return 1
    wanted = min(sum(map(_work, loops)) // LEAST, MOST, common.count)
    if wanted < 2 or not _are_independent(block, loops, common.step):
        return 1
    together = -(-common.count // wanted)
    if any(not _has_loops(loop) for loop in loops):
        together = -(-together // MULTIPLE) * MULTIPLE
    _restrict(block, loops, common, together)
    return -(-common.count // together)


def _restrict(block: Block, loops: Sequence[Operation], bounds: _Bounds, together: int) -> None:
    """Let each loop run through `together` steps, those of the workgroup."""
    with mlir.ir.InsertionPoint.at_block_begin(block):
        distance = _index(together * bounds.step)
        first = mlir.arith.addi(mlir.arith.muli(workgroup_id(), distance), _index(bounds.first))
        stop = mlir.arith.minui(mlir.arith.addi(first, distance), _index(bounds.stop))
    for loop in loops:
        loop.operands[0], loop.operands[1] = first, stop


def _are_independent(block: Block, loops: Sequence[Operation], step: int) -> bool:
    """Whether only steps of one number use what they write."""
    written: dict[Value, list[Sequence[int | None]]] = defaultdict(list)
    outside = [o.operation for o in block.operations if o.operation not in loops][:-1]
    stored = {_buffer(o) for loop in loops for o in nested(loop) if o.name in STORES}
    if any(len(loop.results) for loop in loops):
        return False
    if not all(_is_fixed(o, stored) for o in outside):
        return False
    for loop in loops:
        inside = list(nested(loop))
        own = {result for o in inside if o.name == "memref.alloca" for result in o.results}
        counter = loop.regions[0].blocks[0].arguments[0]
        for operation in inside:
            if operation.name in (*LOADS, *STORES):
                if _buffer(operation) in stored and _buffer(operation) not in own:
                    written[_buffer(operation)].append(_distances(operation, counter))
            elif not _is_pure(operation):
                return False
    return all(_is_of_one_step(accesses, step) for accesses in written.values())


def _is_fixed(operation: Operation, stored: Collection[Value]) -> bool:
    """Whether an op computes the same in each workgroup, without a loop or branch."""
    is_plain = not list(operation.regions) and operation.name not in STORES
    reads_fixed = operation.name in LOADS and _buffer(operation) not in stored
    return is_plain and (reads_fixed or _is_pure(operation))


def _is_pure(operation: Operation) -> bool:
    """Whether an op itself uses no buffer."""
    uses_buffers = any(isinstance(value.type, mlir.ir.MemRefType) for value in operation.operands)
    return operation.name.startswith(PURE) and not uses_buffers


def _is_of_one_step(accesses: Sequence[Sequence[int | None]], step: int) -> bool:
    """Whether all accesses to a buffer lie, along one axis, in the part that belongs to the step's number."""
    for along in zip(*accesses, strict=True):
        known = [distance for distance in along if distance is not None]
        if len(known) == len(along) and max(known) - min(known) < step:
            return True
    return False


def _distances(operation: Operation, counter: Value) -> list[int | None]:
    """How far an access is from the step's number along each axis; None where that is not known."""
    is_store = operation.name in STORES
    places = list(operation.operands)[2 if is_store else 1 :]
    moved = operation.operands[0].type if is_store else operation.results[0].type
    vectors = len(moved.shape) if operation.name.startswith("vector.") else 0
    singles = len(places) - vectors
    return [_distance(place, counter) if at < singles else None for at, place in enumerate(places)]


def _distance(place: Value, counter: Value) -> int | None:
    """The number that a place is greater than a counter by."""
    if place == counter:
        return 0
    if isinstance(place.owner, mlir.ir.Block) or place.owner.operation.name != "arith.addi":
        return None
    left, right = place.owner.operation.operands
    number = _number(right)
    before = _distance(left, counter) if number is not None else None
    return None if before is None or number is None else before + number


def _buffer(operation: Operation) -> Value:
    """The buffer that a load or store uses."""
    return operation.operands[1 if operation.name in STORES else 0]


def _work(operation: Operation) -> int:
    """About how many operations an op and those in it take."""
    bounds = _bounds(operation) if operation.name == "scf.for" else None
    count = bounds.count if bounds else UNKNOWN_STEPS if operation.name in ("scf.for", "scf.while") else 1
    return count * (1 + sum(map(_work, _children(operation))))


def _has_loops(loop: Operation) -> bool:
    return any(inside.name == "scf.for" for inside in nested(loop))


def _children(operation: Operation) -> Iterator[Operation]:
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                yield child.operation


def _bounds(loop: Operation) -> _Bounds | None:
    """The bounds of a loop, None where they are not known."""
    numbers = [_number(value) for value in list(loop.operands)[:3]]
    first, stop, step = numbers
    return None if first is None or stop is None or step is None else _Bounds(first, stop, step)


def _number(value: Value) -> int | None:
    is_number = not isinstance(value.owner, mlir.ir.Block) and value.owner.operation.name == "arith.constant"
    if not is_number or not isinstance(value.type, mlir.ir.IndexType):
        return None
    return int(mlir.ir.IntegerAttr(value.owner.operation.attributes["value"]).value)


def _index(n: int) -> Value:
    return mlir.arith.constant(mlir.ir.IndexType.get(), n)
