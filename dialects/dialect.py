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
    SizeConstant,
    SizeDiv,
    SizeMax,
    SizeMin,
    SizeMul,
    SizeSub,
    SizeToArray,
)
from .ops.shape import BroadcastInDim

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
)
ARITHMETIC: Final = (Neg, Add, Mul)
SHAPE: Final = (BroadcastInDim,)

OPS: Final[tuple[type[Op], ...]] = (*CONSTANTS, *ARITHMETIC, *SHAPE)
BY_NAME: Final[dict[str, type[Op]]] = {op.name: op for op in OPS}
