"""Convolutions of as many images as show at the call: which have kernels of ours, and what they compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax, nn
from adze import numpy as xp
from adze.frontend.staging.kernels import KERNELS

from .reductions import AVX2

RNG = np.random.default_rng(7)
NHWC = ("NHWC", "HWIO", "NHWC")
THREE, STRIDED, ONE, DEPTH, CROSS, LINE, TURNED = (
    RNG.standard_normal(shape).astype(np.float32) * 0.3
    for shape in (
        (3, 3, 3, 16),
        (3, 3, 16, 32),
        (1, 1, 32, 32),
        (3, 3, 1, 32),
        (16, 3, 5, 5),
        (5, 8, 16),
        (4, 4, 16, 8),
    )
)


def convolved(x: Any, kernel: Any, strides: tuple[int, ...] = (1, 1), **options: Any) -> Any:
    return lax.conv_general_dilated(x, kernel, strides, "SAME", dimension_numbers=NHWC, **options)


def chain(x: Any) -> Any:
    """Results that only the next kernel sees, a bias and a residual."""
    seen = nn.relu(convolved(x, THREE) + xp.arange(16.0, dtype=np.float32))
    reduced = nn.relu(convolved(seen, STRIDED, (2, 2)))
    return nn.relu(convolved(reduced, ONE) + reduced)


def channels_first(x: Any) -> Any:
    y = lax.conv_general_dilated(x, CROSS, (1, 1), "SAME")
    return xp.tanh(y - y.mean((1, 2, 3), keepdims=True)), y.sum((2, 3))


def scaled(x: Any) -> Any:
    """A number for each image, and a part of the image, beside the sums."""
    return nn.relu(convolved(x, THREE) * x.mean((1, 2, 3))[:, None, None, None] + x[..., :1])


def of_each_channel(x: Any) -> Any:
    return nn.relu(convolved(x, DEPTH, feature_group_count=32))


def along_a_line(x: Any) -> Any:
    return xp.tanh(lax.conv_general_dilated(x, LINE, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")))


def transposed(x: Any) -> Any:
    return lax.conv_transpose(x, TURNED, (2, 2), "SAME", dimension_numbers=NHWC)


def mapped(x: Any) -> Any:
    return adze.vmap(lambda each: convolved(each[None], THREE)[0])(x)


def computed_weights(x: Any) -> Any:
    return convolved(x, xp.tanh(THREE * x.sum()))


def gradient_of_images(x: Any) -> Any:
    return adze.grad(lambda x: (chain(x) ** 2).sum())(x)


def gradient_of_small_images(x: Any) -> Any:
    """Windows that are larger than the image."""
    return adze.grad(lambda x: (lax.conv_general_dilated(x, CROSS, (1, 1), "SAME") ** 2).sum())(x)


def gradient_of_weights(x: Any) -> Any:
    return adze.grad(lambda k: (nn.relu(convolved(x, k, (2, 2))) ** 2).sum())(THREE)


def twice_as_many(x: Any) -> Any:
    """A batch that is computed."""
    return convolved(xp.concatenate([x, x]), THREE)


CASES: tuple[tuple[Callable[[Any], Any], tuple[int, ...]], ...] = (
    (chain, (20, 20, 3)),
    (channels_first, (3, 16, 16)),
    (scaled, (16, 16, 3)),
    (of_each_channel, (12, 12, 32)),
    (along_a_line, (200, 8)),
    (transposed, (9, 9, 16)),
    (mapped, (16, 16, 3)),
    (computed_weights, (16, 16, 3)),
    (gradient_of_images, (12, 12, 3)),
    (gradient_of_weights, (16, 16, 3)),
    (twice_as_many, (16, 16, 3)),
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_values(case: tuple[Callable[[Any], Any], tuple[int, ...]]) -> None:
    function, image = case
    traced = adze.trace(function, adze.ShapeDtype(("n", *image), np.float32))
    assert "kernel_convolution" in traced.at_stage(KERNELS, AVX2)
    compiled = traced.lower().compile()
    for count in (1, 5, 0):
        if count == 0 and function is scaled:
            continue  # means of nothing
        x = np.random.default_rng(count).standard_normal((count, *image)).astype(np.float32)
        results, wanted = compiled(x), adze.jit(function)(x)
        pairs = zip(results, wanted, strict=True) if isinstance(wanted, tuple | list) else [(results, wanted)]
        for got, want in pairs:
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("size", [1, 2])
def test_images_smaller_than_the_window(size: int) -> None:
    compiled = (
        adze.trace(gradient_of_small_images, adze.ShapeDtype(("n", 3, size, size), np.float32))
        .lower()
        .compile()
    )
    for count in (1, 5, 0):
        x = np.random.default_rng(count).standard_normal((count, 3, size, size)).astype(np.float32)
        np.testing.assert_allclose(compiled(x), adze.jit(gradient_of_small_images)(x), rtol=2e-5, atol=2e-5)


def test_each_image_is_summed_alone() -> None:
    """Whatever there is in the other images."""
    compiled = adze.trace(chain, adze.ShapeDtype(("n", 20, 20, 3), np.float32)).lower().compile()
    x = RNG.standard_normal((4, 20, 20, 3)).astype(np.float32)
    spoiled = x.copy()
    spoiled[[0, 2]] = np.nan
    got = np.asarray(compiled(spoiled))
    assert np.isnan(got[[0, 2]]).any((1, 2, 3)).all()
    np.testing.assert_array_equal(got[[1, 3]], np.asarray(compiled(x))[[1, 3]])


def test_batches_elsewhere_and_unknown_images_are_left_to_iree() -> None:
    for shape, numbers in ((("h", "w", 3, "n"), ("HWCN", "HWIO", "NHWC")), (("n", "h", "w", 3), NHWC)):

        def function(x: Any, numbers: tuple[str, str, str] = numbers) -> Any:
            return lax.conv_general_dilated(x, THREE, (1, 1), "VALID", dimension_numbers=numbers)

        traced = adze.trace(function, adze.ShapeDtype(shape, np.float32))
        assert "kernel_convolution" not in traced.at_stage(KERNELS, AVX2)
        sizes = {"n": 2, "h": 20, "w": 15}
        x = RNG.standard_normal([sizes.get(n, n) for n in shape]).astype(np.float32)  # type: ignore[arg-type, call-overload]
        np.testing.assert_allclose(traced.lower().compile()(x), adze.jit(function)(x), rtol=2e-5, atol=2e-5)
