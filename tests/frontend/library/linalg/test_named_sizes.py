"""Linear algebra of matrices whose sizes have names: one program for every size, compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adze
from adze import numpy as xp
from adze.dialects.errors import MissingRuleError
from adze.frontend.errors import ShapeError
from adze.numpy import linalg
from adze.scipy import linalg as sl

SIZES = (0, 1, 2, 3, 17, 33)
BATCHES = (0, 1, 3)


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def one(a: Any) -> Any:
    return xp.eye(a.shape[-1], dtype=a.dtype)


def definite(a: Any) -> Any:
    return a @ a.mT + one(a) / 2


def hermitian(a: np.ndarray) -> np.ndarray:
    return (a + np.swapaxes(a, -1, -2)) / 2


def rebuilt(a: Any) -> Any:
    w, v = linalg.eigh(a)
    return w, v @ (w[..., :, None] * v.mT)


def recomposed(a: Any) -> Any:
    u, s, vh = linalg.svd(a, full_matrices=False)
    return s, (u * s[..., None, :]) @ vh, u.mT @ u, vh @ vh.mT


def singular(a: np.ndarray) -> Any:
    least = np.eye(min(a.shape[-2:]))
    same = np.broadcast_to(least, (*a.shape[:-2], *least.shape))
    return np.linalg.svd(a, compute_uv=False), a, same, same


def shifted(a: np.ndarray) -> np.ndarray:
    return a + 5 * np.eye(a.shape[-1])


SQUARE: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], Any]]] = {
    "solve": (lambda a: linalg.solve(a, 2 * a), lambda a: np.linalg.solve(a, 2 * a)),
    "inv": (linalg.inv, np.linalg.inv),
    "det": (linalg.det, np.linalg.det),
    "slogdet": (linalg.slogdet, np.linalg.slogdet),
    "cholesky": (
        lambda a: linalg.cholesky(definite(a)),
        lambda a: np.linalg.cholesky(a @ np.swapaxes(a, -1, -2) + np.eye(a.shape[-1]) / 2),
    ),
    "triangular": (
        lambda a: sl.solve_triangular(a + 5 * one(a), a, lower=True),
        lambda a: np.linalg.solve(np.tril(shifted(a)), a),
    ),
    "eigh": (rebuilt, lambda a: (np.linalg.eigvalsh(hermitian(a)), hermitian(a))),
    "eigvalsh": (linalg.eigvalsh, lambda a: np.linalg.eigvalsh(hermitian(a))),
    "qr": (linalg.qr, np.linalg.qr),
    "svd": (recomposed, singular),
    "pinv": (linalg.pinv, np.linalg.pinv),
    "rank": (linalg.matrix_rank, np.linalg.matrix_rank),
}
RECTANGULAR: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], Any]]] = {
    "qr": (linalg.qr, np.linalg.qr),
    "complete": (lambda a: linalg.qr(a, "complete"), lambda a: np.linalg.qr(a, "complete")),
    "svd": (recomposed, singular),
    "svdvals": (linalg.svdvals, lambda a: np.linalg.svd(a, compute_uv=False)),
    "pinv": (linalg.pinv, np.linalg.pinv),
    "lu": (lambda a: xp.matmul(*sl.lu(a, permute_l=True)), lambda a: a),
    "rank": (
        linalg.matrix_rank,
        lambda a: np.linalg.matrix_rank(a) if a.size else np.zeros(a.shape[:-2], int),
    ),
}
COMPLEX: dict[str, Callable[[Any], Any]] = {
    "qr": lambda a: xp.matmul(*linalg.qr(a)),
    "svd": lambda a: xp.matmul(*(lambda u, s, vh: (u * s, vh))(*linalg.svd(a, full_matrices=False))),
    "pinv": lambda a: a @ linalg.pinv(a) @ a,
}
SLOPES: dict[str, Callable[[Any], Any]] = {
    "solve": lambda a: xp.sum(linalg.solve(definite(a), a) ** 2),
    "cholesky": lambda a: xp.sum(linalg.cholesky(definite(a)) ** 3),
    "logdet": lambda a: linalg.slogdet(a)[1],
    "det": linalg.det,
    "qr": lambda a: xp.sum(linalg.qr(a)[1] ** 3),
    "eigh": lambda a: xp.sum(linalg.eigh(a)[0] ** 3) + xp.sum(linalg.eigh(a)[1] ** 4),
    "svd": lambda a: xp.sum(linalg.svd(a)[1] ** 3) + xp.sum(linalg.svd(a)[0] ** 4),
    "lu": lambda a: xp.sum(sl.lu_factor(a)[0] ** 3),
}


def compiled(function: Callable[..., Any], *shapes: tuple[Any, ...]) -> Any:
    specs = [adze.ShapeDtype(shape, np.float64) for shape in shapes]
    return adze.trace(function, *specs).lower("cpu").compile()


def agree(found: Any, expected: Any) -> None:
    results = (found, expected) if isinstance(expected, tuple) else ((found,), (expected,))
    for ours, theirs in zip(*results, strict=True):
        assert np.shape(ours) == np.shape(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)


def squares(shape: tuple[str, ...]) -> Iterator[np.ndarray]:
    for n in SIZES:
        yield from (random(*lead, n, n) for lead in ([()] if len(shape) == 2 else [(b,) for b in BATCHES]))


def test_one_compiled_program_solves_systems_of_every_size() -> None:
    program = compiled(linalg.solve, ("n", "n"), ("n",))
    for n in SIZES:
        a, b = shifted(random(n, n)), random(n)
        agree(program(a, b), np.linalg.solve(a, b))
    with pytest.raises(adze.AdzeError, match="dim 'n'"):
        program(np.ones((3, 2)), np.ones(3))


@pytest.mark.thorough
@pytest.mark.parametrize("shape", [("n", "n"), ("b", "n", "n")])
@pytest.mark.parametrize("name", SQUARE)
def test_square_matrices(name: str, shape: tuple[str, ...]) -> None:
    function, reference = SQUARE[name]
    program = compiled(function, shape)
    for a in squares(shape):
        agree(program(a), reference(a))


@pytest.mark.thorough
@pytest.mark.parametrize("shape", [("m", "n"), ("n", 3), (3, "n"), ("b", "m", "n")])
@pytest.mark.parametrize("name", RECTANGULAR)
def test_rectangular_matrices(name: str, shape: tuple[Any, ...]) -> None:
    function, reference = RECTANGULAR[name]
    program = compiled(function, shape)
    for m in SIZES if "m" in shape else (0,):
        for n in SIZES:
            a = random(*({"m": m, "n": n, "b": 2}.get(size, size) for size in shape))
            agree(program(a), reference(a))


@pytest.mark.thorough
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_matrices_are_factored_and_put_together_again(name: str) -> None:
    program = adze.trace(COMPLEX[name], adze.ShapeDtype(("m", "n"), np.complex128)).lower("cpu").compile()
    for m in SIZES:
        for n in SIZES:
            a = random(m, n) + 1j * random(n, m).T
            agree(program(a), a)


@pytest.mark.thorough
def test_least_squares() -> None:
    program = compiled(lambda a, b: linalg.lstsq(a, b)[::2], ("n", 3), ("n",))
    for n in (1, 2, 3, 17):
        a, b = random(n, 3), random(n)
        agree(program(a, b), tuple(np.linalg.lstsq(a, b, rcond=None)[::2]))


@pytest.mark.thorough
@pytest.mark.parametrize("name", SLOPES)
def test_derivatives_and_their_batches(name: str) -> None:
    slope = adze.grad(SLOPES[name])
    program = compiled(adze.vmap(slope), ("b", "n", "n"))
    for n in (0, 1, 2, 3, 8):
        for count in (0, 2):
            a = random(count, n, n)
            expected = [np.asarray(slope(x)) for x in a] if n else []
            agree(program(a), np.reshape(expected, a.shape))


def test_results_have_the_named_sizes() -> None:
    square, vector = adze.ShapeDtype(("n", "n")), adze.ShapeDtype(("n",))
    program = adze.trace(lambda a, b: (linalg.solve(a, b), linalg.inv(a), linalg.cholesky(a)), square, vector)
    assert program.program.entries[0].result_shapes == [("n",), ("n", "n"), ("n", "n")]


def test_what_needs_a_static_size_says_so() -> None:
    square, wide = adze.ShapeDtype(("n", "n")), adze.ShapeDtype(("m", "n"))
    with pytest.raises(ShapeError, match="eig: the sizes of the matrices must be static"):
        adze.trace(linalg.eig, square)
    with pytest.raises(ShapeError, match="full_matrices=False"):
        adze.trace(linalg.svd, wide)
    with pytest.raises(ShapeError, match="expected square matrices") as error:
        adze.trace(linalg.inv, wide)
    assert "one name" in str(error.value)
    with pytest.raises(MissingRuleError, match=r"lu: matrices .* have no derivative unless they are square"):
        adze.trace(adze.grad(lambda a: sl.lu_factor(a)[0].sum()), wide).lower()


@pytest.mark.parametrize("shape", [(0, "n"), ("n", 0), ("b", 0, "n")])
def test_singular_values_where_a_known_side_is_empty(shape: tuple[Any, ...]) -> None:
    def factors(a: Any) -> Any:
        return (*linalg.svd(a, full_matrices=False), linalg.svdvals(a), linalg.pinv(a))

    traced = adze.trace(factors, adze.ShapeDtype(shape, "float64"))
    x = np.zeros([{"n": 4, "b": 2}.get(str(n), n) for n in shape])
    wanted = (*np.linalg.svd(x, full_matrices=False), np.linalg.svd(x, compute_uv=False), np.linalg.pinv(x))
    for got, want in zip(traced.lower().compile()(x), wanted, strict=True):
        assert np.shape(got) == want.shape


def test_the_exponential_and_its_slope() -> None:
    """Of matrices that are squared none, some and too many times."""
    spec = adze.ShapeDtype(("n", "n"), "float64")

    def moved(a: Any, da: Any) -> Any:
        return adze.jvp(sl.expm, (a,), (da,))

    program = adze.trace(moved, spec, spec).lower("cpu").compile()
    for n, size in ((0, 1.0), (2, 0.1), (3, 20.0)):
        a, da = size * random(n, n), random(n, n) + 1
        value, slope = map(np.asarray, program(a, da))
        wanted = scipy.linalg.expm_frechet(a, da) if n else (a, a)
        for got, want in zip((value, slope), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 * np.abs(want).max(initial=1))
    assert np.isnan(np.asarray(program(1e9 * np.eye(2), np.eye(2))[0])).all()
