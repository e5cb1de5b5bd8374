"""A loop outlined: a module of its own, whose function takes what the loop uses and returns its results.

Input: an `adze.scan` or `adze.while` of a function of a module. Output: a new module with `@kernel` and the
functions that the loop refers to. Splats, single numbers and even steps among the operands go along as
constants: the code of the kernel is the better for them. Results that nothing uses are not returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.builder.emitter import Reader
from .....dialects.dialect import BY_NAME
from .....dialects.ops.constants import Constant, Iota
from .....dialects.ops.shape.rearrange import BroadcastInDim
from .....dialects.registration import registered_dialect
from ....ir.aliases import Operation, Value
from ....ir.functions import body, functions, referenced

KERNEL: Final = "kernel"


@dataclass(frozen=True)
class Outlined:
    """The module of a loop; `operands` are passed to `@kernel`, which returns the results at `results`."""

    module: mlir.ir.Module
    operands: tuple[Value, ...]
    results: tuple[int, ...]


def outline(module: mlir.ir.Module, loop: Operation, reader: Reader) -> Outlined:
    """Outline `loop`, an op of a function of `module`, which stays as it is."""
    ir = mlir.ir
    registered_dialect()
    constants = [v for v in dict.fromkeys(loop.operands) if _goes_along(v, reader)]
    operands = tuple(dict.fromkeys(v for v in loop.operands if v not in constants))
    used = tuple(k for k, result in enumerate(loop.results) if next(iter(result.uses), None) is not None)
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
            for value in constants:
                inside[value] = _repeated(value)
            copy = loop.clone().operation
            for position, value in enumerate(list(loop.operands)):
                copy.operands[position] = inside[value]
            mlir.func.ReturnOp([copy.results[k] for k in used])
    return Outlined(outlined, operands, used)


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


def _repeated(value: Value) -> Value:
    """A constant that goes along, again at the ambient insertion point."""
    operation = value.owner.operation
    operands = [_repeated(v) for v in operation.operands]
    copy = operation.clone().operation
    for position, operand in enumerate(operands):
        copy.operands[position] = operand
    return copy.results[0]


def _goes_along(value: Value, reader: Reader) -> bool:
    """Whether a value is a constant that code is better than a buffer for."""
    if isinstance(value.owner, mlir.ir.Block):
        return False
    application = reader.read(value.owner.operation)
    if application is None:
        return False
    if application.op is BroadcastInDim:
        return _goes_along(application.operands[0], reader) and not application.operands[0].type.shape
    if application.op not in (Constant, Iota):
        return False
    if application.op is Iota:
        return len(value.type.shape) == 1
    array = np.asarray(Constant.evaluate(**application.attributes))
    flat = array.reshape(-1)
    if flat.tobytes() == flat[:1].tobytes() * flat.size:
        return True
    return array.ndim == 1 and array.dtype.kind in "iu" and len(set(np.diff(flat.astype(object)))) == 1
