"""Arrays come first among what a while loop carries, and all of them are passed to its body in that order.

Input: the code of a kernel on tensors. Output: the same, where the first operands of `scf.condition` are the
arrays that the condition has, one by one. The body then has the array in whose place it writes the next one
(`state.py`), also of one that only the condition uses. MLIR drops what the body does not use, such as a
number that only the condition looks at; bufferization wants each array at the same place on both sides.
"""

from __future__ import annotations

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .walk import operations_named, terminator


def forward_arrays(module: mlir.ir.Module) -> None:
    """Pass on every array that a while loop carries, before anything else."""
    for loop in operations_named(module, "scf.while"):
        before = loop.regions[0].blocks[0]
        count = sum(map(_is_array, before.arguments))
        arguments = list(before.arguments)[:count]
        if not all(map(_is_array, arguments)) or _passed(loop)[:count] != arguments:
            _put_first(loop)


def _is_array(value: Value) -> bool:
    return isinstance(value.type, mlir.ir.RankedTensorType)


def _passed(loop: Operation) -> list[Value]:
    """What the condition passes to the body."""
    return list(terminator(loop.regions[0].blocks[0]).operands)[1:]


def _put_first(loop: Operation) -> None:
    before, after = (region.blocks[0] for region in loop.regions)
    location = mlir.ir.Location.unknown()
    carried = list(before.arguments)
    order = sorted(
        range(len(carried)), key=lambda n: not _is_array(carried[n])
    )  # sorting keeps the order else
    arrays = [value for value in carried if _is_array(value)]
    passed = _passed(loop)
    kept = [*arrays, *(value for value in passed if value not in arrays)]
    places = [kept.index(value) for value in passed]
    types = [value.type for value in kept]

    # The body: its arguments are what is passed now, and it yields in the new order.
    count = len(after.arguments)
    given = [after.add_argument(type_, location) for type_ in types]
    for old, place in zip(list(after.arguments)[:count], places, strict=True):
        old.replace_all_uses_with(given[place])
    for number in reversed(range(count)):
        after.erase_argument(number)
    _replace_end(after, "scf.yield", [list(terminator(after).operands)[n] for n in order])

    # The condition: the same with the arguments that it has.
    end = terminator(before)
    flag, number_of = end.operands[0], {n: place for place, n in enumerate(order)}
    fresh = [before.add_argument(carried[n].type, location) for n in order]
    renamed = [fresh[number_of[carried.index(v)]] if v in carried else v for v in kept]
    decided = fresh[number_of[carried.index(flag)]] if flag in carried else flag
    for n, old in enumerate(carried):
        old.replace_all_uses_with(fresh[number_of[n]])
    _replace_end(before, "scf.condition", [decided, *renamed])
    for number in reversed(range(len(carried))):
        before.erase_argument(number)

    with mlir.ir.InsertionPoint(loop):
        made = mlir.ir.Operation.create(
            "scf.while",
            results=types,
            operands=[list(loop.operands)[n] for n in order],
            regions=2,
        )
    for block, region in zip((before, after), made.regions, strict=True):
        block.append_to(region)
    for old, place in zip(loop.results, places, strict=True):
        old.replace_all_uses_with(made.results[place])
    loop.erase()


def _replace_end(block: mlir.ir.Block, name: str, operands: list[Value]) -> None:
    end = terminator(block)
    with mlir.ir.InsertionPoint(end):
        mlir.ir.Operation.create(name, operands=operands)
    end.erase()
