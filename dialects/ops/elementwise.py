"""The elementwise family: one scalar function applied to each element of equally shaped arrays.

A member states its name, its dtypes, its NumPy function and its scalar lowering (`scalar`, a method of
the lowering's `Scalars` of the same name unless overridden); the family derives the rest. There is no
implicit broadcasting and no implicit promotion here: the frontend inserts both.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..declaration import (
    BATCHING_LATER,
    DIFFERENTIATION_LATER,
    Op,
    Operand,
    require_same_dtype,
    require_same_shape,
)
from ..types import ANY, TensorType


class Elementwise(Op):
    """Family of `y[i] = f(x[i], ...)`; operands have equal dtypes and shapes, and so has the result."""

    function: ClassVar[Any]

    @classmethod
    def infer(cls, *types: TensorType) -> TensorType:
        dtype = require_same_dtype(cls.name, *types)
        return TensorType(require_same_shape(cls.name, *types), dtype)

    @classmethod
    def evaluate(cls, *arrays: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            result = cls.function(*arrays)
        return np.asarray(result, dtype=arrays[0].dtype)

    @classmethod
    def lower(cls, l: Any, *operands: Any) -> Any:
        return l.elementwise(cls.scalar, *operands)

    @classmethod
    def scalar(cls, s: Any, dtypes: tuple[np.dtype, ...], *operands: Any) -> Any:
        """The scalar code of one element, by default the method of `Scalars` that has the op's name."""
        method = getattr(s, cls.name, None) or getattr(s, cls.name + "_")
        return method(dtypes[0], *operands)

    jvp = DIFFERENTIATION_LATER
    transpose = DIFFERENTIATION_LATER
    batch = BATCHING_LATER


class Unary(Elementwise):
    """Family of `y = f(x)`."""

    operands = (Operand("x", ANY),)


class Binary(Elementwise):
    """Family of `z = f(x, y)`."""

    operands = (Operand("x", ANY), Operand("y", ANY))
