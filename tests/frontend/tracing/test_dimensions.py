"""Dimensions keep their names through ops that hand them on, and in the shapes of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype, lax, nn
from adze import numpy as xp
from adze.runtime.errors import CallError

X = ShapeDtype(("n", 3))
Y = ShapeDtype((3, "m"))

CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "product": (lambda x, y: x @ y, (X, Y), ("n", "m")),
    "einsum": (lambda x, y: xp.einsum("ni,im->mn", x, y), (X, Y), ("m", "n")),
    "sum": (lambda x: xp.sum(x, axis=1), (X,), ("n",)),
    "softmax": (nn.softmax, (X,), ("n", 3)),
    "transpose": (lambda x: x.T, (X,), (3, "n")),
    "row": (lambda x: x[:, 1], (X,), ("n",)),
    "concatenation of columns": (lambda x: xp.concatenate([x, x], axis=1), (X,), ("n", 6)),
    "concatenation of rows": (lambda x: xp.concatenate([x, x]), (X,), ("2*n", 3)),
    "rows but the first": (lambda x: x[1:], (X,), ("max(n - 1, 0)", 3)),
    "sort": (lambda x: xp.sort(x, axis=0), (X,), ("n", 3)),
    "running sum": (lambda x: xp.cumsum(x, axis=0), (X,), ("n", 3)),
    "chosen rows": (lambda x, i: x[i], (X, ShapeDtype(("k",), "int32")), ("k", 3)),
    "reshape": (lambda x: xp.reshape(x, (3, x.shape[0])), (X,), (3, "n")),
    "ravel": (xp.ravel, (X,), ("3*n",)),
    "convolution": (
        lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"),
        (ShapeDtype(("b", 3, 8)), ShapeDtype((4, 3, 3))),
        ("b", 4, 8),
    ),
    "sizes without names": (xp.exp, (ShapeDtype((None, 3)),), (None, 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_names_of_results(name: str) -> None:
    function, specs, shape = CASES[name]
    assert adze.eval_shape(function, *specs).shape == shape


def test_sizes_that_are_equal_by_name_meet() -> None:
    def f(x: Any, w: Any) -> Any:
        return x @ w + xp.sum(x, axis=1)[:, None] * xp.ones((x.shape[0], 2))

    compiled = adze.trace(f, X, ShapeDtype((3, 2))).lower().compile()
    x, w = np.ones((5, 3), np.float32), np.ones((3, 2), np.float32)
    np.testing.assert_array_equal(np.asarray(compiled(x, w)), np.full((5, 2), 6))
    assert "-> (f32[n,2])" in repr(compiled)


def test_sizes_that_follow_from_names_are_numbers_in_the_program() -> None:
    """The manifest states them, and the module has to."""

    def f(x: Any) -> Any:
        n, m = x.shape
        return x[n:], x[n - 2 :], x[: n // 2, m - 1 :].T, x

    traced = adze.trace(f, ShapeDtype(("n", "m")))
    compiled = traced.lower().compile()
    assert "-> (f32[0,m], f32[2,m], f32[1,n//2], f32[n,m])" in repr(compiled)
    assert "-> (tensor<0x?xf32>, tensor<2x?xf32>, tensor<1x?xf32>, tensor<?x?xf32>)" in traced.mlir()
    x = np.arange(15.0, dtype=np.float32).reshape(5, 3)
    for got, want in zip(compiled(x), (x[5:], x[3:], x[:2, 2:].T, x), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)


def test_eval_shape_gives_the_tree_and_computes_nothing() -> None:
    def f(x: Any, n: int) -> Any:
        return {"wide": x @ x.T, "rows": [x[0], xp.argmax(x, axis=1)]}, None

    result = adze.eval_shape(adze.jit(f, static_argnums=1), np.ones((2, 3), np.float64), 4)
    rows = [ShapeDtype((3,), "float64"), ShapeDtype((2,), "int64")]
    assert result == ({"wide": ShapeDtype((2, 2), "float64"), "rows": rows}, None)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x - x[:1],
        lambda x: x[-1:] * x,
        lambda x: x[:1] < x,
        lambda x: xp.where(x[:1] > 0, x, x[-1:]),
        lambda x: x - x[:, :1],
        lambda x: adze.grad(lambda x: xp.sum(x * x[:1]))(x),
    ],
)
@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_first_row_meets_all_rows(function: Callable[[Any], Any], size: int) -> None:
    """The size of `x[:1]` is 1, or 0 where x is empty."""
    compiled = adze.trace(function, adze.ShapeDtype(("n", "m"), np.float32)).lower().compile()
    x = np.random.default_rng(0).standard_normal((size, 3)).astype(np.float32)
    np.testing.assert_allclose(compiled(x), adze.jit(function)(x), rtol=1e-6)


def test_a_first_row_meets_rows_of_another_size_only_where_it_is_there() -> None:
    rows = adze.ShapeDtype(("n", 3), np.float32), adze.ShapeDtype(("m", 3), np.float32)
    compiled = adze.trace(lambda x, y: x[:1] + y, *rows).lower().compile()
    with pytest.raises(CallError, match="broadcast of axis 0 to an unequal size"):
        compiled(np.ones((2, 3), np.float32), np.ones((4, 3), np.float32))
