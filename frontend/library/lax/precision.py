"""How exactly products are computed, under JAX's names: adze computes all of them in the precision asked or
better.

`Precision` and its kin are accepted wherever JAX takes them; `PrecisionLike` is the type of such arguments.
"""

from __future__ import annotations

import enum
from typing import Any


class Precision(enum.Enum):
    """The least precision of a product; adze multiplies in the dtype of the operands, which is the
    highest."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


PrecisionLike = str | Precision | tuple[str, str] | tuple[Precision, Precision] | None
DotDimensionNumbers = tuple[tuple[Any, Any], tuple[Any, Any]]


class RoundingMethod(enum.IntEnum):
    """What `lax.round` does with halves."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1
