"""`fwd_and_bwd`: two passes that are compiled once, whatever the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

X, W = np.float32([[0.1, 0.2], [0.3, 0.4]]), np.float32([[0.5, -1], [2, 0.25]])


def layer(x: Any, w: Any, scale: float = 1.0) -> Any:
    return anp.tanh(x @ w) * scale


@pytest.mark.each_value(lambda argnums, jitted: (argnums, (jitted, isinstance(argnums, int))))
@pytest.mark.parametrize("jitted", [True, False])
@pytest.mark.parametrize("argnums", [0, 1, -1, (0, 1), (1, 0)])
def test_both_passes_are_those_of_vjp(argnums: Any, jitted: bool) -> None:
    fwd, bwd = adze.fwd_and_bwd(layer, argnums, jitted=jitted)
    for factor in (1, 2):
        y, pullback = fwd(X * factor, W)
        wanted, pull = adze.vjp(layer, X * factor, W)
        assert np.allclose(y, wanted)
        result = bwd(pullback, y)
        both = pull(wanted)
        if isinstance(argnums, int):
            assert np.allclose(result, both[argnums], 1e-4)
        else:
            assert all(np.allclose(r, both[n], 1e-4) for r, n in zip(result, argnums, strict=True))


def test_both_passes_are_traced_once() -> None:
    traces = []

    def f(x: Any, w: Any) -> Any:
        traces.append(x)
        return layer(x, w)

    fwd, bwd = adze.fwd_and_bwd(f, (0, 1))
    for factor in (1, 2, 3):
        y, pullback = fwd(X * factor, W)
        bwd(pullback, y)
    assert len(traces) == 1
    assert len(adze.explain_retrace(bwd).splitlines()) == 1


def test_aux_and_keywords() -> None:
    fwd, bwd = adze.fwd_and_bwd(lambda x, scale: (layer(x, W, scale), x.sum()), 0, has_aux=True)
    y, pullback, total = fwd(X, scale=3.0)
    assert np.allclose(y, 3 * np.tanh(X @ W)) and np.isclose(total, 1)
    assert np.allclose(bwd(pullback, np.ones((2, 2), np.float32)), 3 * (1 - np.tanh(X @ W) ** 2) @ W.T, 1e-4)


def test_arguments_that_are_not_there() -> None:
    fwd, _ = adze.fwd_and_bwd(layer, 2)
    with pytest.raises(adze.AdzeError, match="argnums names argument 2, layer was called with 2 arguments"):
        fwd(X, W)
    with pytest.raises(TypeError, match="expected a function to differentiate, got int"):
        adze.fwd_and_bwd(3, 0)
