"""A loop outlined: a module of its own, whose function takes what the loop uses and returns its results.

Input: an `adze.scan` or `adze.while` of a function of a module. Output: a new module with `@kernel` and the
functions that the loop refers to. Splats, single numbers and even steps among the operands go along: the
code of the kernel is the better for them. Results that nothing uses are not returned. Sizes that show at the
call are passed as numbers, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.builder.core import Application
from .....dialects.builder.emitter import Reader
from .....dialects.dataclass import dataclass
from .....dialects.dialect import BY_NAME
from .....dialects.ops.constants import Constant, Iota, SizeConstant, SizeToArray
from .....dialects.ops.elementwise.family import Elementwise
from .....dialects.ops.shape.rearrange import BroadcastInDim, Reshape
from .....dialects.ops.shape.slicing import Slice
from .....dialects.registration import registered_dialect
from ....ir.aliases import Operation, Value
from ....ir.functions import body, functions, referenced
from .sizes_before import Sizes, SizesBefore, dynamic_axes, is_number

KERNEL: Final = "kernel"
DEEPEST: Final = 8  # ops on single numbers in a row that go along
MOST_SOURCES: Final = 4  # of one number


@dataclass(frozen=True)
class Outlined:
    """The module of a loop; `operands` are passed to `@kernel`, which returns the results at `results`.

    `sizes` are those of operands and results that show at the call; they are operands, too.
    """

    module: mlir.ir.Module
    operands: tuple[Value, ...]
    results: tuple[int, ...]
    sizes: Sizes

    def sizes_of_result(self, number: int) -> tuple[Value, ...]:
        """The sizes of a result's axes that show at the call."""
        places = [(axis, place) for (k, axis), place in self.sizes.results.items() if k == number]
        return tuple(self.operands[place] for _, place in sorted(places))

    def sizes_of(self, value: Value) -> list[int | Value]:
        """The size of each axis of an operand."""
        shape: list[int | Value] = list(value.type.shape)
        if value in self.operands:
            number = self.operands.index(value)
            shape = [self._size(number, axis, n) for axis, n in enumerate(shape)]
        return shape

    def _size(self, number: int, axis: int, known: int | Value) -> int | Value:
        place = self.sizes.operands.get((number, axis))
        return known if place is None else self.operands[place]


def outline(module: mlir.ir.Module, loop: Operation, reader: Reader) -> Outlined:
    """Outline `loop`, an op of a function of `module`, which stays as it is; sizes are computed before it."""
    ir = mlir.ir
    registered_dialect()
    used = tuple(k for k, result in enumerate(loop.results) if next(iter(result.uses), None) is not None)
    known = SizesBefore(loop, functions(module), reader)
    passed = tuple(_passed(loop, reader))
    equal = {v: known.representative(v) for v in passed if is_number(v)}
    arrays = tuple(dict.fromkeys(equal.get(v, v) for v in passed))
    numbers = {(k, axis): known.size(v, axis) for k, v in enumerate(arrays) for axis in dynamic_axes(v)}
    of_results = {
        (k, axis): size
        for k, number in enumerate(used)
        for axis, size in zip(dynamic_axes(loop.results[number]), known.of_result(number), strict=True)
    }
    operands = tuple(dict.fromkeys((*arrays, *numbers.values(), *of_results.values())))
    with module.context, ir.Location.unknown():
        outlined = ir.Module.create()
        type_ = ir.FunctionType.get([v.type for v in operands], [loop.results[k].type for k in used])
        with ir.InsertionPoint(outlined.body):
            function = mlir.func.FuncOp(KERNEL, type_)
            block = function.add_entry_block()
            by_symbol = functions(module)
            for symbol in _needed(loop, by_symbol, reader):
                by_symbol[symbol].operation.clone()
        with ir.InsertionPoint(block):
            inside = dict(zip(operands, block.arguments, strict=True))
            inside |= {size: inside[same] for size, same in equal.items()}
            values = [_repeated(value, inside) for value in loop.operands]
            copy = loop.clone().operation
            for position, value in enumerate(values):
                copy.operands[position] = value
            mlir.func.ReturnOp([copy.results[k] for k in used])
    sizes, result_sizes = (
        {place: operands.index(number) for place, number in each.items()} for each in (numbers, of_results)
    )
    return Outlined(outlined, operands, used, Sizes(sizes, result_sizes))


def _passed(loop: Operation, reader: Reader) -> Iterator[Value]:
    """The values that the kernel of a loop is called with, some of them twice."""
    for value in loop.operands:
        sources = _sources(value, reader)
        yield from [value] if sources is None else sources


def _needed(loop: Operation, by_symbol: dict[str, Operation], reader: Reader) -> list[str]:
    """The functions that a loop refers to, directly or through others, in the order of the module."""
    reached: set[str] = set()
    pending = list(_references(loop, reader))
    while pending:
        symbol = pending.pop()
        if symbol not in reached:
            reached.add(symbol)
            for operation in body(by_symbol[symbol]).operations:
                pending += _references(operation.operation, reader)
    return [symbol for symbol in by_symbol if symbol in reached]


def _references(operation: Operation, reader: Reader) -> Iterator[str]:
    op = BY_NAME.get(operation.name.removeprefix("adze."))
    if op is not None and op.refers_to_functions:
        application = reader.read(operation)
        assert application is not None
        yield from referenced(application)


def _repeated(value: Value, inside: dict[Value, Value]) -> Value:
    """`value` computed again at the ambient insertion point, where it is not there yet."""
    if value not in inside:
        operation = value.owner.operation
        operands = [_repeated(v, inside) for v in operation.operands]
        copy = operation.clone().operation
        for position, operand in enumerate(operands):
            copy.operands[position] = operand
        inside[value] = copy.results[0]
    return inside[value]


def _sources(value: Value, reader: Reader, depth: int = 0) -> list[Value] | None:
    """What `value` is computed from inside of the kernel; None where it is passed to it.

    Constants that code is better for than a buffer go along, and so do a few ops on single numbers: each
    would be a dispatch of its own on the host.
    """
    if isinstance(value.owner, mlir.ir.Block) or depth > DEEPEST:
        return None
    application = reader.read(value.owner.operation)
    if application is None:
        return None
    if is_number(value):
        return [] if application.op is SizeConstant else None
    numbers = list(value.owner.operation.operands)[len(application.operands) :]
    if application.op in (Constant, Iota):
        return numbers if _is_code(value, application) else None
    if application.op is BroadcastInDim:
        (operand,) = application.operands
        if operand.type.shape:
            return None
        more = _sources(operand, reader, depth + 1)
        return [*([operand] if more is None else more), *numbers]
    is_single = all(n == 1 for n in value.type.shape)
    if not is_single or not issubclass(application.op, (Elementwise, Slice, Reshape, SizeToArray)):
        return None
    sources: list[Value] = numbers
    for operand in application.operands:
        more = _sources(operand, reader, depth + 1)
        sources += [operand] if more is None else more
    return sources if len(set(sources)) <= MOST_SOURCES else None


def _is_code(value: Value, application: Application) -> bool:
    """Whether a constant is a splat, a single number or even steps."""
    if application.op is Iota:
        return len(value.type.shape) == 1
    array = np.asarray(Constant.evaluate(**application.attributes))
    flat = array.reshape(-1)
    if flat.tobytes() == flat[:1].tobytes() * flat.size:
        return True
    return array.ndim == 1 and array.dtype.kind in "iu" and len(set(np.diff(flat.astype(object)))) == 1
