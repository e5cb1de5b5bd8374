"""Derivatives and batches of dynamic slices, gather and scatter with random dimension numbers.

Random index dtypes and modes, with indices that coincide and that point outside, against JAX where it defines
the same derivative, and against differences and loops everywhere. What the rows of the table of op cases
check is not repeated here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp

from .indexing_numbers import check_derivatives, compare, pulled, random_numbers, wide_jax

# -- against JAX ---------------------------------------------------------------------------------------


@pytest.mark.one_in(2)
@pytest.mark.each_value(lambda seed: min(seed, 4))
@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(40))
def test_gather_has_the_derivatives_of_jax(seed: int) -> None:
    n = random_numbers(seed)
    with wide_jax() as jax:
        ours, theirs = (partial(at_indices, n.gather(library), n.indices) for library in (lax, jax.lax))
        compare_all(adze, jax, ours, theirs, (n.x,), n.windows)


@pytest.mark.one_in(2)
@pytest.mark.each_value(lambda seed: min(seed, 4))
@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(40))
def test_scatter_add_has_the_derivatives_of_jax(seed: int) -> None:
    n = random_numbers(seed)
    with wide_jax() as jax:
        ours, theirs = (
            partial(at_indices, n.scatter(library, "add"), n.indices) for library in (lax, jax.lax)
        )
        for factor in (1, 1 - 2j) if seed % 8 == 0 else (1,):
            compare_all(adze, jax, ours, theirs, (factor * n.x, factor * n.windows), factor * n.x[::-1])


def at_indices(f: Callable[..., Any], indices: np.ndarray, x: Any, *updates: Any) -> Any:
    return f(x, indices, *updates)


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["set", "mul"])
def test_scatter_to_distinct_places_has_the_derivatives_of_jax(kind: str) -> None:
    rng = np.random.default_rng(2)
    with wide_jax() as jax:
        for seed in range(6):
            indices = np.random.default_rng(seed).permutation(7)[:4, None] - 1
            x, updates, ct = (
                rng.standard_normal((5, 3)),
                rng.standard_normal((4, 3)),
                rng.standard_normal((5, 3)),
            )
            for unique in (False, True) if kind == "set" else (True,):
                ours, theirs = (
                    partial(rows_scatter, library, kind, unique, indices) for library in (lax, jax.lax)
                )
                compare_all(adze, jax, ours, theirs, (x, updates), ct)


def rows_scatter(library: Any, kind: str, unique: bool, indices: np.ndarray, x: Any, updates: Any) -> Any:
    scatter = library.scatter if kind == "set" else getattr(library, f"scatter_{kind}")
    numbers = library.ScatterDimensionNumbers((1,), (0,), (0,))
    return scatter(x, indices, updates, numbers, mode="drop", unique_indices=unique)


def compare_all(
    ours: Any, theirs: Any, f: Any, g: Any, primals: tuple[np.ndarray, ...], cotangent: np.ndarray
) -> None:
    """Value, pullback and pushforward of two libraries."""
    for result, want in zip(
        pulled(ours, f, primals, cotangent), pulled(theirs, g, primals, cotangent), strict=True
    ):
        compare(result, want)
    tangents = tuple(np.cos(p) for p in primals)
    compare(ours.jvp(f, primals, tangents)[1], theirs.jvp(g, primals, tangents)[1])


@pytest.mark.one_in(2)
@pytest.mark.each_value(lambda seed: min(seed, 4))
@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(12))
def test_batches_are_those_of_jax(seed: int) -> None:
    n = random_numbers(100 + seed)
    rng = np.random.default_rng(seed)
    with wide_jax() as jax:
        for operand, axes in batches(rng, (n.x, n.indices), 3):
            compare(
                adze.vmap(n.gather(lax), axes)(*operand), jax.vmap(n.gather(jax.lax), axes)(*operand), axes
            )
        for operand, axes in batches(rng, (n.x, n.indices, n.windows), 3):
            compare(
                adze.vmap(n.scatter(lax, "add"), axes)(*operand),
                jax.vmap(n.scatter(jax.lax, "add"), axes)(*operand),
                axes,
            )


# -- against loops and differences ---------------------------------------------------------------------


def batches(
    rng: np.random.Generator, arrays: tuple[np.ndarray, ...], size: int
) -> Iterator[tuple[tuple[np.ndarray, ...], tuple[int | None, ...]]]:
    """Each operand alone and all together batched, along random axes."""
    masks = [tuple(i == k for i in range(len(arrays))) for k in range(len(arrays))]
    for mask in [*masks, (True,) * len(arrays)]:
        axes = tuple(
            int(rng.integers(0, a.ndim + 1)) if on else None for a, on in zip(arrays, mask, strict=True)
        )
        stacked = []
        for array, axis in zip(arrays, axes, strict=True):
            if axis is None:
                stacked.append(array)
            elif array.dtype.kind == "f":
                stacked.append(np.stack([array + k for k in range(size)], axis))
            else:
                stacked.append(np.stack([np.roll(array, k) for k in range(size)], axis))
        yield tuple(stacked), axes


def loop(f: Callable[..., Any], operands: tuple[np.ndarray, ...], axes: tuple[int | None, ...]) -> np.ndarray:
    size = next(o.shape[a] for o, a in zip(operands, axes, strict=True) if a is not None)
    return np.stack(
        [
            np.asarray(
                f(*(o if a is None else np.take(o, k, a) for o, a in zip(operands, axes, strict=True)))
            )
            for k in range(size)
        ]
    )


@pytest.mark.each_value(lambda kind, seed: (kind, min(seed, 6)))
@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("kind", ["set", "mul", "min", "max"])
def test_scatter_is_differentiated_where_updates_coincide(kind: str, seed: int) -> None:
    n = random_numbers(seed)
    f = n.scatter(lax, kind)
    check_derivatives(lambda x, u: f(x, n.indices, u), (n.x, n.windows), seed)


@pytest.mark.each_value(lambda kind, seed: (kind, min(seed, 6)))
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["set", "mul", "max"])
def test_batched_scatter_is_a_loop(kind: str, seed: int) -> None:
    n = random_numbers(200 + seed)
    f = n.scatter(lax, kind)
    for operands, axes in batches(np.random.default_rng(seed), (n.x, n.indices, n.windows), 2):
        compare(adze.vmap(f, axes)(*operands), loop(f, operands, axes), axes)


@pytest.mark.each_value
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["gather", "set", "add", "max"])
def test_batches_and_pullbacks_commute(kind: str, seed: int) -> None:
    n = random_numbers(300 + seed)
    rng = np.random.default_rng(seed)
    if kind == "gather":
        f, arrays, ct = n.gather(lax), (n.x, n.indices), n.windows
    else:
        f, arrays, ct = n.scatter(lax, kind), (n.x, n.indices, n.windows), n.x
    for operands, axes in batches(rng, arrays, 2):
        cotangents = np.stack([ct, -2 * ct])

        def back(*args: Any) -> Any:
            *inputs, given = args
            floats = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]

            def of_floats(*values: Any) -> Any:
                full = list(inputs)
                for i, v in zip(floats, values, strict=True):
                    full[i] = v
                return f(*full)

            return adze.vjp(of_floats, *(inputs[i] for i in floats))[1](given)[0]

        mapped = adze.vmap(back, (*axes, 0))(*operands, cotangents)
        compare(mapped, loop(lambda *a: back(*a), (*operands, cotangents), (*axes, 0)), axes)
        if axes[0] is None:
            continue
        whole = adze.vjp(partial(of_first, adze.vmap(f, axes), operands[1:]), operands[0])[1](cotangents)[0]
        compare(np.moveaxis(np.asarray(whole), axes[0], 0), mapped, axes)


def of_first(f: Callable[..., Any], others: tuple[Any, ...], x: Any) -> Any:
    return f(x, *others)


STARTS = [
    ((5, 4), (2, 3), (1, -1)),
    ((5, 4), (1, 4), (4, 2)),
    ((5, 4), (5, 4), (3, 3)),
    ((6,), (2,), (9,)),
    ((2, 3, 4), (1, 2, 1), (1, 0, 2)),
]


@pytest.mark.parametrize(("shape", "window", "starts"), STARTS)
def test_batched_windows_are_a_loop(
    shape: tuple[int, ...], window: tuple[int, ...], starts: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    x, update = rng.standard_normal(shape), rng.standard_normal(window)
    places = tuple(np.asarray(s, d) for s, d in zip(starts, (np.uint64, np.int32, np.int8), strict=False))

    def take(x: Any, *starts: Any) -> Any:
        return lax.dynamic_slice(x, starts, window)

    def put(x: Any, update: Any, *starts: Any) -> Any:
        return lax.dynamic_update_slice(x, update, starts)

    for f, arrays in ((take, (x, *places)), (put, (x, update, *places))):
        for mask in np.ndindex(*(2,) * len(arrays)):
            if not any(mask):
                continue
            axes = tuple(0 if on else None for on in mask)
            stacked = tuple(
                np.stack([a, a + 1, a]).astype(a.dtype) if on else a
                for a, on in zip(arrays, mask, strict=True)
            )
            compare(adze.vmap(f, axes)(*stacked), loop(f, stacked, axes), mask)


@pytest.mark.parametrize(("shape", "window", "starts"), STARTS)
def test_windows_are_differentiated(
    shape: tuple[int, ...], window: tuple[int, ...], starts: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(1)
    x, update = rng.standard_normal(shape), rng.standard_normal(window)
    check_derivatives(lambda x: lax.dynamic_slice(x, starts, window), (x,), 0)
    check_derivatives(lambda x, u: lax.dynamic_update_slice(x, u, starts), (x, update), 1)
    check_derivatives(lambda u: lax.dynamic_update_slice(x, u, starts), (update,), 2)


def test_one_window_is_overwritten_by_no_other() -> None:
    """The transpose of a single update keeps no account of which update is the last one at each element."""

    def one(x: Any, row: Any, i: Any) -> Any:
        return (xp.asarray(x).at[i].set(row) ** 2).sum()

    def several(x: Any, rows: Any, i: Any) -> Any:
        return (xp.asarray(x).at[i].set(rows) ** 2).sum()

    x, row = np.arange(12.0).reshape(4, 3), np.ones(3)
    gradient = adze.jit(adze.grad(one, argnums=(0, 1)))
    for i in (2, -1, 9):  # the last is dropped
        dx, drow = gradient(x, row, np.int32(i))
        inside = i < len(x)
        np.testing.assert_array_equal(dx, 2 * x * (np.arange(4) != i % 4 if inside else np.ones(4))[:, None])
        np.testing.assert_array_equal(drow, 2 * row * inside)
    text = adze.trace(adze.grad(one, argnums=(0, 1)), x, row, np.int32(2)).mlir("simplified")
    assert "adze.iota" not in text
    many = np.int32([2, 2]), np.ones((2, 3))
    text = adze.trace(adze.grad(several, argnums=(0, 1)), x, many[1], many[0]).mlir("simplified")
    assert "adze.iota" in text
    np.testing.assert_array_equal(adze.grad(several, argnums=1)(x, many[1], many[0]), [[0] * 3, [2] * 3])


def test_cotangents_of_windows_are_summed_in_place() -> None:
    """A loop that uses windows of what it carries adds nothing of the size of the whole array."""

    def loss(x: Any, starts: Any) -> Any:
        def step(c: Any, i: Any) -> Any:
            here, there = lax.dynamic_slice(c, (i,), (3,)), lax.dynamic_slice(c, (i + 1,), (3,))
            return lax.dynamic_update_slice(c, xp.sin(here) * there, (i,)), here[0]

        c, ys = lax.scan(step, x, starts)
        return (c**2).sum() + (ys * 3).sum()

    x, starts = np.linspace(-1, 1, 8), np.int32([0, 4, 2, 7, -3, 5])
    gradient = adze.grad(loss)
    slopes = [(loss(x + d, starts) - loss(x - d, starts)) / 2e-6 for d in 1e-6 * np.eye(8)]
    np.testing.assert_allclose(gradient(x, starts), slopes, atol=1e-7)
    traced = adze.trace(gradient, x, starts)
    np.testing.assert_allclose(traced.lower().compile()(x, starts), slopes, atol=1e-7)
    backward = traced.mlir("simplified").split("transpose_step(", 2)[-1]
    assert "adze.dynamic_update_slice" in backward
    assert "tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>" not in backward
