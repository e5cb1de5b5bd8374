"""While loops that count up by one to a bound that stays: they become `scf.for`, whose bounds LLVM knows.

Input: the functions of a module of adze. Output: for each `while` with `i < bound` as its condition and
`i + 1` as the next `i`, of i32 or i64, which entry of its state counts and what the bound is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.builder.core import Application
from .....dialects.builder.emitter import Reader
from .....dialects.dataclass import dataclass
from .....dialects.ops.constants import Constant
from .....dialects.ops.control.while_loop import While
from .....dialects.ops.elementwise.arithmetic import Add
from .....dialects.ops.elementwise.comparison import Compare
from .....dialects.types import INT32, INT64, TensorType
from ....ir.aliases import Operation, Value
from ....ir.functions import body, functions, split_body

_COUNTERS: Final = frozenset({INT32, INT64})


@dataclass(frozen=True, slots=True)
class Counted:
    """The position of the counter in the state, and the bound: a number, or the position of an operand."""

    counter: int
    number: int | None
    operand: int | None


def counted_loops(module: mlir.ir.Module, reader: Reader) -> dict[tuple[str, str], Counted]:
    """The whiles of `module` that count, by the symbols of their condition and body."""
    by_symbol = functions(module)
    loops: dict[tuple[str, str], Counted] = {}
    for application in _whiles(by_symbol, reader):
        attributes = application.attributes
        symbols = attributes["condition"], attributes["body"]
        counted = _counted(by_symbol, reader, application)
        if counted is not None:
            loops[symbols] = counted
    return loops


def _whiles(by_symbol: Mapping[str, Operation], reader: Reader) -> Iterator[Application]:
    for function in by_symbol.values():
        for operation in body(function).operations:
            if operation.operation.name == "adze.while":
                application = reader.read(operation.operation)
                assert application is not None and application.op is While
                yield application


def _counted(by_symbol: Mapping[str, Operation], reader: Reader, loop: Application) -> Counted | None:
    """What counts in one loop, None where nothing does."""
    condition, step = (by_symbol[loop.attributes[name]] for name in ("condition", "body"))
    asked, given = (loop.attributes[f"{name}_constants"] for name in ("condition", "body"))
    arguments = list(body(condition).arguments)
    (goes_on,) = split_body(condition)[1].operands
    compared = _application(reader, goes_on)
    if compared is None or compared.op is not Compare or compared.attributes["direction"] != "LT":
        return None
    left, right = compared.operands
    type_ = reader.codec.read_type(left.type)
    if left not in arguments or not isinstance(type_, TensorType) or type_.dtype not in _COUNTERS:
        return None
    counter = arguments.index(left) - asked
    if counter < 0 or type_.rank or not _adds_one(reader, step, counter, given):
        return None
    number = _number(reader, right)
    if number is not None:
        return Counted(counter, number, None)
    if right not in arguments:
        return None
    position = arguments.index(right)
    if position < asked:
        return Counted(counter, None, position)
    if not _stays(step, position - asked, given):
        return None
    return Counted(counter, None, position + given)


def _adds_one(reader: Reader, step: Operation, counter: int, given: int) -> bool:
    argument = body(step).arguments[given + counter]
    added = _application(reader, split_body(step)[1].operands[counter])
    if added is None or added.op is not Add:
        return False
    left, right = added.operands
    others = [v for v in (left, right) if v != argument]
    return len(others) == 1 and _number(reader, others[0]) == 1


def _stays(step: Operation, position: int, given: int) -> bool:
    """Whether an entry of the state is what it was after each step."""
    return bool(split_body(step)[1].operands[position] == body(step).arguments[given + position])


def _number(reader: Reader, value: Value) -> int | None:
    application = _application(reader, value)
    if application is None or application.op is not Constant:
        return None
    array = np.asarray(Constant.evaluate(**application.attributes))
    return int(array.reshape(-1)[0]) if array.size == 1 else None


def _application(reader: Reader, value: Value) -> Application | None:
    if isinstance(value.owner, mlir.ir.Block):
        return None
    return reader.read(value.owner.operation)
