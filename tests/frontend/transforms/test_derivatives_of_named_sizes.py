"""Derivatives of functions of named sizes: names of their results, checks of tangents and cotangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.runtime.errors import FailedCallError

FLOAT = np.dtype(np.float32)
X = np.array([1, 2, 3], FLOAT)
SIX, SEVEN = np.arange(6, dtype=FLOAT), np.arange(7, dtype=FLOAT)


def doubled(x: Any) -> Any:
    return xp.concatenate([x, x * x])


def pulled(x: Any, cotangent: Any) -> Any:
    return adze.vjp(doubled, x)[1](cotangent)[0]


def pushed(x: Any, tangent: Any) -> Any:
    return adze.linearize(doubled, x)[1](tangent)


def compiled(function: Callable[..., Any], *shapes: tuple[Any, ...]) -> Callable[..., np.ndarray]:
    specs = [adze.ShapeDtype(shape, FLOAT) for shape in shapes]
    program = adze.trace(function, *specs).lower("cpu").compile()
    return lambda *arguments: np.asarray(program(*arguments))


GRADIENT = SIX[:3] + 2 * X * SIX[3:]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (pulled, GRADIENT),
        (adze.grad(lambda x, c: (pulled(x, c) ** 2).sum()), 4 * GRADIENT * SIX[3:]),
        (lambda x, c: adze.vmap(pulled)(x[None], c[None])[0], GRADIENT),
        (lambda x, c: adze.cond(x[0] > 0, lambda: pulled(x, c), lambda: x), GRADIENT),
        (adze.jit(pulled), GRADIENT),
    ],
    ids=["vjp", "gradient of a vjp", "vmap", "cond", "jit"],
)
def test_a_cotangent_of_another_size_is_an_error(function: Any, expected: np.ndarray) -> None:
    program = compiled(function, ("n",), ("m",))
    np.testing.assert_allclose(program(X, SIX), expected)
    message = "the cotangent of 'result 0' must have the shape of its primal: axis 0 differs"
    with pytest.raises(FailedCallError, match=message):
        program(X, SEVEN)


@pytest.mark.parametrize("function", [pushed, lambda x, t: adze.jvp(doubled, (x,), (t,))[1]])
def test_a_tangent_of_another_size_is_an_error(function: Any) -> None:
    program = compiled(function, ("n",), ("m",))
    np.testing.assert_allclose(program(X, X), np.concatenate([X, 2 * X * X]))
    with pytest.raises(
        FailedCallError, match=r"tangent of .* must have the shape of its primal: axis 0 differs"
    ):
        program(X, SIX)


def test_results_of_derivatives_have_the_sizes_of_their_primals() -> None:
    def both(x: Any) -> Any:
        value, tangent = adze.jvp(doubled, (x,), (x,))
        result, pull = adze.vjp(doubled, x)
        assert str(value.shape[0]) == str(tangent.shape[0]) == str(result.shape[0]) == "2*n"
        return pull(tangent + value)[0]

    program = compiled(both, ("n",))
    primal = np.concatenate([X, X * X]) + np.concatenate([X, 2 * X * X])
    np.testing.assert_allclose(program(X), primal[:3] + 2 * X * primal[3:])
    text = str(adze.trace(both, adze.ShapeDtype(("n",), FLOAT)).mlir())
    assert "size_check" not in text


@adze.custom_vjp
def with_pullback(x: Any, y: Any) -> Any:
    return x * 2


with_pullback.defvjp(lambda x, y: (x * 2, y), lambda y, cotangent: (y + 0 * cotangent.sum(), None))


@adze.custom_jvp
def with_tangent(x: Any, y: Any) -> Any:
    return x * 2


with_tangent.defjvp(lambda primals, tangents: (primals[0] * 2, primals[1]))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            adze.grad(lambda x, y: with_pullback(x, y).sum()),
            "the bwd rule of with_pullback must return a cotangent of argument 0's shape: axis 0 differs",
        ),
        (
            lambda x, y: adze.vmap(adze.grad(lambda x, y: with_pullback(x, y).sum()))(x[None], y[None])[0],
            "the bwd rule of with_pullback must return a cotangent of argument 0's shape: axis 0 differs",
        ),
        (
            lambda x, y: adze.jvp(lambda x: with_tangent(x, y), (x,), (x,))[1],
            "the jvp rule of with_tangent must return a tangent of its result's shape: axis 0 differs",
        ),
    ],
    ids=["pullback", "pullback of a batch", "tangent"],
)
def test_rules_of_the_users_return_the_sizes_of_their_primals(function: Any, message: str) -> None:
    program = compiled(function, ("n",), ("m",))
    np.testing.assert_array_equal(program(X, SIX[:3]), SIX[:3])
    with pytest.raises(FailedCallError, match=message):
        program(X, SIX)


@pytest.mark.parametrize("jacobian", [adze.jacfwd, adze.jacrev])
def test_jacobians_of_named_sizes(jacobian: Any) -> None:
    def result(x: Any, y: Any) -> Any:
        return {"outer": xp.outer(xp.sin(x), y), "sum": (x * x).sum() + y}

    both = jacobian(result, argnums=(0, 1))
    program = adze.trace(both, *(adze.ShapeDtype((name,), "float64") for name in "nm")).lower("cpu").compile()
    for n, m in ((3, 2), (1, 4), (0, 2)):
        x, y = np.linspace(-1, 2, n), np.linspace(0.5, 1, m)
        by_x, by_y = program(x, y)["outer"]
        np.testing.assert_allclose(by_x, np.einsum("ik,j->ijk", np.diag(np.cos(x)), y), atol=1e-15)
        np.testing.assert_allclose(by_y, np.einsum("i,jk->ijk", np.sin(x), np.eye(m)), atol=1e-15)
        by_x, by_y = program(x, y)["sum"]
        np.testing.assert_allclose(by_x, np.tile(2 * x, (m, 1)))
        np.testing.assert_allclose(by_y, np.eye(m))


def test_a_hessian_of_named_sizes() -> None:
    def loss(x: Any) -> Any:
        return (x**3).sum() * x.sum()

    program = adze.trace(adze.hessian(loss), adze.ShapeDtype(("n",), "float64")).lower("cpu").compile()
    for n in (1, 4):
        x = np.linspace(0.5, 2, n)
        expected = np.add.outer(3 * x**2, 3 * x**2) + np.diag(6 * x * x.sum())
        np.testing.assert_allclose(program(x), expected, rtol=1e-13)


@pytest.mark.parametrize("count", [3, 4, 5, 8])
def test_the_gradient_of_every_second_element_where_there_may_be_none(count: int) -> None:
    def loss(x: Any) -> Any:
        return (x[: x.shape[0] - 3 : 2] ** 2).sum()

    program = adze.trace(adze.grad(loss), adze.ShapeDtype(("n",), np.float32)).lower().compile()
    wanted = np.zeros(count, np.float32)
    wanted[: count - 3 : 2] = 2
    np.testing.assert_array_equal(program(np.ones(count, np.float32)), wanted)
