"""Arithmetic on numbers, elementwise: signs, sums, products, quotients, rounding, extrema."""

from __future__ import annotations

import numpy as np

from ..declaration import Operand
from ..types import NUMBERS
from .elementwise import Binary, Unary


class Neg(Unary):
    """``y = -x``; unsigned and signed integers wrap around."""

    name = "neg"
    operands = (Operand("x", NUMBERS),)
    function = np.negative


class Add(Binary):
    """``z = x + y``; integers wrap around."""

    name = "add"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    function = np.add


class Mul(Binary):
    """``z = x * y``; integers wrap around."""

    name = "mul"
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    function = np.multiply
