"""Ops that rearrange elements without computing on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declaration import (
    BATCHING_LATER,
    DIFFERENTIATION_LATER,
    Op,
    Operand,
    ints,
    require,
    require_axes,
    sizes,
)
from ..types import ANY, TensorType


class Movement(Op):
    """Family of ops that are linear in their array operand whatever its dtype."""

    operands = (Operand("x", ANY),)
    jvp = DIFFERENTIATION_LATER
    transpose = DIFFERENTIATION_LATER
    batch = BATCHING_LATER


class BroadcastInDim(Movement):
    """``y[i] = x[i[dimensions]]``: axis `k` of `x` becomes axis `dimensions[k]` of `y`.

    An axis of `x` whose static size is 1 is repeated; any other size must equal the result's.
    """

    name = "broadcast_in_dim"
    attributes = {"shape": sizes("the result's shape"), "dimensions": ints("where each axis of x goes")}

    @staticmethod
    def infer(x: TensorType, *, shape: tuple[int | None, ...], dimensions: tuple[int, ...]) -> TensorType:
        require_axes("broadcast_in_dim", "dimensions", dimensions, len(shape))
        require(
            len(dimensions) == x.rank,
            f"broadcast_in_dim: dimensions {dimensions} must name one axis of the result "
            f"for each axis of the operand {x}",
        )
        for axis, dimension in enumerate(dimensions):
            size, target = x.shape[axis], shape[dimension]
            require(
                size in (1, None, target) or target is None,
                f"broadcast_in_dim: axis {axis} of {x} cannot become size {target}",
            )
        return TensorType(shape, x.dtype)

    @staticmethod
    def evaluate(x: np.ndarray, *, shape: tuple[int, ...], dimensions: tuple[int, ...]) -> np.ndarray:
        expanded = [1] * len(shape)
        for axis, dimension in enumerate(dimensions):
            expanded[dimension] = x.shape[axis]
        order = np.argsort(dimensions)
        return np.broadcast_to(np.transpose(x, order).reshape(expanded), shape).copy()

    @staticmethod
    def lower(l: Any, x: Any, *, shape: tuple[Any, ...], dimensions: tuple[int, ...]) -> Any:
        return l.broadcast(x, shape, dimensions)
