"""Every array that a while loop carries is passed to its body, also one that only its condition uses.

Input: the code of a kernel on tensors. Output: the same, where `scf.condition` passes each array on: the body
then has the array in whose place it writes the next one (`state.py`). MLIR drops what the body does not use.
"""

from __future__ import annotations

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .walk import operations_named, terminator


def forward_arrays(module: mlir.ir.Module) -> None:
    """Pass on every array that a while loop carries."""
    for loop in operations_named(module, "scf.while"):
        missing = _missing(loop)
        if missing:
            _pass_on(loop, missing)


def _missing(loop: Operation) -> list[Value]:
    """The arrays that the condition of a loop has and its body does not."""
    before = loop.regions[0].blocks[0]
    passed = list(terminator(before).operands)[1:]
    return [
        argument
        for argument in before.arguments
        if isinstance(argument.type, mlir.ir.RankedTensorType) and argument not in passed
    ]


def _pass_on(loop: Operation, missing: list[Value]) -> None:
    before, after = (region.blocks[0] for region in loop.regions)
    end = terminator(before)
    operands = [*end.operands, *missing]
    with mlir.ir.InsertionPoint(end):
        mlir.ir.Operation.create("scf.condition", operands=operands)
    end.erase()
    types = [argument.type for argument in missing]
    for type_ in types:
        after.add_argument(type_, mlir.ir.Location.unknown())
    with mlir.ir.InsertionPoint(loop):
        longer = mlir.ir.Operation.create(
            "scf.while",
            results=[*(r.type for r in loop.results), *types],
            operands=list(loop.operands),
            regions=2,
        )
    for block, region in zip((before, after), longer.regions, strict=True):
        block.append_to(region)
    for old, new in zip(loop.results, longer.results, strict=False):
        old.replace_all_uses_with(new)
    loop.erase()
