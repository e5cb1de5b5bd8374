"""Linear algebra: factorizations and solves of order 20 to 1000, batches of 500 x 16, a Gaussian process."""

from typing import Any

import numpy as np
from _case import Agreement, Case, Draw, gradient_of
from _peers import Peer


def cholesky(peer: Peer, a: Any) -> Any:
    return peer.xp.linalg.cholesky(a)


def solve(peer: Peer, a: Any, b: Any) -> Any:
    return peer.xp.linalg.solve(a, b)


def lu(peer: Peer, a: Any) -> Any:
    return peer.linalg.lu_factor(a)[0]


def qr(peer: Peer, a: Any) -> Any:
    return tuple(peer.xp.linalg.qr(a))


def svd(peer: Peer, a: Any) -> Any:
    u, s, v = peer.xp.linalg.svd(a, full_matrices=False)
    return s, u, v


def eigh(peer: Peer, a: Any) -> Any:
    return tuple(peer.xp.linalg.eigh(a))


def gaussian_process(peer: Peer, log_width: Any, log_noise: Any, x: Any, y: Any) -> Any:
    """The negative log likelihood of a Gaussian process."""
    xp = peer.xp
    squares = xp.sum(xp.square(x[:, None, :] - x[None, :, :]), axis=-1)
    kernel = xp.exp(-0.5 * squares * xp.exp(-2.0 * log_width)) + xp.exp(log_noise) * xp.eye(
        x.shape[0], dtype=x.dtype
    )
    factor = xp.linalg.cholesky(kernel)
    half = peer.linalg.solve_triangular(factor, y, lower=True)
    return 0.5 * xp.sum(half * half) + xp.sum(xp.log(xp.diagonal(factor)))


def process_data(draw: Draw) -> tuple[Any, ...]:
    return np.float32(0.1), np.float32(-1.0), draw.normal(200, 3), draw.normal(200)


def definite(*sizes: int, dtype: Any = np.float32) -> Any:
    return lambda draw: (draw.symmetric_definite(*sizes, dtype=dtype),)


def general(*sizes: int, dtype: Any = np.float32) -> Any:
    """Square matrices whose diagonal is heavy, and right-hand sides of four columns."""

    def inputs(draw: Draw) -> tuple[Any, ...]:
        *_, order = shape = draw.shape((*sizes, sizes[-1]))
        matrix = draw.normal(*sizes, sizes[-1], dtype=dtype) + np.eye(order, dtype=dtype) * dtype(
            np.sqrt(order)
        )
        return matrix, draw.rng.standard_normal((*shape[:-1], 4)).astype(dtype)

    return inputs


def matrix(*sizes: int, dtype: Any = np.float32) -> Any:
    return lambda draw: general(*sizes, dtype=dtype)(draw)[:1]


def named(sizes: tuple[int, ...], dtype: Any) -> str:
    return " of ".join(map(str, sizes)) + (" f64" if dtype is np.float64 else "")


SHAPES: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((20,), np.float32),
    ((200,), np.float32),
    ((200,), np.float64),
    ((1000,), np.float32),
    ((500, 16), np.float32),
)
QUICK = ("cholesky 200", "solve 200", "eigh 20")


def case(name: str, function: Any, inputs: Any, **options: Any) -> tuple[Case, ...]:
    rows = []
    for sizes, dtype in SHAPES:
        title = f"{name} {named(sizes, dtype)}"
        rows.append(
            Case(
                title, function, inputs(*sizes, dtype=dtype), quick=title in QUICK, tolerance=30.0, **options
            )
        )
    return tuple(rows)


CASES = (
    *case("cholesky", cholesky, definite),
    *case("solve", solve, general),
    *case("lu", lu, matrix),
    *case("qr", qr, matrix, agreement=Agreement.MAGNITUDES),
    *case("svd", svd, matrix, agreement=Agreement.FIRST),
    *case("eigh", eigh, definite, agreement=Agreement.FIRST),
    Case("Gaussian process 200", gaussian_process, process_data, tolerance=10.0),
    Case(
        "Gaussian process gradient 200",
        gradient_of(gaussian_process, 0, 1),
        process_data,
        numpy=None,
        tolerance=10.0,
        quick=True,
    ),
)
