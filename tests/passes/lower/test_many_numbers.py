"""Programs on more numbers than a dispatch takes arrays: `group-small-ops` makes several kernels of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adze
from adze.passes.lower.kernels import small_ops
from adze.runtime.compile import compiler
from adze.runtime.errors import ArtifactError


def products(xs: Sequence[Any], ys: Sequence[Any]) -> Any:
    total = ys[0]
    for x, y in zip(xs, ys, strict=True):
        total = total * 2 + x * y
    return total


def chains(xs: Sequence[Any], ys: Sequence[Any]) -> Any:
    values, last = [], ys[0]
    for x, y in zip(xs, ys, strict=True):
        last = last * x - y
        values.append(last + x)
    return values, last


def shares(xs: Sequence[Any], ys: Sequence[Any]) -> Any:
    total = sum(xs[1:], xs[0])
    return [x - total * y for x, y in zip(xs, ys, strict=True)]


def numbers(count: int, dtype: str) -> list[Any]:
    values = np.random.default_rng(count).integers(-3, 4, count)
    return list(values.astype(dtype))


@pytest.mark.parametrize("function", [products, chains, shares])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 45, 130])
def test_any_count_of_numbers(function: Any, count: int) -> None:
    xs, ys = numbers(count, "int64"), numbers(count, "int64")[::-1]
    results = adze.tree.leaves(adze.jit(function)(xs, ys))
    with np.errstate(over="ignore"):
        expected = adze.tree.leaves(function(xs, ys))
    assert [r.item() for r in results] == [e.item() for e in expected]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "complex64"])
def test_dtypes(dtype: str) -> None:
    xs, ys = numbers(20, dtype), [np.ones((1, 1), dtype)] * 20
    results = adze.tree.leaves(adze.jit(shares)(xs, ys))
    for result, expected in zip(results, shares(xs, ys), strict=True):
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-2 if dtype == "float16" else 1e-5)


def test_numbers_beside_arrays() -> None:
    x, xs = np.arange(5000, dtype=np.float32), numbers(45, "float32")

    def function(x: Any, xs: Sequence[Any]) -> Any:
        total = products(xs, xs[::-1])
        return (x * total).sum(), [x[:2] + total * number for number in xs]

    results, expected = adze.tree.leaves(adze.jit(function)(x, xs)), adze.tree.leaves(function(x, xs))
    for result, value in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.asarray(result), value, rtol=1e-4)


def test_unfenced_such_a_program_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_ops, "_divided", lambda group: [])
    monkeypatch.setattr(compiler, "passes_too_many", lambda program: None)
    xs = numbers(33, "float32")
    with pytest.raises(ArtifactError, match="binding"):
        adze.jit(lambda xs: products(xs, xs))(xs)
