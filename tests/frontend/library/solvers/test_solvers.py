"""Iterative solvers: linear systems, minima and differential equations against closed and SciPy's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.integrate
import scipy.optimize

import adze
import adze.numpy as anp
from adze import test_util
from adze.experimental.ode import odeint
from adze.frontend.errors import ArgumentError, DtypeError, ShapeError
from adze.scipy.cluster.vq import vq
from adze.scipy.optimize import minimize
from adze.scipy.sparse import linalg

RANDOM = np.random.default_rng(0)
ANY = RANDOM.normal(size=(8, 8))
SYMMETRIC = ANY @ ANY.T + 8 * np.eye(8)
GENERAL = ANY + 6 * np.eye(8)
B = RANDOM.normal(size=8)
SOLVERS: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "cg": (linalg.cg, SYMMETRIC),
    "bicgstab": (linalg.bicgstab, GENERAL),
    "gmres": (linalg.gmres, GENERAL),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_systems_are_solved_and_differentiate_as_systems(name: str) -> None:
    solver, a = SOLVERS[name]
    expected = np.linalg.solve(a, B)
    for options in ({}, {"x0": np.ones(8)}, {"M": np.diag(1 / np.diag(a))}):
        x, info = solver(a, B, tol=1e-11, **options)
        assert info == (0 if name == "gmres" else None)
        np.testing.assert_allclose(x, expected, rtol=1e-8, atol=1e-9)
    complex_a = a + 0.3j * (ANY - ANY.T)
    x, _ = solver(complex_a, B + 1j, tol=1e-12)
    np.testing.assert_allclose(x, np.linalg.solve(complex_a, B + 1j), rtol=1e-8, atol=1e-9)

    def multiply(t: Any) -> Any:
        return {"u": a[:3, :3] @ t["u"] + a[:3, 3:] @ t["v"], "v": a[3:, :3] @ t["u"] + a[3:, 3:] @ t["v"]}

    t, _ = solver(multiply, {"u": B[:3], "v": B[3:]}, tol=1e-11)
    np.testing.assert_allclose(np.concatenate([t["u"], t["v"]]), expected, rtol=1e-8, atol=1e-9)
    slope = adze.grad(lambda a, b: (solver(a, b, tol=1e-12)[0] ** 2).sum(), (0, 1))(a, B)
    back = np.linalg.solve(a.T, 2 * expected)
    np.testing.assert_allclose(slope[1], back, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(slope[0], -np.outer(back, expected), rtol=1e-6, atol=1e-7)
    many = adze.vmap(lambda b: solver(a, b, tol=1e-11)[0])(np.stack([B, 3 * B]))
    np.testing.assert_allclose(many, np.stack([expected, 3 * expected]), rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(solver(a, np.zeros(8))[0], np.zeros(8))
    np.testing.assert_allclose(solver(2 * np.eye(8), B)[0], B / 2, rtol=1e-6)  # solved in one iteration
    with pytest.raises(ShapeError, match="must be a square matrix"):
        solver(np.ones((3, 4)), np.ones(3))
    with pytest.raises(ShapeError, match="x0 f64\\[3\\] and b f64\\[8\\] differ in shape"):
        solver(a, B, x0=np.ones(3))


def test_gmres_restarts() -> None:
    x, _ = linalg.gmres(GENERAL, B, tol=1e-11, restart=3, maxiter=200)
    np.testing.assert_allclose(x, np.linalg.solve(GENERAL, B), rtol=1e-8, atol=1e-9)


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def himmelblau(x: Any) -> Any:
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


@pytest.mark.parametrize(
    ("function", "start"),
    [(rosenbrock, [0.0, 0]), (himmelblau, [1.0, 1])],
)
def test_minima_are_those_of_scipy(function: Callable[..., Any], start: list[float]) -> None:
    x0 = np.array(start)
    result = minimize(function, x0, method="BFGS")
    assert bool(result.success)
    assert int(result.status) == 0
    assert float(np.abs(np.asarray(result.jac)).max()) <= 1e-5
    theirs = scipy.optimize.minimize(function, x0, method="BFGS", tol=1e-8)
    np.testing.assert_allclose(result.x, theirs.x, atol=1e-4)


def test_minimize_says_why_it_ended() -> None:
    assert int(minimize(rosenbrock, np.zeros(2), method="BFGS", options={"maxiter": 2}).status) == 1
    assert int(minimize(lambda x: (x * np.nan).sum(), np.zeros(2), method="BFGS").status) == 4
    jitted = adze.jit(lambda x, c: minimize(lambda x, c: ((x - c) ** 2).sum(), x, (c,), method="BFGS").x)
    np.testing.assert_allclose(jitted(np.zeros(3, np.float32), np.float32(2)), np.full(3, 2), rtol=1e-5)
    with pytest.raises(ArgumentError, match="method is 'Newton-CG'"):
        minimize(rosenbrock, np.zeros(2), method="Newton-CG")
    with pytest.raises(ArgumentError, match="options xtol are not known"):
        minimize(rosenbrock, np.zeros(2), method="BFGS", options={"xtol": 1})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_limited_memory_finds_minima(dtype: type) -> None:
    method = "l-bfgs-experimental-do-not-rely-on-this"
    for size, options in ((2, {}), (6, {"maxcor": 3}), (1, {"norm": 2, "gtol": 1e-3})):
        start = np.zeros(size, dtype)
        result = minimize(lambda x: rosenbrock(x) + (x - 1) @ (x - 1), start, method=method, options=options)
        assert (result.x.dtype, result.hess_inv) == (dtype, None)
        assert int(result.status) in (0, 4)
        np.testing.assert_allclose(result.x, np.ones(size), atol=2e-3)


def test_limited_memory_ends_at_its_limits() -> None:
    def status(function: Callable[..., Any], **options: Any) -> int:
        return int(minimize(function, np.zeros(4), method="L-BFGS", options=options).status)

    assert status(rosenbrock, maxiter=1) == 1
    assert status(rosenbrock, maxfun=3) == 2
    assert status(rosenbrock, maxgrad=3) == 3
    assert status(rosenbrock, ftol=1e3) == 4
    assert status(lambda x: (x * np.nan).sum()) == 5
    with pytest.raises(ArgumentError, match=r"options line_search_maxiter are not known, expected .* maxls"):
        status(rosenbrock, line_search_maxiter=3)


def pendulum(y: Any, t: Any, damping: Any, pull: Any) -> Any:
    angle, speed = y
    return [speed, -damping * speed - pull * anp.sin(angle) + 0.1 * t]


def test_odeint_is_scipy_s() -> None:
    t = np.linspace(0.0, 2, 4)
    y0, arguments = [np.float64(2), np.float64(0)], (np.float64(0.25), np.float64(5))
    result = odeint(pendulum, y0, t, *arguments, rtol=1e-6, atol=1e-6)
    theirs = scipy.integrate.solve_ivp(
        lambda t, y: pendulum(y, t, *arguments), (0, 2), y0, t_eval=t, rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(np.stack(result), theirs.y, rtol=1e-4, atol=1e-4)


def test_odeint_has_the_derivatives_of_the_closed_solution() -> None:
    """Of ``y0 exp(-a (t^2 - t0^2) / 2)`` by the start, each of the times and the argument."""

    def loss(y: Any, t: Any, a: Any) -> Any:
        ys = odeint(lambda y, t, a: {"y": -a * t * y["y"]}, {"y": y}, t, a, rtol=1e-7, atol=1e-7)["y"]
        return (ys * np.array([[1.0], [2.0], [3.0]])).sum()

    def closed(y: Any, t: Any, a: Any) -> Any:
        ys = y * anp.exp(-a * (t**2 - t[0] ** 2) / 2)[:, None]
        return (ys * np.array([[1.0], [2.0], [3.0]])).sum()

    point = (np.array([1.0, -2.0]), np.array([0.5, 1.0, 1.5]), np.float64(0.7))
    expected = adze.value_and_grad(closed, (0, 1, 2))(*point)
    for mine, theirs in zip(
        adze.tree.leaves(adze.value_and_grad(loss, (0, 1, 2))(*point)),
        adze.tree.leaves(expected),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


def test_odeint_differentiates_what_its_function_closes_over() -> None:
    t = np.array([0.0, 1.0])
    slope = adze.grad(lambda a: odeint(lambda y, t: -a * y, np.ones(2), t, rtol=1e-6)[-1].sum())(
        np.float64(0.5)
    )
    np.testing.assert_allclose(slope, -2 * np.exp(-0.5), rtol=1e-5)
    assert odeint(lambda y, t: y, np.ones(2), np.zeros(1)).shape == (1, 2)
    with pytest.raises(DtypeError, match="expected t as floats"):
        odeint(lambda y, t: y, np.ones(2), np.arange(3))


def test_vectors_are_quantized_as_by_scipy() -> None:
    points, codes = RANDOM.normal(size=(9, 3)), RANDOM.normal(size=(4, 3))
    numbers, distances = vq(points, codes)
    wanted = scipy.cluster.vq.vq(points, codes)
    assert numbers.tolist() == wanted[0].tolist()
    np.testing.assert_allclose(distances, wanted[1])
    assert vq(np.array([1, 5]), np.array([0, 4]))[0].tolist() == [0, 1]
    with pytest.raises(ShapeError, match="rows of one length"):
        vq(points, codes[:, :2])


def test_derivatives_that_are_passed_are_compared_with_differences() -> None:
    def f(x: Any) -> Any:
        return anp.sin(x) * x

    arguments = (np.array([0.3, 2.0]),)
    test_util.check_jvp(f, lambda p, t: adze.jvp(f, p, t), arguments)
    test_util.check_vjp(f, lambda *p: adze.vjp(f, *p), arguments)
    with pytest.raises(AssertionError, match="tangent of the jvp"):
        test_util.check_jvp(f, lambda p, t: adze.jvp(anp.sin, p, t)[0:0] or (f(*p), t[0]), arguments)
    with pytest.raises(AssertionError, match="cotangent of the vjp"):
        test_util.check_vjp(f, lambda *p: (f(*p), lambda ct: (ct,)), arguments)


def test_gmres_says_whether_there_is_a_solution() -> None:
    assert linalg.gmres(GENERAL, B)[1] == 0
    x, info = adze.jit(linalg.gmres)(GENERAL * np.nan, B)
    assert info == -1 and np.isnan(x).all()
