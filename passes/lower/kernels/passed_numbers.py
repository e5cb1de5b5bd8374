"""What the calls of a kernel in IREE's phase `flow` say of the numbers that they pass.

Input: the function of a kernel. Output: the numbers of its workload as polynomials of each other, such as
`256 n` or `m - 1`.
Idea: IREE joins the axes of an array, and passes the product of their sizes beside them. What the host has
computed of sizes by sums and products says which axes there were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from ....dialects import mlir
from ...ir.aliases import Operation, Value
from .counted_sizes import Counted
from .dispatches import FUNCTIONS, called_by
from .executable import DISPATCH

Polynomial: TypeAlias = "Mapping[tuple[Counted, ...], int]"
"""The factor of each product of numbers; that of no numbers is a constant."""

_Terms: TypeAlias = "dict[tuple[Value, ...], int]"
_Known: TypeAlias = "dict[Value, _Terms]"

_MOST_TERMS: Final = 8  # no axis of an array has a longer size, but for what grows from step to step
_SUMS: Final = {"arith.addi": 1, "arith.subi": -1}


def numbers_passed_to(function: Operation) -> dict[Counted, Polynomial]:
    """The numbers of the workload of a kernel's function, by those that are not made of others.

    A number that is made of what is not passed is missing, and so is one of which calls differ.
    """
    executable = function.parent.parent
    symbol = str(mlir.ir.StringAttr(executable.attributes["sym_name"]).value)
    beside = [each.operation for each in executable.parent.regions[0].blocks[0].operations]
    functions = [each for each in beside if each.name in FUNCTIONS]
    first, *others = [each for one in functions for each in _calls(one, symbol, {})] or [{}]
    return {number: terms for number, terms in first.items() if all(o.get(number) == terms for o in others)}


def _calls(
    around: Operation, symbol: str, equal: Mapping[Value, Value]
) -> Iterator[dict[Counted, Polynomial]]:
    """What each call of an executable within an op says of its numbers.

    `equal`: values that the host has checked to be equal to others before it, and these.
    """
    for block in (block for region in around.regions for block in region.blocks):
        here = dict(equal)
        for each in block.operations:
            operation = each.operation
            if operation.name == "cf.assert":
                _note_equal(operation, here)
            elif operation.name != DISPATCH:
                yield from _calls(operation, symbol, here)
            elif called_by(operation) in (symbol, ""):
                yield _passed(operation, here)


def _passed(dispatch: Operation, equal: Mapping[Value, Value]) -> dict[Counted, Polynomial]:
    """What a call says of the numbers of its workload."""
    count, *_ = mlir.ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])
    values = [equal.get(value, value) for value in list(dispatch.operands)[:count]]
    known: _Known = {}
    passed = [_polynomial(value, equal, known) for value in values]
    standing: dict[Value, Counted] = {}
    for number, (value, terms) in enumerate(zip(values, passed, strict=True)):
        if terms == {(value,): 1}:
            standing.setdefault(value, Counted(number))
    found: dict[Counted, Polynomial] = {}
    for number, terms in enumerate(passed):
        if all(value in standing for product in terms for value in product):
            found[Counted(number)] = {
                tuple(sorted(standing[value] for value in product)): factor
                for product, factor in terms.items()
            }
    return found


def _note_equal(check: Operation, equal: dict[Value, Value]) -> None:
    """Remember what a check says."""
    owner = check.operands[0].owner
    compared = None if isinstance(owner, mlir.ir.Block) else owner.operation
    if compared is None or compared.name != "arith.cmpi" or not _is_equality(compared):
        return
    left, right = (equal.get(operand, operand) for operand in compared.operands)
    equal |= {value: left for value, other in equal.items() if other == right}
    equal[right] = left


def _is_equality(comparison: Operation) -> bool:
    predicate = int(mlir.ir.IntegerAttr(comparison.attributes["predicate"]).value)
    return predicate == int(mlir.arith.CmpIPredicate.eq)


def _polynomial(value: Value, equal: Mapping[Value, Value], known: _Known) -> _Terms:
    """A number of the host by values that are no sums or products, or too long ones; `known` remembers."""
    value = equal.get(value, value)
    if value not in known:
        known[value] = {(value,): 1}  # also for what it may be computed of, which is equal to it
        terms = _computed(value, equal, known)
        if terms is not None and _is_short(terms):
            known[value] = terms
    return known[value]


def _is_short(terms: _Terms) -> bool:
    return len(terms) <= _MOST_TERMS and all(len(product) <= _MOST_TERMS for product in terms)


def _computed(value: Value, equal: Mapping[Value, Value], known: _Known) -> _Terms | None:
    """What a sum or a product is, None for other numbers."""
    if isinstance(value.owner, mlir.ir.Block):
        return None
    operation = value.owner.operation
    if operation.name == "arith.constant":
        return {(): int(mlir.ir.IntegerAttr(operation.attributes["value"]).value)}
    if operation.name not in (*_SUMS, "arith.muli"):
        return None
    left, right = (_polynomial(operand, equal, known) for operand in operation.operands)
    terms: Counter[tuple[Value, ...]] = Counter()
    if operation.name in _SUMS:
        terms.update(left)
        for product, factor in right.items():
            terms[product] += _SUMS[operation.name] * factor
    else:
        for one, factor in left.items():
            for other, times in right.items():
                terms[tuple(sorted((*one, *other), key=hash))] += factor * times
    return {product: factor for product, factor in terms.items() if factor}
