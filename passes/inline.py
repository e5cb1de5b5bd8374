"""The inliner: calls of private functions are replaced by their bodies, so that algebra sees across them."""

from __future__ import annotations

from typing import Any

from ..dialects import mlir
from ..dialects.attributes import Codec
from ..dialects.emission import Reader
from .functions import body, functions, split_body


def inline(module: mlir.ir.Module) -> None:
    """Replace every call in `module` by the callee's body, in place. Functions are not recursive."""
    found = functions(module)
    reader = Reader(Codec(module.context))
    done: set[str] = set()
    for symbol in found:
        _inline_into(symbol, found, reader, done)


def inline_function(module: mlir.ir.Module, symbol: str, reader: Reader) -> None:
    """Replace every call in one function, and in those that it calls."""
    _inline_into(symbol, functions(module), reader, set())


def _inline_into(symbol: str, found: dict[str, Any], reader: Reader, done: set[str]) -> None:
    if symbol in done:
        return
    done.add(symbol)
    operations, _ = split_body(found[symbol])
    for child in operations:
        application = reader.read(child.operation)
        if application is None or application.op.callee_attribute is None:
            continue
        callee = application.attributes[application.op.callee_attribute]
        _inline_into(callee, found, reader, done)
        _replace_call(child.operation, found[callee], application.operands)


def _replace_call(call: Any, callee: Any, operands: tuple[Any, ...]) -> None:
    values = dict(zip(body(callee).arguments, operands, strict=True))
    operations, terminator = split_body(callee)
    point = mlir.ir.InsertionPoint(call)
    for child in operations:
        clone = child.operation.clone(ip=point)
        for position, operand in enumerate(child.operands):
            clone.operands[position] = values[operand]
        values.update(zip(child.results, clone.results, strict=True))
    for old, new in zip(list(call.results), terminator.operands, strict=True):
        old.replace_all_uses_with(values[new])
    call.erase()
