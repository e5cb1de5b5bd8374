"""Logic on bits, elementwise: integers bit by bit, booleans as truth values.

A shift by the width or more (or by a negative amount) shifts everything out; the rest is two's complement.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...op import Operand
from ...protocols import Builder, Value
from ...types import BOOLS, INTEGERS
from .family import INTEGERS_ARE_DISCRETE, Binary, Unary, inverse_of, is_constant, is_same

BITS = INTEGERS | BOOLS


class BitwiseUnary(Unary):
    """Family of functions of the bits of one integer."""

    operands = (Operand("x", INTEGERS),)
    jvp = INTEGERS_ARE_DISCRETE
    transpose = INTEGERS_ARE_DISCRETE


class BitwiseBinary(Binary):
    """Family of functions of the bits of two integers."""

    operands = (Operand("x", BITS), Operand("y", BITS))
    jvp = INTEGERS_ARE_DISCRETE
    transpose = INTEGERS_ARE_DISCRETE


class Shift(BitwiseBinary):
    """Family of shifts of `x` by `y` bits; `y` is read as an unsigned number."""

    operands = (Operand("x", INTEGERS), Operand("y", INTEGERS))

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        return x if is_constant(b, y, x, 0) else None


class Not(BitwiseUnary):
    """``y = not x``, bit by bit."""

    name = "not"
    operands = (Operand("x", BITS),)
    function = np.invert

    @staticmethod
    def simplify(b: Builder, x: Value) -> Value | None:
        return inverse_of(b, "not", x)


class Popcount(BitwiseUnary):
    """``y`` = how many bits of `x` are set."""

    name = "popcount"

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        return np.bitwise_count(as_unsigned(x))


class Clz(BitwiseUnary):
    """``y`` = how many bits of `x` are zero above its highest one; the width for 0."""

    name = "clz"

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        bits = as_unsigned(x)
        gone = [(bits >> bits.dtype.type(k)) == 0 for k in range(8 * x.dtype.itemsize)]
        return np.sum(gone, axis=0)


ALL_BITS: Final = -1


def _folded(b: Builder, x: Value, y: Value, neutral: int, absorbing: int) -> Value | None:
    """The other operand of one that changes nothing, and the one that leaves nothing of the other."""
    for constant, other in ((x, y), (y, x)):
        if is_constant(b, constant, other, neutral):
            return other
        if is_constant(b, constant, other, absorbing):
            return constant
    return None


class And(BitwiseBinary):
    """``z = x and y``, bit by bit."""

    name = "and"
    function = np.bitwise_and

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        if is_same(b, x, y):
            return x
        return _folded(b, x, y, neutral=ALL_BITS, absorbing=0)


class Or(BitwiseBinary):
    """``z = x or y``, bit by bit."""

    name = "or"
    function = np.bitwise_or

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value) -> Value | None:
        if is_same(b, x, y):
            return x
        return _folded(b, x, y, neutral=0, absorbing=ALL_BITS)


class Xor(BitwiseBinary):
    """``z = x xor y``, bit by bit."""

    name = "xor"
    function = np.bitwise_xor


class ShiftLeft(Shift):
    """``z = x * 2 ** y``, bits above the width lost."""

    name = "shift_left"

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        bits, amount = as_unsigned(x), as_unsigned(y)
        width = 8 * x.dtype.itemsize
        return np.where(amount < width, bits << (amount % width), 0).astype(bits.dtype).view(x.dtype)


class ShiftRightLogical(Shift):
    """``z`` = the bits of `x` moved down by `y`, zeros from above."""

    name = "shift_right_logical"

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        bits, amount = as_unsigned(x), as_unsigned(y)
        width = 8 * x.dtype.itemsize
        return np.where(amount < width, bits >> (amount % width), 0).astype(bits.dtype).view(x.dtype)


class ShiftRightArithmetic(Shift):
    """``z`` = the bits of `x` moved down by `y`, copies of the highest bit from above."""

    name = "shift_right_arithmetic"

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        signed = np.dtype(f"i{x.dtype.itemsize}")
        amount = np.minimum(as_unsigned(y), 8 * x.dtype.itemsize - 1).astype(signed)
        return (x.view(signed) >> amount).astype(signed).view(x.dtype)


def as_unsigned(x: np.ndarray) -> np.ndarray:
    """The same bits as an unsigned integer."""
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))
