"""Derivatives and batches of functions whose shapes are known only when the program runs: one module.

What a derivative needs of a shape it takes from the primal value: the names of dimensions survive, so that
`x - grad(f)(x)` is well typed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax, nn
from adze import numpy as xp

W = np.random.default_rng(0).standard_normal((3, 3))


def descent(x: Any) -> Any:
    return x - 0.1 * adze.grad(lambda x: xp.sum(xp.sin(x) * x))(x)


def parameters(x: Any) -> Any:
    return adze.grad(lambda w: xp.mean(xp.tanh(x @ w) ** 2))(W)


def per_example(x: Any) -> Any:
    return adze.vmap(adze.grad(lambda w, x: xp.sum(xp.tanh(x @ w))), (None, 0))(W, x)


def softmax(x: Any) -> Any:
    return adze.grad(lambda x: xp.sum(nn.softmax(x) ** 2))(x)


def pushed(x: Any) -> Any:
    return adze.vmap(lambda v: adze.jvp(xp.sin, (v,), (v,))[1])(x) + x


def moved(x: Any) -> Any:
    return adze.grad(lambda x: xp.sum(xp.concatenate([x[1:], x[:1]]) * xp.pad(x, ((1, 0), (0, 0)))[:-1]))(x)


def again(x: Any) -> Any:
    return adze.vmap(adze.grad(adze.checkpoint(lambda v: xp.sum(xp.exp(xp.sin(v))))))(x)


def chosen(x: Any) -> Any:
    return adze.vmap(lambda v: lax.cond(v[0] > 0, lambda v: v * v, lambda v: -v, v))(x)


FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    *(descent, parameters, per_example, softmax, pushed, moved, again, chosen),
)


@pytest.fixture(scope="module")
def compiled() -> Any:
    """All functions in one program, for any number of rows."""
    everything = adze.jit(lambda x: [f(x) for f in FUNCTIONS])
    return everything.trace(adze.ShapeDtype(("rows", 3), np.float64)).lower().compile()


@pytest.mark.parametrize("rows", [2, 5])
def test_compiled_derivatives_of_any_size_are_the_evaluated_ones(compiled: Any, rows: int) -> None:
    x = np.random.default_rng(rows).standard_normal((rows, 3))
    for function, found in zip(FUNCTIONS, compiled(x), strict=True):
        expected = np.asarray(function(x))
        np.testing.assert_allclose(
            np.asarray(found), expected, rtol=1e-10, atol=1e-11, err_msg=function.__name__
        )
