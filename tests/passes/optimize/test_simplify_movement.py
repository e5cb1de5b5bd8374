"""The exact simplifications of ops that move elements, with static and with dynamic sizes."""

from __future__ import annotations

from typing import Any

import pytest

from adze.dialects.types import FLOAT32, INT32, TensorType
from adze.passes.optimize.simplify import simplify

from ..lower.programs import Rule, build

STATIC = TensorType((2, 3), FLOAT32)
DYNAMIC = TensorType((None, 3), FLOAT32)
INDEX = TensorType((), INT32)


def transposed_twice(b: Any, x: Any) -> Any:
    return b.transpose(b.transpose(x, permutation=(1, 0)), permutation=(1, 0))


def padded_by_nothing(b: Any, x: Any) -> Any:
    return b.pad(x, b.scalar(0, FLOAT32), low=(0, 0), high=(0, 0), interior=(0, 0))


@pytest.mark.parametrize(
    ("rule", "types", "left"),
    [
        (lambda b, x: b.reshape(b.reshape(x, shape=(6,)), shape=(2, 3)), (STATIC,), []),
        (lambda b, x: b.reshape(b.reshape(x, shape=(6,)), shape=(3, 2)), (STATIC,), ["reshape"]),
        (lambda b, x: b.reshape(x, shape=b.sizes(x)), (DYNAMIC,), []),
        (transposed_twice, (DYNAMIC,), []),
        (lambda b, x: b.transpose(x, permutation=(0, 1)), (DYNAMIC,), []),
        (lambda b, x: b.slice(x, start=(0, 0), limit=b.sizes(x), strides=(1, 1)), (DYNAMIC,), []),
        (lambda b, x: b.slice(x, start=(0, 0), limit=(2, 3), strides=(1, 2)), (STATIC,), ["slice"]),
        (lambda b, x: b.reverse(b.reverse(x, axes=(0,)), axes=(0,)), (DYNAMIC,), []),
        (lambda b, x: b.reverse(b.reverse(x, axes=(0,)), axes=(0, 1)), (DYNAMIC,), ["reverse"]),
        (padded_by_nothing, (DYNAMIC,), []),
        (lambda b, x: b.concatenate(x, axis=0), (DYNAMIC,), []),
        (lambda b, x: b.broadcast_in_dim(x, shape=b.sizes(x), dimensions=(0, 1)), (DYNAMIC,), []),
        (lambda b, x, i: b.dynamic_slice(x, i, i, slice_sizes=b.sizes(x)), (DYNAMIC, INDEX), []),
        (lambda b, x, i: b.dynamic_slice(x, i, i, slice_sizes=(1, 3)), (STATIC, INDEX), ["dynamic_slice"]),
        (lambda b, x, i: b.dynamic_update_slice(x, b.neg(x), i, i), (STATIC, INDEX), ["neg"]),
    ],
)
def test_movement_of_everything_disappears(rule: Rule, types: Any, left: list[str]) -> None:
    module, _ = build({"main": (rule, types)})
    simplify(module)
    (function,) = module.body.operations
    names = [each.operation.name for each in function.regions[0].blocks[0].operations]
    assert names == [*(f"adze.{name}" for name in left), "func.return"]
