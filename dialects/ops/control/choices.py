"""Choices that a target makes: which branch of a `cond` runs is known when the program is lowered.

The pass `choose-branches` puts a constant in the place of these ops, and the chosen branch in the place of
the `cond`. The evaluator, and a derivative taken before a target is chosen, keep them as they are.
"""

from __future__ import annotations

import numpy as np

from ...op import NO_BATCH, NO_TANGENT, Op, text, undefined
from ...types import INT32, TensorType

_SCALAR = TensorType((), INT32)


class PlatformIndex(Op):
    """``i``: the place of the target's platform in a list, the length of the list where it is not there."""

    name = "platform_index"
    is_arithmetic = False
    is_cheap = True
    attributes = {"platforms": text("platforms such as cpu and cuda, with commas between them")}

    @staticmethod
    def infer(*, platforms: str) -> TensorType:
        return _SCALAR

    @staticmethod
    def evaluate(*, platforms: str) -> np.ndarray:
        """The evaluator runs on the CPU."""
        return np.array(place("cpu", platforms), INT32)

    jvp = NO_TANGENT
    transpose = undefined("platform_index has no operands")
    batch = NO_BATCH


class LoopPreference(Op):
    """``i``: 1 where the loops of the branches at 1 become kernels of the target, else 0.

    All choices of one `label` are one choice. The evaluator, which takes a step of a loop at a time, has no
    preference for loops.
    """

    name = "loop_preference"
    is_arithmetic = False
    is_cheap = True
    attributes = {"label": text("what is computed by a loop, or in another way")}

    @staticmethod
    def infer(*, label: str) -> TensorType:
        return _SCALAR

    @staticmethod
    def evaluate(*, label: str) -> np.ndarray:
        return np.array(0, INT32)

    jvp = NO_TANGENT
    transpose = undefined("loop_preference has no operands")
    batch = NO_BATCH


def place(platform: str, platforms: str) -> int:
    """Where `platform` is in `platforms`; their number where it is not there."""
    listed = platforms.split(",")
    return listed.index(platform) if platform in listed else len(listed)
