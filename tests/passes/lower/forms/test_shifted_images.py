"""Convolutions of one channel over sizes that show at the call: the numbers of NumPy."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.float16])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_vectors(mode: Literal["full", "same", "valid"], dtype: Any) -> None:
    specs = adze.ShapeDtype(("n",), dtype), adze.ShapeDtype((5,), dtype)
    program = adze.trace(lambda x, k: xp.convolve(x, k, mode=mode), *specs).lower().compile()
    for count in (5, 6, 64, 1003):
        x, k = RNG.integers(-4, 5, count).astype(dtype), RNG.integers(-4, 5, 5).astype(dtype)
        np.testing.assert_array_equal(program(x, k), np.convolve(x, k, mode))


def test_no_convolution_is_left() -> None:
    specs = adze.ShapeDtype(("n",), np.float32), adze.ShapeDtype((5,), np.float32)
    lowered = adze.trace(lambda x, k: xp.convolve(x, k), *specs).lower("cpu:x86-64-v3").mlir()
    assert "linalg.conv" not in lowered and '"reduction"' not in lowered


def test_windows_of_more_than_one_kernel() -> None:
    specs = adze.ShapeDtype(("n",), np.float64), adze.ShapeDtype((61,), np.float64)
    program = adze.trace(lambda x, k: xp.convolve(x, k, mode="same"), *specs).lower().compile()
    x, k = RNG.standard_normal(300), RNG.standard_normal(61)
    np.testing.assert_allclose(program(x, k), np.convolve(x, k, "same"), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    ("order", "image", "kernel"),
    [
        (("NHWC", "HWIO", "NHWC"), (2, "h", "w", 1), (3, 4, 1, 1)),
        (("NCHW", "OIHW", "NCHW"), ("b", 1, "h", 9), (1, 1, 3, 4)),
    ],
)
def test_images(order: tuple[str, str, str], image: tuple[Any, ...], kernel: tuple[int, ...]) -> None:
    def convolved(x: Any, k: Any) -> Any:
        return lax.conv_general_dilated(
            x, k, (1, 1), [(2, 1), (0, 3)], rhs_dilation=(1, 2), dimension_numbers=order
        )

    shapes = adze.ShapeDtype(image, np.float32), adze.ShapeDtype(kernel, np.float32)
    program = adze.trace(convolved, *shapes).lower().compile()
    for sizes in ({"h": 7, "w": 8, "b": 3}, {"h": 1, "w": 4, "b": 1}, {"h": 0, "w": 9, "b": 2}):
        x = RNG.standard_normal([sizes.get(n, n) for n in image]).astype(np.float32)
        k = RNG.standard_normal(kernel).astype(np.float32)
        plain = x[..., 0] if order[0] == "NHWC" else x[:, 0]
        padded = np.pad(plain, ((0, 0), (2, 1), (0, 3)))
        rows, columns = max(padded.shape[1] - 2, 0), max(padded.shape[2] - 6, 0)
        weights = k.reshape(3, 4)
        want = sum(
            padded[:, i : i + rows, 2 * j : 2 * j + columns] * weights[i, j]
            for i in range(3)
            for j in range(4)
        )
        got = np.asarray(program(x, k))
        flat = got[..., 0] if order[0] == "NHWC" else got[:, 0]
        np.testing.assert_allclose(flat, want, rtol=1e-5, atol=1e-5)


def test_gradients() -> None:
    def loss(x: Any, k: Any) -> Any:
        return xp.sum(xp.convolve(x, k, mode="same") ** 2)

    specs = adze.ShapeDtype(("n",), np.float64), adze.ShapeDtype((5,), np.float64)
    program = adze.trace(adze.grad(loss, argnums=(0, 1)), *specs).lower().compile()
    x, k = RNG.standard_normal(40), RNG.standard_normal(5)
    for number, got in enumerate(program(x, k)):
        for place in range(len((x, k)[number])):
            step = 1e-6 * np.eye(len((x, k)[number]))[place]
            above, below = ((x + s, k) if number == 0 else (x, k + s) for s in (step, -step))
            want = (loss(*map(xp.asarray, above)) - loss(*map(xp.asarray, below))) / 2e-6
            np.testing.assert_allclose(np.asarray(got)[place], np.asarray(want), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("order", [("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float16])
def test_each_channel_by_itself(order: tuple[str, str, str], dtype: Any) -> None:
    def convolved(x: Any, k: Any) -> Any:
        return lax.conv_general_dilated(
            x, k, (1, 1), [(1, 1), (1, 2)], dimension_numbers=order, feature_group_count=5
        )

    is_last = order[0] == "NHWC"
    shape, kernel = (("b", "h", "w", 5), (3, 4, 1, 5)) if is_last else (("b", 5, "h", "w"), (5, 1, 3, 4))
    program = adze.trace(convolved, adze.ShapeDtype(shape, dtype), adze.ShapeDtype(kernel, dtype))
    compiled = program.lower().compile()
    for sizes in ({"b": 2, "h": 7, "w": 8}, {"b": 1, "h": 1, "w": 2}, {"b": 1, "h": 0, "w": 5}):
        x = RNG.integers(-4, 5, [sizes.get(n, n) for n in shape]).astype(dtype)
        k = RNG.integers(-4, 5, kernel).astype(dtype)
        np.testing.assert_array_equal(compiled(x, k), adze.jit(convolved)(x, k))
