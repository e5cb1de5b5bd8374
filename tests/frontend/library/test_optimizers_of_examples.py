"""SM3, and states of optimizers packed for files."""

from __future__ import annotations

import numpy as np
import pytest

import adze
from adze.example_libraries import optimizers


def test_sm3_shares_accumulators() -> None:
    start, update, params_of = optimizers.sm3(0.1)
    x, g = np.float32([[1, 2], [3, 4]]), np.float32([[1, 2], [3, 0]])
    params = {"w": x, "b": np.float32(1)}
    state = start(params)
    step = adze.jit(lambda i, s: update(i, {"w": g, "b": np.float32(2)}, s))
    state = step(1, step(0, state))
    mean, rows, columns, want = np.zeros_like(g), np.zeros(2), np.zeros(2), x.astype(np.float64)
    for _ in range(2):
        squares = np.minimum(rows[:, None], columns[None]) + g**2
        slopes = np.divide(g, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
        mean = 0.1 * slopes + 0.9 * mean
        want = want - 0.1 * mean
        rows, columns = squares.max(1), squares.max(0)
    np.testing.assert_allclose(np.asarray(params_of(state)["w"]), want, rtol=1e-5)
    assert params_of(state)["b"].shape == ()


def test_a_state_is_packed_again() -> None:
    start, _, params_of = optimizers.adam(0.1)
    state = start({"w": np.ones(2, np.float32), "b": np.zeros(3, np.float32)})
    marked = optimizers.unpack_optimizer_state(state)
    assert isinstance(marked["w"], optimizers.JoinPoint)
    again = optimizers.pack_optimizer_state(marked)
    assert adze.tree.structure(again) == adze.tree.structure(state)
    assert params_of(again)["w"].tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="whose leaves are JoinPoint"):
        optimizers.pack_optimizer_state({"w": np.ones(2)})
