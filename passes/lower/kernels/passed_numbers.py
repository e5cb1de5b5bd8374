"""What the calls of a kernel in IREE's phase `flow` say of the numbers that they pass.

Input: the function of a kernel. Output: the numbers of its workload as polynomials of each other, such as
`256 n` or `m - 1`.
Idea: IREE joins the axes of an array, and passes the product of their sizes beside them. What the host has
computed of sizes by sums and products says which axes there were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, TypeAlias

from ....dialects import mlir
from ...ir.aliases import Operation, Value
from .counted_sizes import Counted
from .dispatches import FUNCTIONS, called_by, dispatches

Polynomial: TypeAlias = "Mapping[tuple[Counted, ...], int]"
"""The factor of each product of numbers; that of no numbers is a constant."""

_SUMS: Final = {"arith.addi": 1, "arith.subi": -1}


def numbers_passed_to(function: Operation) -> dict[Counted, Polynomial]:
    """The numbers of the workload of a kernel's function, by those that are not made of others.

    A number that is made of what is not passed is missing, and so is one of which calls differ.
    """
    executable = function.parent.parent
    symbol = str(mlir.ir.StringAttr(executable.attributes["sym_name"]).value)
    beside = [each.operation for each in executable.parent.regions[0].blocks[0].operations]
    functions = [each for each in beside if each.name in FUNCTIONS]
    first, *others = [_passed(each) for each in dispatches(functions) if called_by(each) == symbol] or [{}]
    return {number: terms for number, terms in first.items() if all(o.get(number) == terms for o in others)}


def _passed(dispatch: Operation) -> dict[Counted, Polynomial]:
    """What a call says of the numbers of its workload."""
    count, *_ = mlir.ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])
    equal = _checked_before(dispatch)
    values = [equal.get(value, value) for value in list(dispatch.operands)[:count]]
    passed = [_polynomial(value, equal) for value in values]
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


def _checked_before(dispatch: Operation) -> dict[Value, Value]:
    """Values that the host has checked to be equal to others before it calls a kernel, and these."""
    equal: dict[Value, Value] = {}
    for each in dispatch.block.operations:
        operation = each.operation
        if operation == dispatch:
            break
        if operation.name != "cf.assert" or isinstance(operation.operands[0].owner, mlir.ir.Block):
            continue
        compared = operation.operands[0].owner.operation
        if compared.name == "arith.cmpi" and _is_equality(compared):
            left, right = (equal.get(operand, operand) for operand in compared.operands)
            equal |= {value: left for value, other in equal.items() if other == right}
            equal[right] = left
    return equal


def _is_equality(comparison: Operation) -> bool:
    predicate = int(mlir.ir.IntegerAttr(comparison.attributes["predicate"]).value)
    return predicate == int(mlir.arith.CmpIPredicate.eq)


def _polynomial(value: Value, equal: Mapping[Value, Value]) -> dict[tuple[Value, ...], int]:
    """A number of the host by values that are no sums or products."""
    value = equal.get(value, value)
    owner = value.owner
    operation = None if isinstance(owner, mlir.ir.Block) else owner.operation
    if operation is not None and operation.name == "arith.constant":
        return {(): int(mlir.ir.IntegerAttr(operation.attributes["value"]).value)}
    if operation is None or operation.name not in (*_SUMS, "arith.muli"):
        return {(value,): 1}
    left, right = (_polynomial(operand, equal) for operand in operation.operands)
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
