"""General eigenvalues, Schur forms, what follows from them; counted matrices: SciPy's values, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adze
import adze.numpy as anp
import adze.scipy.linalg as ours
from adze import lax
from adze.frontend.errors import ArgumentError, ShapeError

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(4, 4))
B = RANDOM.normal(size=(3, 3))
C = RANDOM.normal(size=(4, 3))
POSITIVE = A @ A.T + np.eye(4)
SPECIAL = {
    "zeros": np.zeros((3, 3)),
    "ones on the diagonal": np.eye(3),
    "rotation": np.array([[0.0, 1], [-1, 0]]),
    "defective": np.array([[1.0, 1], [0, 1]]),
    "cycle": np.roll(np.eye(4), 1, 0),
    "nilpotent": np.eye(3, k=1),
    "huge": 1e200 * np.array([[1.0, 2], [3, 4]]),
    "one": np.ones((1, 1)),
    "empty": np.zeros((0, 0)),
}


def close(actual: Any, expected: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=tolerance, atol=tolerance)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "dtype",
    [
        "f4",
        pytest.param("f8", marks=pytest.mark.thorough),
        pytest.param("c8", marks=pytest.mark.thorough),
        "c16",
    ],
)
def test_vectors_are_kept_by_their_matrices(dtype: str) -> None:
    a = RANDOM.normal(size=(2, 4, 4)).astype(dtype)
    if dtype[0] == "c":
        a = a + (1j * RANDOM.normal(size=a.shape)).astype(dtype)
    w, v = map(np.asarray, anp.linalg.eig(a))
    precision = 1e-4 if dtype in ("f4", "c8") else 1e-11
    assert w.dtype == v.dtype == np.result_type(dtype, np.complex64)
    close(a @ v, v * w[:, None, :], precision)
    close(np.linalg.norm(v, axis=-2), np.ones((2, 4)), precision)
    order = [
        sorted(x.round(3).tolist(), key=lambda z: (z.real, z.imag)) for x in (w[0], np.linalg.eigvals(a[0]))
    ]
    close(*order, 2e-3)
    close(anp.linalg.eigvals(a), w, precision)


@pytest.mark.parametrize("name", SPECIAL)
def test_eigenvalues_at_special_matrices(name: str) -> None:
    a = SPECIAL[name]
    w, v = map(np.asarray, anp.linalg.eig(a))
    size = max(np.abs(a).max(initial=0), 1)
    close(a @ v / size, v * w / size, 1e-7)
    close(np.sort(np.abs(w)) / size, np.sort(np.abs(np.linalg.eigvals(a))) / size, 1e-7)


def test_eigenvalues_of_nan_are_nan_and_others_are_refused() -> None:
    assert np.isnan(np.asarray(anp.linalg.eigvals(np.full((3, 3), np.nan)))).all()
    with pytest.raises(ShapeError, match="expected square matrices"):
        anp.linalg.eig(np.ones((2, 3)))
    with pytest.raises(ArgumentError, match="output is 'both', expected 'real' or 'complex'"):
        ours.schur(A, "both")


def test_eigenvalues_and_vectors_differentiate() -> None:
    a = A[:3, :3]
    adze.check_grads(lambda a: anp.abs(anp.linalg.eigvals(a)) ** 2, (a,), 1)

    def sizes(a: Any) -> Any:
        w, v = anp.linalg.eig(a)
        return anp.abs(v) ** 2 * anp.abs(w)

    adze.check_grads(sizes, (a,), 1)
    mapped = adze.vmap(anp.linalg.eigvals)(np.stack([A, 2 * A]))
    close(mapped[1], 2 * mapped[0])


@pytest.mark.thorough
def test_compiled_eigenvalues_are_the_evaluated_ones() -> None:
    w, v = map(np.asarray, adze.jit(lambda a: tuple(anp.linalg.eig(a)))(A))
    close(A @ v, v * w)


def test_factors_are_unitary_and_multiply_to_the_matrix() -> None:
    h, q = map(np.asarray, ours.hessenberg(A, calc_q=True))
    close(q @ h @ q.T, A)
    close(np.tril(h, -2), 0 * A)
    t, z = map(np.asarray, ours.schur(A, "complex"))
    close(z @ t @ z.conj().T, A)
    close(np.tril(t, -1), 0 * A)
    t, z = map(np.asarray, ours.rsf2csf(*scipy.linalg.schur(A)))
    close(z @ t @ z.conj().T, A)
    close(np.tril(t, -1), 0 * A)
    packed, taus = lax.linalg.hessenberg(A)
    full = np.eye(4)
    full[1:, 1:] = lax.linalg.householder_product(packed[1:, :3], taus)
    close(full @ np.triu(packed, -1) @ full.T, A)
    rotated = lax.linalg.ormqr(packed[1:, :3], taus, C[:3], transpose=True)
    close(rotated, full[1:, 1:].T @ C[:3])
    close(lax.linalg.ormqr(packed[1:, :3], taus, C[:, :3], left=False), C[:, :3] @ full[1:, 1:])
    w, left, right = map(np.asarray, lax.linalg.eig(A))
    close(left.conj().T @ A, w[:, None] * left.conj().T)
    close(A @ right, w * right)
    t, z = map(np.asarray, lax.linalg.schur(A.astype(complex)))
    close(z @ t @ z.conj().T, A)


def test_functions_of_matrices_are_those_of_scipy() -> None:
    close(ours.sqrtm(A), scipy.linalg.sqrtm(A), 1e-7)
    close(ours.sqrtm(np.stack([POSITIVE, 0 * A])), [scipy.linalg.sqrtm(POSITIVE), 0 * A])
    close(ours.funm(A, anp.exp), scipy.linalg.expm(A), 1e-8)
    assert float(ours.funm(A, anp.exp, disp=False)[1]) < 1e-10
    for a, b in ((A, B), (A + 1j, B)):
        close(
            ours.solve_sylvester(a, b, C), scipy.linalg.solve_sylvester(a, b + 0 * a[0, 0], C + 0 * a[0, 0])
        )
    adze.check_grads(lambda p: anp.abs(ours.sqrtm(p)) ** 2, (POSITIVE[:2, :2],), 1)
    adze.check_grads(ours.solve_sylvester, (A[:2, :2], B[:2, :2], C[:2, :2]), 1)
    for mode, c in (("right", RANDOM.normal(size=(2, 5))), ("left", C[:3, :2]), ("left", C[:3, 0])):
        x = np.vstack([C, B[:1]])
        for mine, theirs in zip(
            ours.qr_multiply(x, c, mode), scipy.linalg.qr_multiply(x, c, mode), strict=True
        ):
            close(mine, theirs)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_counted_matrices_are_those_of_scipy(n: int) -> None:
    for kind in ("symmetric", "lower", "upper"):
        close(ours.pascal(n, kind), scipy.linalg.pascal(n, kind), 1e-6)
        close(ours.invpascal(n, kind), scipy.linalg.invpascal(n, kind), 1e-6)
    close(ours.invhilbert(n), scipy.linalg.invhilbert(n), 1e-6)
    a = RANDOM.normal(size=n + 1)
    close(ours.fiedler(a), scipy.linalg.fiedler(a))
    close(ours.fiedler_companion(a), scipy.linalg.fiedler_companion(a))
    for mode in ("full", "same", "valid"):
        for m in (1, 2, 6):
            close(ours.convolution_matrix(a, m, mode), scipy.linalg.convolution_matrix(a, m, mode))
    if n > 1:
        close(ours.helmert(n), scipy.linalg.helmert(n), 1e-6)
        close(ours.helmert(n, full=True), scipy.linalg.helmert(n, full=True), 1e-6)
        close(ours.leslie(a[:n], a[: n - 1]), scipy.linalg.leslie(a[:n], a[: n - 1]))
    if n in (1, 2, 8):
        close(ours.hadamard(n), scipy.linalg.hadamard(n))
    else:
        with pytest.raises(ArgumentError, match="expected a power of 2"):
            ours.hadamard(n)


def test_roots_and_quotients_of_polynomials_are_those_of_numpy() -> None:
    for p in ([2.0, -3, 1], [0.0, 0, 1, -6, 11, -6, 0], [1.0, 0, 1], [3.0], [0.0, 0]):
        found = np.sort_complex(np.asarray(anp.roots(np.array(p))))
        close(found, np.sort_complex(np.roots(p)), 1e-8)
    traced = adze.trace(lambda p: anp.roots(p, strip_zeros=False), adze.ShapeDtype((3,)))
    assert traced.program.result_types[0].shape == (2,)
    quotient, rest = anp.polydiv(np.array([1.0, 5, 6, 1]), np.array([1.0, 2]))
    wanted = np.polydiv([1.0, 5, 6, 1], [1.0, 2])
    close(quotient, wanted[0])
    close(rest[-1:], wanted[1])
    assert anp.polydiv(np.array([1.0, 5, 6, 1]), np.array([1.0, 2]), trim_leading_zeros=True)[1].shape == (1,)
