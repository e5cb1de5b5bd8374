"""Transposed results that no array has to be transposed for.

Input: a value whose elements are computed from arrays that are repeated along axes. Output: the same with its
axes in another order, computed at once. Idea: an array repeated along other axes is as cheap, and elementwise
ops and reversals take their axes in any order.
"""

from __future__ import annotations

from typing import Final

from ...protocols import Builder, Value

MOST_OPS: Final = 64  # that are made otherwise
MOST_CONSTANTS: Final = 256  # elements of a constant that is transposed now


def permuted_freely(b: Builder, x: Value, permutation: tuple[int, ...]) -> Value | None:
    """The transposed `x`, or None where an array would have to be transposed for it."""
    inner = b.defining(x)
    if inner is None or inner.op.is_broadcast or _ops(b, x, permutation, times=1) > MOST_OPS:
        return None
    return _permuted(b, x, permutation, {})


def _ops(b: Builder, x: Value, permutation: tuple[int, ...], times: int) -> int:
    """How many ops `x` takes, which an op reads `times` times; more than are allowed where it is not free."""
    inner = b.defining(x)
    if inner is None:
        return MOST_OPS + 1
    if inner.op.is_broadcast:
        places = [permutation.index(axis) for axis in inner.attributes["dimensions"]]
        constant = b.constant_of(inner.operands[0])
        is_small = constant is not None and constant.size <= MOST_CONSTANTS
        return 0 if places == sorted(places) or is_small else MOST_OPS + 1
    if not (inner.op.is_elementwise or inner.op.name == "reverse") or not b.is_read_once(x, times):
        return MOST_OPS + 1
    count = 1
    operands = list(inner.operands)
    for operand in dict.fromkeys(operands):
        count += _ops(b, operand, permutation, operands.count(operand))
        if count > MOST_OPS:
            break
    return count


def _permuted(b: Builder, x: Value, permutation: tuple[int, ...], known: dict[Value, Value]) -> Value:
    """`x` with its axes in another order; `known` has what was made before."""
    if x not in known:
        known[x] = _made(b, x, permutation, known)
    return known[x]


def _made(b: Builder, x: Value, permutation: tuple[int, ...], known: dict[Value, Value]) -> Value:
    inner = b.defining(x)
    assert inner is not None
    if not inner.op.is_broadcast:
        operands = [_permuted(b, operand, permutation, known) for operand in inner.operands]
        attributes = dict(inner.attributes)
        if not inner.op.is_elementwise:
            attributes["axes"] = tuple(sorted(permutation.index(axis) for axis in attributes["axes"]))
        return b.apply(inner.op, operands, attributes)[0]
    places = [permutation.index(axis) for axis in inner.attributes["dimensions"]]
    (operand,), order = inner.operands, sorted(range(len(places)), key=places.__getitem__)
    shape = inner.attributes["shape"]
    return b.broadcast_in_dim(
        b.transpose(operand, permutation=tuple(order)),
        shape=tuple(shape[axis] for axis in permutation),
        dimensions=tuple(sorted(places)),
    )
