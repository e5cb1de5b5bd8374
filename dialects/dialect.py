"""The adze dialect: the explicit tuple of its ops, in the order of the reference page."""

from __future__ import annotations

from typing import Final

from .declaration import Op
from .ops.arithmetic import Add, Mul, Neg
from .ops.constants import (
    Constant,
    Dim,
    Iota,
    SizeAdd,
    SizeCheck,
    SizeConstant,
    SizeDiv,
    SizeMax,
    SizeMin,
    SizeMul,
    SizeSub,
    SizeToArray,
)
from .ops.control import Call
from .ops.effects import Check, Print
from .ops.indexing import DynamicSlice, DynamicUpdateSlice, Gather, Scatter
from .ops.randomness import RandomBits
from .ops.shape import BroadcastInDim, Concatenate, Pad, Reshape, Reverse, Slice, Transpose

CONSTANTS: Final = (
    Constant,
    Iota,
    Dim,
    SizeConstant,
    SizeAdd,
    SizeSub,
    SizeMul,
    SizeDiv,
    SizeMax,
    SizeMin,
    SizeToArray,
    SizeCheck,
)
ARITHMETIC: Final = (Neg, Add, Mul)
SHAPE: Final = (BroadcastInDim, Reshape, Transpose, Slice, Pad, Concatenate, Reverse)
INDEXING: Final = (DynamicSlice, DynamicUpdateSlice, Gather, Scatter)
RANDOMNESS: Final = (RandomBits,)
CONTROL: Final = (Call,)
EFFECTS: Final = (Print, Check)

OPS: Final[tuple[type[Op], ...]] = (
    *CONSTANTS,
    *ARITHMETIC,
    *SHAPE,
    *INDEXING,
    *RANDOMNESS,
    *CONTROL,
    *EFFECTS,
)
BY_NAME: Final[dict[str, type[Op]]] = {op.name: op for op in OPS}
