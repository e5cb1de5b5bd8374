"""The pass `overlap-collectives`: arrays travel while the program computes what does not need them.

Input: the lowered module. Output: the same, in place: where a function computes something between the operand
of a collective and the first use of its result, the call becomes two. The first one gives the operand to the
communicator as soon as it is there and goes on; the second one waits for the result where it is needed.
`runtime/distributed/queues.py` has the other end. The order of the collectives is that of the text, which is
the same on every rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ...runtime.distributed.imports import FINISH, INDEX, MODULE, START
from ..base import Pass
from ..ir.aliases import Block, Operation, Value
from ..ir.functions import functions

WORTHWHILE: Final = 1 << 17
"""Scalar operations between the two calls that take as long as handing an array to another thread."""

_LOOPS: Final = ("scf.for", "scf.while", "scf.if", "flow.dispatch")


@dataclass(frozen=True)
class OverlapCollectives(Pass):
    """Start collectives when their operand is there, and wait for them when their result is needed."""

    name = "overlap-collectives"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        declared = {f.attributes["sym_name"].value: f for f in _imports(module)}
        if not declared:
            return False
        with module.context, mlir.ir.Location.unknown():
            for function in functions(module).values():
                for block in function.regions[0].blocks:
                    for call in [o.operation for o in block.operations if _symbol(o.operation) in declared]:
                        _overlap(module, block, call)
        return True


def _imports(module: mlir.ir.Module) -> Iterator[Operation]:
    for each in module.body.operations:
        symbol = each.operation.attributes["sym_name"].value
        if symbol.startswith(f"{MODULE}.") and not symbol.startswith(f"{MODULE}.{INDEX}."):
            yield each.operation


def _imported(call: Operation) -> bool:
    return call.attributes["callee"].value.startswith(f"{MODULE}.")


def _symbol(operation: Operation) -> str | None:
    return operation.attributes["callee"].value if operation.name == "func.call" else None


def _overlap(module: mlir.ir.Module, block: Block, call: Operation) -> None:
    """Divide the call, if enough is computed between its operand and the use of its result."""
    order = {o.operation: i for i, o in enumerate(block.operations)}
    casts, source = _through_casts(call.operands[0])
    first = -1 if isinstance(source.owner, mlir.ir.Block) else order[source.owner.operation]
    last = min((order[_in_block(u.owner, block)] for u in call.results[0].uses), default=order[call])
    results = [call]
    if last < len(order) and _is_cast(user := block.operations[last].operation):
        results.append(user)
        last = min((order[_in_block(u.owner, block)] for u in user.results[0].uses), default=last)
    moved = {*casts, *results}
    between = [o.operation for o, i in order.items() if first < i < last and o.operation not in moved]
    if sum(map(_work, between)) < WORTHWHILE:
        return
    symbol = _symbol(call)
    assert symbol is not None
    ticket = mlir.ir.RankedTensorType.get([], mlir.ir.IntegerType.get_signless(64))
    begin = block.operations[first + 1].operation
    end = block.operations[last].operation
    for cast in casts:
        if cast == begin:
            begin = block.operations[order[cast] + 1].operation
        else:
            cast.move_before(begin)
    with mlir.ir.InsertionPoint(begin), call.location:
        started = mlir.func.CallOp([ticket], f"{symbol}.{START}", [call.operands[0]])
    with mlir.ir.InsertionPoint(end), call.location:
        finished = mlir.func.CallOp([call.results[0].type], f"{symbol}.{FINISH}", [started.results[0]])
    _declare(module, f"{symbol}.{START}", [call.operands[0].type], [ticket])
    _declare(module, f"{symbol}.{FINISH}", [ticket], [call.results[0].type])
    call.results[0].replace_all_uses_with(finished.results[0])
    for cast in results[1:]:
        cast.move_before(end)
    call.erase()


def _declare(
    module: mlir.ir.Module, symbol: str, operands: list[mlir.ir.Type], results: list[mlir.ir.Type]
) -> None:
    if all(o.operation.attributes["sym_name"].value != symbol for o in module.body.operations):
        with mlir.ir.InsertionPoint.at_block_begin(module.body):
            mlir.func.FuncOp(symbol, mlir.ir.FunctionType.get(operands, results), visibility="private")


def _through_casts(value: Value) -> tuple[list[Operation], Value]:
    casts: list[Operation] = []
    while not isinstance(value.owner, mlir.ir.Block) and _is_cast(value.owner.operation):
        casts.insert(0, value.owner.operation)
        value = value.owner.operation.operands[0]
    return casts, value


def _is_cast(operation: Operation) -> bool:
    return bool(operation.name == "tensor.cast")


def _in_block(operation: Operation, block: Block) -> Operation:
    """The op of the block that `operation` is in, or is."""
    while operation.operation.block != block:
        operation = operation.operation.block.owner
    return operation.operation


def _work(operation: Operation) -> int:
    """How many scalar operations an op takes, roughly."""
    if operation.name in _LOOPS:
        return WORTHWHILE
    if operation.name == "func.call":
        return 0 if _imported(operation) else WORTHWHILE
    if not operation.name.startswith(("linalg.", "iree_linalg_ext.")):
        return 0
    sizes = [1]
    for value in (*operation.operands, *operation.results):
        if not isinstance(value.type, mlir.ir.RankedTensorType):
            continue
        if not value.type.has_static_shape:
            return WORTHWHILE
        count = 1
        for n in value.type.shape:
            count *= n
        sizes.append(count)
    if len(sizes) < 4 or not _reduces(operation):
        return max(sizes)
    left, right, out = sorted(sizes)[-3:]
    return round((left * right * out) ** 0.5)  # (m k)(k n)(m n), of a product


def _reduces(operation: Operation) -> bool:
    if operation.name != "linalg.generic":
        return True
    return any("reduction" in str(kind) for kind in operation.attributes["iterator_types"])
