"""Which calls of the routine of attention IREE has good code for; the others become their ops.

Input: a target, and the types of queries, keys, values and maybe a mask, or their sizes. Output: the sizes
that arrays have with zeros behind them, for which there is such code. Its lowering is in
`forms/attention.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects.dataclass import dataclass
from ....dialects.types import TensorType
from ....runtime.targets import Target, TargetKind
from .texts import rounded_up

FEATURES: Final = (32, 64, 128)
"""IREE 3.13 uses no tensor cores for 80 and 96, and for 256 more memory than a workgroup has."""
QUERIES, KEYS = 32, 16  # what divides the lengths: IREE uses no tensor cores for 250
LEAST: Final = 16
"""Of queries, keys and features: arrays with fewer would mostly be zeros."""


@dataclass(frozen=True, slots=True)
class AttentionSizes:
    """The lengths of queries and of keys, and how many features both have."""

    queries: int
    keys: int
    features: int


def fused_sizes(sizes: AttentionSizes) -> AttentionSizes | None:
    """The least sizes from `sizes` on that IREE has good code for, None where there are none.

    Counted in PTX, never timed: for 256 queries and keys of 80 features, 80 instructions of tensor cores in
    one kernel, beside copies of the operands.
    """
    features = next((n for n in FEATURES if n >= sizes.features), None)
    if features is None or min(sizes.queries, sizes.keys, sizes.features) < LEAST:
        return None
    return AttentionSizes(rounded_up(sizes.queries, QUERIES), rounded_up(sizes.keys, KEYS), features)


def is_fused(target: Target, types: Sequence[TensorType]) -> bool:
    """Whether IREE has good code for attention with operands of these types, which the routine takes."""
    (*_, length, features), (*_, width, _) = types[0].static_shape, types[1].static_shape
    sizes = AttentionSizes(int(length or 0), int(width or 0), int(features or 0))
    return target.kind is TargetKind.CUDA and fused_sizes(sizes) is not None
