"""Parameters that few programs pass: results are NumPy's, traced and not; `out` is refused by its class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
import adze.numpy as anp

X: Final = np.float32([[3, 1, 2, 5], [0, 4, 4, 1], [9, 7, 0, 0]])
V: Final = np.float32([3, 1, 2, 5])
WEIGHTS: Final = np.float32([[1, 2, 0, 1], [3, 1, 1, 1], [0, 0, 2, 1]])
MASK: Final = np.array([[0, 0, 0], [0, 2, 0], [0, 1, 0]])

CALLS: Final[dict[str, Callable[[Any], Any]]] = {
    "intersect1d": lambda xp: xp.intersect1d([3, 1, 2, 3], [5, 3, 3, 1], return_indices=True),
    "intersect1d of nothing": lambda xp: xp.intersect1d(V, V + 10, return_indices=True),
    "trim_zeros": lambda xp: xp.trim_zeros(MASK[:, 1], "b"),
    "trim_zeros of zeros": lambda xp: xp.trim_zeros(np.zeros(3)),
    "ravel_multi_index": lambda xp: xp.ravel_multi_index(([1, 2], [0, 3]), (3, 4), order="F"),
    "ravel_multi_index wraps": lambda xp: xp.ravel_multi_index(([4, -1], [0, 3]), (3, 4), mode="wrap"),
    "quantile": lambda xp: xp.quantile(V, [0.0, 0.3, 1.0], weights=WEIGHTS[0], method="inverted_cdf"),
    "quantile of rows": lambda xp: xp.quantile(X, 0.5, axis=1, weights=WEIGHTS, method="inverted_cdf"),
    "quantile, weights of an axis": lambda xp: xp.quantile(
        X, 0.5, axis=1, weights=V, method="inverted_cdf", keepdims=True
    ),
    "percentile": lambda xp: xp.percentile(X, 30, method="inverted_cdf"),
    "nanpercentile": lambda xp: xp.nanpercentile(np.where(X == 7, np.nan, X), 60, method="inverted_cdf"),
    "polyfit": lambda xp: xp.polyfit(V, V**2 + X[1], 1, cov=True),
    "polyfit, unscaled": lambda xp: xp.polyfit(V, V**2, 1, cov="unscaled"),
    "polyfit of two": lambda xp: xp.polyfit(V, X[:2].T, 1, cov=True),
    "polyfit, all of it": lambda xp: xp.polyfit(V, V**2, 1, full=True),
    "out by position": lambda xp: xp.add(V, V, None),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_numpy(name: str) -> None:
    wanted, got = (r if isinstance(r, tuple) else (r,) for r in (CALLS[name](np), CALLS[name](anp)))
    assert len(wanted) == len(got)
    for one, other in zip(wanted, got, strict=True):
        np.testing.assert_allclose(np.asarray(other), one, rtol=2e-4, atol=1e-6)


def test_axes_of_trim_zeros() -> None:
    assert anp.trim_zeros(MASK).tolist() == [[2], [1]]
    assert anp.trim_zeros(MASK, axis=1).shape == (3, 1) and anp.trim_zeros(MASK, "f", axis=(0,)).shape == (
        2,
        3,
    )


@pytest.mark.parametrize("size", [1, 3, 5])
def test_traced_positions_of_common_values(size: int) -> None:
    common, first, second = adze.jit(
        lambda x, y: anp.intersect1d(x, y, return_indices=True, size=size, fill_value=-1)
    )(np.int32([3, 1, 2, 3]), np.int32([5, 3, 3, 1]))
    padded = [[*values, *[fill] * 5][:size] for values, fill in (([1, 3], -1), ([1, 0], 4), ([3, 1], 4))]
    assert [common.tolist(), first.tolist(), second.tolist()] == padded


@pytest.mark.parametrize("positions", [[0], [1, -1], [3, 0, 1], []])
def test_traced_distinct_positions_are_deleted(positions: list[int]) -> None:
    delete = adze.jit(lambda x, k: anp.delete(x, k, axis=1, assume_unique_indices=True))
    np.testing.assert_array_equal(delete(X, np.array(positions, int)), np.delete(X, positions, axis=1))


def test_coordinates_out_of_bounds() -> None:
    with pytest.raises(ValueError, match="coordinate 3 is out of bounds for an axis of size 3"):
        anp.ravel_multi_index(([3], [0]), (3, 4))
    assert adze.jit(lambda i: anp.ravel_multi_index((i, i), (3, 4)))(np.array([9])).tolist() == [11]


def test_weights_need_their_method() -> None:
    with pytest.raises(ValueError, match="weights need method='inverted_cdf', got 'linear'"):
        anp.quantile(V, 0.5, weights=V)
    assert np.isnan(anp.quantile(V, 0.5, weights=-V, method="inverted_cdf"))


@pytest.mark.parametrize(
    "call", [lambda: anp.add(V, V, V), lambda: anp.outer(V, V, V), lambda: anp.sum(V, out=V)]
)
def test_out_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(NotImplementedError, match="arrays of adze are immutable"):
        call()


def test_operands_by_name() -> None:
    assert anp.fmax(x1=V, x2=np.nan).tolist() == V.tolist()
    with pytest.raises(TypeError, match="y"):
        anp.add(V, z=V)
