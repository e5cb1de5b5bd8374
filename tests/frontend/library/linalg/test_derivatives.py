"""Derivatives of linear algebra: differences to order 2, gradients of jax, vmap as a loop, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.scipy.linalg as jax_scipy
import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.scipy import linalg as sp

from .matrices import hermitian, normal, positive

A, S, B, W = normal(4, 4), positive(4, 4), normal(4, 2, seed=1), normal(5, 3)
Z = normal(4, 4, dtype=np.complex128)
T = np.tril(A) + 3 * np.eye(4)


def unphased(v: Any) -> Any:
    """Eigenvectors times a phase that makes their first elements real."""
    return v * xp.conj(v[:1])


def reduced(x: Any) -> Any:
    return xp.linalg.svd(x, full_matrices=False)


def low_rank(x: Any) -> Any:
    u, s, vh = reduced(x)
    return xp.matmul(u[:, :2] * s[:2], vh[:2])


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "cholesky": (xp.linalg.cholesky, (S,)),
    "cholesky complex": (lambda x: xp.linalg.cholesky(x @ xp.conj(x).mT + np.eye(4)), (Z,)),
    "cho_solve": (lambda s, b: sp.cho_solve(sp.cho_factor(s), b), (S, B)),
    "solve": (xp.linalg.solve, (A, B)),
    "solve complex": (xp.linalg.solve, (Z, B)),
    "inv": (xp.linalg.inv, (A,)),
    "det": (xp.linalg.det, (A,)),
    "slogdet complex": (lambda x: tuple(xp.linalg.slogdet(x)), (Z,)),
    "lu tall": (lambda x: sp.lu(x, permute_l=True), (W,)),
    "lu wide": (lambda x: sp.lu(x, permute_l=True), (W.T.copy(),)),
    "lu_solve": (lambda a, b: sp.lu_solve(sp.lu_factor(a), b, 1), (A, B)),
    "triangular": (lambda t, b: sp.solve_triangular(t, b, lower=True), (T, B)),
    "triangular unit": (lambda t, b: sp.solve_triangular(t, b, 1, True, unit_diagonal=True), (T, B)),
    "qr tall": (lambda x: tuple(xp.linalg.qr(x)), (W,)),
    "qr wide": (lambda x: tuple(xp.linalg.qr(x)), (W.T.copy(),)),
    "qr complex": (lambda x: tuple(xp.linalg.qr(x)), (Z[:, :3],)),
    "eigh": (lambda x: tuple(xp.linalg.eigh(x)), (hermitian(4, 4),)),
    "eigh complex": (lambda x: unphased(xp.linalg.eigh(x)[1]), (Z,)),
    "eigvalsh": (xp.linalg.eigvalsh, (S,)),
    "svd tall": (lambda x: tuple(reduced(x)), (W,)),
    "svd wide": (lambda x: tuple(reduced(x)), (W.T.copy(),)),
    "svd complex": (low_rank, (Z[:, :3],)),
    "svd of full matrices, tall": (lambda x: tuple(xp.linalg.svd(x))[1:], (W,)),
    "svd of full matrices, wide": (lambda x: tuple(xp.linalg.svd(x))[:2], (W.T.copy(),)),
    "svdvals": (xp.linalg.svdvals, (W,)),
    "pinv": (xp.linalg.pinv, (W,)),
    "lstsq": (lambda a, b: xp.linalg.lstsq(a, b)[0], (W, normal(5))),
    "nuclear norm": (lambda x: xp.linalg.norm(x, "nuc"), (W,)),
    "cond": (xp.linalg.cond, (A,)),
    "expm": (sp.expm, (A,)),
    "matrix_power": (lambda x: xp.linalg.matrix_power(x, -2), (A,)),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_differences(name: str, thorough: bool) -> None:
    function, arguments = CASES[name]
    adze.check_grads(function, arguments, order=2 if thorough else 1, atol=2e-5, rtol=2e-5)


ORACLES: dict[str, Any] = {
    "cholesky": jax.numpy.linalg.cholesky,
    "solve": jax.numpy.linalg.solve,
    "inv": jax.numpy.linalg.inv,
    "det": jax.numpy.linalg.det,
    "lu tall": lambda x: jax_scipy.lu(x, permute_l=True),
    "lu wide": lambda x: jax_scipy.lu(x, permute_l=True),
    "triangular": lambda t, b: jax_scipy.solve_triangular(t, b, lower=True),
    "qr tall": lambda x: tuple(jax.numpy.linalg.qr(x)),
    "eigvalsh": jax.numpy.linalg.eigvalsh,
    "svdvals": lambda x: jax.numpy.linalg.svd(x, compute_uv=False),
    "pinv": jax.numpy.linalg.pinv,
    "nuclear norm": lambda x: jax.numpy.linalg.norm(x, "nuc"),
    "expm": jax_scipy.expm,
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ORACLES)
def test_gradients_are_those_of_jax(name: str) -> None:
    function, arguments = CASES[name]
    every = tuple(range(len(arguments)))

    def loss(*args: Any) -> Any:
        return sum(xp.sum(xp.cos(y)) for y in adze.tree.leaves(function(*args)))

    def jax_loss(*args: Any) -> Any:
        return sum(jax.numpy.cos(y).sum() for y in jax.tree.leaves(ORACLES[name](*args)))

    with jax.enable_x64(True):
        expected = jax.grad(jax_loss, every)(*(jax.numpy.asarray(a) for a in arguments))
    for ours, theirs in zip(adze.grad(loss, every)(*arguments), expected, strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-9, atol=1e-11)


def cofactors(a: np.ndarray) -> np.ndarray:
    """From the determinants of what is left without a row and a column."""
    n = len(a)
    minors = [[np.delete(np.delete(a, i, 0), j, 1) for j in range(n)] for i in range(n)]
    signs = (-1.0) ** np.add.outer(np.arange(n), np.arange(n))
    return signs * np.array([[np.linalg.det(m) for m in row] for row in minors])


SINGULAR = {
    "rank 3": A @ np.diag([1, 1, 1, 0]) @ np.linalg.inv(A),
    "a zero column": np.where(np.arange(4) == 1, 0, A),
    "a zero row": np.where(np.arange(4)[:, None] == 2, 0, A),
    "equal rows": A[[0, 1, 2, 0]],
    "shift": np.eye(4, k=1),
    "rank 2": A[:, :2] @ A[:2],
    "zeros": np.zeros((4, 4)),
    "one": np.zeros((1, 1)),
}


@pytest.mark.one_in(3)
@pytest.mark.each_value
@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gradient_of_a_determinant_of_zero_is_the_cofactors(name: str, dtype: Any) -> None:
    a = SINGULAR[name].astype(dtype)
    expected = cofactors(a.astype(np.float64)) if len(a) > 1 else np.ones((1, 1))
    gradient = np.asarray(adze.grad(xp.linalg.det)(a))
    np.testing.assert_allclose(gradient, expected, atol=60 * np.finfo(dtype).eps)


BATCHED = ("cholesky", "inv", "det", "lu tall", "qr tall", "eigvalsh", "svdvals", "pinv", "expm")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", BATCHED)
def test_vmap_is_a_loop_and_so_is_that_of_the_gradient(name: str, thorough: bool) -> None:
    function, (one,) = CASES[name]
    batch = np.stack([one, one + 0.25 * np.eye(*one.shape), 2 * one])

    def gradient(x: Any) -> Any:
        return adze.grad(lambda y: sum(xp.sum(xp.sin(z)) for z in adze.tree.leaves(function(y))))(x)

    for f in (function, gradient) if thorough or name in ("det", "qr tall") else (function,):
        mapped = adze.tree.leaves(adze.vmap(f)(batch))
        looped = [adze.tree.leaves(f(x)) for x in batch]
        for position, result in enumerate(mapped):
            expected = np.stack([np.asarray(r[position]) for r in looped])
            np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.thorough
def test_compiled_factors_and_solutions_are_the_evaluated_ones() -> None:
    """The smallest program with loops over columns and a gradient through them."""

    def f(s: Any, b: Any) -> Any:
        return xp.linalg.cholesky(s), adze.grad(lambda x: xp.sum(xp.linalg.solve(x, b)))(s)

    s, b = positive(4, 4), normal(4, 2)
    for result, expected in zip(adze.jit(f)(s, b), f(s, b), strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-9, atol=1e-11)


@pytest.mark.thorough
def test_compiled_is_evaluated() -> None:
    """Values and gradients in one program, at the sizes of one block; signs of vectors are free."""

    def everything(a: Any, s: Any, w: Any) -> Any:
        u, sigma, vh = reduced(w)
        eigenvalues, vectors = xp.linalg.eigh(s)
        values = {
            "cholesky": xp.linalg.cholesky(s),
            "solve": xp.linalg.solve(a, s),
            "det": xp.linalg.det(a),
            "qr": tuple(xp.linalg.qr(w)),
            "eigh": (xp.matmul(vectors * eigenvalues[..., None, :], vectors.mT), eigenvalues),
            "svd": (xp.matmul(u * sigma[..., None, :], vh), sigma),
            "expm": sp.expm(a),
        }
        return values, adze.grad(lambda x: xp.sum(xp.linalg.inv(x)) + xp.sum(xp.linalg.slogdet(x)[1]))(a)

    a, s, w = normal(2, 6, 6), positive(2, 6, 6), normal(2, 7, 5)
    results, expected = adze.jit(everything)(a, s, w), everything(a, s, w)
    for ours, theirs in zip(adze.tree.leaves(results), adze.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-9, atol=1e-11)


@pytest.mark.thorough
def test_compiled_in_single_precision_keeps_the_ratios() -> None:
    def everything(s: Any, b: Any) -> Any:
        return xp.linalg.cholesky(s), xp.linalg.solve(s, b), tuple(xp.linalg.eigh(s)), tuple(reduced(s))

    s, b = positive(40, 40, dtype=np.float32), normal(40, 3, dtype=np.float32)
    factor, x, (w, v), (u, sigma, vh) = adze.jit(everything)(s, b)
    limit = 40 * 6 * np.finfo(np.float32).eps
    largest = np.abs(s).max()
    wide = [np.asarray(y).astype(np.float64) for y in (factor, x, w, v, u, sigma, vh)]
    factor, x, w, v, u, sigma, vh = wide
    assert np.abs(factor @ factor.T - s).max() < limit * largest
    assert np.abs(s @ x - b).max() < limit * largest * np.abs(x).max()
    assert np.abs(s @ v - v * w).max() < limit * largest
    assert np.abs((u * sigma) @ vh - s).max() < limit * largest
    assert max(np.abs(q.T @ q - np.eye(40)).max() for q in (v, u, vh.T)) < limit


@pytest.mark.thorough
def test_gradients_of_complex_matrices_compile() -> None:
    """Constants of complex numbers are read in loops and outside: IREE may not make dispatches of them."""

    def everything(a: Any) -> Any:
        functions = (lambda a: xp.abs(xp.linalg.det(a)), lambda a: xp.sum(xp.abs(xp.linalg.inv(a))))
        return [adze.grad(f)(a) for f in functions]

    a = normal(2, 2) + 1j * normal(2, 2)
    for result, expected in zip(adze.jit(everything)(a), everything(a), strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-10, atol=1e-12)
