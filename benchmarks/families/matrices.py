"""Linear algebra as users write it: derivatives, many small matrices, tall ones, named sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from _case import Agreement, Case, Draw, Function
from _peers import Peer

F32, F64 = np.float32, np.float64


def well(draw: Draw, *sizes: int, dtype: Any = F32) -> np.ndarray:
    """Square matrices of the last size whose condition is small."""
    *_, order = shape = draw.shape(sizes)
    noise = draw.rng.standard_normal((*shape, order))
    return (noise / np.sqrt(order) + 2 * np.eye(order)).astype(dtype)


def spread(draw: Draw, *sizes: int, dtype: Any = F32) -> np.ndarray:
    """Symmetric definite matrices of the last size whose eigenvalues lie apart."""
    *_, order = shape = draw.shape(sizes)
    q = np.linalg.qr(draw.rng.standard_normal((*shape, order)))[0]
    return ((q * np.arange(1, order + 1)) @ np.swapaxes(q, -1, -2)).astype(dtype)


# Losses whose gradients are measured: numbers that follow from all parts of a result.


def logdet(peer: Peer, a: Any) -> Any:
    return peer.xp.linalg.slogdet(a)[1].sum()


def of_eigenvectors(peer: Peer, a: Any) -> Any:
    w, v = peer.xp.linalg.eigh(a)
    return (w * w).sum() + (v**4).sum()


def of_singular_vectors(peer: Peer, a: Any) -> Any:
    u, s, vh = peer.xp.linalg.svd(a, full_matrices=False)
    return (u[..., 0] ** 2 * vh[..., 0, :] ** 2).sum() + (s * s).sum()


def of_factor(peer: Peer, a: Any) -> Any:
    return peer.xp.sin(peer.xp.linalg.cholesky(a)).sum()


def of_qr(peer: Peer, a: Any) -> Any:
    q, r = peer.xp.linalg.qr(a)
    return (q * q * q).sum() + peer.xp.sin(r).sum()


def of_solution(peer: Peer, a: Any) -> Any:
    xp = peer.xp
    return xp.sin(xp.linalg.solve(a, a[..., :1])).sum() + xp.sin(xp.linalg.solve(a, a[..., :1] ** 2)).sum()


LOSSES: tuple[tuple[str, Function, Callable[..., np.ndarray]], ...] = (
    ("logdet", logdet, well),
    ("eigh", of_eigenvectors, spread),
    ("svd", of_singular_vectors, spread),
    ("cholesky", of_factor, spread),
    ("qr", of_qr, well),
    ("solve", of_solution, well),
)
SHAPES: tuple[tuple[int, ...], ...] = ((3,), (20,), (200,), (500, 3), (50, 20))


def slope(loss: Function) -> Function:
    return lambda peer, a: peer.library.grad(lambda a: loss(peer, a))(a)


def gradients() -> tuple[Case, ...]:
    """The gradient of each loss, of one matrix and of many, with both floats where there is one."""
    return tuple(
        Case(
            f"gradient of {name}, {' of '.join(map(str, sizes))} {np.dtype(dtype).name}",
            slope(loss),
            lambda draw, sizes=sizes, dtype=dtype, make=make: (make(draw, *sizes, dtype=dtype),),
            numpy=None,
            tolerance=1e4,
        )
        for name, loss, make in LOSSES
        for sizes in SHAPES
        for dtype in (F32, F64)
        if dtype is F32 or sizes in ((20,), (200,))
    )


def rows(*sizes: int, dtype: Any = F32) -> Callable[[Draw], tuple[Any, ...]]:
    return lambda draw: (draw.normal(*sizes, dtype=dtype),)


def two(*shapes: tuple[int, ...]) -> Callable[[Draw], tuple[Any, ...]]:
    return lambda draw: tuple(draw.normal(*shape) for shape in shapes)


def of(make: Callable[..., np.ndarray], *sizes: int, dtype: Any = F32) -> Callable[[Draw], tuple[Any, ...]]:
    return lambda draw: (make(draw, *sizes, dtype=dtype),)


def system(order: int, columns: int) -> Callable[[Draw], tuple[Any, ...]]:
    return lambda draw: (well(draw, order), draw.normal(order, columns))


def triangle(order: int, columns: int) -> Callable[[Draw], tuple[Any, ...]]:
    return lambda draw: (np.tril(well(draw, order)), draw.normal(order, columns))


def woodbury(peer: Peer, inverse: Any, u: Any, v: Any) -> Any:
    """The inverse of a matrix that a product of few columns is added to."""
    xp = peer.xp
    left, right = inverse @ u, v @ inverse
    return inverse - left @ xp.linalg.solve(xp.eye(u.shape[1], dtype=u.dtype) + v @ left, right)


def kalman(peer: Peer, p: Any, h: Any, r: Any) -> Any:
    """The gains and covariances of many filters of six states and three measurements."""
    xp = peer.xp
    ph = p @ h.T
    gain = xp.swapaxes(xp.linalg.solve(h @ ph + r, xp.swapaxes(ph, -1, -2)), -1, -2)
    return gain, p - gain @ (h @ p)


def kalman_data(draw: Draw) -> tuple[Any, ...]:
    return draw.symmetric_definite(200, 6), draw.normal(3, 6), np.eye(3, dtype=F32)


def tridiagonal(draw: Draw) -> tuple[Any, ...]:
    n = draw.size(1000)
    below, above = draw.normal(n), draw.normal(n)
    below[0] = above[-1] = 0
    return below, 4 + draw.positive(n), above, draw.normal(n, 1)


def toeplitz_solve(peer: Peer, c: Any, b: Any) -> Any:
    return peer.xp.linalg.solve(peer.linalg.toeplitz(c), b)


def toeplitz_data(draw: Draw) -> tuple[Any, ...]:
    n = draw.size(200)
    return (0.5 ** np.arange(n)).astype(F32), draw.normal(n)


def householder(peer: Peer, a: Any, taus: Any) -> Any:
    return peer.lax.linalg.householder_product(a, taus)


def householder_data(draw: Draw) -> tuple[Any, ...]:
    a = draw.normal(200, 20) / 10
    n = a.shape[1]
    lower = np.tril(a, -1)
    return a, (2 / (1 + (lower * lower).sum(0)[:n])).astype(F32)


def values(peer: Peer, a: Any) -> Any:
    return peer.xp.linalg.svd(a, compute_uv=False)


def sorted_values(peer: Peer, a: Any) -> Any:
    return peer.xp.sort(peer.xp.abs(peer.xp.linalg.eigvals(a)))


def sum_of_schur(peer: Peer, a: Any) -> Any:
    """A number that all forms have in common, and the form, whose order is free."""
    t, z = peer.linalg.schur(a)
    return peer.xp.trace(t), t, z


def singular(peer: Peer, a: Any) -> Any:
    u, s, vh = peer.xp.linalg.svd(a, full_matrices=False)
    return s, u, vh


def eigen(peer: Peer, a: Any) -> Any:
    return tuple(peer.xp.linalg.eigh(a))


ONE: tuple[Case, ...] = (
    Case(
        "triangular solve 200, 1,000 right-hand sides",
        lambda peer, a, b: peer.linalg.solve_triangular(a, b, lower=True),
        triangle(200, 1000),
        tolerance=30.0,
    ),
    Case(
        "triangular solve 500, one right-hand side",
        lambda peer, a, b: peer.linalg.solve_triangular(a, b, lower=True),
        triangle(500, 1),
        tolerance=30.0,
        quick=True,
    ),
    Case(
        "cho_solve 200",
        lambda peer, a, b: peer.linalg.cho_solve((a, True), b),
        triangle(200, 4),
        tolerance=30.0,
    ),
    Case("inv 10,000 of 4", lambda peer, a: peer.xp.linalg.inv(a), of(well, 10_000, 4), tolerance=30.0),
    Case("inv 200", lambda peer, a: peer.xp.linalg.inv(a), of(well, 200), tolerance=30.0),
    Case("det 10,000 of 4", lambda peer, a: peer.xp.linalg.det(a), of(well, 10_000, 4), tolerance=30.0),
    Case("eigh 10,000 of 3", eigen, of(spread, 10_000, 3), agreement=Agreement.FIRST, tolerance=30.0),
    Case("svd 10,000 of 3", singular, of(spread, 10_000, 3), agreement=Agreement.FIRST, tolerance=30.0),
    Case("svd of 16 columns, 16 rows, values", values, rows(16, 16), tolerance=30.0),
    Case("svd of 5 columns, 500 rows", singular, rows(500, 5), agreement=Agreement.FIRST, tolerance=30.0),
    Case(
        "lstsq 500 x 5",
        lambda peer, a, b: peer.xp.linalg.lstsq(a, b)[0],
        two((500, 5), (500,)),
        tolerance=30.0,
        numpy=None,
    ),
    Case("pinv 500 x 5", lambda peer, a: peer.xp.linalg.pinv(a), rows(500, 5), tolerance=30.0),
    Case("pinv 50", lambda peer, a: peer.xp.linalg.pinv(a), of(well, 50), tolerance=100.0),
    Case(
        "matrix_power 20, 13",
        lambda peer, a: peer.xp.linalg.matrix_power(a / 3, 13),
        of(well, 20),
        tolerance=30.0,
    ),
    Case(
        "expm 500 of 8",
        lambda peer, a: peer.library.vmap(peer.linalg.expm)(a),
        of(well, 500, 8),
        numpy=None,
        tolerance=100.0,
    ),
    Case("expm 50", lambda peer, a: peer.linalg.expm(a), of(well, 50), numpy=None, tolerance=100.0),
    Case("sqrtm 20", lambda peer, a: peer.linalg.sqrtm(a), of(spread, 20), numpy=None, tolerance=100.0),
    Case("polar 50", lambda peer, a: peer.linalg.polar(a)[0], of(well, 50), numpy=None, tolerance=100.0),
    Case("lu 2,000 x 50", lambda peer, a: peer.linalg.lu_factor(a)[0], rows(2000, 50), tolerance=30.0),
    Case("schur 30", sum_of_schur, of(well, 30), agreement=Agreement.FIRST, tolerance=100.0),
    Case("eigvals 50", sorted_values, of(well, 50), tolerance=100.0),
    Case("householder product 200 x 20", householder, householder_data, numpy=None, tolerance=30.0),
    Case(
        "tridiagonal solve 1,000",
        lambda peer, *x: peer.lax.linalg.tridiagonal_solve(*x),
        tridiagonal,
        numpy=None,
        tolerance=30.0,
    ),
    Case("Toeplitz solve 200", toeplitz_solve, toeplitz_data, tolerance=30.0),
    Case(
        "Woodbury 200, 4",
        woodbury,
        lambda draw: (np.eye(draw.size(200), dtype=F32), draw.normal(200, 4) / 20, draw.normal(4, 200) / 20),
        tolerance=30.0,
    ),
    Case("Kalman gains, 200 of 6", kalman, kalman_data, tolerance=100.0),
    Case(
        "qr 1,000 x 20",
        lambda p, a: tuple(p.xp.linalg.qr(a)),
        rows(1000, 20),
        agreement=Agreement.MAGNITUDES,
        tolerance=30.0,
    ),
    Case(
        "qr 100,000 x 4",
        lambda p, a: tuple(p.xp.linalg.qr(a)),
        rows(100_000, 4),
        agreement=Agreement.MAGNITUDES,
        tolerance=30.0,
    ),
    Case(
        "qr 500 of 4",
        lambda p, a: tuple(p.xp.linalg.qr(a)),
        of(well, 500, 4),
        agreement=Agreement.MAGNITUDES,
        tolerance=30.0,
    ),
    Case(
        "gradient of distances 300",
        lambda peer, x: peer.library.grad(
            lambda x: peer.xp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1e-3).sum()
        )(x),
        rows(300, 3),
        numpy=None,
        tolerance=100.0,
    ),
    Case("outer 1,000 x 1,000", lambda peer, x, y: peer.xp.outer(x, y), two((1000,), (1000,))),
    Case("cross 10,000", lambda peer, x, y: peer.xp.cross(x, y), two((10_000, 3), (10_000, 3))),
)

NAMED: tuple[Case, ...] = (
    Case(
        "svd of 6 columns, n = 100",
        singular,
        rows(100, 6),
        agreement=Agreement.FIRST,
        tolerance=30.0,
        named=("n,6",),
    ),
    Case(
        "svd of m x n, 30 x 20",
        singular,
        rows(30, 20),
        agreement=Agreement.FIRST,
        tolerance=30.0,
        named=("m,n",),
    ),
    Case("values of m x n, 30 x 20", values, rows(30, 20), tolerance=30.0, named=("m,n",)),
    Case(
        "lstsq of n x 6, 100",
        lambda peer, a, b: peer.xp.linalg.lstsq(a, b)[0],
        two((100, 6), (100,)),
        numpy=None,
        tolerance=30.0,
        named=("n,6", "n"),
    ),
    Case(
        "pinv of n x 6, 100",
        lambda peer, a: peer.xp.linalg.pinv(a),
        rows(100, 6),
        tolerance=30.0,
        named=("n,6",),
    ),
    Case(
        "solve of n, 20",
        lambda peer, a, b: peer.xp.linalg.solve(a, b),
        system(20, 4),
        tolerance=30.0,
        named=("n,n", "n,4"),
    ),
    Case("inv of n, 20", lambda peer, a: peer.xp.linalg.inv(a), of(well, 20), tolerance=30.0, named=("n,n",)),
    Case(
        "det of n, 20", lambda peer, a: peer.xp.linalg.det(a), of(well, 20), tolerance=100.0, named=("n,n",)
    ),
    Case(
        "slogdet of n, 20",
        lambda peer, a: tuple(peer.xp.linalg.slogdet(a)),
        of(well, 20),
        tolerance=30.0,
        named=("n,n",),
    ),
    Case(
        "expm of n, 20",
        lambda peer, a: peer.linalg.expm(a),
        of(well, 20),
        numpy=None,
        tolerance=100.0,
        named=("n,n",),
    ),
    Case(
        "qr of n x 6, 100",
        lambda p, a: tuple(p.xp.linalg.qr(a)),
        rows(100, 6),
        agreement=Agreement.MAGNITUDES,
        tolerance=30.0,
        named=("n,6",),
    ),
    Case(
        "cholesky of b, 50 of 20",
        lambda peer, a: peer.xp.linalg.cholesky(a),
        of(spread, 50, 20),
        tolerance=100.0,
        named=("b,20,20",),
    ),
    Case("eigh of n, 20", eigen, of(spread, 20), agreement=Agreement.FIRST, tolerance=30.0, named=("n,n",)),
    Case("tril of n, 100", lambda peer, a: peer.xp.tril(a), rows(100, 100), named=("n,n",)),
    Case("diagonal of n, 100", lambda peer, a: peer.xp.diagonal(a), rows(100, 100), named=("n,n",)),
    Case(
        "kron of n and m, 20",
        lambda peer, a, b: peer.xp.kron(a, b),
        two((20, 20), (20, 20)),
        named=("n,n", "m,m"),
    ),
    Case("vander of n, 200", lambda peer, a: peer.xp.vander(a, 6), rows(200), tolerance=30.0, named=("n",)),
)

CASES = (*ONE, *NAMED, *gradients())
