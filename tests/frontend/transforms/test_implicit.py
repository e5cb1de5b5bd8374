"""Roots by implicit differentiation: against closed forms, in both modes, batched, with aux, wrong rules."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import AdzeError, lax


def approx(x: float, rel: float = 1e-12) -> Any:
    return pytest.approx(x, rel=rel)


def newton(f: Any, guess: Any) -> Any:
    """Newton's method for numbers side by side."""

    def step(x: Any) -> Any:
        value, slope = adze.jvp(f, (x,), (anp.ones_like(x),))
        return x - value / slope

    return lax.while_loop(lambda x: anp.max(anp.abs(f(x))) > 1e-13, step, guess)


def by_division(g: Any, y: Any) -> Any:
    return y / g(anp.ones_like(y))


def square_root(t: Any) -> Any:
    return lax.custom_root(lambda x: x * x - t, anp.ones_like(t), newton, by_division)


@pytest.mark.parametrize("wrapped", [lambda f: f, adze.jit], ids=["eager", "jit"])
def test_derivatives_of_a_root_are_those_of_the_closed_form(wrapped: Any) -> None:
    t = np.float64(2)
    assert float(wrapped(square_root)(t)) == approx(2**0.5, rel=1e-13)
    grad, curvature = adze.grad(square_root), adze.grad(adze.grad(square_root))
    assert float(wrapped(grad)(t)) == approx(0.5 * 2**-0.5, rel=1e-12)
    assert float(wrapped(curvature)(t)) == approx(-0.25 * 2**-1.5, rel=1e-12)
    assert float(wrapped(adze.grad(curvature))(t)) == approx(0.375 * 2**-2.5, rel=1e-12)
    assert float(wrapped(lambda t: adze.jvp(square_root, (t,), (np.float64(3),)))(t)[1]) == approx(
        1.5 * 2**-0.5
    )
    assert float(wrapped(adze.jacfwd(grad))(t)) == approx(-0.25 * 2**-1.5, rel=1e-12)


def test_roots_of_a_batch() -> None:
    t = np.linspace(1, 5, 7)
    np.testing.assert_allclose(adze.jit(adze.vmap(square_root))(t), np.sqrt(t), rtol=1e-12)
    np.testing.assert_allclose(adze.jit(adze.vmap(adze.grad(square_root)))(t), 0.5 / np.sqrt(t), rtol=1e-12)


def test_a_system_in_a_tree_with_dynamic_sizes() -> None:
    """x + a y = b, x y = c as trees; the guess and the solver's aux have no derivative."""

    def f(v: Any, a: Any, b: Any, c: Any) -> Any:
        return {"x": v["x"] + a * v["y"] - b, "y": v["x"] * v["y"] - c}

    def solution(a: Any, b: Any, c: Any, start: Any) -> Any:
        def solve(f: Any, guess: Any) -> Any:
            y = (b - anp.sqrt(b * b - 4 * a * c)) / (2 * a)
            return {"x": b - a * y, "y": y}, (guess["x"], anp.sum(b))

        def tangent_solve(g: Any, w: Any) -> Any:
            one, zero = anp.ones_like(a), anp.zeros_like(a)
            first, second = g({"x": one, "y": zero}), g({"x": zero, "y": one})
            determinant = first["x"] * second["y"] - first["y"] * second["x"]
            return {
                "x": (w["x"] * second["y"] - w["y"] * second["x"]) / determinant,
                "y": (first["x"] * w["y"] - first["y"] * w["x"]) / determinant,
            }

        guess = {"x": start, "y": start}
        return lax.custom_root(lambda v: f(v, a, b, c), guess, solve, tangent_solve, has_aux=True)

    def loss(*arguments: Any) -> Any:
        root, (_, total) = solution(*arguments)
        return anp.sum(anp.sin(root["x"]) * root["y"]) + total

    def closed(a: Any, b: Any, c: Any, start: Any) -> Any:
        y = (b - anp.sqrt(b * b - 4 * a * c)) / (2 * a)
        return anp.sum(anp.sin(b - a * y) * y)

    sizes = [adze.ShapeDtype(("n",), np.float64)] * 4
    arguments = [np.linspace(1, 2, 5), np.linspace(5, 6, 5), np.linspace(0.5, 1, 5), np.ones(5)]
    results = adze.jit(adze.grad(loss, argnums=(0, 1, 2, 3))).trace(*sizes).lower().compile()(*arguments)
    wanted = adze.grad(closed, argnums=(0, 1, 2, 3))(*arguments)
    for one, other in zip(results[:3], wanted[:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    assert not np.asarray(results[3]).any()


def test_a_tangent_solver_may_use_what_the_function_does_not() -> None:
    def root(t: Any, scale: Any) -> Any:
        return lax.custom_root(
            lambda x: x * x - t,
            anp.ones_like(t),
            newton,
            lambda g, y: scale * y / g(scale * anp.ones_like(y)),
        )

    results = adze.jit(adze.grad(root, argnums=(0, 1)))(np.float64(4), np.float64(3))
    assert float(results[0]) == approx(0.25)
    assert float(results[1]) == 0


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"solve": lambda f, x: (x, x)}, r"what solve returns has the tree \(\*, \*\), the guess \*"),
        ({"solve": lambda f, x: x[:1]}, r"what solve returns is f64\[1\], the guess f64\[2\]"),
        ({"f": lambda x: x.sum()}, r"what f returns is f64\[\], its argument f64\[2\]"),
        ({"tangent_solve": lambda g, y: y[0]}, r"what tangent_solve returns is f64\[\], the root f64\[2\]"),
        ({"has_aux": True}, r"custom_root with has_aux=True: solve must return \(root, aux\), it returns \*"),
    ],
)
def test_wrong_rules_are_errors(keywords: dict[str, Any], message: str) -> None:
    given = {"f": lambda x: x * x - 2, "solve": newton, "tangent_solve": by_division} | keywords

    def root(x: Any) -> Any:
        return lax.custom_root(given.pop("f"), x, **given)

    with pytest.raises(AdzeError, match=message) as caught:
        adze.jit(root)(np.ones(2))
    assert re.search(r"at .*test_implicit\.py:\d+", str(caught.value))
