"""Gradients of functions of an array's parts: the parts' cotangents side by side are one array."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp


def parts(starts: list[int], axis: int, step: int = 1) -> Callable[[Any], Any]:
    """A function of the parts of an array that begin at `starts`, each with a factor of its own."""

    def function(x: Any) -> Any:
        total = 0.0
        for k, (first, last) in enumerate(pairwise(starts)):
            index = [slice(None)] * x.ndim
            index[axis] = slice(first, last, step)
            total = total + (anp.sin(x[tuple(index)]) * (k + 1)).sum()
        return total

    return function


def expected(x: np.ndarray, starts: list[int], axis: int, step: int = 1) -> np.ndarray:
    gradient = np.zeros_like(x)
    moved, target = np.moveaxis(x, axis, 0), np.moveaxis(gradient, axis, 0)
    for k, (first, last) in enumerate(pairwise(starts)):
        target[first:last:step] += np.cos(moved[first:last:step]) * (k + 1)
    return gradient


def program(function: Callable[..., Any], *args: Any) -> str:
    return str(adze.jit(adze.grad(function)).trace(*args).mlir("simplified"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("starts", "axis"), [([0, 4, 8], 1), ([0, 1, 3, 8], 1), ([0, 5], 0), ([0, 2, 3, 5], 0)]
)
def test_parts_that_are_the_whole(starts: list[int], axis: int, dtype: str) -> None:
    x = np.random.default_rng(1).normal(size=(5, 8)).astype(dtype)
    function = parts(starts, axis)
    text = program(function, x)
    assert "adze.pad" not in text
    assert ("adze.concatenate" in text) == (len(starts) > 2)
    for gradient in (adze.grad(function), adze.jit(adze.grad(function))):
        np.testing.assert_allclose(gradient(x), expected(x, starts, axis), rtol=1e-6)


@pytest.mark.parametrize(("starts", "step"), [([1, 3, 6], 1), ([2, 4, 8], 2), ([0, 3, 5], 1)])
def test_parts_of_a_part(starts: list[int], step: int) -> None:
    x = np.random.default_rng(2).normal(size=(3, 8)).astype("float32")
    function = parts(starts, 1, step)
    assert ("adze.concatenate" in program(function, x)) == (step == 1)
    np.testing.assert_allclose(
        adze.jit(adze.grad(function))(x), expected(x, starts, 1, step), rtol=1e-6, atol=1e-7
    )


def test_parts_that_overlap_or_lie_apart_are_added() -> None:
    def overlap(x: Any) -> Any:
        return (anp.sin(x[:5]) * 2).sum() + (anp.sin(x[3:]) * 3).sum()

    def apart(x: Any) -> Any:
        return (anp.sin(x[:2]) * 2).sum() + (anp.sin(x[5:]) * 3).sum()

    def corners(x: Any) -> Any:
        return (anp.sin(x[:2, :2]) * 2).sum() + (anp.sin(x[2:, 2:]) * 3).sum()

    x = np.linspace(-1, 1, 8, dtype="float32")
    places = np.arange(8)
    for function, factors in (
        (overlap, 2 * (places < 5) + 3 * (places >= 3)),
        (apart, 2 * (places < 2) + 3 * (places >= 5)),
    ):
        assert "adze.concatenate" not in program(function, x)
        np.testing.assert_allclose(adze.jit(adze.grad(function))(x), factors * np.cos(x), rtol=1e-6)
    square = np.linspace(-1, 1, 16, dtype="float32").reshape(4, 4)
    assert "adze.concatenate" not in program(corners, square)
    wanted = np.kron([[2, 0], [0, 3]], np.ones((2, 2))) * np.cos(square)
    np.testing.assert_allclose(adze.jit(adze.grad(corners))(square), wanted, rtol=1e-6)


def test_an_empty_part() -> None:
    x = np.random.default_rng(3).normal(size=(5, 8)).astype("float32")
    gradient = adze.jit(adze.grad(parts([0, 0, 2, 5], 0)))(x)
    np.testing.assert_allclose(gradient, expected(x, [0, 0, 2, 5], 0), rtol=1e-6)


def test_an_infinite_cotangent_stays_with_its_part() -> None:
    def function(x: Any) -> Any:
        first, second = anp.split(x, 2)
        return anp.sqrt(first).sum() + second.sum()

    x = np.array([0.0, 1.0, 2.0, 3.0], "float32")
    np.testing.assert_array_equal(adze.jit(adze.grad(function))(x), np.float32([np.inf, 0.5, 1, 1]))


def test_many_parts() -> None:
    x = np.linspace(0, 1, 100, dtype="float32")

    def function(x: Any) -> Any:
        return sum((anp.sin(x[k]) * (k + 1) for k in range(100)), 0.0)

    wanted = np.cos(x) * np.arange(1, 101)
    np.testing.assert_allclose(adze.jit(adze.grad(function))(x), wanted, rtol=1e-5)


def test_batches_and_second_derivatives_and_named_sizes() -> None:
    def function(x: Any) -> Any:
        first, second = anp.split(x, 2)
        return (anp.sin(first) * second).sum()

    x = np.linspace(-1, 1, 12, dtype="float64").reshape(3, 4)
    batched = adze.jit(adze.vmap(adze.grad(function)))(x)
    np.testing.assert_allclose(batched, [adze.grad(function)(row) for row in x], rtol=1e-12)
    one, other = x[0, :2], x[0, 2:]
    wanted = np.block(
        [[np.diag(-np.sin(one) * other), np.diag(np.cos(one))], [np.diag(np.cos(one)), np.zeros((2, 2))]]
    )
    np.testing.assert_allclose(adze.jit(adze.hessian(function))(x[0]), wanted, rtol=1e-12, atol=1e-15)

    def columns(x: Any) -> Any:
        return (anp.sin(x[:, :1]) * x[:, 1:]).sum()

    named = adze.jit(adze.grad(columns)).trace(adze.ShapeDtype(("n", 3), "float64")).lower().compile()
    rows = np.linspace(-1, 1, 15).reshape(5, 3)
    np.testing.assert_allclose(named(rows), adze.grad(columns)(rows), rtol=1e-12)
