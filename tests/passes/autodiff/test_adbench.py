"""The problems of ADBench and five classics: gradients, Jacobians and Hessians.

Against differences, against JAX, against gradients by hand where there are some; evaluated, and compiled for
some of them. Everything in f64.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.scipy import special

from ...selection import part
from .adbench import bundle, classics, gmm, hand, lstm
from .adbench.problem import Library, Problem

ADZE = Library(adze, anp, special)
COMPILED = ("Gaussian mixture model", "matrix factorisation", "Black-Scholes")
"""Of a small program each; IREE compiles the LSTM in ten seconds and the hand in a minute."""
SCALAR = (gmm.problem(), lstm.problem(), *classics.problems())
VECTOR = (bundle.problem(), hand.problem())
for_each_scalar = pytest.mark.parametrize("problem", SCALAR, ids=str)
for_each_vector = pytest.mark.parametrize("problem", VECTOR, ids=str)


@contextmanager
def wide_jax() -> Iterator[Library]:
    jax = pytest.importorskip("jax")
    from jax.scipy import special as jax_special

    with jax.enable_x64(True):
        yield Library(jax, jax.numpy, jax_special)


@cache
def gradient(problem: Problem) -> tuple[float, tuple[np.ndarray, ...]]:
    """The value and the evaluated gradient."""
    value, result = adze.value_and_grad(problem.of(ADZE), argnums=problem.argnums)(*problem.inputs)
    return float(value), tuple(map(np.asarray, result))


@cache
def jacobian(problem: Problem) -> tuple[np.ndarray, ...]:
    return tuple(map(np.asarray, adze.jacfwd(problem.of(ADZE), argnums=problem.argnums)(*problem.inputs)))


def directions(problem: Problem, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(x.shape) for x in problem.inputs[: problem.active])


def moved(problem: Problem, along: tuple[np.ndarray, ...], step: float) -> tuple[np.ndarray, ...]:
    active = (x + step * d for x, d in zip(problem.inputs, along, strict=False))
    return (*active, *problem.inputs[problem.active :])


def difference(f: Any, problem: Problem, along: tuple[np.ndarray, ...]) -> np.ndarray:
    """The derivative of `f` along a direction, by central differences of order four."""
    step = 1e-3
    near, far = (
        np.asarray(f(*moved(problem, along, s))) - np.asarray(f(*moved(problem, along, -s)))
        for s in (step, 2 * step)
    )
    result: np.ndarray = (8 * near - far) / (12 * step)
    return result


def close(actual: Any, want: Any, tolerance: float = 1e-9) -> None:
    actual, want = np.asarray(actual), np.asarray(want)
    assert actual.shape == want.shape
    assert actual.dtype == np.float64
    np.testing.assert_allclose(
        actual, want, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(want).max()))
    )


# -- gradients -----------------------------------------------------------------------------------------


@for_each_scalar
def test_the_gradient_is_the_difference(problem: Problem) -> None:
    _, results = gradient(problem)
    for seed in range(3):
        along = directions(problem, seed)
        pushed = sum(float(np.sum(g * d)) for g, d in zip(results, along, strict=True))
        close(np.float64(pushed), difference(problem.of(ADZE), problem, along), 1e-6)


@pytest.mark.parametrize("problem", [p for p in SCALAR if p.gradient], ids=str)
def test_the_gradient_is_the_one_by_hand(problem: Problem) -> None:
    assert problem.gradient is not None
    for result, want in zip(gradient(problem)[1], problem.gradient(*problem.inputs), strict=True):
        close(result, want)


@pytest.mark.thorough
@pytest.mark.oracle
@for_each_scalar
def test_the_gradient_is_the_one_of_jax(problem: Problem) -> None:
    with wide_jax() as jax:
        value, want = jax.module.jit(jax.module.value_and_grad(problem.of(jax), argnums=problem.argnums))(
            *problem.inputs
        )
        found_value, results = gradient(problem)
        close(np.float64(found_value), value)
        for one, other in zip(results, want, strict=True):
            close(one, other)


@pytest.mark.thorough
@for_each_scalar
def test_hessian_vector_products_are_differences_of_gradients(problem: Problem) -> None:
    f = adze.grad(problem.of(ADZE), argnums=problem.argnums)
    along = directions(problem, 9)
    rest = problem.inputs[problem.active :]
    pushed = adze.jvp(lambda *x: f(*x, *rest), problem.inputs[: problem.active], along)[1]
    for k, result in enumerate(pushed):
        close(result, difference(lambda *x, k=k: f(*x)[k], problem, along), 1e-5)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("problem", [p for p in SCALAR if p.name in part(COMPILED, COMPILED[1:])], ids=str)
def test_the_compiled_gradient_is_the_evaluated_one(problem: Problem) -> None:
    value, results = adze.jit(adze.value_and_grad(problem.of(ADZE), argnums=problem.argnums))(*problem.inputs)
    want_value, want = gradient(problem)
    close(np.asarray(value), want_value, 1e-8)
    for one, other in zip(results, want, strict=True):
        close(np.asarray(one), other, 1e-8)


# -- second derivatives in closed form -----------------------------------------------------------------


def test_the_hessian_of_rosenbrock() -> None:
    problem = next(p for p in SCALAR if p.name == "Rosenbrock")
    (x,) = problem.inputs
    want = classics.rosenbrock_hessian(x)
    close(adze.hessian(problem.of(ADZE))(x), want)
    close(adze.jacrev(adze.grad(problem.of(ADZE)))(x), want)
    close(adze.jit(adze.hessian(problem.of(ADZE)))(x), want)


def test_the_gamma_of_black_and_scholes_by_batched_gradients() -> None:
    problem = next(p for p in SCALAR if p.name == "Black-Scholes")
    spot, *others = problem.inputs

    def price(*inputs: Any) -> Any:
        return classics.call_price(ADZE, *inputs)

    close(adze.vmap(adze.grad(adze.grad(price)))(spot, *others), classics.gamma(spot, *others))
    close(adze.vmap(adze.grad(price, argnums=1))(spot, *others), classics.greeks(spot, *others)[1])


# -- Jacobians -----------------------------------------------------------------------------------------


@pytest.mark.one_in(2)
@for_each_vector
def test_jacobians_by_columns_and_by_rows_are_equal(problem: Problem) -> None:
    backward = adze.jacrev(problem.of(ADZE), argnums=problem.argnums)(*problem.inputs)
    for result, want in zip(backward, jacobian(problem), strict=True):
        close(result, want)


@pytest.mark.one_in(2)
@for_each_vector
def test_the_jacobian_is_the_difference(problem: Problem) -> None:
    for seed in range(2):
        along = directions(problem, seed)
        pushed = sum(np.tensordot(j, d, axes=d.ndim) for j, d in zip(jacobian(problem), along, strict=True))
        close(pushed, difference(problem.of(ADZE), problem, along), 1e-6)


@pytest.mark.one_in(2)
@for_each_vector
def test_the_jacobian_is_the_one_column_by_column(problem: Problem) -> None:
    """What `vmap` computes at once is what a loop over directions computes."""
    f, rest = problem.of(ADZE), problem.inputs[problem.active :]
    active = problem.inputs[: problem.active]
    for k, whole in enumerate(jacobian(problem)):
        columns = whole.reshape(*whole.shape[: whole.ndim - active[k].ndim], -1)
        for position in range(0, active[k].size, 5):
            along = [np.zeros_like(x) for x in active]
            along[k].reshape(-1)[position] = 1
            column = adze.jvp(lambda *x: f(*x, *rest), active, tuple(along))[1]
            close(column, columns[..., position])


@pytest.mark.thorough
@pytest.mark.oracle
@for_each_vector
def test_the_jacobian_is_the_one_of_jax(problem: Problem) -> None:
    with wide_jax() as jax:
        want = jax.module.jit(jax.module.jacfwd(problem.of(jax), argnums=problem.argnums))(*problem.inputs)
        for result, other in zip(jacobian(problem), want, strict=True):
            close(result, other)


def test_the_sparse_jacobian_of_bundle_adjustment() -> None:
    """By blocks, one observation each: 2 rows of 11 + 3 + 1 columns, as ADBench asks for it."""
    problem = VECTOR[0]
    cameras, points, weights, features, observed = problem.inputs

    def blocks(*inputs: Any) -> Any:
        return adze.vmap(adze.jacrev(lambda *parts: bundle.reprojection(ADZE, *parts), argnums=(0, 1, 2)))(
            *inputs
        )

    parts = (cameras[observed[:, 0]], points[observed[:, 1]], weights, features)
    dense = jacobian(problem)
    count = len(observed)
    for made in (blocks(*parts), adze.jit(blocks)(*parts)):
        of_camera, of_point, of_weight = map(np.asarray, made)
        for k, (camera, point) in enumerate(observed):
            rows = slice(2 * k, 2 * k + 2)
            close(of_camera[k], dense[0][rows, camera])
            close(of_point[k], dense[1][rows, point])
            close(of_weight[k], dense[2][rows, k])
    close(np.diag(dense[2][2 * count :]), -2 * weights)


def test_rotations_by_nothing_are_differentiable() -> None:
    """Rodrigues' formula divides by the angle; at 0 the derivative is the cross product."""
    x = np.array([1.0, 2, 3])
    jacobian = adze.jacrev(lambda r: bundle.rotated(anp, r, x))(np.zeros(3))
    close(jacobian, np.array([[0.0, 3, -2], [-3, 0, 1], [2, -1, 0]]))


def test_the_hand_is_differentiated_in_two_directions_for_all_places() -> None:
    """Each measured point has barycentric coordinates of its own: two tangents give all their columns."""
    problem = VECTOR[1]
    pose, places, points = problem.inputs
    _, of_places = jacobian(problem)
    for k in range(2):
        along = np.zeros_like(places)
        along[:, k] = 1
        pushed = np.asarray(adze.jvp(lambda p: problem.of(ADZE)(pose, p, points), (places,), (along,))[1])
        for i in range(len(points)):
            close(pushed[i], of_places[i, :, i, k])
