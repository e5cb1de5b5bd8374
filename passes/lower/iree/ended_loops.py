"""Reductions and scatters for lavapipe, whose kernels end their loops early.

Input: a lowered module. Output: for lavapipe the same, where what may combine too many elements in a loop is
checked before: reductions and running values of sizes that are not known, and, of any sizes, scatters and
other reductions that one thread does.
Idea: lanes share a plain reduction, and IREE divides those of known sizes that are multiples of the lanes. A
running value is two loops: its kernel writes first values before. Reductions of a function, and what is
computed of their results for each element, may become one kernel, whose loops end together: four at most, as
those of a norm of rows and what is computed of them. A scatter is a kernel of its own.

Symptom: silently, the sum of 3 million ones is 524,280: a kernel leaves its loops after 65,535 iterations,
    the limit of Mesa 22.3. No GPU has it.
Seen in: IREE 3.13.
Smallest: `sum(x, axis=1)` of f32[1,n] on lavapipe, with 600,000 elements; of f64[2,100001]; of c64[2,300000];
    `zeros(10).at[i].add(v)` of 200,000 updates.
Goes when: `tests/gpu/test_reductions.py::test_lavapipe_still_ends_reductions` fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final, TypeAlias

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target, lanes_of_lavapipe
from ...base import Pass
from ...ir.aliases import Operation, Value
from ...ir.functions import functions
from ..barriers import BARRIER
from ..kernels.loops.iterations import MOST_ON_LAVAPIPE
from ..plan import target_of

Axis: TypeAlias = "tuple[Value, int]"
"""An axis of a tensor."""

_GENERIC: Final = "linalg.generic"
_SCAN: Final = "iree_linalg_ext.scan"
_SCATTER: Final = "iree_linalg_ext.scatter"
_LOOPS: Final = {_GENERIC: 1, _SCAN: 2, _SCATTER: 0}
"""The loops of each that may end together with those of others."""
_SHARED: Final = frozenset(
    f"arith.{name}" for name in ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf", "addi", "muli")
) | {f"arith.{kind}{sign}i" for kind in ("max", "min") for sign in "su"}
"""What lanes combine of several elements at once."""
_DIVIDED: Final = _SHARED | {"arith.andi", "arith.ori", "arith.xori"}
"""What IREE divides where the size is known."""
_TOGETHER: Final = 4
"""Loops of one kernel, at most."""


@dataclass(frozen=True)
class EndedLoops(Pass):
    """For lavapipe, check that reductions and scatters end before it ends their loops."""

    name = "ended-loops"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        target = target_of(module)
        if not lanes_of_lavapipe(target):
            return False
        with module.context:
            return any([_check(function, target) for function in functions(module).values()])


def _check(function: Operation, target: Target) -> bool:
    """Check the loops of a function; whether there is one that may be too long."""
    lanes_here = lanes_of_lavapipe(target)
    found = [(each, sizes) for each in _operations(function) if (sizes := _checked(each, lanes_here))]
    if not found:
        return False
    loops = sum(_LOOPS[operation.name] for operation, _ in found) + _spread_loops(function)
    for operation, sizes in found:
        is_shared = _combines_by(operation) in _SHARED and any(map(_is_unknown, sizes))
        lanes = lanes_here if is_shared else 1
        together = 1 if operation.name == _SCATTER else min(loops, _TOGETHER)
        with mlir.ir.InsertionPoint(operation), operation.location:
            _require_few(sizes, MOST_ON_LAVAPIPE * lanes // together)
    return True


def _require_few(sizes: list[Axis], most: int) -> None:
    """Check that the product of some sizes of tensors is at most `most`, before the op of the place."""
    index = mlir.ir.IndexType.get()
    count = mlir.arith.constant(index, 1)
    for tensor, axis in sizes:
        size = mlir.tensor.dim(tensor, mlir.arith.constant(index, axis))
        count = mlir.arith.muli(count, size)
    holds = mlir.arith.cmpi(mlir.arith.CmpIPredicate.sle, count, mlir.arith.constant(index, most))
    way_out = "trace it with its sizes as numbers, " if any(map(_is_unknown, sizes)) else ""
    message = f"adze: lavapipe would leave out some of more than {most} elements that are combined here"
    mlir.cf.assert_(holds, f"{message}: {way_out}take fewer at once, or use another device")


def _operations(operation: Operation) -> Iterator[Operation]:
    """The ops on tensors within, also those of loops and branches."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name in _LOOPS:
                    yield inner
                else:
                    yield from _operations(inner)


def _spread_loops(operation: Operation) -> int:
    """How many ops within store what they compute of combined values for each element: a loop each."""
    count = 0
    for region in operation.regions:
        for block in region.blocks:
            combined: set[Value] = set()
            spread: set[Value] = set()
            for child in block.operations:
                inner = child.operation
                if inner.name not in (*_LOOPS, BARRIER):
                    count += _spread_loops(inner)
                if inner.name == _GENERIC and any(_sizes_of_loops(inner)):
                    combined.update(inner.results)
                elif inner.name == _GENERIC or inner.name.startswith("tensor."):
                    of_combined = combined.intersection(inner.operands)
                    if of_combined.intersection(spread) or _repeats(inner, of_combined):
                        spread.update(inner.results)
                    if of_combined:
                        combined.update(inner.results)
            count += sum(map(_is_stored, spread))
    return count


def _repeats(operation: Operation, values: set[Value]) -> bool:
    """Whether a generic uses some values more often than they have elements."""
    if operation.name != _GENERIC or not values:
        return False
    maps = [mlir.ir.AffineMapAttr(m).value for m in mlir.ir.ArrayAttr(operation.attributes["indexing_maps"])]
    return any(
        len(_loops_of(map_)) < map_.n_dims
        for value, map_ in zip(operation.operands, maps, strict=True)
        if value in values
    )


def _is_stored(value: Value) -> bool:
    """Whether what is computed for each element is in memory: IREE fuses it with a single generic alone."""
    users = [use.owner.operation.name for use in value.uses]
    return str(value.owner.name) == _GENERIC and users != [_GENERIC]


def _checked(operation: Operation, lanes: int) -> list[Axis]:
    """The axes whose sizes say how often an op's loop runs, nothing where that is not too often for sure."""
    if operation.name == _SCATTER:
        is_unique = mlir.ir.BoolAttr(operation.attributes["unique_indices"]).value
        indices = operation.operands[1]
        sizes = [] if is_unique else [(indices, axis) for axis in range(_type(indices).rank)]
        is_divided = False
    elif operation.name == _SCAN:
        sizes = [(operation.operands[0], mlir.ir.IntegerAttr(operation.attributes["dimension"]).value)]
        is_divided = True
    else:
        sizes = list(_sizes_of_loops(operation))
        is_divided = bool(sizes) and (len(operation.results) > 1 or _combines_by(operation) in _DIVIDED)
    if any(map(_is_unknown, sizes)):
        return sizes
    count = prod(_type(tensor).get_dim_size(axis) for tensor, axis in sizes)
    return [] if (is_divided and count % lanes == 0) or count <= MOST_ON_LAVAPIPE // _TOGETHER else sizes


def _sizes_of_loops(generic: Operation) -> Iterator[Axis]:
    """The axes that the reduced loops go along."""
    kinds = [str(kind) for kind in mlir.ir.ArrayAttr(generic.attributes["iterator_types"])]
    left = {loop for loop, kind in enumerate(kinds) if "reduction" in kind}
    if not left:
        return
    maps = mlir.ir.ArrayAttr(generic.attributes["indexing_maps"])
    for tensor, map_ in zip(generic.operands, maps, strict=False):
        for axis, loop in _loops_of(mlir.ir.AffineMapAttr(map_).value).items():
            if loop in left:
                left.discard(loop)
                yield tensor, axis


def _loops_of(map_: mlir.ir.AffineMap) -> dict[int, int]:
    """The loop that each axis of an operand goes along, where it does."""
    return {
        axis: place.position
        for axis, place in enumerate(map_.results)
        if isinstance(place, mlir.ir.AffineDimExpr)
    }


def _combines_by(operation: Operation) -> str:
    """The op that combines the elements of a reduction of one result, nothing for any other op."""
    if operation.name != _GENERIC or len(operation.results) != 1:
        return ""
    (last,) = list(operation.regions[0].blocks[0].operations)[-1].operands
    return "" if isinstance(last.owner, mlir.ir.Block) else str(last.owner.name)


def _type(tensor: Value) -> mlir.ir.RankedTensorType:
    return mlir.ir.RankedTensorType(tensor.type)


def _is_unknown(size: Axis) -> bool:
    tensor, axis = size
    return bool(_type(tensor).is_dynamic_dim(axis))
