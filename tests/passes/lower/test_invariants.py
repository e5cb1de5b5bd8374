"""What is hoisted out of loops: values as evaluated, also of loops without steps, nested, differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import lax

VECTOR = np.linspace(-1, 1, 40).astype(np.float32)
MATRIX = np.random.default_rng(0).normal(size=(40, 40)).astype(np.float32) / 8


def scanned(x: Any, w: Any) -> Any:
    """Products and functions of constants, used as they are and broadcast."""

    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        carry = anp.tanh(carry @ (w @ w.T) + anp.exp(-x) * row)
        return carry, anp.sum(anp.sin(x)) + carry[0]

    return lax.scan(step, x, w)


def counted(x: Any, w: Any) -> Any:
    return lax.fori_loop(0, 6, lambda i, c: c * anp.cos(x) + anp.sort(x) * i, x)


def conditional(x: Any, w: Any) -> Any:
    """The state of a while, with a constant of the condition that is dear, too."""
    return lax.while_loop(
        lambda s: (s[0] < 5) & (anp.sum(anp.exp(w)) > 0), lambda s: (s[0] + 1, s[1] * anp.exp(-x * x)), (0, x)
    )


def nested(x: Any, w: Any) -> Any:
    def inner(j: Any, c: Any) -> Any:
        return c * 0.5 + anp.log1p(anp.abs(x)) @ w

    return lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, 4, inner, c) + anp.exp(x) * i, x)


def without_steps(x: Any, w: Any) -> Any:
    return lax.scan(lambda c, row: (c * anp.exp(x), row), x, w[:0])


FUNCTIONS = (scanned, counted, conditional, nested, without_steps)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function: Callable[..., Any]) -> None:
    expected = function(anp.asarray(VECTOR), anp.asarray(MATRIX))
    got = adze.jit(function)(VECTOR, MATRIX)
    for mine, other in zip(adze.tree.leaves(got), adze.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("function", [scanned, counted, nested])
def test_derivatives_and_batches(function: Callable[..., Any]) -> None:
    def loss(x: Any, w: Any) -> Any:
        return sum(anp.sum(leaf**2) for leaf in adze.tree.leaves(function(x, w)))

    batch = np.stack([VECTOR, VECTOR * 0.5])
    for made in (adze.grad(loss, argnums=(0, 1)), lambda x, w: adze.vmap(loss, in_axes=(0, None))(batch, w)):
        expected = made(anp.asarray(VECTOR), anp.asarray(MATRIX))
        got = adze.jit(made)(VECTOR, MATRIX)
        for mine, other in zip(adze.tree.leaves(got), adze.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-3)


def test_what_is_cheap_or_follows_from_the_state_stays() -> None:
    def step(i: Any, c: Any) -> Any:
        return anp.exp(c) * 0.1 + (x + 1)

    x = anp.asarray(VECTOR)
    text = adze.trace(lambda x: lax.fori_loop(0, 5, step, x), VECTOR).mlir("hoist-invariants")
    main = text.split("func.func private")[0]
    assert "adze.exp" not in main
