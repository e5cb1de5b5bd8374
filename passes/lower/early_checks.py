"""Checks of sizes, all before the first array is computed.

Input: lowered functions. Output: the same, where the checks of a function's first block that follow from the
sizes of its arguments come first, up to one that does not: what fails first is reported.
Idea: IREE records the work of a device in one command buffer from one check to the next, with allocations and
a wait of its own each: an autocorrelation of a named length had eight of them.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ..base import Pass
from ..ir.aliases import Block, Operation, Value
from ..ir.functions import functions

_CHECK: Final = "cf.assert"
_NUMBERS: Final = "arith."
_SIZE: Final = "tensor.dim"


@dataclass(frozen=True)
class EarlyChecks(Pass):
    """Check the sizes of arguments before anything is computed."""

    name = "early-checks"
    needs = (_CHECK,)
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        moved = 0
        for function in functions(module).values():
            if len(function.operation.regions[0].blocks):
                moved += _move(function.operation.regions[0].blocks[0])
        return moved > 0


def _move(block: Block) -> int:
    """Move the checks of a block, and what they need; how many there are."""
    operations = [child.operation for child in block.operations]
    checks = [operation for operation in operations if operation.name == _CHECK]
    if not checks:
        return 0
    needed = _Needed(block)
    early = list(takewhile(lambda check: needed.follows(check.operands[0]), checks))
    if not early:
        return 0
    members = {*early, *needed.members}
    rest = next(operation for operation in operations if operation not in members)
    for operation in operations[operations.index(rest) :]:
        if operation in members:
            operation.move_before(rest)
    return len(early)


class _Needed:
    """The ops of a block that numbers follow from by arithmetic, from the sizes of its arguments."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._known: dict[Operation, bool] = {}

    @property
    def members(self) -> list[Operation]:
        """Those that were asked for."""
        return [operation for operation, is_known in self._known.items() if is_known]

    def follows(self, value: Value) -> bool:
        """Whether a number follows from the sizes of the arguments."""
        waiting = [value]
        while waiting:
            owner = waiting[-1].owner
            if isinstance(owner, mlir.ir.Block) or owner.operation in self._known:
                waiting.pop()
                continue
            operation = owner.operation
            operands = [] if operation.name == _SIZE else list(operation.operands)
            open_ = [v for v in operands if self._is_open(v)]
            if open_ and self._is_number(operation):
                waiting += open_
                continue
            self._known[operation] = self._is_number(operation) and all(map(self._is_known, operands))
            waiting.pop()
        return self._is_known(value)

    def _is_open(self, value: Value) -> bool:
        return not isinstance(value.owner, mlir.ir.Block) and value.owner.operation not in self._known

    def _is_known(self, value: Value) -> bool:
        if isinstance(value.owner, mlir.ir.Block):
            return bool(value.owner == self._block) and not isinstance(value.type, mlir.ir.ShapedType)
        return self._known[value.owner.operation]

    def _is_number(self, operation: Operation) -> bool:
        """Whether an op of this block computes a number of numbers, or is the size of an argument."""
        if operation.block != self._block:
            return False
        if operation.name == _SIZE:
            source, axis = operation.operands
            is_argument = isinstance(source.owner, mlir.ir.Block)
            return is_argument and self._is_constant(axis)
        is_shaped = any(isinstance(v.type, mlir.ir.ShapedType) for v in operation.results)
        return operation.name.startswith(_NUMBERS) and not is_shaped

    def _is_constant(self, axis: Value) -> bool:
        if isinstance(axis.owner, mlir.ir.Block) or axis.owner.operation.name != "arith.constant":
            return False
        self._known[axis.owner.operation] = True
        return True
