"""The algebra of single ops: what a `simplify` rule may replace, and what it must leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adze.dialects.types import BOOL, COMPLEX64, FLOAT32, INT32, TensorType
from adze.passes.optimize.simplify import simplify

from .ops.programs import add_function, new_module


def simplified(body: Callable[..., Any], dtype: np.dtype = FLOAT32, count: int = 1) -> list[str]:
    """The names of the ops left of a function of `count` vectors, without `adze.`."""
    module, codec = new_module()
    types = [TensorType((3,), dtype)] * count
    add_function(module, codec, "f", types, lambda b, *xs: [body(b, *xs)])
    simplify(module)
    block = module.body.operations[0].regions[0].blocks[0]
    return [op.operation.name.removeprefix("adze.") for op in block.operations][:-1]


@pytest.mark.parametrize(
    ("body", "dtype"),
    [
        pytest.param(lambda b, x: b.neg(b.neg(x)), FLOAT32, id="neg-neg"),
        pytest.param(lambda b, x: b.not_(b.not_(x)), BOOL, id="not-not"),
        pytest.param(lambda b, x: b.conj(b.conj(x)), COMPLEX64, id="conj-conj"),
        pytest.param(lambda b, x: b.mul(x, b.full_like(x, 1)), FLOAT32, id="times-one"),
        pytest.param(lambda b, x: b.mul(b.full_like(x, 1), x), INT32, id="one-times"),
        pytest.param(lambda b, x: b.add(x, b.full_like(x, -0.0)), FLOAT32, id="plus-minus-zero"),
        pytest.param(lambda b, x: b.add(x, b.full_like(x, 0)), INT32, id="integer-plus-zero"),
        pytest.param(lambda b, x: b.sub(x, b.full_like(x, 0.0)), FLOAT32, id="minus-zero"),
        pytest.param(lambda b, x: b.div(x, b.full_like(x, 1)), FLOAT32, id="by-one"),
        pytest.param(lambda b, x: b.pow(x, b.full_like(x, 1)), FLOAT32, id="to-the-one"),
        pytest.param(lambda b, x: b.max(x, x), FLOAT32, id="max-of-one"),
        pytest.param(lambda b, x: b.and_(x, x), INT32, id="and-of-one"),
        pytest.param(lambda b, x: b.convert(x, dtype=FLOAT32), FLOAT32, id="same-dtype"),
        pytest.param(lambda b, x: b.shift_left(x, b.full_like(x, 0)), INT32, id="shift-by-zero"),
        pytest.param(lambda b, x: b.select(b.compare(x, x, direction="EQ"), x, x), FLOAT32, id="select-same"),
        pytest.param(lambda b, x: b.select(b.full(True, (3,), BOOL), x, b.neg(x)), FLOAT32, id="select-true"),
    ],
)
def test_exact_identities_vanish(body: Callable[..., Any], dtype: np.dtype) -> None:
    assert simplified(body, dtype) == []


@pytest.mark.parametrize(
    ("body", "op"),
    [
        pytest.param(lambda b, x: b.add(x, b.full_like(x, 0.0)), "add", id="plus-zero-changes-minus-zero"),
        pytest.param(lambda b, x: b.sub(x, b.full_like(x, -0.0)), "sub", id="minus-minus-zero"),
        pytest.param(lambda b, x: b.mul(x, b.full_like(x, 0.0)), "mul", id="times-zero-of-nan"),
        pytest.param(lambda b, x: b.sub(x, x), "sub", id="difference-of-infinities"),
        pytest.param(lambda b, x: b.compare(x, x, direction="EQ"), "compare", id="nan-is-not-itself"),
    ],
)
def test_what_would_change_nan_or_minus_zero_stays(body: Callable[..., Any], op: str) -> None:
    assert op in simplified(body)
