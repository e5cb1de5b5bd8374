"""How many iterations a kernel runs, and where that is too many for a driver.

Input: the code of a kernel as loops. Output: `KernelError` where lavapipe would end its loops too early:
after 65,535 iterations of all loops together it leaves each behind the next one, **silently** (its loop
limiter, seen in Mesa 22.3: `c * 5 + 1` of 65,536 steps is that of 65,534).
"""

from __future__ import annotations

from math import inf
from typing import Final

from .....dialects import mlir
from .....runtime.targets import Target
from ....ir.aliases import Operation, Value
from .errors import KernelError

MOST_ON_LAVAPIPE: Final = 65_000


def require_few_iterations(function: Operation, target: Target) -> None:
    """Raise where the loops of a kernel may run more often than lavapipe lets them."""
    if target.architecture.startswith("lavapipe") and _iterations(function) > MOST_ON_LAVAPIPE:
        raise KernelError(f"lavapipe ends the loops of a kernel after {MOST_ON_LAVAPIPE} iterations")


def _iterations(operation: Operation) -> float:
    """How many iterations the loops within an op run at most; infinitely many where that is not known."""
    inside = sum(
        _iterations(child.operation)
        for region in operation.regions
        for block in region.blocks
        for child in block.operations
        if len(child.operation.regions)
    )
    if operation.name == "scf.while":
        return inf
    return _steps(operation) * (1 + inside) if operation.name == "scf.for" else inside


def _steps(loop: Operation) -> float:
    """How often a loop runs at most, from a number on that is not negative."""
    first, stop, step = (_number(value) for value in list(loop.operands)[:3])
    return inf if stop is None or step is None else max(-(-(stop - (first or 0)) // step), 0)


def _number(value: Value) -> int | None:
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    return int(mlir.ir.IntegerAttr(value.owner.operation.attributes["value"]).value)
