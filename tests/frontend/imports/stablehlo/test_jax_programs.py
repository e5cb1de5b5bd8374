"""Programs exported by JAX: called, compiled, differentiated, batched; values as JAX computed them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze.frontend.imports.stablehlo.function import StableHLOFunction

from .jax_programs import FOLDER

NAMES = sorted(path.stem for path in FOLDER.glob("*.mlir") if path.stem != "symbolic")


@cache
def stored() -> dict[str, np.ndarray]:
    with np.load(FOLDER / "values.npz") as values:
        return {name: values[name] for name in values.files}


def arrays(name: str, kind: str) -> list[np.ndarray]:
    """What JAX was called with ("in"), and what it returned ("out")."""
    values, found = stored(), []
    while f"{name}.{kind}.{len(found)}" in values:
        found.append(values[f"{name}.{kind}.{len(found)}"])
    return found


@cache
def function(name: str) -> StableHLOFunction:
    return adze.from_stablehlo(FOLDER / f"{name}.mlir")


def close(result: Any, expected: np.ndarray) -> None:
    array = np.asarray(result)
    assert array.shape == expected.shape
    if array.dtype.kind in "biu":
        np.testing.assert_array_equal(array, expected)
    else:
        wide = np.complex128 if array.dtype.kind == "c" else np.float64
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        np.testing.assert_allclose(array.astype(wide), expected.astype(wide), rtol=2e-5, atol=2e-5 * scale)


LONG = ("drawn", "factors", "running", "cnn_grad")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.thorough) if n in LONG else n for n in NAMES]
)
def test_values_are_those_of_jax(name: str) -> None:
    results = function(name)(*arrays(name, "in"))
    expected = arrays(name, "out")
    results = results if isinstance(results, tuple) else (results,)
    assert len(results) == len(expected)
    for result, value in zip(results, expected, strict=True):
        close(result, value)


def test_compiled_programs_are_right() -> None:
    """Several families in one program: one compile."""
    check_compiled("mlp", "narrow", "newton")


@pytest.mark.thorough
def test_more_compiled_programs_are_right() -> None:
    check_compiled(
        "rnn",
        "indexed",
        "orders",
        "cnn",
        "dense",
        "running",
        "bits",
        "special",
        "extremes",
        "branches",
        "complexes",
    )


def check_compiled(*names: str) -> None:
    """All of these programs, jitted as one."""

    def all_of_them(arguments: list[list[Any]]) -> list[Any]:
        return [function(name)(*xs) for name, xs in zip(names, arguments, strict=True)]

    results = adze.jit(all_of_them)([arrays(name, "in") for name in names])
    for name, result in zip(names, results, strict=True):
        for value, expected in zip(adze.tree.leaves(result), arrays(name, "out"), strict=True):
            close(value, expected)


def test_gradients_are_those_that_jax_exported() -> None:
    """`grad` of the imported program against the imported gradient."""
    weights = arrays("mlp", "in")
    first, third = adze.grad(lambda *a: xp.sum(function("mlp")(*a)[:, 0]), argnums=(0, 2))(*weights)
    for result, expected in zip((first, third), arrays("mlp_grad", "out"), strict=True):
        close(result, expected)
    image = arrays("cnn", "in")
    for result, expected in zip(
        adze.grad(lambda *a: xp.sum(function("cnn")(*a) ** 2), argnums=(1, 2))(*image),
        arrays("cnn_grad", "out"),
        strict=True,
    ):
        close(result, expected)


def test_a_counting_while_has_a_gradient() -> None:
    inputs = arrays("rnn", "in")
    assert "stablehlo.while" in (FOLDER / "rnn.mlir").read_text()
    gradient = adze.grad(lambda *a: xp.sum(function("rnn")(*a)), argnums=2)(*inputs)
    close(gradient, arrays("rnn_grad", "out")[0])


def test_other_whiles_have_derivatives_in_forward_mode() -> None:
    x = np.float32(7)
    _, tangent = adze.jvp(function("newton"), (x,), (np.float32(1),))
    np.testing.assert_allclose(tangent, 0.5 / np.sqrt(7), rtol=1e-4)
    with pytest.raises(adze.AdzeError, match="cannot be reversed without a bound"):
        adze.grad(function("newton"))(x)


def test_programs_are_batched() -> None:
    h0, xs, w, u = arrays("rnn", "in")
    batched = adze.vmap(function("rnn"), in_axes=(0, None, None, None))(np.stack([h0, h0 * 2]), xs, w, u)
    close(batched[0], arrays("rnn", "out")[0])
    close(batched[1], np.asarray(function("rnn")(h0 * 2, xs, w, u)))


def test_dynamic_sizes() -> None:
    """Text with symbolic dimensions runs at any size, also traced with a named one."""
    f = adze.from_stablehlo(FOLDER / "symbolic.mlir")
    assert [str(s) for s in f.specs] == ["f32[d0_0,4]", "f32[4,3]"]
    x, w = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 3), np.float32) / 3
    eager = f(x, w)
    assert [v.shape for v in eager] == [(18,), (3, 3)]
    compiled = adze.trace(f, *f.specs).lower("cpu").compile()
    for result, expected in zip(compiled(x, w), eager, strict=True):
        close(result, np.asarray(expected))
    for result, expected in zip(compiled(x[:2], w), f(x[:2], w), strict=True):
        close(result, np.asarray(expected))
