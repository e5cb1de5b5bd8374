"""Jacobians where an argument or a result has one element, which need no batch: shapes, dtypes and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
from adze import numpy as xp

SHAPES: Final = ((), (1,), (1, 1), (3,), (0,))


def function(x: Any, y: Any) -> dict[str, Any]:
    total = xp.sum(xp.sin(x)) * xp.sum(y * y)
    return {"total": total, "row": total[None] * 2, "each": xp.cos(y) * total, "none": y[:0]}


@pytest.mark.parametrize("jacobian", [adze.jacfwd, adze.jacrev])
@pytest.mark.parametrize("x_shape", SHAPES)
@pytest.mark.parametrize("y_shape", SHAPES[1:])
def test_a_jacobian_is_that_of_columns(
    jacobian: Callable[..., Any], x_shape: tuple[int, ...], y_shape: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal(x_shape), rng.standard_normal(y_shape).astype(np.float32)
    found = jacobian(function, argnums=(0, 1))(x, y)
    for k, value in enumerate((x, y)):
        for name, result in function(x, y).items():
            block = found[name][k]
            assert block.shape == (*result.shape, *value.shape)
            columns = np.zeros((*result.shape, value.size))
            for place in range(value.size):
                tangents = [np.zeros_like(x), np.zeros_like(y)]
                tangents[k].flat[place] = 1
                columns[..., place] = adze.jvp(function, (x, y), tuple(tangents))[1][name]
            np.testing.assert_allclose(block, columns.reshape(block.shape), rtol=1e-5, atol=1e-6)


def test_a_hessian_of_named_rows_needs_no_batch_of_one() -> None:
    def loss(x: Any) -> Any:
        return xp.sum(xp.sin(x) * x[::-1] ** 2)

    traced = adze.trace(adze.vmap(adze.hessian(loss)), adze.ShapeDtype(("n", 3), np.float64))
    assert "x1x" not in str(traced)
    x = np.random.default_rng(4).standard_normal((4, 3))
    rows = np.stack([adze.hessian(loss)(row) for row in x])
    np.testing.assert_allclose(traced.lower().compile()(x), rows, rtol=1e-12)
