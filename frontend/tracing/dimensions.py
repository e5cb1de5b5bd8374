"""Which dynamic dimensions of its operands an op hands on to its results, asked of its own `infer` rule.

A number stands in for each dimension; where the rule gives a result the same number again, there is the same
dimension. It is asked twice, with large primes in opposite orders, so that neither a sum of sizes nor the
smaller of two is taken for one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...dialects.declaration import Op
from ...dialects.errors import TypeCheckError
from ...dialects.types import SIZE, TensorType, ValueType
from .frames import Tracer
from .sizes import Dim

_PRIMES: Final = (1000003, 2000003, 4000037, 8000009, 16000057, 32000011)


def handed_on(
    op: type[Op], operands: Sequence[Any], attributes: Mapping[str, Any], results: Sequence[Any]
) -> list[tuple[Any, ...] | None]:
    """The shape of each result, None where one of its dimensions is a new one."""
    known: dict[str, Dim] = {}
    for operand in operands:
        shape = operand._shape if isinstance(operand, Tracer) else None
        known.update((n.text, n) for n in shape or () if isinstance(n, Dim))
    if not known or len(known) > len(_PRIMES) or any(a.kind == "symbol" for a in op.attributes.values()):
        return [None] * len(results)
    primes = _PRIMES[: len(known)]
    found = []
    for numbers in (primes, primes[::-1]):
        standing = dict(zip(known, numbers, strict=True))
        try:
            types = op.result_types(
                [_stood_in(v, standing) for v in operands],
                {name: _sized(op, name, value, standing) for name, value in attributes.items()},
            )
        except TypeCheckError:
            return [None] * len(results)
        back = {number: known[text] for text, number in standing.items()}
        found.append([_shape(t, back) for t in types])
    return [a if a == b else None for a, b in zip(*found, strict=True)]


def _stood_in(operand: Any, standing: Mapping[str, int]) -> ValueType:
    if isinstance(operand, (Dim, int)):
        return SIZE
    if not isinstance(operand, Tracer):
        return TensorType(tuple(operand.shape), operand.dtype)
    shape = operand._shape or operand.type.shape
    return operand.type.with_shape(tuple(standing[n.text] if isinstance(n, Dim) else n for n in shape))


def _sized(op: type[Op], name: str, value: Any, standing: Mapping[str, int]) -> Any:
    if op.attributes[name].kind != "sizes":
        return value
    return tuple(standing.get(n.text) if isinstance(n, Dim) else n for n in value)


def _shape(type_: Any, back: Mapping[int, Dim]) -> tuple[Any, ...] | None:
    if not isinstance(type_, TensorType):
        return None
    shape = tuple(n if n is None else back.get(n, n) for n in type_.shape)
    is_known = all(isinstance(n, Dim) or (n is not None and n < _PRIMES[0] // 2) for n in shape)
    return shape if is_known else None
