"""When functions with rules of their own and these rules are called: in derivatives in JAX's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

X = np.float32(3)


@pytest.fixture
def calls() -> list[str]:
    return []


@pytest.fixture
def pushed(calls: list[str]) -> Any:
    """A `custom_jvp` function whose rule calls it."""

    @adze.custom_jvp
    def f(x: Any) -> Any:
        calls.append("f")
        return anp.sin(x)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        calls.append("rule")
        return f(primals[0]), anp.cos(primals[0]) * tangents[0]

    return f


@pytest.fixture
def pulled(calls: list[str]) -> Any:
    """A `custom_vjp` function whose forward rule calls it."""

    @adze.custom_vjp
    def f(x: Any) -> Any:
        calls.append("f")
        return anp.sin(x)

    def forward(x: Any) -> Any:
        calls.append("forward")
        return f(x), anp.cos(x)

    def backward(residual: Any, cotangent: Any) -> Any:
        calls.append("backward")
        return (residual * cotangent,)

    f.defvjp(forward, backward)
    return f


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: adze.grad(f)(X),
        lambda f: adze.jvp(f, (X,), (X / X,))[1],
        lambda f: adze.jit(adze.grad(f))(X),
    ],
    ids=["grad", "jvp", "jit"],
)
def test_rules_are_called_before_their_function(
    derivative: Callable[[Any], Any], pushed: Any, pulled: Any, calls: list[str]
) -> None:
    assert float(derivative(pushed)) == pytest.approx(np.cos(3), rel=1e-6)
    assert calls == ["rule", "f"]
    calls.clear()
    assert float(derivative(pulled)) == pytest.approx(np.cos(3), rel=1e-6)
    assert calls == ["forward", "f", "backward"]


def test_a_function_that_its_rule_does_not_call_is_called_once(calls: list[str]) -> None:
    @adze.custom_jvp
    def f(x: Any) -> Any:
        calls.append("f")
        return x * x

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        calls.append("rule")
        return primals[0] ** 2, 5 * tangents[0]

    assert float(adze.grad(f)(X)) == 5 and calls == ["rule", "f"]
    assert float(adze.grad(lambda x: f(f(x)))(X)) == 25


def test_outside_derivatives_the_function_is_called_first(pushed: Any, calls: list[str]) -> None:
    assert float(adze.jit(pushed)(X)) == pytest.approx(np.sin(3), rel=1e-6)
    assert calls[0] == "f"


def test_rules_that_capture_values_of_the_trace() -> None:
    def total(x: Any) -> Any:
        scale = x * 2

        @adze.custom_jvp
        def f(y: Any) -> Any:
            return y * scale

        f.defjvp(lambda p, t: (f(p[0]), t[0] * scale * 3))
        return f(x)

    # 18 by the rule, and 6 by `scale`, which the function captures.
    assert float(adze.grad(total)(X)) == float(adze.jit(adze.grad(total))(X)) == 24
