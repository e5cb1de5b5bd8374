"""QR factors of columns in LAPACK's order, beside SciPy's: ranks, shapes, batches, extremes, derivatives."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
import scipy.linalg

import adze
import adze.numpy as anp
from adze.lax import linalg
from adze.scipy.linalg import qr

RANDOM: Final = np.random.default_rng(3)
SQUARE: Final = RANDOM.normal(size=(5, 5))
MATRICES: Final = {
    "square": SQUARE,
    "tall": SQUARE[:, :3],
    "wide": SQUARE[:3],
    "float32": SQUARE.astype(np.float32),
    "complex": SQUARE + 1j * SQUARE.T,
    "equal columns": np.eye(4),
    "of rank 1": np.outer(np.arange(4.0), [1.0, 3, 2]),
    "huge": SQUARE * 1e200,
    "tiny": SQUARE * 1e-200,
    "zero": np.zeros((3, 2)),
    "one column": SQUARE[:, :1],
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)),
}


@pytest.mark.parametrize("mode", ["full", "economic", "r"])
@pytest.mark.parametrize("name", MATRICES)
def test_factors_are_those_of_scipy(name: str, mode: str) -> None:
    a = MATRICES[name]
    *factors, order = map(np.asarray, qr(a, mode=mode, pivoting=True))
    *wanted, places = scipy.linalg.qr(a, mode=mode, pivoting=True)
    rank = np.linalg.matrix_rank(a) if a.size else 0
    assert order.dtype == np.int32 and order[:rank].tolist() == places[:rank].tolist()
    assert sorted(order.tolist()) == [*range(a.shape[1])]
    tolerance = 1e-5 if a.dtype == np.float32 else 1e-13
    scale = np.abs(a).max(initial=0)
    if rank == min(a.shape):
        for factor, one in zip(factors, wanted, strict=True):
            np.testing.assert_allclose(
                factor, one, rtol=0, atol=tolerance * max(np.abs(one).max(initial=0), 1e-300)
            )
    if mode != "r":
        q, r = factors
        np.testing.assert_allclose(q @ r, a[:, order], rtol=0, atol=10 * tolerance * scale)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_batches_are_factored_one_by_one(is_compiled: bool) -> None:
    batch = np.stack([SQUARE, SQUARE.T, SQUARE[::-1]])

    def factors(x: np.ndarray) -> object:
        return linalg.qr(x, pivoting=True, full_matrices=False)

    function = adze.jit(factors) if is_compiled else factors
    for results in (function(batch), adze.vmap(function)(batch)):
        q, r, order = map(np.asarray, results)
        for k, a in enumerate(batch):
            places = scipy.linalg.qr(a, pivoting=True)[2]
            assert order[k].tolist() == places.tolist()
            np.testing.assert_allclose(q[k] @ r[k], a[:, places], atol=1e-12)


def test_derivatives_are_those_of_the_ordered_columns() -> None:
    order = scipy.linalg.qr(SQUARE, pivoting=True)[2]
    through = adze.grad(lambda a: anp.sum(anp.sin(qr(a, pivoting=True)[1])))(SQUARE)
    beside = adze.grad(lambda a: anp.sum(anp.sin(qr(a[:, order])[1])))(SQUARE)
    np.testing.assert_allclose(through, beside, rtol=1e-10)
