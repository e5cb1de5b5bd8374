"""Comparing numbers and choosing between them, elementwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...op import Linear, Operand, choice, require, require_same_dtype, require_same_shape
from ...protocols import Builder, Cotangents, Tangent, Tangents, Value, Values
from ...types import ANY, BOOL, BOOLS, COMPLEX, FLOATS, REALS, TensorType
from .arithmetic import Max, Min
from .family import INTEGERS_ARE_DISCRETE, Binary, Elementwise, Unary, indicator, is_same

DIRECTIONS: Final = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


class IsFinite(Unary):
    """``y`` = whether `x` is neither infinite nor NaN."""

    name = "is_finite"
    operands = (Operand("x", FLOATS),)
    function = np.isfinite
    result_rule = "an array of `i1` of the operand's shape"
    jvp = INTEGERS_ARE_DISCRETE
    transpose = INTEGERS_ARE_DISCRETE

    @classmethod
    def result_dtype(cls, dtype: np.dtype) -> np.dtype:
        return BOOL


class Compare(Binary):
    """``z = x <direction> y``; false where an operand is NaN, except `NE`, which is true there.

    Complex numbers have no order: they take `EQ` and `NE` only.
    """

    name = "compare"
    operands = (Operand("x", ANY), Operand("y", ANY))
    attributes = {"direction": choice(*DIRECTIONS, doc="the relation")}
    result_rule = "an array of `i1` of the operands' common shape"

    @staticmethod
    def infer(x: TensorType, y: TensorType, *, direction: str) -> TensorType:
        dtype = require_same_dtype("compare", x, y)
        require(
            dtype not in COMPLEX or direction in ("EQ", "NE"),
            f"compare: complex numbers have no order, got direction {direction} for {x}",
        )
        return TensorType(require_same_shape("compare", x, y), BOOL)

    @staticmethod
    def evaluate(x: np.ndarray, y: np.ndarray, *, direction: str) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(DIRECTIONS[direction](x, y), BOOL)

    jvp = INTEGERS_ARE_DISCRETE
    transpose = INTEGERS_ARE_DISCRETE


class Select(Elementwise):
    """``y = on_true where predicate, else on_false``;  ``dy`` selects the tangents in the same way."""

    name = "select"
    is_arithmetic = False
    operands = (Operand("predicate", BOOLS), Operand("on_true", ANY), Operand("on_false", ANY))
    result_rule = "an array of the operands' common shape and of the dtype of the two choices"

    @classmethod
    def infer(cls, *types: TensorType) -> TensorType:
        return TensorType(require_same_shape("select", *types), require_same_dtype("select", *types[1:]))

    @classmethod
    def evaluate(cls, *arrays: np.ndarray) -> np.ndarray:
        return np.where(*arrays)

    @staticmethod
    def simplify(b: Builder, predicate: Value, on_true: Value, on_false: Value) -> Value | None:
        if is_same(b, on_true, on_false):
            return on_true
        known = b.constant_of(predicate)
        if known is None or known.size == 0 or b.type_of(on_true) != b.type_of(on_false):
            return None
        return on_true if known.all() else on_false if not known.any() else None

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value) -> Tangents:
        _, on_true, on_false = tangents
        present = on_false if on_true is None else on_true
        assert present is not None
        zero = b.zeros_like(present)
        return b.select(
            primals[0], zero if on_true is None else on_true, zero if on_false is None else on_false
        )

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        predicate, on_true, on_false = operands
        zero = b.zeros_like(cotangent)
        return [
            None,
            b.select(predicate, cotangent, zero) if isinstance(on_true, Linear) else None,
            b.select(predicate, zero, cotangent) if isinstance(on_false, Linear) else None,
        ]


class Clamp(Elementwise):
    """``y = min(max(x, low), high)``; the tangent of whichever is chosen (a bound that `x` equals).

    NaN propagates.
    """

    name = "clamp"
    operands = (Operand("low", REALS), Operand("x", REALS), Operand("high", REALS))

    @staticmethod
    def function(low: np.ndarray, x: np.ndarray, high: np.ndarray) -> np.ndarray:
        return Min.function(Max.function(x, low), high)

    partials = (
        lambda b, y, low, x, high: chosen(b, low, x, high, "low"),
        lambda b, y, low, x, high: chosen(b, low, x, high, "x"),
        lambda b, y, low, x, high: chosen(b, low, x, high, "high"),
    )


def chosen(b: Builder, low: Value, x: Value, high: Value, which: str) -> Value:
    """1 where clamp gives that operand, else 0; at a bound the tangent is the bound's, and `high` wins."""
    below_high = b.compare(b.max(x, low), high, direction="LT")
    inside = b.compare(x, low, direction="GT")
    masks = {
        "high": b.not_(below_high),
        "x": b.and_(below_high, inside),
        "low": b.and_(below_high, b.not_(inside)),
    }
    return indicator(b, masks[which], x)
