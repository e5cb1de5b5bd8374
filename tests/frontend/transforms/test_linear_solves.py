"""`custom_linear_solve`: solutions whose derivatives are those of the system, not of the solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError, lax
from adze import numpy as xp

A = np.array([[4.0, 1.0, 0.5], [0.2, 3.0, 1.0], [0.3, 0.1, 5.0]])
B = np.array([1.0, -2.0, 0.5])


def jacobi(matvec: Callable[[Any], Any], b: Any) -> Any:
    """Iterates without end as far as derivatives can see: a loop that cannot be reversed."""
    diagonal = xp.diagonal(xp.stack([matvec(row) for row in np.eye(3)]).T)

    def step(state: Any) -> Any:
        x, _ = state
        return x + (b - matvec(x)) / diagonal, x

    start = (b / diagonal, b * 0)
    return lax.while_loop(lambda s: xp.max(xp.abs(s[0] - s[1])) > 1e-15, step, start)[0]


def solved(a: Any, b: Any) -> Any:
    return lax.custom_linear_solve(lambda x: a @ x, b, jacobi, jacobi)


def direct(a: Any, b: Any) -> Any:
    return xp.linalg.solve(a, b)


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-9, atol=1e-11)


def of_both(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A scalar that depends on the solution in a curved way."""
    return lambda a, b: xp.sum(xp.sin(f(a, b)))


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f(A, B),
    "jvp": lambda f: adze.jvp(f, (A, B), (A * 0.1, B + 1))[1],
    "gradient": lambda f: adze.grad(of_both(f), (0, 1))(A, B),
    "forward over reverse": lambda f: adze.jvp(adze.grad(of_both(f)), (A, B), (A * 0.1, B))[1],
    "reverse over reverse": lambda f: adze.grad(lambda a: xp.sum(adze.grad(of_both(f))(a, B)[0] ** 2))(A),
    "vmap": lambda f: adze.vmap(f, (None, 0))(A, np.stack([B, 2 * B])),
    "vmap of gradient": lambda f: adze.vmap(adze.grad(of_both(f)), (0, None))(np.stack([A, 2 * A]), B),
    "gradient of vmap": lambda f: adze.grad(
        lambda a: xp.sum(adze.vmap(f, (None, 0))(a, np.stack([B, 2 * B])) ** 2)
    )(A),
    "checkpoint": lambda f: adze.grad(of_both(adze.checkpoint(f)))(A, B),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sorted(TRANSFORMS))
def test_derivatives_are_those_of_a_direct_solution(name: str) -> None:
    results, expected = TRANSFORMS[name](solved), TRANSFORMS[name](direct)
    for ours, theirs in zip(adze.tree.leaves(results), adze.tree.leaves(expected), strict=True):
        same(ours, theirs)


@pytest.mark.thorough
def test_compiled_gradient_is_that_of_a_direct_solution() -> None:
    same(adze.jit(adze.grad(of_both(solved)))(A, B), adze.grad(of_both(direct))(A, B))


def test_a_symmetric_system_in_a_tree_with_aux() -> None:
    s = A @ A.T

    def f(scale: Any, b: Any) -> Any:
        def matvec(x: Any) -> Any:
            return {"x": scale * (s @ x["x"])}

        def solve(matvec: Any, b: Any) -> Any:
            return {"x": xp.linalg.solve(scale * s, b["x"])}, {"steps": xp.asarray(3)}

        result, aux = lax.custom_linear_solve(matvec, {"x": b}, solve, symmetric=True, has_aux=True)
        return xp.sum(result["x"]), aux

    gradients, aux = adze.grad(f, (0, 1), has_aux=True)(np.float64(2), B)
    exact = np.linalg.solve(2 * s, B)
    same(gradients[0], -exact.sum() / 2)
    same(gradients[1], np.linalg.solve(2 * s, np.ones(3)))
    assert int(aux["steps"]) == 3


def test_a_system_of_a_dynamic_size() -> None:
    def f(d: Any, b: Any) -> Any:
        x = lax.custom_linear_solve(lambda x: d * x, b, lambda _, b: b / d, lambda _, b: b / d)
        return xp.sum(x * x)

    spec = adze.ShapeDtype(("n",), np.float64)
    compiled = adze.trace(adze.grad(f, (0, 1)), spec, spec).lower().compile()
    d, b = np.array([2.0, 4.0]), np.array([1.0, 3.0])
    for ours, theirs in zip(compiled(d, b), (-2 * b**2 / d**3, 2 * b / d**2), strict=True):
        same(ours, theirs)


def test_without_a_transposed_solver_only_forward_mode_is_there() -> None:
    def f(b: Any) -> Any:
        return xp.sum(lax.custom_linear_solve(lambda x: A @ x, b, jacobi))

    same(adze.jvp(f, (B,), (B,))[1], direct(A, B).sum())
    with pytest.raises(AdzeError, match="custom_linear_solve was given no transpose_solve"):
        adze.grad(f)(B)


def test_wrong_solvers_are_errors() -> None:
    def check(message: str, **changed: Any) -> None:
        given = {"matvec": lambda x: A @ x, "solve": jacobi} | changed
        with pytest.raises(AdzeError) as caught:
            adze.trace(lambda b: lax.custom_linear_solve(b=b, **given), B)
        assert caught.value.message == message

    check("what solve returns is f64[2], b f64[3]", solve=lambda _, b: b[:2])
    check("what solve returns has the tree (*, *), b *", solve=lambda _, b: (b, b))
    check("what matvec returns is f64[], b f64[3]", matvec=lambda x: x.sum(), solve=lambda _, b: b)
    check(
        "custom_linear_solve with has_aux=True: solve must return (solution, aux), it returns *",
        has_aux=True,
    )
