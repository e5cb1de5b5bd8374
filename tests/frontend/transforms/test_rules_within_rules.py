"""Custom rules within custom rules are traced when they are differentiated, so that tracing ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.frontend.tracing.interpreter import as_value, ops

TWO = np.float64(2)


@partial(adze.custom_vjp, nondiff_argnums=(0,))
def fixed_point(f: Any, a: Any, guess: Any) -> Any:
    """The x with `f(a, x) = x`; its pullback solves another fixed point, of a new function."""

    def step(carry: Any) -> Any:
        return carry[1], f(a, carry[1])

    return lax.while_loop(lambda c: xp.abs(c[0] - c[1]) > 1e-13, step, (guess, f(a, guess)))[1]


def forward(f: Any, a: Any, guess: Any) -> Any:
    x = fixed_point(f, a, guess)
    return x, (a, x)


def backward(f: Any, residuals: Any, cotangent: Any) -> Any:
    a, x = residuals
    inner = fixed_point(partial(backward_step, f), (a, x, cotangent), cotangent)
    return adze.vjp(lambda a: f(a, x), a)[1](inner)[0], xp.zeros_like(x)


def backward_step(f: Any, packed: Any, u: Any) -> Any:
    a, x, cotangent = packed
    return cotangent + adze.vjp(lambda x: f(a, x), x)[1](u)[0]


fixed_point.defvjp(forward, backward)


def root(a: Any) -> Any:
    return fixed_point(lambda a, x: 0.5 * (x + a / x), a, a)


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-9)


SLOPE = [2**0.5, 0.5 * 2**-0.5, -0.25 * 2**-1.5, 0.375 * 2**-2.5]


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_a_fixed_point_has_derivatives_of_every_order(order: int) -> None:
    f: Any = root
    for _ in range(order):
        f = adze.grad(f)
    same(f(TWO), SLOPE[order])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: adze.vmap(adze.grad(adze.grad(root)))(x * np.ones(2)), [SLOPE[2]] * 2),
        (lambda x: adze.grad(lambda x: adze.vmap(adze.grad(root))(x * np.ones(2))[1])(x), SLOPE[2]),
        (adze.grad(adze.grad(adze.checkpoint(root))), SLOPE[2]),
        (adze.jit(adze.grad(adze.grad(root))), SLOPE[2]),
    ],
    ids=["vmap of grad of grad", "grad of vmap of grad", "checkpoint", "compiled"],
)
def test_a_fixed_point_goes_through_transforms(f: Callable[[Any], Any], expected: Any) -> None:
    same(f(TWO), expected)


@pytest.mark.thorough
def test_a_pullback_made_outside_is_differentiated_in_a_trace() -> None:
    pull = adze.vjp(root, TWO)[1]
    same(adze.grad(adze.grad(lambda c: pull(c)[0] ** 2))(TWO), 2 * SLOPE[1] ** 2)


def test_rules_that_make_new_functions_with_rules_end() -> None:
    def sine(x: Any, how_often: int = 0) -> Any:
        f = adze.custom_jvp(lambda x: xp.sin(x))
        f.defjvp(lambda p, t: (sine(p[0], how_often + 1), t[0] * sine(p[0] + np.pi / 2, how_often + 1)))
        return f(x)

    same(adze.grad(sine)(TWO), np.cos(2))
    same(adze.grad(adze.grad(sine))(TWO), -np.sin(2))
    same(adze.jvp(adze.grad(adze.grad(sine)), (TWO,), (TWO,))[1], -2 * np.cos(2))


def test_a_rule_that_calls_its_function_may_be_checkpointed(capsys: pytest.CaptureFixture[str]) -> None:
    @adze.custom_jvp
    def sine(x: Any) -> Any:
        ops.print(as_value(x), format="seen {}")
        return xp.sin(x)

    sine.defjvp(lambda p, t: (sine(p[0]), xp.cos(p[0]) * t[0]))
    twice = adze.checkpoint(lambda x: sine(sine(x)))
    same(adze.grad(twice)(TWO), np.cos(2) * np.cos(np.sin(2)))
    assert capsys.readouterr().out.count("seen") == 2


def test_rules_within_rules_find_what_they_close_over() -> None:
    def outer(x: Any, scale: Any) -> Any:
        def scaled(y: Any) -> Any:
            f = adze.custom_vjp(lambda y: y * y)
            f.defvjp(lambda y: (y * y, y), lambda y, ct: (scaled(y) / y * ct * scale,))
            return f(y)

        return scaled(x)

    # The rule says f' = scale * f / x; once more that is scale * (f' x - f) / x^2.
    same(adze.grad(outer)(TWO, np.float64(3)), 6)
    same(adze.grad(adze.grad(outer))(TWO, np.float64(3)), 3 * (6 * 2 - 4) / 4)


def test_a_rule_within_a_rule_that_uses_a_value_it_hides_is_an_error() -> None:
    class Kept:
        value: Any = None

    def outer(x: Any, scale: Any) -> Any:
        Kept.value = scale

        def scaled(y: Any) -> Any:
            f = adze.custom_jvp(lambda y: y * y)
            f.defjvp(lambda p, t: (p[0] * p[0], scaled(p[0]) * t[0] * Kept.value))
            return f(y)

        return scaled(x)

    def hidden(x: Any) -> Any:
        return outer(x, adze.stop_gradient(x) + 1)

    same(adze.grad(hidden)(TWO), 12)
    with pytest.raises(adze.AdzeError) as caught:
        adze.grad(adze.grad(hidden))(TWO)
    assert caught.value.message == (
        "a rule of lambda, which is called in a rule itself, uses a traced value that is neither an argument "
        "nor in a closure of it"
    )
    assert caught.value.hint == "make that value an argument of the function"


def test_an_error_that_a_function_catches_leaves_nothing_behind() -> None:
    def guarded(x: Any) -> Any:
        try:
            return lax.cond(x > 0, lambda: x, lambda: x.astype("int32"))
        except adze.AdzeError:
            return x * 2

    assert "mul" in adze.trace(guarded, TWO).mlir()
