"""How exactly products are computed, under JAX's names: adze computes all of them in the precision asked or
better, and in less than float32 only where `BF16_BF16_F32_X3` asks for it.

`Precision` and its kin are accepted wherever JAX takes them; `PrecisionLike` is the type of such arguments.
"""

from __future__ import annotations

import enum
from typing import Any

from ....dialects.dataclass import dataclass


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


class DotAlgorithmPreset(enum.Enum):
    """How a device may compute a product, as `precision=`: adze accumulates in the dtype of the result, or in
    float32 for narrower ones, so that each of these is met or exceeded. `BF16_BF16_F32_X3` is done as it
    says: float32 as three products of bfloat16, which tensor cores compute (`split_products.py`)."""

    DEFAULT = 0
    ANY_F8_ANY_F8_F32 = 1
    ANY_F8_ANY_F8_F32_FAST_ACCUM = 2
    ANY_F8_ANY_F8_ANY = 3
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = 4
    F16_F16_F16 = 5
    F16_F16_F32 = 6
    BF16_BF16_BF16 = 7
    BF16_BF16_F32 = 8
    BF16_BF16_F32_X3 = 9
    BF16_BF16_F32_X6 = 10
    BF16_BF16_F32_X9 = 11
    TF32_TF32_F32 = 12
    TF32_TF32_F32_X3 = 13
    F32_F32_F32 = 14
    F64_F64_F64 = 15


@dataclass(frozen=True)
class DotAlgorithm:
    """The dtypes and steps of a product, as `precision=`: a lower bound of what adze does."""

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False
