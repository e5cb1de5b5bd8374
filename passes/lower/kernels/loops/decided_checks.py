"""Checks of sizes that hold whatever the sizes are.

Input: the condition of a check, and which values are sizes of arrays. Output: whether it always holds. Idea:
both sides are sums of sizes with whole factors, and no size is negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from .....dialects import mlir
from ....ir.aliases import Value

_EQ, _SLT, _SLE, _SGT, _SGE = 0, 2, 3, 4, 5


class _NotLinear(Exception):
    """A number is no sum of others with whole factors."""


def always_holds(condition: Value, sizes: Collection[Value]) -> bool:
    """Whether a comparison, or several joined by `and`, holds for all `sizes`, none of which is negative."""
    if isinstance(condition.owner, mlir.ir.Block):
        return False
    operation = condition.owner.operation
    if operation.name == "arith.andi":
        return all(always_holds(operand, sizes) for operand in operation.operands)
    if operation.name != "arith.cmpi":
        return False
    predicate = mlir.ir.IntegerAttr(operation.attributes["predicate"]).value
    try:
        left, right = map(_terms, operation.operands)
    except _NotLinear:
        return False
    if predicate == _EQ:
        return not any(_difference(left, right).values())
    if predicate in (_SGT, _SGE):
        left, right = right, left
    if predicate not in (_SLT, _SLE, _SGT, _SGE):
        return False
    rest = _difference(right, left)
    rest[None] -= predicate in (_SLT, _SGT)
    return all(n >= 0 and (v is None or v in sizes or n == 0) for v, n in rest.items())


def _difference(left: Counter[Value | None], right: Counter[Value | None]) -> Counter[Value | None]:
    difference = Counter(left)
    difference.subtract(right)
    return difference


def _terms(number: Value) -> Counter[Value | None]:
    """The factor of each value of which `number` is the sum; None stands for 1."""
    if isinstance(number.owner, mlir.ir.Block):
        return Counter({number: 1})
    operation = number.owner.operation
    if operation.name == "arith.constant":
        return Counter({None: mlir.ir.IntegerAttr(operation.attributes["value"]).value})
    if operation.name not in ("arith.addi", "arith.subi", "arith.muli"):
        return Counter({number: 1})
    left, right = map(_terms, operation.operands)
    if operation.name == "arith.subi":
        return _difference(left, right)
    if operation.name == "arith.addi":
        return _difference(left, Counter({v: -n for v, n in right.items()}))
    for factor, terms in ((left, right), (right, left)):
        if not any(factor[v] for v in factor if v is not None):
            return Counter({v: n * factor[None] for v, n in terms.items()})
    raise _NotLinear
