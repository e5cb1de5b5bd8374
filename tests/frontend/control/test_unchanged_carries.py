"""What each step of a loop gives back as it was given is a constant of the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax

MATRIX = np.random.default_rng(0).standard_normal((6, 6)).astype(np.float32) / 4
START = np.arange(6, dtype=np.float32)


def scanned(matrix: Any, x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        matrix, x, count = carry
        return (matrix, xp.tanh(matrix @ x) + row, count), (x[0], matrix[0, 0])

    return lax.scan(step, (matrix, x, 3), xp.ones((4, 6)))


def counted(matrix: Any, x: Any) -> Any:
    return lax.fori_loop(
        0, 4, lambda i, s: {"x": xp.sin(s["m"] @ s["x"]), "m": s["m"]}, {"m": matrix, "x": x}
    )


def repeated(matrix: Any, x: Any) -> Any:
    def step(s: Any) -> Any:
        matrix, x, bound, i = s
        return matrix, xp.sin(matrix @ x), bound, i + 1

    return lax.while_loop(lambda s: s[3] < s[2], step, (matrix, x, 4, 0))


def op_text(text: str, name: str) -> str:
    (line,) = [line for line in text.splitlines() if f'"adze.{name}"' in line]
    return line


@pytest.mark.parametrize(
    ("loop", "name", "carried"),
    [(scanned, "scan", "carry_count = 1"), (counted, "scan", "carry_count = 1"), (repeated, "while", "")],
)
def test_results_and_derivatives(loop: Any, name: str, carried: str) -> None:
    compiled = adze.jit(loop)(MATRIX, START)
    with adze.disable_jit():
        expected = loop(MATRIX, START)
    assert adze.tree.structure(compiled) == adze.tree.structure(expected)
    for got, want in zip(adze.tree.leaves(compiled), adze.tree.leaves(expected), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)

    def total(matrix: Any, x: Any) -> Any:
        return sum(xp.sum(leaf) for leaf in adze.tree.leaves(loop(matrix, x)))

    tangent = (np.ones_like(MATRIX), np.ones_like(START))
    _, along = adze.jit(lambda *xs: adze.jvp(total, xs, tangent))(MATRIX, START)
    step = np.float64(1e-6)
    shifted = [
        total(MATRIX.astype(float) + sign * step, START.astype(float) + sign * step) for sign in (1, -1)
    ]
    np.testing.assert_allclose(along, (shifted[0] - shifted[1]) / (2 * step), rtol=1e-3)
    line = op_text(adze.trace(loop, MATRIX, START).mlir("traced"), name)
    assert carried in line
    assert line.split("(", 1)[1].split(") {", 1)[0].count("%") > line.split("->")[1].count("tensor")


def test_a_derivative_keeps_no_constant_for_each_step() -> None:
    def total(matrix: Any, x: Any) -> Any:
        return xp.sum(counted(matrix, x)["x"])

    text = adze.trace(adze.grad(total), MATRIX, START).mlir("simplified")
    assert "4x6x6" not in text


def test_all_of_it_unchanged() -> None:
    def loop(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, x: x, x), lax.scan(lambda c, x: (c, x + c), x, x)

    same, (last, ys) = adze.jit(loop)(START)
    np.testing.assert_array_equal(same, START)
    np.testing.assert_array_equal(last, START)
    np.testing.assert_array_equal(ys, START[:, None] + START)


def test_batches() -> None:
    matrices = np.stack([MATRIX, -MATRIX, MATRIX * 2])
    for loop in (scanned, counted, repeated):
        got = adze.jit(adze.vmap(loop, (0, None)))(matrices, START)
        for k, matrix in enumerate(matrices):
            want = loop(matrix, START)
            for batch, one in zip(adze.tree.leaves(got), adze.tree.leaves(want), strict=True):
                np.testing.assert_allclose(batch[k], one, rtol=1e-4, atol=1e-5)
