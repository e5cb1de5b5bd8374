"""The algebra of single ops: what a `simplify` rule may replace, and what it must leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adze.dialects.types import BFLOAT16, BOOL, COMPLEX64, FLOAT32, INT32, TensorType
from adze.passes.analysis.evaluate import evaluate
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
        pytest.param(lambda b, x: b.and_(x, b.full_like(x, -1)), INT32, id="and-all-bits"),
        pytest.param(lambda b, x: b.and_(b.full_like(x, True), x), BOOL, id="true-and"),
        pytest.param(lambda b, x: b.or_(x, b.full_like(x, 0)), INT32, id="or-no-bits"),
        pytest.param(lambda b, x: b.or_(x, b.full_like(x, False)), BOOL, id="or-false"),
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


@pytest.mark.parametrize(
    ("body", "dtype"),
    [
        pytest.param(lambda b, x: b.and_(x, b.full_like(x, False)), BOOL, id="and-false"),
        pytest.param(lambda b, x: b.or_(b.full_like(x, True), x), BOOL, id="true-or"),
        pytest.param(lambda b, x: b.and_(x, b.full_like(x, 0)), INT32, id="and-no-bits"),
        pytest.param(lambda b, x: b.or_(x, b.full_like(x, -1)), INT32, id="or-all-bits"),
    ],
)
def test_bits_that_are_known_are_constants(body: Callable[..., Any], dtype: np.dtype) -> None:
    assert set(simplified(body, dtype)) <= {"constant", "broadcast_in_dim"}


@pytest.mark.parametrize(
    ("exponent", "dtype", "expected"),
    [
        pytest.param(4, FLOAT32, ["mul"] * 2, id="to-the-fourth"),
        pytest.param(7, FLOAT32, ["mul"] * 4, id="to-the-seventh"),
        pytest.param(8, BFLOAT16, ["convert", "mul", "mul", "mul", "convert"], id="half-rounds-once"),
        pytest.param(20, INT32, ["mul"] * 5, id="integer"),
        pytest.param(99, COMPLEX64, ["mul"] * 9, id="complex"),
    ],
)
def test_whole_powers_are_products(exponent: int, dtype: np.dtype, expected: list[str]) -> None:
    assert simplified(lambda b, x: b.pow(x, b.full_like(x, exponent)), dtype) == expected


@pytest.mark.parametrize(
    ("exponent", "dtype"),
    [
        pytest.param(9, FLOAT32, id="many-roundings"),
        pytest.param(2.5, FLOAT32, id="no-whole-number"),
        pytest.param(-2, FLOAT32, id="the-product-may-overflow-where-its-inverse-does-not"),
        pytest.param(-3, INT32, id="inverse-of-an-integer"),
        pytest.param(0, FLOAT32, id="one-also-of-nan"),
        pytest.param(100, COMPLEX64, id="where-numpy-takes-logarithms"),
        pytest.param(2 + 1j, COMPLEX64, id="complex-exponent"),
        pytest.param(np.inf, FLOAT32, id="infinite"),
        pytest.param(np.nan, FLOAT32, id="nan"),
    ],
)
def test_other_powers_stay(exponent: complex, dtype: np.dtype) -> None:
    assert "pow" in simplified(lambda b, x: b.pow(x, b.full_like(x, exponent)), dtype)


@pytest.mark.parametrize(("low", "high", "interior"), [(0, 0, 1), (2, 0, 2), (0, 3, 1), (1, 1, 4)])
def test_a_number_between_others_is_chosen_by_its_place(low: int, high: int, interior: int) -> None:
    def padded(b: Any, x: Any) -> Any:
        return b.pad(b.full_like(x, 7), b.scalar(2, INT32), low=(low,), high=(high,), interior=(interior,))

    count = 300  # more than are folded
    module, codec = new_module()
    add_function(module, codec, "f", [TensorType((count,), INT32)], lambda b, x: [padded(b, x)])
    simplify(module)
    assert "adze.select" in str(module)
    assert "adze.pad" not in str(module)
    (got,) = evaluate(module, "f", [np.zeros(count, np.int32)])
    want = np.full(low + high + count + (count - 1) * interior, 2)
    want[low : len(want) - high : interior + 1] = 7
    np.testing.assert_array_equal(got, want)


def sliced(b: Any, x: Any, *ranges: tuple[int, ...]) -> Any:
    """The part of `x` that a start, a limit and a step for each axis say."""
    bounds = [range(*r) for r in ranges]
    return b.slice(
        x,
        start=tuple(r.start for r in bounds),
        limit=tuple(r.stop for r in bounds),
        strides=tuple(r.step for r in bounds),
    )


ZERO_AROUND = {"low": (2, 0), "high": (1, 3), "interior": (0, 0)}


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (lambda b, x, y: sliced(b, b.concatenate(x, y, axis=1), (0, 4), (5, 10)), []),
        (lambda b, x, y: sliced(b, b.concatenate(x, y, axis=1), (1, 4, 2), (6, 9, 2)), ["slice"]),
        (lambda b, x, y: sliced(b, b.concatenate(x, y, axis=1), (0, 4), (4, 6)), ["concatenate", "slice"]),
        (lambda b, x, y: sliced(b, b.concatenate(x, y, x, axis=0), (4, 8), (1, 4)), ["slice"]),
        (lambda b, x, y: sliced(b, sliced(b, x, (0, 4, 2), (1, 5)), (1, 2), (0, 4, 3)), ["slice"]),
        (lambda b, x, y: sliced(b, sliced(b, x, (1, 4), (0, 5, 2)), (0, 3, 2), (1, 3)), ["slice"]),
        (lambda b, x, y: sliced(b, b.pad(x, b.scalar(7, FLOAT32), **ZERO_AROUND), (2, 6), (0, 5)), []),
        (
            lambda b, x, y: sliced(b, b.pad(x, b.scalar(7, FLOAT32), **ZERO_AROUND), (3, 6, 2), (1, 4)),
            ["slice"],
        ),
        (
            lambda b, x, y: sliced(b, b.pad(x, b.scalar(7, FLOAT32), **ZERO_AROUND), (1, 4), (0, 5)),
            ["constant", "pad", "slice"],
        ),
        (
            lambda b, x, y: sliced(
                b, b.broadcast_in_dim(x, shape=(3, 4, 5), dimensions=(1, 2)), (0, 3, 2), (0, 4), (1, 3)
            ),
            ["slice", "broadcast_in_dim"],
        ),
        (lambda b, x, y: sliced(b, b.concatenate(x, y, axis=1), (0, 4), (5, 5)), ["concatenate", "slice"]),
    ],
)
def test_slices_of_what_was_put_together(body: Callable[..., Any], left: list[str]) -> None:
    module, codec = new_module()
    types = [TensorType((4, 5), FLOAT32)] * 2
    add_function(module, codec, "f", types, lambda b, *xs: [body(b, *xs)])
    arrays = [np.arange(20, dtype=np.float32).reshape(4, 5) + k for k in (0, 100)]
    (before,) = evaluate(module, "f", arrays)
    simplify(module)
    (after,) = evaluate(module, "f", arrays)
    np.testing.assert_array_equal(after, before)
    block = module.body.operations[0].regions[0].blocks[0]
    assert [op.operation.name.removeprefix("adze.") for op in block.operations][:-1] == left
