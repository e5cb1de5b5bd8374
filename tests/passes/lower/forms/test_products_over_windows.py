"""Convolutions of bfloat16 on matrix tiles: products over copied windows, with the numbers of float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.dialects.types import BFLOAT16
from adze.passes.lower.tuning.group_tiles import WINDOWS, window_parts
from adze.runtime.cpu import host_cpu
from adze.runtime.targets import parse_target

WITH_TILES = "cpu:sapphirerapids"
RNG = np.random.default_rng(9)
NHWC = ("NHWC", "HWIO", "NHWC")


def whole(*shape: int) -> np.ndarray:
    """Numbers whose products have exact sums."""
    return RNG.integers(-3, 4, shape).astype(np.float32)


@pytest.mark.skipif(
    "amx_bf16" not in (host_cpu().features or ()), reason="this processor has no matrix tiles"
)
@pytest.mark.parametrize(
    "options",
    [
        {"window_strides": (1, 1), "padding": "SAME"},
        {"window_strides": (2, 1), "padding": ((0, 2), (1, 0))},
        {"window_strides": (1, 2), "padding": "VALID", "rhs_dilation": (2, 1)},
        {"window_strides": (1, 1), "padding": "SAME", "lhs_dilation": (2, 2)},
    ],
    ids=str,
)
@pytest.mark.parametrize("layout", [NHWC, ("NCHW", "OIHW", "NCHW")], ids=str)
def test_numbers_are_those_of_float32(options: dict[str, Any], layout: tuple[str, str, str]) -> None:
    image, weights = whole(3, 9, 11, 32), whole(3, 2, 32, 40)
    if layout != NHWC:
        image, weights = image.transpose(0, 3, 1, 2).copy(), weights.transpose(3, 2, 0, 1).copy()

    def convolve(x: Any, w: Any) -> Any:
        return adze.lax.conv_general_dilated(x, w, dimension_numbers=layout, **options)

    want = np.asarray(adze.jit(convolve)(image, weights)).astype(BFLOAT16)
    got = adze.jit(convolve)(image.astype(BFLOAT16), weights.astype(BFLOAT16))
    np.testing.assert_array_equal(np.asarray(got, np.float32), want.astype(np.float32))


@pytest.mark.skipif(
    "amx_bf16" not in (host_cpu().features or ()), reason="this processor has no matrix tiles"
)
def test_gradients_are_those_of_float32() -> None:
    image, weights = whole(2, 8, 8, 32), whole(3, 3, 32, 32)

    def loss(x: Any, w: Any) -> Any:
        y = adze.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC)
        return (y.astype(xp.float32) * 0.5).sum()

    want = adze.jit(adze.grad(loss, (0, 1)))(image, weights)
    got = adze.jit(adze.grad(loss, (0, 1)))(image.astype(BFLOAT16), weights.astype(BFLOAT16))
    for ours, exact in zip(got, want, strict=True):
        rounded = np.asarray(exact).astype(BFLOAT16).astype(np.float32)
        np.testing.assert_array_equal(np.asarray(ours, np.float32), rounded)


def test_windows_are_multiplied_where_there_are_tiles() -> None:
    x, w = adze.ShapeDtype((2, 16, 16, 32), BFLOAT16), adze.ShapeDtype((3, 3, 32, 32), BFLOAT16)
    traced = adze.trace(
        lambda x, w: adze.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC), x, w
    )
    assert "tdpbf16ps" in traced.lower(WITH_TILES).mlir()
    assert "tdpbf16ps" not in traced.lower("cpu:x86-64-v4").mlir()


@pytest.mark.parametrize(
    ("target", "sizes", "channels", "expected"),
    [
        (WITH_TILES, (4, 28, 28, 64), 64, 1),
        (WITH_TILES, (64, 56, 56, 64), 64, 16),  # more than fit at once
        (WITH_TILES, (4, 28, 28, 64), 3, None),
        (WITH_TILES, (4, 28, 28, 16), 64, None),
        (WITH_TILES, (None, 28, 28, 64), 64, None),
        ("cpu:icelake-server", (4, 28, 28, 64), 64, None),
        ("cuda:sm_80", (4, 28, 28, 64), 64, None),
    ],
)
def test_parts_of_a_batch(target: str, sizes: tuple[Any, ...], channels: int, expected: int | None) -> None:
    parts = window_parts(parse_target(target), sizes, (3, 3), channels, BFLOAT16)
    assert parts == expected
    if parts is not None:
        assert np.prod(sizes[:-1]) // parts * 9 * channels * 2 <= WINDOWS
