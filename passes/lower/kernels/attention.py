"""The routine `attention`: its names, and which of its calls IREE has good code for.

Input: queries `[..., T, H]`, keys and values `[..., S, H]`, all of one half, and maybe a mask `[..., T, S]`
that is true where a query sees a key, of which it sees one at least. Output: `[..., T, H]`. The name says by
what scores are multiplied. Its lowering is in `forms/attention.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects.types import BFLOAT16, FLOAT16, TensorType
from ....runtime.targets import Target, TargetKind

NAME: Final = "attention"
FEATURES: Final = (32, 64, 128)
"""IREE 3.13 uses no tensor cores for 80 and 96, and for 256 more memory than a workgroup has."""
QUERIES, KEYS = 32, 16  # what divides the lengths: IREE uses no tensor cores for 250


def attention_name(scale: float) -> str:
    """The name of the routine that multiplies scores by `scale`."""
    return f"{NAME} {float(scale)!r}"


def attention_scale(name: str) -> float | None:
    """What the routine of this name multiplies scores by; None for another routine."""
    first, _, scale = name.partition(" ")
    return float(scale) if first == NAME else None


def is_fused(target: Target, name: str, types: Sequence[TensorType]) -> bool:
    """Whether IREE has good code for a routine with operands of these types: static ones, without zeros."""
    if target.kind is not TargetKind.CUDA or attention_scale(name) is None:
        return False
    (*_, length, features), (*_, width, _) = types[0].static_shape, types[1].static_shape
    fits = features in FEATURES and int(length or 0) % QUERIES == 0 and int(width or 0) % KEYS == 0
    return fits and types[0].dtype in (FLOAT16, BFLOAT16)
