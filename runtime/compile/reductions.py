"""Which ops of linalg are reductions."""

from __future__ import annotations

from typing import Any, Final

_NOT_REDUCTIONS: Final = frozenset(
    f"linalg.{name}" for name in ("fill", "map", "copy", "broadcast", "transpose")
)


def is_reduction(operation: Any) -> bool:
    """Whether an operation is one of linalg that combines elements along some of its loops."""
    if operation.name == "linalg.generic":
        return "reduction" in str(operation.attributes["iterator_types"])
    return operation.name.startswith("linalg.") and operation.name not in _NOT_REDUCTIONS
