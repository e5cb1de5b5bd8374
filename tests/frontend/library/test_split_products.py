"""`precision="BF16_BF16_F32_X3"`: what is computed, its derivatives, and that nothing else is narrowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.frontend.errors import ArgumentError

SPLIT = "BF16_BF16_F32_X3"
RANDOM = np.random.default_rng(0)
X, Y, Z = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((24, 40), (40, 24), (24, 24)))


def error(got: Any, want: np.ndarray) -> float:
    """The largest difference, in parts of the largest element."""
    return float(np.max(np.abs(np.asarray(got, np.float64) - want)) / np.max(np.abs(want)))


def split(x: Any, y: Any) -> Any:
    return xp.matmul(x, y, precision=SPLIT)


def test_sixteen_bits_are_kept() -> None:
    want = X.astype(np.float64) @ Y
    narrowed = error(X.astype("bfloat16").astype(np.float64) @ Y.astype("bfloat16").astype(np.float64), want)
    assert narrowed > 1e-3
    for function in (split, adze.jit(split)):
        assert 1e-7 < error(function(X, Y), want) < 2e-5, "neither float32 nor bfloat16"


def test_every_product_takes_it() -> None:
    batch = RANDOM.standard_normal((3, 5, 7)).astype(np.float32)
    other = RANDOM.standard_normal((3, 7, 4)).astype(np.float32)
    pairs = {
        "matmul": (split(batch, other), batch.astype(np.float64) @ other),
        "vectors": (split(X[0], Y), X[0].astype(np.float64) @ Y),
        "dot": (xp.dot(X, Y, precision=SPLIT), X.astype(np.float64) @ Y),
        "inner": (xp.inner(X, X, precision=SPLIT), X.astype(np.float64) @ X.T),
        "tensordot": (
            xp.tensordot(batch, other, ([0, 2], [0, 1]), precision=SPLIT),
            np.tensordot(batch.astype(np.float64), other, ([0, 2], [0, 1])),
        ),
        "einsum": (
            xp.einsum("bij,bjk->bki", batch, other, precision=SPLIT),
            np.einsum("bij,bjk->bki", batch.astype(np.float64), other),
        ),
        "dot_general": (
            lax.dot_general(
                X, X, (((1,), (1,)), ((), ())), precision=lax.DotAlgorithmPreset.BF16_BF16_F32_X3
            ),
            X.astype(np.float64) @ X.T,
        ),
    }
    for name, (got, want) in pairs.items():
        assert 0 < error(got, want) < 2e-5, name


def test_derivatives_are_products_of_the_same_kind() -> None:
    """A cotangent that were narrowed to bfloat16 would be off by 1e-3."""

    def loss(product: Any) -> Any:
        return lambda x, y, z: xp.sum(product(x, y) * z)

    for got, want in zip(
        adze.grad(loss(split), argnums=(0, 1))(X, Y, Z), (Z.astype(np.float64) @ Y.T, X.T @ Z), strict=True
    ):
        assert 1e-7 < error(got, want) < 2e-5
    dx = X[::-1].copy()
    _, tangent = adze.jvp(split, (X, Y), (dx, 2 * Y))
    assert error(tangent, dx.astype(np.float64) @ Y + X.astype(np.float64) @ (2 * Y)) < 2e-5
    batches = xp.einsum("bij,bjk->bik", np.stack([X, dx]), np.stack([Y, Y]), precision=SPLIT)
    weights = np.stack([Z, Z])
    slopes = adze.grad(
        lambda x: xp.sum(xp.einsum("bij,bjk->bki", x, np.stack([Y, Y]), precision=SPLIT) * weights)
    )(np.stack([X, dx]))
    assert error(batches[1], dx.astype(np.float64) @ Y) < 2e-5
    assert error(slopes[0], Z.T.astype(np.float64) @ Y.T) < 2e-5


def test_batches_of_products() -> None:
    stacked = np.stack([X, X[::-1]])
    for got, one in zip(adze.vmap(split, (0, None))(stacked, Y), stacked, strict=True):
        assert error(got, one.astype(np.float64) @ Y) < 2e-5
    slopes = adze.vmap(adze.grad(lambda x: xp.sum(split(x, Y) * Z)))(stacked)
    assert error(slopes[1], Z.astype(np.float64) @ Y.T) < 2e-5


def test_infinities_stay() -> None:
    x = np.array([[np.inf, 1], [1, 1]], np.float32)
    got = np.asarray(split(x, np.ones((2, 2), np.float32)))
    np.testing.assert_array_equal(got, [[np.inf, np.inf], [2, 2]])
    x[0, 0] = np.nan
    assert np.isnan(np.asarray(split(x, np.ones((2, 2), np.float32)))[0]).all()


@pytest.mark.parametrize(
    "precision", [None, "highest", "F32_F32_F32", lax.Precision.DEFAULT, "BF16_BF16_F32"]
)
def test_no_other_precision_narrows(precision: Any) -> None:
    plain = np.asarray(xp.matmul(X, Y))
    np.testing.assert_array_equal(np.asarray(xp.matmul(X, Y, precision=precision)), plain)


def test_only_float32_is_split() -> None:
    for dtype in (np.float64, np.float16, np.int32):
        x, y = X.astype(dtype), Y.astype(dtype)
        np.testing.assert_array_equal(np.asarray(split(x, y)), np.asarray(xp.matmul(x, y)))


def test_dynamic_sizes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="takes arrays of known sizes, got f32") as caught:
        adze.trace(split, ShapeDtype(("n", 40)), ShapeDtype((40, 24)))
    assert "test_split_products.py" in str(caught.value.where)
