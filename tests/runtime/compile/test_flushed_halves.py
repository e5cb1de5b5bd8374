"""float16 on processors that do not convert it: conversions of our own, and what IREE's do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.runtime.compile import compiler
from adze.runtime.cpu import host_cpu
from adze.runtime.targets import parse_target

pytestmark = pytest.mark.skipif(
    host_cpu().architecture != "x86_64", reason="it runs programs for old processors of x86-64"
)
HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
"""All of them."""
POSITIVE = HALVES[:0x7C00].astype(np.float32)
BETWEEN = (POSITIVE[1:] + POSITIVE[:-1]) / 2
"""Halfway between neighbours, where the even one is the nearest."""
NUMBERS = np.concatenate(
    [
        HALVES.astype(np.float32),
        *(sign * np.nextafter(BETWEEN, np.float32(to)) for sign in (1, -1) for to in (0, 1e6)),
        *(BETWEEN, -BETWEEN),
        np.float32([65519.996, 65520, 65536, 3e38, 2.0**-25, 2.0**-24, 6e-8]),
    ]
)


def for_old_processors(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    """What a program for `cpu:generic` returns, in the memory of the process."""
    compiled = adze.trace(function, *arrays).lower("cpu:generic").compile()
    return np.asarray(compiled(*arrays))


def same(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return (got.view(f"u{got.itemsize}") == expected.view(f"u{got.itemsize}")) | (
        np.isnan(got) & np.isnan(expected)
    )


@pytest.mark.parametrize("name", ["generic", "x86-64", "x86-64-v2", "riscv64"])
def test_which_processors_do_not_convert(name: str) -> None:
    assert not parse_target(f"cpu:{name}").converts_halves


@pytest.mark.parametrize(
    "name", ["cpu:x86-64-v3", "cpu:znver4", "cpu:aarch64", "cuda:sm_80", "vulkan:adreno"]
)
def test_which_targets_do(name: str) -> None:
    assert parse_target(name).converts_halves


def test_every_float16_becomes_the_same_number() -> None:
    got = for_old_processors(lambda x: x.astype(np.float32), HALVES)
    assert same(got, HALVES.astype(np.float32)).all()


def test_numbers_become_the_nearest_float16() -> None:
    with np.errstate(over="ignore"):
        expected = NUMBERS.astype(np.float16)
    got = for_old_processors(lambda x: x.astype(np.float16), NUMBERS)
    assert same(got, expected).all(), NUMBERS[~same(got, expected)][:5]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: -x,
        anp.abs,
        anp.floor,
        anp.sign,
        anp.sin,
        lambda x: x * np.float16(0.5),
        lambda x: x - np.float16(1e-5),
        lambda x: anp.maximum(x, np.float16(2e-7)),
        lambda x: anp.where(x < np.float16(3e-6), x, 0),
        lambda x: anp.cumsum(x[:64]),
        lambda x: anp.sort(x),
        lambda x: anp.stack([x.sum(), x.max(), x @ x]),
    ],
)
def test_subnormal_numbers_are_kept(function: Callable[[Any], Any]) -> None:
    x = np.linspace(-6e-5, 6e-5, 211, dtype=np.float16)
    got = for_old_processors(function, x)
    expected = np.asarray(adze.trace(function, x).lower("cpu").compile()(x))
    np.testing.assert_array_equal(got, expected, strict=True)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float64])
def test_other_types_are_converted_too(dtype: type) -> None:
    x = np.float16([0, 6e-8, 200.5] if dtype is np.uint8 else [-3.5, -0.25, 0, 6e-8, 1000.5, 65504])
    np.testing.assert_array_equal(
        for_old_processors(lambda x: x.astype(dtype), x), x.astype(dtype), strict=True
    )
    back = np.array([0, 1, 3, 200], dtype)
    np.testing.assert_array_equal(
        for_old_processors(lambda x: x.astype(np.float16), back), back.astype(np.float16), strict=True
    )


def test_iree_still_flushes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "with_own_halves", lambda program: program)
    monkeypatch.setattr("adze.runtime.compile.cache.PROCEDURE", "without conversions of our own")
    x = np.float16([2e-5, 6e-8, 1])
    assert for_old_processors(lambda x: x * 2, x).tolist() == [0, 0, 2]
