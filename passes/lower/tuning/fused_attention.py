"""Which calls of the routine of attention IREE has good code for; the others become their ops.

Input: a target, and the types of queries, keys, values and maybe a mask. Its lowering is in
`forms/attention.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects.types import TensorType
from ....runtime.targets import Target, TargetKind

FEATURES: Final = (32, 64, 128)
"""IREE 3.13 uses no tensor cores for 80 and 96, and for 256 more memory than a workgroup has."""
QUERIES, KEYS = 32, 16  # what divides the lengths: IREE uses no tensor cores for 250


def is_fused(target: Target, types: Sequence[TensorType]) -> bool:
    """Whether IREE has good code for attention with operands of these types, which the routine takes."""
    (*_, length, features), (*_, width, _) = types[0].static_shape, types[1].static_shape
    fits = features in FEATURES and int(length or 0) % QUERIES == 0 and int(width or 0) % KEYS == 0
    return fits and target.kind is TargetKind.CUDA
