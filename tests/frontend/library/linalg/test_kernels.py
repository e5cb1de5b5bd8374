"""Kernels of routines against the compositions that define them, and against LAPACK, at awkward inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.scipy import linalg as sp

from ....selection import part, quick_first

RNG = np.random.default_rng(17)
FLOATS = (np.float32, np.float64)
# A kernel is one algorithm for both dtypes: of the long tests `make test` takes some in float64 alone.
float32_first = pytest.mark.parametrize("dtype", quick_first(FLOATS, 1))
float64_first = pytest.mark.parametrize("dtype", quick_first(FLOATS[::-1], 1))


def positive(*shape: int, dtype: Any) -> Any:
    a = RNG.standard_normal((*shape, shape[-1]))
    return (a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def normal(*shape: int, dtype: Any) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


def kernel_count(function: Callable[..., Any], *arrays: Any) -> int:
    specs = [adze.ShapeDtype(a.shape, a.dtype) for a in arrays]
    text = str(adze.trace(function, *specs).lower("cpu").mlir())
    return text.count("flow.dispatch @kernel_") - text.count("flow.dispatch @kernel_loop")


def compiled_as_eager(
    function: Callable[..., Any], inputs: Sequence[Sequence[Any]], dtype: Any, factor: float = 200
) -> list[Any]:
    """The results of one program of all inputs, which are near those of the compositions in NumPy."""
    compiled = adze.jit(lambda inputs: [function(*arrays) for arrays in inputs])([tuple(i) for i in inputs])
    for arrays, results in zip(inputs, compiled, strict=True):
        eager = function(*arrays)
        for got, want in zip(
            results if isinstance(results, tuple) else (results,),
            eager if isinstance(eager, tuple) else (eager,),
            strict=True,
        ):
            got, want = np.asarray(got), np.asarray(want)
            scale = np.max(np.abs(want), initial=0, where=np.isfinite(want))
            np.testing.assert_allclose(
                got, want, rtol=0, atol=factor * float(np.finfo(dtype).eps) * scale, equal_nan=True
            )
    return list(compiled)


@float32_first
def test_cholesky_of_all_orders(dtype: Any) -> None:
    shapes = part(
        [(0,), (1,), (2,), (3,), (7,), (16,), (17,), (64,), (65,), (135,), (2, 0, 4), (3, 5), (2, 3, 17)],
        [(0,), (2, 65)],
    )
    inputs = [(positive(*shape, dtype=dtype),) for shape in shapes]
    for (a,), factor in zip(inputs, compiled_as_eager(xp.linalg.cholesky, inputs, dtype), strict=True):
        np.testing.assert_allclose(
            factor, np.linalg.cholesky(a), rtol=0, atol=200 * np.finfo(dtype).eps * np.abs(a).max(initial=1)
        )
    assert kernel_count(xp.linalg.cholesky, *inputs[-1]) == 1


@float64_first
def test_what_is_not_positive_definite_has_a_factor_of_nan(dtype: Any) -> None:
    good, bad = positive(9, dtype=dtype), positive(9, dtype=dtype)
    cases = [bad - 60 * np.eye(9, dtype=dtype), np.zeros((9, 9), dtype), bad.copy(), bad.copy(), good]
    cases[2][7, 2] = cases[2][2, 7] = np.nan
    cases[3][8, 8] = np.inf
    cases[3][8, 0] = cases[3][0, 8] = -np.inf
    factors = np.asarray(adze.jit(xp.linalg.cholesky)(np.stack(cases)))
    assert (np.isnan(factors[:4]) == np.tri(9, dtype=bool)).all()
    assert np.isfinite(factors[4]).all() and (np.triu(factors, 1) == 0).all()


@float64_first
def test_triangular_systems(dtype: Any) -> None:
    sizes = part(
        [(1, 1), (2, 3), (3, 16), (7, 1), (16, 17), (17, 40), (65, 33)], [(1, 1), (7, 1), (17, 40), (65, 33)]
    )
    inputs = [
        (normal(n, n, dtype=dtype) / n + 2 * np.eye(n, dtype=dtype), normal(n, m, dtype=dtype))
        for n, m in sizes
    ]
    systems = [(trans, lower, unit) for trans in (0, 1) for lower in (False, True) for unit in (False, True)]

    def solutions(t: Any, b: Any, systems: Any) -> Any:
        return tuple(
            sp.solve_triangular(t, b, trans=trans, lower=lower, unit_diagonal=unit)
            for trans, lower, unit in systems
        )

    compiled_as_eager(lambda t, b: solutions(t, b, systems), inputs[-2:-1], dtype)
    plain = [system for system in systems if system[0] == 0 and not system[2]]
    compiled_as_eager(lambda t, b: solutions(t, b, plain), [*inputs[:-2], inputs[-1]], dtype)


@float32_first
def test_a_zero_on_the_diagonal_yields_infinities_or_nan(dtype: Any) -> None:
    t = np.tril(normal(6, 6, dtype=dtype))
    t[2, 2] = 0
    b = normal(6, 5, dtype=dtype)
    got = np.asarray(adze.jit(lambda t, b: sp.solve_triangular(t, b, lower=True))(t, b))
    np.testing.assert_array_equal(np.isfinite(got), np.arange(6)[:, None] < np.full((6, 5), 2))


@float64_first
def test_lu_of_all_shapes(dtype: Any) -> None:
    shapes = part(
        [(1, 1), (2, 2), (3, 5), (7, 3), (16, 16), (17, 17), (33, 65), (65, 64), (2, 0, 3, 3), (2, 3, 9, 9)],
        [(7, 3), (33, 65), (2, 9, 9)],
    )
    inputs = [(normal(*shape, dtype=dtype),) for shape in shapes]
    compiled_as_eager(lambda a: tuple(sp.lu_factor(a)), inputs, dtype, 2000)
    assert kernel_count(lambda a: sp.lu_factor(a)[0], *inputs[-1]) == 1


@float32_first
def test_solve_and_its_relatives(dtype: Any) -> None:
    def results(a: Any, b: Any) -> Any:
        return xp.linalg.solve(a, b), xp.linalg.inv(a), xp.linalg.det(a), xp.linalg.slogdet(a)[1]

    inputs = [
        (normal(*batch, n, n, dtype=dtype) + n * np.eye(n, dtype=dtype), normal(*batch, n, m, dtype=dtype))
        for batch, n, m in part([((), 20, 4), ((2, 2), 7, 3), ((2, 2), 7, 1)], [((2, 2), 7, 3)])
    ]
    compiled_as_eager(results, inputs, dtype, 2000)


@float64_first
def test_singular_and_unknown_matrices(dtype: Any) -> None:
    singular, unknown = np.ones((5, 5), dtype), normal(5, 5, dtype=dtype)
    unknown[3, 1] = np.nan
    solved, determinants = adze.jit(lambda a: (xp.linalg.inv(a), xp.linalg.det(a)))(
        np.stack([singular, unknown, np.zeros((5, 5), dtype)])
    )
    assert not np.isfinite(np.asarray(solved)).any(axis=(1, 2)).all()
    assert np.asarray(determinants)[[0, 2]].tolist() == [0, 0] and np.isnan(np.asarray(determinants)[1])


@float32_first
def test_qr_of_all_shapes(dtype: Any) -> None:
    small, large = np.finfo(dtype).tiny / np.finfo(dtype).eps, np.finfo(dtype).max / 64  # no subnormals
    inputs = [
        (normal(*shape, dtype=dtype),)
        for shape in part(
            [(1, 1), (3, 5), (7, 3), (17, 17), (40, 33), (2, 0, 3, 3)], [(1, 1), (3, 5), (7, 3)]
        )
    ]
    # The same numbers in every order of tests: the signs of another draw may be of a lower rank, whose last
    # column has no sign of its own.
    special = np.random.default_rng(7).standard_normal((6, 7, 4)).astype(dtype)
    assert np.linalg.matrix_rank(np.sign(special[3])) == 4
    special[0], special[1, :, 1], special[2] = 0, 0, special[2] * small
    special[3], special[4, 3, 2] = np.sign(special[3]) * large, np.nan
    inputs += [(special,), (np.abs(normal(3, 9, 2, dtype=dtype)),)]
    compiled_as_eager(lambda a: tuple(xp.linalg.qr(a)), inputs[:-2], dtype)
    compiled_as_eager(lambda a: tuple(xp.linalg.qr(a, mode="complete")), inputs[2:3] + inputs[-1:], dtype)
    q, r = adze.jit(xp.linalg.qr)(special)
    want = xp.linalg.qr(special)
    # Columns before one that is not known have their factors, as LAPACK's; the composition has NaN there.
    assert np.isnan(np.asarray(r)[4, :, 3]).sum() >= 2 and np.isnan(np.asarray(q)[4]).any(axis=0)[2:].all()
    for position in (0, 1, 2, 3, 5):
        for got, other in ((q, want.Q), (r, want.R)):
            mine, its = np.asarray(got)[position], np.asarray(other)[position]
            bound = 200 * np.finfo(dtype).eps * np.max(np.abs(its), initial=0)
            np.testing.assert_allclose(mine, its, rtol=0, atol=bound)
    assert kernel_count(xp.linalg.qr, *inputs[1]) == 1


@float64_first
def test_eigh_of_all_orders(dtype: Any) -> None:
    inputs = [
        normal(*shape, shape[-1], dtype=dtype)
        for shape in part([(1,), (2,), (7,), (33,), (65,), (2, 3, 16)], [(2, 3, 16)])
    ]
    inputs = [(a + np.swapaxes(a, -1, -2)) for a in inputs]
    clusters = np.zeros((6, 9, 9), dtype)  # zero, one value, few values, graded, huge, not known
    clusters[1] = 3 * np.eye(9)
    clusters[2] = np.diag([1, 1, 1, 2, 2, 2, 2, 5, 5]) + np.ones((9, 9))
    clusters[3] = np.outer(10.0 ** -np.arange(9), 10.0 ** -np.arange(9))
    clusters[4] = np.finfo(dtype).max / 64
    clusters[5, 3, 3] = np.nan
    inputs.append(clusters)

    def results(a: Any) -> Any:
        return *xp.linalg.eigh(a), xp.linalg.eigvalsh(a)

    compiled = adze.jit(lambda inputs: [results(a) for a in inputs])(inputs)
    for a, (w, v, alone) in zip(inputs, ([np.asarray(x) for x in each] for each in compiled), strict=True):
        if a is clusters:
            assert np.isnan(w[5]).all() and np.isnan(v[5]).all() and np.isnan(alone[5]).all()
            a, w, v, alone = a[:5], w[:5], v[:5], alone[:5]
        wide = a.astype(np.longdouble)
        bound = 50 * float(np.finfo(dtype).eps) * a.shape[-1] ** 0.5
        scale = np.maximum(np.abs(w).max(axis=-1), np.finfo(dtype).tiny)[..., None, None]
        assert np.max(np.abs(wide @ v - v * w[..., None, :]) / scale) < bound
        assert np.max(np.abs(np.swapaxes(v, -1, -2) @ v - np.eye(a.shape[-1]))) < bound
        assert np.max(np.abs(w - np.linalg.eigvalsh(a.astype(float)))[..., None] / scale) < bound
        assert (np.diff(w) >= 0).all() and np.max(np.abs(alone - w)[..., None] / scale) < bound
        if a.shape[:-1] == (2, 3, 16):  # evaluated by rotations, of which the signs are others by nature
            np.testing.assert_allclose(v, xp.linalg.eigh(a)[1], atol=1e4 * np.finfo(dtype).eps)
    assert kernel_count(xp.linalg.eigh, inputs[-2]) == 1


@float32_first
def test_svd(dtype: Any) -> None:
    shapes = part([(2, 5, 3), (2, 3, 7), (1, 1), (20, 17), (17, 30)], [(2, 5, 3), (2, 3, 7)])
    inputs = [normal(*shape, dtype=dtype) for shape in shapes]
    inputs[0][0, :, 1] = inputs[0][0, :, 2]
    inputs[1][1] = 0
    unknown = [inputs[0] * np.array([1, np.nan], dtype)[:, None, None], *inputs[1:]]
    compiled = adze.jit(lambda inputs: [tuple(xp.linalg.svd(a, full_matrices=False)) for a in inputs])
    factors = compiled(inputs)
    bound = 100 * float(np.finfo(dtype).eps)
    for a, results in zip(inputs, factors, strict=True):
        u, s, vh = (np.asarray(x) for x in results)
        assert np.max(np.abs((u * s[..., None, :]) @ vh - a)) < bound * max(np.abs(a).max(), 1)
        for basis in (np.swapaxes(u, -1, -2) @ u, vh @ np.swapaxes(vh, -1, -2)):
            assert np.max(np.abs(basis - np.eye(basis.shape[-1]))) < bound or not s.all()
        assert np.max(np.abs(s - np.linalg.svd(a, compute_uv=False))) < bound * max(s.max(), 1)
    for known, x in zip(factors[0], compiled(unknown)[0], strict=True):
        np.testing.assert_array_equal(np.asarray(x)[0], np.asarray(known)[0])
        assert np.isnan(np.asarray(x)[1]).all()


def awkward(size: int, dtype: Any) -> np.ndarray:
    """Matrices with equal, vanishing, graded, huge and tiny singular values; the last two are not known."""
    random, place = normal(size, size, dtype=np.float64), np.arange(size)
    q = np.linalg.qr(random)[0]
    matrices = [
        np.zeros((size, size)),
        np.eye(size, k=1),
        np.ones((size, size)),
        random[:, :2] @ random[:2],
        (q * np.where(place < size // 2, 1, 1e-3)) @ q.T,
        (q * 2.0**-place) @ np.flip(q),
        random * 2.0 ** -np.flip(place),
        random * (place % 2)[:, None],
        np.diag(np.where(place == 1, 0.0, 1.0)) + np.eye(size, k=1),
        random * 1e30,
        random * 1e-30,
        np.where(place == 0, np.nan, random),
        np.where(place[:, None] == size - 1, np.inf, random),
    ]
    return np.stack(matrices).astype(dtype)


@pytest.mark.thorough
@float32_first
@pytest.mark.parametrize("size", part([33, 40, 133], [40]))
def test_svd_of_awkward_matrices(size: int, dtype: Any) -> None:
    a = awkward(size, dtype)
    u, s, vh = (np.asarray(x) for x in adze.jit(xp.linalg.svd)(a))
    for got in (u, s, vh):
        assert np.isnan(got[-2:]).all() and np.isfinite(got[:-2]).all()
    a, u, s, vh = a[:-2].astype(float), u[:-2], s[:-2], vh[:-2]
    bound = (30 + size) * float(np.finfo(dtype).eps)
    scale = np.maximum(s[:, 0], np.finfo(dtype).tiny).astype(float)[:, None]
    assert np.max(np.abs(s - np.linalg.svd(a, compute_uv=False)) / scale) < bound
    assert np.max(np.abs(u.astype(float) * s[:, None] @ vh - a) / scale[..., None]) < bound
    for basis in (u, np.swapaxes(vh, -1, -2)):
        assert np.max(np.abs(np.swapaxes(basis, -1, -2) @ basis - np.eye(size))) < bound
    assert (np.diff(s) <= 0).all() and kernel_count(xp.linalg.svd, a.astype(dtype)) == 1


@pytest.mark.thorough
def test_derivatives_and_batches_are_those_of_the_compositions() -> None:
    weights = normal(6, 6, dtype=np.float64)

    def loss(a: Any, b: Any) -> Any:
        factor = xp.linalg.cholesky(a @ a.T + 6 * xp.eye(6))
        x = sp.solve_triangular(factor, b, trans=1, lower=True) + xp.linalg.solve(a, b)
        return (x * x).sum() + (sp.lu_factor(a)[0] * weights).sum()

    gradient = adze.grad(loss, argnums=(0, 1))
    a = normal(3, 6, 6, dtype=np.float64) + 6 * np.eye(6)
    b = normal(3, 6, 2, dtype=np.float64)

    transforms = [
        lambda a, b: adze.vmap(gradient)(a, b),
        lambda a, b: adze.vmap(gradient, in_axes=(None, 0))(a[0], b),
        lambda a, b: adze.grad(lambda a: adze.vmap(loss)(a, b).sum())(a),
    ]

    def everything(a: Any, b: Any) -> Any:
        return [transform(a, b) for transform in part(transforms, transforms[:1])]

    for got, want in zip(
        adze.tree.leaves(adze.jit(everything)(a, b)), adze.tree.leaves(everything(a, b)), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * np.abs(np.asarray(want)).max())


@pytest.mark.thorough
def test_second_derivatives_are_those_of_the_compositions() -> None:
    def loss(a: Any, b: Any) -> Any:
        return (xp.linalg.solve(a, b) ** 2).sum() + (xp.linalg.cholesky(a) ** 3).sum()

    def second(a: Any, b: Any) -> Any:
        return adze.grad(lambda a: (adze.grad(loss)(a, b) ** 2).sum())(a)

    a, b = positive(6, dtype=np.float64), normal(6, 2, dtype=np.float64)
    got, want = np.asarray(adze.jit(second)(a, b)), np.asarray(second(a, b))
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())


def complex_normal(*shape: int, dtype: Any) -> Any:
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)


@pytest.mark.parametrize("dtype", quick_first((np.complex128, np.complex64), 1))
def test_complex_systems(dtype: Any) -> None:
    """Solutions, determinants, inverses, Cholesky factors, batches; singular and not definite ones."""

    def everything(a: Any, b: Any) -> Any:
        gram = a @ xp.conj(a).mT + xp.eye(a.shape[-1], dtype=a.dtype)
        sign, log = xp.linalg.slogdet(a)
        factor = xp.linalg.cholesky(gram)
        return xp.linalg.solve(a, b), xp.linalg.inv(a), sign, log, factor, sp.lu_factor(a)[0]

    shapes = part([(0,), (1,), (2,), (7,), (16,), (33,), (3, 5), (2, 0, 4), (130,)], [(2, 17)])
    inputs = [
        (
            complex_normal(*s, s[-1], dtype=dtype) + 2 * np.eye(s[-1]).astype(dtype),
            complex_normal(*s, 3, dtype=dtype),
        )
        for s in shapes
    ]
    for (a, b), results in zip(inputs, compiled_as_eager(everything, inputs, dtype, 2000), strict=True):
        x, inverse, *_ = map(np.asarray, results)
        units = 200 * np.finfo(dtype).eps * np.abs(a).sum(axis=-1).max(initial=1)
        assert np.abs(a @ x - b).max(initial=0) <= units * np.abs(x).max(initial=1)
        assert np.abs(a @ inverse - np.eye(a.shape[-1])).max(initial=0) <= units * np.abs(inverse).max(
            initial=1
        )
    assert kernel_count(xp.linalg.solve, *inputs[-1]) == 2
    assert kernel_count(xp.linalg.cholesky, inputs[-1][0]) == 1


def test_complex_matrices_without_an_answer() -> None:
    a = np.ones((4, 4), np.complex128) * (1 + 1j)
    a[0, 0] = 2
    compiled = adze.jit(
        lambda a: (xp.linalg.solve(a, a[0]), xp.linalg.inv(a), xp.linalg.cholesky(-xp.eye(4) + 0j * a))
    )
    x, inverse, factor = compiled(a)
    assert not np.isfinite(np.asarray(x)).all() and not np.isfinite(np.asarray(inverse)).all()
    np.testing.assert_array_equal(np.isnan(np.asarray(factor)), np.tri(4, dtype=bool))
    a[1, 2] = np.nan
    assert np.isnan(np.asarray(compiled(a)[1])).any()


@pytest.mark.parametrize("shape", [(6, 6), ("n", "n"), ("b", "n", "n")])
def test_complex_systems_without_kernels(shape: tuple[Any, ...]) -> None:
    """On a GPU the compositions stay."""

    def both(a: Any) -> Any:
        return xp.linalg.solve(a, a), xp.linalg.cholesky(a)

    text = str(adze.trace(both, adze.ShapeDtype(shape, np.complex64)).lower("cuda").mlir())
    assert "linalg.generic" in text and text.count("@kernel_") == text.count("@kernel_loop")
    assert kernel_count(both, np.eye(6, dtype=np.complex64)) == 3


def test_infinite_pivots_of_complex_matrices() -> None:
    """Quotients by a number with one infinite part are zero, with two NaN, as in LAPACK."""
    lu, solved = adze.jit(sp.lu_factor), adze.jit(lambda t, b: sp.solve_triangular(t, b, lower=True))
    b = np.ones((2, 1), np.complex128)
    for pivot in (np.inf, complex(0, -np.inf), complex(-np.inf, 2), complex(np.inf, np.inf)):
        a = np.array([[2, 1, 1], [1, pivot, 4], [1, 3, 5]], np.complex128)
        t = np.array([[pivot, 0], [1, 2]], np.complex128)
        is_number = np.isinf(pivot.real) != np.isinf(pivot.imag)
        packed, pivots = map(np.asarray, lu(a))
        assert pivots.tolist() == [0, 1, 2] and np.isfinite(packed[2]).all() == is_number
        x = np.asarray(solved(t, b))
        assert np.array_equal(x, [[0], [0.5]]) if is_number else np.isnan(x).all()


def test_complex_systems_of_extreme_size() -> None:
    """The squares of pivots overflow or vanish; quotients do not."""
    solve = adze.jit(xp.linalg.solve)
    for power in (-290, -150, 150, 307):
        a, b = complex_normal(9, 9, dtype=np.complex128), complex_normal(9, 2, dtype=np.complex128)
        scale = 10.0**power
        np.testing.assert_allclose(a @ np.asarray(solve(a * scale, b * scale)), b, rtol=0, atol=1e-12)


@pytest.mark.thorough
def test_derivatives_of_complex_systems_are_those_of_the_compositions() -> None:
    def loss(a: Any, b: Any) -> Any:
        gram = a @ xp.conj(a).mT + xp.eye(6)
        return xp.real((xp.linalg.solve(a, b) ** 2).sum() + (xp.linalg.cholesky(gram) ** 3).sum())

    def both(a: Any, b: Any) -> Any:
        return adze.grad(loss, (0, 1))(a, b), adze.jvp(loss, (a, b), (b @ b.mT, b))[1]

    a, b = complex_normal(6, 6, dtype=np.complex128), complex_normal(6, 2, dtype=np.complex128)
    for got, want in zip(adze.tree.leaves(adze.jit(both)(a, b)), adze.tree.leaves(both(a, b)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * np.abs(np.asarray(want)).max())


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_spectra_of_graded_and_unknown_matrices(dtype: Any) -> None:
    """Columns down to the smallest floats, a matrix of zeros, one of equal values, and NaN."""
    n = 31
    least = np.finfo(dtype).tiny
    rng = np.random.default_rng(31)
    random = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
    graded = random * least ** (np.arange(n) / (n - 1))
    unknown = np.where(np.arange(n * n).reshape(n, n) == n, np.nan, random)
    a = np.stack([graded, np.zeros((n, n)), np.linalg.qr(random)[0], unknown]).astype(dtype)
    u, s, vh = map(np.asarray, adze.jit(lambda x: tuple(xp.linalg.svd(x)))(a))
    symmetric = a + np.swapaxes(a, -1, -2).conj()
    w, v = map(np.asarray, adze.jit(lambda x: tuple(xp.linalg.eigh(x)))(symmetric))
    bound = 10 * n * np.finfo(dtype).eps
    for k in range(3):
        scale = max(np.abs(a[k]).max(), 1)
        np.testing.assert_allclose((u[k] * s[k]) @ vh[k], a[k], rtol=0, atol=bound * scale)
        np.testing.assert_allclose(symmetric[k] @ v[k], v[k] * w[k], rtol=0, atol=bound * scale)
        for basis in (u[k], vh[k], v[k]):
            np.testing.assert_allclose(basis @ basis.conj().T, np.eye(n), rtol=0, atol=bound)
    for result in (u, s, vh, w, v):
        assert np.isnan(result[3]).all() and np.isfinite(result[:3]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_singular_vectors_of_an_unknown_number_are_nan(dtype: Any) -> None:
    a = np.array([[[2.0]], [[np.nan]]], dtype)
    for result in adze.jit(lambda x: tuple(xp.linalg.svd(x)))(a):
        assert np.isnan(np.asarray(result)).ravel().tolist() == [False, True]
