"""Linear algebra of batches of matrices, and Fourier transforms along any axis."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
import scipy.linalg

import adze

from ..random_programs import seeds
from . import Case, check, drawn, pick

BATCHES: Final = ((), (3,), (2, 5))
SIZES: Final = (1, 2, 5, 17, 40, 100)
SIGNALS: Final = ((40, 64), (7, 31, 20), (1000,), (3, 5, 8, 17))


class Drawn:
    """A batch of well-conditioned matrices `m`, of positive matrices `p`, and right sides `b`."""

    def __init__(self, rng: np.random.Generator) -> None:
        batch, size, dtype = pick(rng, BATCHES), pick(rng, SIZES), pick(rng, "fdF")
        noise = drawn(rng, (*batch, size, size), dtype)
        self.m = noise + size * np.eye(size, dtype=noise.dtype)
        self.p = (self.m @ np.conj(np.swapaxes(self.m, -1, -2)) / size).astype(noise.dtype)
        self.b = drawn(rng, (*batch, size, int(rng.integers(1, 4))), dtype)
        self.what = f"{dtype}{self.m.shape}"


def solved(d: Drawn) -> Case:
    def function(xp: Any, m: Any, b: Any) -> Any:
        back = xp.swapaxes(m, -1, -2)
        return xp.linalg.solve(m, b), xp.linalg.solve(back, b), xp.linalg.inv(m)

    return Case(f"solve of {d.what}", function, (d.m, d.b), 1e-3)


def factored(d: Drawn) -> Case:
    def function(xp: Any, p: Any) -> Any:
        return xp.linalg.cholesky(p), *xp.linalg.slogdet(p), xp.linalg.eigvalsh(p)

    return Case(f"factors of {d.what}", function, (d.p,), 2e-3)


def solved_triangular(d: Drawn) -> Case:
    def function(xp: Any, m: Any, b: Any) -> Any:
        solve = scipy.linalg.solve_triangular if xp is np else adze.scipy.linalg.solve_triangular
        return solve(m, b, lower=True), solve(m, b, trans=1), solve(xp.swapaxes(m, -1, -2), b, lower=False)

    return Case(f"triangular solve of {d.what}", function, (d.m, d.b), 1e-3)


def singular_values(d: Drawn) -> Case:
    part = max(1, d.m.shape[-1] // 2)
    return Case(
        f"singular values of {d.what}",
        lambda xp, m: xp.linalg.svd(m[..., :part], compute_uv=False),
        (d.m,),
        1e-3,
    )


@pytest.mark.parametrize("seed", seeds(1, 20))
def test_linear_algebra(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check([make(Drawn(rng)) for make in (solved, factored, solved_triangular, singular_values)])


def transformed(rng: np.random.Generator) -> Case:
    shape, dtype = pick(rng, SIGNALS), pick(rng, "fdF")
    axis = int(rng.integers(len(shape)))
    longer = shape[axis] + 3

    def function(xp: Any, x: Any) -> Any:
        results = [xp.fft.fft(x, axis=axis), xp.fft.ifft(x, axis=axis, n=longer), xp.fft.fftn(x)]
        if dtype != "F":
            half = xp.fft.rfft(x, axis=axis)
            results += [half, xp.fft.irfft(half, n=shape[axis], axis=axis)]
        return results

    return Case(f"transforms of {dtype}{shape} along {axis}", function, (drawn(rng, shape, dtype),), 1e-4)


@pytest.mark.parametrize("seed", seeds(1, 20))
def test_fourier_transforms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check([transformed(rng) for _ in range(2)])
