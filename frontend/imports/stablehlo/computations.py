"""Regions of two scalars, as reductions, scatters and windows have them: what they compute, and known forms.

Input: a region. Output: the name of the one op that it is (`"add"`), or the region as a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...tracing.interpreter import ops
from .application import Application, as_array
from .program import Region

_COMMUTATIVE: Final = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")


def single_op(region: Region) -> str | None:
    """The name of the op that combines the region's two arguments; `"second"` where it returns the second."""
    if len(region.arguments) != 2 or len(region.results) != 1:
        return None
    same: dict[int, int] = {}  # what a barrier returns is what it takes
    operations = []
    for operation in region.operations:
        if operation.name == "stablehlo.optimization_barrier":
            taken = (same.get(v, v) for v in operation.operands)
            same.update(zip(operation.results, taken, strict=True))
        else:
            operations.append(operation)
    results = tuple(same.get(v, v) for v in region.results)
    if not operations and results == region.arguments[1:]:
        return "second"
    if len(operations) != 1:
        return None
    operation = operations[0]
    name = operation.name.removeprefix("stablehlo.")
    operands = {same.get(v, v) for v in operation.operands}
    is_plain = operation.results == results and operands == set(region.arguments)
    return name if is_plain and name in _COMMUTATIVE else None


def of_lists(app: Application, region: Region) -> Callable[[Sequence[Any], Sequence[Any]], list[Any]]:
    """The region as a function of two lists of scalars."""

    def combine(xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
        return [as_array(v) for v in app.run(region, [*xs, *ys])]

    return combine


def expression(region: Region, value: int, outside: Callable[[int], Any] | None = None) -> Any:
    """A value of the region as nested tuples: `(op, attributes, operands...)`, `("argument", i)`.

    `outside(value)` is what a value of an enclosing region is, where constants stand in front of their use.
    """
    if value in region.arguments:
        return ("argument", region.arguments.index(value))
    operation = region.producer(value)
    if operation is None:
        known = outside(value) if outside else None
        return _constant(known) if isinstance(known, np.ndarray) else ("outside", value)
    name = operation.name.removeprefix("stablehlo.")
    if name == "constant":
        return _constant(operation.attributes.get("value"))
    details = tuple(operation.attributes.get(k) for k in ("comparison_direction", "compare_type"))
    return (name, details, *(expression(region, v, outside) for v in operation.operands))


def _constant(elements: Any) -> Any:
    if not isinstance(elements, np.ndarray) or elements.ndim:
        return ("constant", None, None)
    return ("constant", elements.tobytes(), elements.dtype)


COMBINE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": ops.add,
    "multiply": ops.mul,
    "maximum": ops.max,
    "minimum": ops.min,
    "and": ops.and_,
    "or": ops.or_,
    "xor": ops.xor,
}
"""What a single op computes on numbers; of booleans, see `logical`."""

_LOGICAL: Final = {"add": "or", "multiply": "and", "maximum": "or", "minimum": "and"}


def logical(kind: str, is_bool: bool) -> str:
    """The op that `kind` is on booleans."""
    return _LOGICAL.get(kind, kind) if is_bool else kind
