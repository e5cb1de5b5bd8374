"""Whether elements that a while loop is done with stay what they are, so that each may stop by itself.

Input: a while whose condition holds as long as `p` holds of any element. Output: the `any(p)` of the
condition, or why elements cannot stop by themselves. Idea: all elements run as long as any does. An element
of which `p` no longer holds may be left alone where its next state is then its state: the body is evaluated
with `p` as false, symbolically, and each array that it carries must come out as it went in.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Final

import numpy as np

from ......dialects import mlir
from ......dialects.builder.core import Application
from ......dialects.builder.emitter import Reader
from ......dialects.ops.control.while_loop import While
from ......dialects.types import BOOL, TensorType
from .....ir.aliases import Operation, Value
from .....ir.functions import body, split_body
from .errors import NotPointwise

FALSE, TRUE, ZERO = 0, 1, 2
"""The numbers of known values; ZERO is an integer or a float, and not -0."""


def asked_of_elements(loop: Application, by_symbol: Mapping[str, Operation], reader: Reader) -> Value | None:
    """The `any(p)` in the condition of a while; None where all elements stop together.

    `NotPointwise` where elements go on for others.
    """
    assert loop.op is While
    condition = by_symbol[loop.attributes["condition"]]
    (goes_on,) = split_body(condition)[1].operands
    reductions = _reductions(goes_on, reader)
    if not reductions:
        return None
    if len(reductions) > 1:
        raise NotPointwise("its condition asks for more than one element")
    _require_still(loop, reductions[0], by_symbol, reader)
    return reductions[0]


def _reductions(value: Value, reader: Reader) -> list[Value]:
    """The `any(p)` in a conjunction."""
    application = _defining(value, reader)
    if application is None:
        return []
    if application.op.name == "and":
        return [found for operand in application.operands for found in _reductions(operand, reader)]
    return [value] if application.op.name == "reduce_or" else []


def _require_still(
    loop: Application, reduction: Value, by_symbol: Mapping[str, Operation], reader: Reader
) -> None:
    attributes, operands = loop.attributes, loop.operands
    asked, given = attributes["condition_constants"], attributes["body_constants"]
    condition, step = by_symbol[attributes["condition"]], by_symbol[attributes["body"]]
    numbers = Numbers(reader)
    states = [numbers.of_key(("state", k)) for k in range(len(operands) - asked - given)]
    constants = [numbers.of_key(("given", value)) for value in operands[: asked + given]]
    asking = dict(zip(body(condition).arguments, [*constants[:asked], *states], strict=True))
    reduced = _defining(reduction, reader)
    assert reduced is not None
    (p,) = reduced.operands
    if any(_is_number(v) and asking[v] in states for v in _arguments(p)):
        raise NotPointwise("its condition asks elements about a number that changes")
    stepping = dict(zip(body(step).arguments, [*constants[asked:], *states], strict=True))
    known = numbers.known_without(numbers.values(asking).of(p))
    values = numbers.values(stepping, known)
    arguments, results = list(body(step).arguments)[given:], split_body(step)[1].operands
    for state, argument, result in zip(states, arguments, results, strict=True):
        if not _is_number(argument) and values.of(result) != known.get(state, state):
            raise NotPointwise("elements that are done change as long as others are not")


def _arguments(value: Value) -> set[Value]:
    """The arguments that a value follows from."""
    seen: set[Value] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            if not isinstance(current.owner, mlir.ir.Block):
                pending += list(current.owner.operation.operands)
    return {v for v in seen if isinstance(v.owner, mlir.ir.Block)}


def _is_number(value: Value) -> bool:
    """Whether a value is a number that all elements share."""
    return isinstance(value.type, mlir.ir.RankedTensorType) and not value.type.shape


def _defining(value: Value, reader: Reader) -> Application | None:
    return None if isinstance(value.owner, mlir.ir.Block) else reader.read(value.owner.operation)


class Numbers:
    """Equal numbers for equal values, also of different functions."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._numbers: dict[Hashable, int] = {FALSE: FALSE, TRUE: TRUE, ZERO: ZERO}
        self._operands: dict[int, tuple[str, tuple[int, ...]]] = {}

    def of_key(self, key: Hashable) -> int:
        """The number of what is described by `key`."""
        return self._numbers.setdefault(key, len(self._numbers))

    def of_applied(self, operation: Operation, position: int, operands: tuple[int, ...]) -> int:
        """The number of a result of an op on numbered operands."""
        attributes = tuple(sorted((name, str(operation.attributes[name])) for name in operation.attributes))
        key = operation.name, position, str(operation.results[position].type), attributes, operands
        number = self.of_key(key)
        self._operands[number] = operation.name, operands
        return number

    def known_without(self, p: int) -> dict[int, int]:
        """What is known where the bool `p` is false."""
        known = {p: FALSE}
        name, operands = self._operands.get(p, ("", ()))
        if name == "adze.not":
            known[operands[0]] = TRUE
        elif name == "adze.or":
            known |= dict.fromkeys(operands, FALSE)
        return known

    def values(self, arguments: Mapping[Value, int], known: Mapping[int, int] | None = None) -> Values:
        """The numbers of a function's values; what is `known` of some simplifies others."""
        return Values(self, arguments, known or {})


class Values:
    """The numbers of the values of one function."""

    def __init__(self, numbers: Numbers, arguments: Mapping[Value, int], known: Mapping[int, int]) -> None:
        self._numbers = numbers
        self._arguments = arguments
        self._known = known
        self._plain = numbers.values(arguments) if known else self
        self._found: dict[Value, int] = {}

    def of(self, value: Value) -> int:
        """The number of a value."""
        if value not in self._found:
            self._found[value] = self._compute(value)
        return self._found[value]

    def _compute(self, value: Value) -> int:
        if self._known and self._plain.of(value) in self._known:
            return self._known[self._plain.of(value)]
        if value in self._arguments:
            return self._arguments[value]
        operation = value.owner.operation
        application = self._numbers.reader.read(operation)
        assert application is not None
        operands = tuple(self.of(v) for v in operation.operands)
        type_ = self._numbers.reader.codec.read_type(value.type)
        if self._known and isinstance(type_, TensorType):
            simple = _simplified(application.op.name, operands, type_.dtype)
            if simple is not None:
                return simple
        return self._numbers.of_applied(operation, list(operation.results).index(value), operands)


_LOGICAL: Final = frozenset({"and", "or", "xor", "not"})


def _simplified(name: str, operands: Sequence[int], dtype: np.dtype) -> int | None:
    """What an op computes from known operands, None where it depends on others."""
    if name == "select" and operands[0] in (FALSE, TRUE):
        return operands[1 if operands[0] == TRUE else 2]
    if name == "convert" and dtype != BOOL:
        return ZERO if operands[0] in (FALSE, ZERO) else None
    if dtype == BOOL and name in _LOGICAL:
        return _logical(name, operands)
    if dtype.kind not in "iu" or ZERO not in operands:  # 0.0 + -0.0 is not -0.0
        return None
    if name == "mul":
        return ZERO
    if name == "add" or (name == "sub" and operands[1] == ZERO):
        return operands[0 if operands[1] == ZERO else 1]
    return None


def _logical(name: str, operands: Sequence[int]) -> int | None:
    if name == "not":
        return {FALSE: TRUE, TRUE: FALSE}.get(operands[0])
    left, right = operands
    if name == "xor":
        return (right if left == FALSE else left) if FALSE in operands else None
    absorbing, neutral = (FALSE, TRUE) if name == "and" else (TRUE, FALSE)
    if absorbing in operands:
        return absorbing
    return (right if left == neutral else left) if neutral in operands else None
