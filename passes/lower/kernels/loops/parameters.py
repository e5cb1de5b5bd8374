"""Arguments and results of a kernel as buffers.

Input: the code of a kernel on tensors, after `state.py`. Output: the same with memrefs for the arguments,
then for constant arrays, then for the results: a loop starts in the buffer that its result goes to.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Attribute, Block, Operation, Type, Value
from ....ir.functions import functions
from ...named_ops import filled
from .destinations import DESTINATION, LOOPS
from .errors import KernelError
from .outline import KERNEL
from .state import write_into
from .walk import initial_operand, nested, operations_named, terminator
from .windows import VIEWS, base_of

RESULT: Final = "result"
"""The location of what writes a result, which stays with the copies that bufferization makes of it."""


def constants_to_arguments(module: mlir.ir.Module) -> list[Attribute]:
    """Make arguments of the constant arrays in the code, behind the others; the constants in that order."""
    function = functions(module)[KERNEL].operation
    block = function.regions[0].blocks[0]
    arguments: dict[Attribute, Value] = {}
    for operation in operations_named(module, "arith.constant"):
        result = operation.results[0]
        if not isinstance(result.type, mlir.ir.RankedTensorType):
            continue
        try:
            value = operation.attributes["value"]
        except TypeError:  # observed: the bindings cannot name a splat of complex numbers
            raise KernelError(f"a constant of type {result.type} cannot be passed to it") from None
        if value not in arguments:
            arguments[value] = block.add_argument(result.type, mlir.ir.Location.unknown())
        result.replace_all_uses_with(arguments[value])
        operation.erase()
    return list(arguments)


def to_buffers(module: mlir.ir.Module) -> list[Type]:
    """Make memrefs of the arguments and the results; the tensor types of the results."""
    function = functions(module)[KERNEL].operation
    block = function.regions[0].blocks[0]
    arguments, end = list(block.arguments), terminator(block)
    types = [result.type for result in end.operands]
    location = mlir.ir.Location.unknown()
    sources = [block.add_argument(_passed(a.type), location) for a in arguments]
    homes = [block.add_argument(_memref(type_), location) for type_ in types]
    with mlir.ir.InsertionPoint.at_block_begin(block):
        values = [_read(source, argument.type) for source, argument in zip(sources, arguments, strict=True)]
        places = [_to_tensor(home, type_, is_written=True) for home, type_ in zip(homes, types, strict=True)]
    for argument, value in zip(arguments, values, strict=True):
        argument.replace_all_uses_with(value)
    for position in reversed(range(len(arguments))):
        block.erase_argument(position)
    results = list(end.operands)
    for result, place in zip(results, places, strict=True):
        _start_in(result, place)
    with mlir.ir.InsertionPoint(end):
        numbers = {k: mlir.tensor.extract(v, []) for k, v in enumerate(results) if not types[k].rank}
        for k, home in enumerate(homes):
            _write(numbers.get(k, results[k]), home)
        mlir.func.ReturnOp([])
    end.erase()
    declare_arguments(function, block)
    return types


def order_results(module: mlir.ir.Module) -> None:
    """Copy a result that lies in the buffer of another one before that is written; in place.

    Bufferization computes a result in the buffer of another one, and copies all in their order. A copy that a
    result begins as is none of these: what follows it takes the new elements of its target.
    """
    block = functions(module)[KERNEL].operation.regions[0].blocks[0]
    end = terminator(block)
    pending = _last_copies(block)
    while pending:
        ready = next((copy for copy in pending if not _is_read_by_others(copy, pending)), None)
        if ready is None:
            raise KernelError("two of its results are in each other's place")
        ready.move_before(end)
        pending.remove(ready)


def _last_copies(block: Block) -> list[Operation]:
    """The copies that write results at the end of a function, where numbers may be stored beside them."""
    copies: list[Operation] = []
    for child in reversed(list(block.operations)[:-1]):
        operation = child.operation
        if operation.name == "memref.copy" and _writes_result(operation):
            copies.insert(0, operation)
        elif operation.name not in VIEWS and not _stores_number(operation):
            break
    return copies


def _writes_result(operation: Operation) -> bool:
    return str(operation.location) == f'loc("{RESULT}")'


def _stores_number(operation: Operation) -> bool:
    return operation.name == "memref.store" and not operation.operands[1].type.shape


def _is_read_by_others(copy: Operation, copies: list[Operation]) -> bool:
    """Whether another copy reads what this one writes."""
    target = copy.operands[1]
    return any(base_of(other.operands[0]) == target for other in copies if other != copy)


def share_buffers(module: mlir.ir.Module, owned: Set[int], results: int) -> dict[int, int]:
    """Let results lie in the buffers of operands that nothing else uses, where they begin as copies of these.

    `owned` are the positions of such operands. Returns the operand of each such result, the last `results`
    arguments being the results.
    """
    block = functions(module)[KERNEL].operation.regions[0].blocks[0]
    arguments = list(block.arguments)
    first = len(arguments) - results
    operations = [child.operation for child in block.operations]
    shared: dict[int, int] = {}
    for place, operation in enumerate(operations):
        if operation.name != "memref.copy" or any(v not in arguments for v in operation.operands):
            continue
        source, target = (arguments.index(v) for v in operation.operands)
        is_only_use = len(list(arguments[source].uses)) == 1
        if source in owned and is_only_use and target >= first:
            earlier = [o for each in operations[:place] for o in (each, *nested(each))]
            if all(arguments[target] not in list(each.operands) for each in earlier):
                shared[target - first] = source
    for operation in operations:
        if operation.name == "memref.copy" and list(operation.operands) in [
            [arguments[source], arguments[first + target]] for target, source in shared.items()
        ]:
            operation.erase()
    return shared


def declare_arguments(function: Operation, block: Block) -> None:
    """State the types of the arguments that a function without results has now."""
    type_ = mlir.ir.FunctionType.get([a.type for a in block.arguments], [])
    function.attributes["function_type"] = mlir.ir.TypeAttr.get(type_)


def _passed(type_: Type) -> Type:
    """The type of an argument: a buffer for an array."""
    return _memref(type_) if isinstance(type_, mlir.ir.RankedTensorType) else type_


def _memref(type_: Type) -> Type:
    tensor = mlir.ir.RankedTensorType(type_)
    return mlir.ir.MemRefType.get(tensor.shape, tensor.element_type)


def _to_tensor(memref: Value, type_: Type, *, is_written: bool) -> Value:
    unit = mlir.ir.UnitAttr.get()
    attributes = {"restrict": unit, "writable": unit} if is_written else {"restrict": unit}
    return mlir.ir.Operation.create(
        "bufferization.to_tensor", results=[type_], operands=[memref], attributes=attributes
    ).results[0]


def _read(memref: Value, type_: Type) -> Value:
    if memref.type == type_:
        return memref  # a size
    tensor = mlir.ir.RankedTensorType(type_)
    if tensor.rank:
        return _to_tensor(memref, type_, is_written=False)
    load = mlir.ir.Operation.create("memref.load", results=[tensor.element_type], operands=[memref])
    return mlir.tensor.from_elements(tensor, [load.results[0]])


def _start_in(result: Value, place: Value) -> None:
    """Let what computes `result` start in `place`: a loop that carries it, a chain of updates."""
    if not mlir.ir.RankedTensorType(result.type).rank:
        return
    at = _updated(result)
    while at is not None:
        operation, position = at
        start = operation.operands[position]
        at = _updated(start) if len(list(start.uses)) == 1 else None
        if at is None:
            with mlir.ir.InsertionPoint(operation):
                operation.operands[position] = _in_place(start, place)
            _drop_unused(start)


def _in_place(start: Value, place: Value) -> Value:
    """`place` with the elements of `start`."""
    maker = None if isinstance(start.owner, mlir.ir.Block) else start.owner.operation
    if maker is not None and maker.name == "bufferization.alloc_tensor" and len(maker.operands) == 1:
        copied = maker.operands[0].owner  # to be updated alone, as `place` is
        if not isinstance(copied, mlir.ir.Block) and copied.operation.name == "linalg.fill":
            maker = copied.operation
    if maker is not None and maker.name == "linalg.fill":
        return filled(maker.operands[0], place)
    return place if maker is not None and maker.name == "tensor.empty" else write_into(start, place)


def _drop_unused(value: Value) -> None:
    """Erase what only computed an array that is not used any more."""
    names = ("bufferization.alloc_tensor", "linalg.fill", "tensor.empty")
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name not in names:
        return
    if not list(value.uses):
        maker = value.owner.operation
        operands = list(maker.operands)
        maker.erase()
        for operand in operands:
            _drop_unused(operand)


def _updated(value: Value) -> tuple[Operation, int] | None:
    """The op that computes an array by updates of another one, and which operand that is."""
    if isinstance(value.owner, mlir.ir.Block):
        return None
    operation = value.owner.operation
    if operation.name in LOOPS:
        position = initial_operand(operation, list(operation.results).index(value))
        return None if position is None else (operation, position)
    if operation.name in ("tensor.insert", "tensor.insert_slice") and len(list(value.uses)) == 1:
        return operation, DESTINATION[operation.name]
    return None


def _write(result: Value, home: Value) -> None:
    unit = mlir.ir.UnitAttr.get()
    if isinstance(result.type, mlir.ir.RankedTensorType):
        mlir.ir.Operation.create(
            "bufferization.materialize_in_destination",
            operands=[result, home],
            attributes={"restrict": unit, "writable": unit},
            loc=mlir.ir.Location.name(RESULT),
        )
    else:
        mlir.ir.Operation.create("memref.store", operands=[result, home])
