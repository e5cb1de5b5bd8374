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
    if not region.operations and region.results == region.arguments[1:]:
        return "second"
    if len(region.operations) != 1:
        return None
    operation = region.operations[0]
    name = operation.name.removeprefix("stablehlo.")
    is_plain = operation.results == region.results and set(operation.operands) == set(region.arguments)
    return name if is_plain and name in _COMMUTATIVE else None


def of_lists(app: Application, region: Region) -> Callable[[Sequence[Any], Sequence[Any]], list[Any]]:
    """The region as a function of two lists of scalars."""

    def combine(xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
        return [as_array(v) for v in app.run(region, [*xs, *ys])]

    return combine


def expression(region: Region, value: int) -> Any:
    """A value of the region as nested tuples: `(op, attributes, operands...)`, `("argument", i)`."""
    if value in region.arguments:
        return ("argument", region.arguments.index(value))
    operation = region.producer(value)
    if operation is None:
        return ("outside", value)
    name = operation.name.removeprefix("stablehlo.")
    if name == "constant":
        elements = operation.attributes.get("value")
        if not isinstance(elements, np.ndarray) or elements.ndim:
            return ("constant", None, None)
        return ("constant", elements.tobytes(), elements.dtype)
    details = tuple(operation.attributes.get(k) for k in ("comparison_direction", "compare_type"))
    return (name, details, *(expression(region, v) for v in operation.operands))


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
