"""The inliner: calls of private functions are replaced by their bodies, so that algebra sees across them."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..dialects import mlir
from ..dialects.attributes import Codec
from ..dialects.declaration import Op
from ..dialects.emission import Reader
from .functions import body, functions, split_body


def inline(module: mlir.ir.Module) -> None:
    """Replace every call in `module` by the callee's body, in place. Functions are not recursive."""
    found = functions(module)
    reader = Reader(Codec(module.context))
    done: set[str] = set()
    for symbol in found:
        _inline_into(symbol, found, reader, done)


def inline_rule(module: mlir.ir.Module, symbol: str, reader: Reader, count: int) -> None:
    """Replace calls in a rule whose last `count` arguments are tangents, so that what is linear shows.

    Calls with derivatives of their own stay where they depend on no tangent: differentiating the rule once
    more finds these derivatives.
    """
    found = functions(module)
    operations, _ = split_body(found[symbol])
    arguments = list(body(found[symbol]).arguments)
    moving = set(arguments[len(arguments) - count :])
    pending = deque(child.operation for child in operations)
    while pending:
        operation = pending.popleft()
        application = reader.read(operation)
        depends = any(v in moving for v in operation.operands)
        callee = None if application is None else application.op.callee_attribute
        if application is None or callee is None or (_has_rules(application.op) and not depends):
            moving.update(operation.results if depends else ())
            continue
        name = application.attributes[callee]
        pending.extendleft(reversed(_replace_call(operation, found[name], application.operands)))


def _has_rules(op: type[Op]) -> bool:
    """Whether calls by this op name something besides the callee: its rules."""
    return "rule" in op.attributes or sum(a.kind == "symbol" for a in op.attributes.values()) > 1


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


def _replace_call(call: Any, callee: Any, operands: tuple[Any, ...]) -> list[Any]:
    """Put the body of `callee` in place of a call; gives the ops put in."""
    values = dict(zip(body(callee).arguments, operands, strict=True))
    operations, terminator = split_body(callee)
    point = mlir.ir.InsertionPoint(call)
    clones = []
    for child in operations:
        clone = child.operation.clone(ip=point)
        clones.append(clone)
        for position, operand in enumerate(child.operands):
            clone.operands[position] = values[operand]
        values.update(zip(child.results, clone.results, strict=True))
    for old, new in zip(list(call.results), terminator.operands, strict=True):
        old.replace_all_uses_with(values[new])
    call.erase()
    return clones
