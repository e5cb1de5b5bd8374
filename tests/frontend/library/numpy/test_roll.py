"""`roll` by shifts that are known, traced, several, and of axes whose size is dynamic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

from .running import assert_same, traced_and_evaluated

X = np.arange(12.0).reshape(3, 4)


@pytest.mark.each_value
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (1, 1)])
@pytest.mark.parametrize("shift", [0, 1, -5, 7])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint64"])
def test_a_traced_shift_rolls_as_numpy_does(shift: int, axis: Any, dtype: str) -> None:
    shift = abs(shift) if dtype == "uint64" else shift
    expected = np.roll(X, shift, axis)
    result = traced_and_evaluated(lambda x, s: anp.roll(x, s, axis), X, np.asarray(shift, dtype))
    assert_same(result, expected)
    assert_same(anp.roll(X, shift, axis), expected)


def test_several_shifts() -> None:
    shifts = np.array([2, -1])
    assert_same(
        traced_and_evaluated(lambda x, s: anp.roll(x, s, (0, 1)), X, shifts), np.roll(X, (2, -1), (0, 1))
    )
    assert_same(
        traced_and_evaluated(lambda x, s: anp.roll(x, (s[0], 3), (1, 0)), X, shifts),
        np.roll(X, (2, 3), (1, 0)),
    )
    assert_same(traced_and_evaluated(lambda x, s: anp.roll(x, s, 1), X, shifts), np.roll(X, 1, 1))
    assert_same(anp.roll(X, anp.asarray(shifts), (0, 1)), np.roll(X, (2, -1), (0, 1)))


@pytest.mark.parametrize("dtype", [np.float16, anp.bfloat16, np.complex64, bool, np.int8])
def test_every_dtype(dtype: Any) -> None:
    x = np.arange(5).astype(dtype)
    assert_same(traced_and_evaluated(anp.roll, x, np.int32(2)), np.roll(x, 2))


def test_a_dynamic_axis_compiles() -> None:
    specs = adze.ShapeDtype(("n", 2), np.float32), adze.ShapeDtype((), np.int32)
    program = adze.trace(lambda x, s: (anp.roll(x, s, 0), anp.roll(x, s)), *specs).lower().compile()
    for n, shift in ((5, 2), (5, -7), (1, 3), (0, 1)):
        x = np.arange(2.0 * n, dtype=np.float32).reshape(n, 2)
        assert_same(program(x, np.int32(shift)), [np.roll(x, shift, 0), np.roll(x, shift)])


def test_a_derivative_rolls_back_and_a_batch_of_shifts_rolls_each() -> None:
    weights = np.arange(4.0)
    slope = adze.grad(lambda x, s: anp.sum(anp.roll(x, s) * weights))
    assert_same(adze.jit(slope)(X[0], 1), np.roll(weights, -1))
    shifts = np.arange(-1, 3)
    assert_same(
        adze.vmap(anp.roll, in_axes=(None, 0))(X[0], shifts), np.stack([np.roll(X[0], s) for s in shifts])
    )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: anp.roll(x, x[0, 0]), TypeError, r"roll: shift must be of integers, got f64\[\]"),
        (lambda x: anp.roll(x, 1.5), TypeError, "roll: shift must be an integer, got 1.5"),
        (
            lambda x: anp.roll(x, x.astype(int), 0),
            ValueError,
            r"must be a number or a vector, got i64\[3,4\]",
        ),
        (lambda x: anp.roll(x, (1, 2, 3), (0, 1)), ValueError, "must have equal lengths"),
        (lambda x: anp.roll(x, 1, 2), IndexError, "roll: axis 2 is out of range"),
    ],
)
def test_misuse_says_what_is_wrong(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        adze.trace(call, X)
    assert isinstance(caught.value, adze.AdzeError)
