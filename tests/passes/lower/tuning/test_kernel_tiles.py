"""Tiles that are set on kernels: what they are, and that they change speed alone.

One module holds the forms that once needed care; it is compiled with and without tiles, and both are compared
with NumPy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.frontend.staging.kernels import tune_kernels
from adze.passes.lower.kernels import element_kernels, reduction_kernels
from adze.passes.lower.tuning import kernel_tiles
from adze.passes.lower.tuning.kernel_sizes import KernelBody, complex_tiles, elementwise_tiles
from adze.passes.lower.tuning.texts import tiles_text
from adze.runtime.compile.compiler import WITHOUT_TILES, compile_bytecode
from adze.runtime.compile.strategy import SEPARATED
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target

from ....selection import part

AVX2, AVX512 = parse_target("cpu:x86-64-v3"), parse_target("cpu:x86-64-v4")
HOST = parse_target("cpu")
RUNNABLE = AVX2 if HOST.architecture == "x86_64" and HOST.vector_bits >= 256 else HOST
SHORT, LONG = KernelBody(32, 2), KernelBody(32, 90)


def levels(text: str | None) -> dict[str, list[int]]:
    """The tile sizes of a `compilation_info`."""
    results = re.findall(r"(\w+) = \[([\d, ]+)\]", text or "")
    return {name: [int(n) for n in sizes.split(",")] for name, sizes in results}


@pytest.mark.parametrize("target", [AVX2, AVX512])
@pytest.mark.parametrize("body", [SHORT, LONG, KernelBody(64, 2), KernelBody(8, 2)])
@pytest.mark.parametrize(
    "sizes", [(4_000_000,), (262_144,), (40_000,), (5000,), (1000, 1000), (64, 50, 96), (700, 37), (4096, 11)]
)
def test_tiles_divide_sizes(target: Any, body: KernelBody, sizes: tuple[int, ...]) -> None:
    text = elementwise_tiles(target, sizes, body)
    if text is None or "enable_loop_peeling" in text:
        return
    result = levels(text)
    *rest, last = zip(sizes, result["distribution"], result["vector_common_parallel"], strict=True)
    for size, tile, step in rest:
        assert size % tile == 0 and tile % step == 0
    size, tile, step = last
    has_mask = target is AVX512 and len(sizes) > 1 and tile == size
    assert has_mask or (size % tile == 0 and tile % step == 0)


def test_rows_end_with_a_mask_where_the_target_has_masks() -> None:
    result = levels(elementwise_tiles(AVX512, (1000, 999), SHORT))
    assert result == {"distribution": [10, 999], "vector_common_parallel": [1, 16]}
    assert levels(elementwise_tiles(AVX512, (1000, 999), LONG))["vector_common_parallel"] == [1, 64]
    assert "enable_loop_peeling" in str(elementwise_tiles(AVX2, (1000, 999), SHORT))


@pytest.mark.parametrize("size", [40_000, 262_144, 4_000_000, 1_000_003])
def test_eight_threads_have_four_workgroups_each(size: int) -> None:
    (tile,) = levels(elementwise_tiles(AVX2, (size,), SHORT))["distribution"]
    assert size / tile >= 32


def test_a_prime_size_is_split() -> None:
    assert "enable_loop_peeling" in str(elementwise_tiles(AVX2, (1_000_003,), SHORT))
    assert "enable_loop_peeling" not in str(elementwise_tiles(AVX2, (1_000_000,), SHORT))


def test_registers_are_those_of_the_target() -> None:
    for target, width in ((AVX2, 8), (AVX512, 16)):
        assert levels(elementwise_tiles(target, (1 << 20,), LONG))["vector_common_parallel"] == [4 * width]


def test_large_results_are_written_without_masks_where_registers_divide_them() -> None:
    for body, step in ((SHORT, 64), (KernelBody(64, 2), 32)):
        result = levels(elementwise_tiles(AVX512, (4_000_000,), body))
        assert result["vector_common_parallel"] == [step]
        assert 4_000_000 % result["distribution"][0] == result["distribution"][0] % step == 0
        assert elementwise_tiles(AVX512, (4_000_003,), body) is None
        assert elementwise_tiles(AVX512, (40_000,), body) is None


def test_small_kernels_keep_their_tiles() -> None:
    assert elementwise_tiles(AVX2, (1000,), SHORT) is None
    assert elementwise_tiles(AVX2, (10_000, 3), SHORT) is None


def test_short_bodies_keep_their_tiles_where_the_target_has_masks() -> None:
    assert elementwise_tiles(AVX512, (1 << 18,), SHORT) is None


def forms(x: Any, y: Any, v: Any, h: Any, n: Any, b: Any, p: Any) -> Any:
    """Elementwise kernels: fused, of several results, broadcasts, gathers, all kinds of dtypes, a prime."""
    z = xp.exp(x) * v + y
    chosen = xp.where(b, n // 3, n % 7)
    return (
        z,
        xp.tanh(z) - v[None, :],
        xp.transpose(x) + v[:96, None],
        x.reshape(-1)[n % 50] * 2.0,
        h * h + h,
        chosen,
        b & (n > 5),
        p * 2.0 + xp.sin(p),
        (x > y).astype(np.int8),
    )


def reductions(x: Any, y: Any, h: Any, n: Any, d: Any) -> Any:
    """Kernels of reductions: one after another, with long bodies, elementwise ops behind, along each axis."""
    top = xp.max(x, axis=1, keepdims=True)
    weights = xp.exp(x - top)
    total = xp.sum(weights, axis=1)
    t = xp.sum(y * y, axis=-1)  # used after a sum that depends on it: IREE alone computes that wrongly
    w = y * t[:, None]
    u = xp.sum(w * y, axis=-1)
    results = (
        xp.log(total) + top[:, 0],
        weights / total[:, None],
        w * u[:, None] + t[:, None],
        xp.sum(xp.tanh(h.astype(np.float32)), axis=1),
        xp.max(n, axis=1),
        xp.sum(n, axis=0),
        xp.sqrt(xp.sum(xp.exp(d) * d, axis=1)),
        xp.argmax(x, axis=1),
        xp.any(n > 40, axis=1),
        xp.sum(xp.exp(x), axis=0),
    )
    return tuple(part(results, [r for k, r in enumerate(results) if k not in (1, 4, 6, 8)]))


REDUCED = (
    ((50, 200), np.float32),
    ((65, 129), np.float32),
    ((64, 96), np.float16),
    ((64, 97), np.int32),
    ((40, 1000), np.float64),
)


ARGUMENTS = (
    ((120, 96), np.float32),
    ((120, 96), np.float32),
    ((96,), np.float32),
    ((8192,), np.float16),
    ((6000,), np.int32),
    ((6000,), np.bool_),
    ((4099,), np.float64),
)


def with_and_without(function: Any, arguments: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
    """The results of a program whose kernels were not given tiles, and of the same with tiles."""
    lowered = adze.trace(function, *arguments).lower(RUNNABLE)
    module = lowered.form(SEPARATED, lowered.options())
    results = []
    for form, tune in ((module, None), (lowered.bytecode(), tune_kernels)):
        compiled = compile_bytecode(
            form, lowered.target, lowered.options(), tune=tune, is_checked=tune is not None
        )
        assert not [d for d in compiled.diagnostics if WITHOUT_TILES in d.message]
        program = Executable(compiled.vmfb, "local-sync", lowered.manifest.signatures)
        results.append([r.numpy() for r in program.call(function.__name__, arguments)])
    return results


@pytest.mark.thorough
def test_tiles_change_no_result() -> None:
    rng = np.random.default_rng(0)
    arguments = [(rng.standard_normal(shape) * 9).astype(dtype) for shape, dtype in ARGUMENTS]
    arguments[4] = np.abs(arguments[4])
    results = with_and_without(forms, arguments)
    for without, with_tiles in zip(*results, strict=True):
        np.testing.assert_allclose(with_tiles, without, rtol=1e-6, atol=1e-6)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            results[1][0], np.exp(arguments[0]) * arguments[2] + arguments[1], rtol=1e-4
        )
        np.testing.assert_allclose(
            results[1][7], arguments[6] * 2 + np.sin(arguments[6]), rtol=1e-6, atol=1e-8
        )


@pytest.mark.thorough
def test_tiles_of_reductions_change_no_result() -> None:
    rng = np.random.default_rng(1)
    arguments = [rng.standard_normal(shape).astype(dtype) for shape, dtype in REDUCED]
    arguments[3] = rng.integers(-50, 50, REDUCED[3][0]).astype(np.int32)
    arguments[4] = np.abs(arguments[4])
    results = with_and_without(reductions, arguments)
    for without, with_tiles, want in zip(*results, reductions(*arguments), strict=True):
        np.testing.assert_allclose(with_tiles, without, rtol=2e-5, atol=1e-5)
        np.testing.assert_allclose(with_tiles, np.asarray(want), rtol=1e-3, atol=1e-3)


def test_refused_tiles_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = adze.trace(lambda x: x * 2.0 + 1.0, adze.ShapeDtype((1 << 16,))).lower(RUNNABLE)
    too_large = tiles_text(distribution=[1 << 15], vector_common_parallel=[1 << 15])
    monkeypatch.setattr(kernel_tiles, "elementwise_tiles", lambda *_: too_large)
    compiled = compile_bytecode(lowered.bytecode(), lowered.target, lowered.options(), tune=tune_kernels)
    assert [d.severity for d in compiled.diagnostics if WITHOUT_TILES in d.message] == ["remark"]
    program = Executable(compiled.vmfb, "local-sync", lowered.manifest.signatures)
    (result,) = program.call("lambda", [np.ones(1 << 16, np.float32)])
    np.testing.assert_array_equal(result.numpy(), np.full(1 << 16, 3.0))


def test_equal_programs_are_equal_bytes() -> None:
    def built() -> bytes:
        lowered = adze.trace(lambda x: xp.log(xp.sum(xp.exp(x), axis=1)), adze.ShapeDtype((64, 200))).lower(
            AVX2
        )
        return lowered.compile(cache=False).vmfb

    assert built() == built()


def test_the_stage_of_kernels_shows_the_tiles() -> None:
    traced = adze.trace(lambda x: x * 2.0 + 1.0, adze.ShapeDtype((1 << 16,)))
    assert "vector_common_parallel = [32]" in traced.at_stage("kernels", AVX2)
    small = adze.trace(lambda x: x * 2.0 + 1.0, adze.ShapeDtype((8,)))
    assert "vector_common_parallel" not in small.at_stage("kernels", AVX2)


@pytest.fixture
def _without_own_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """IREE's kernels stay, as they do on processors for which adze writes none."""
    for module in (element_kernels, reduction_kernels):
        monkeypatch.setattr(module, "write_kernels", lambda *_: False)


@pytest.mark.usefixtures("_without_own_loops")
def test_rows_whose_elements_are_read_one_by_one_are_no_straight_code() -> None:
    """A whole row of 1000 of them took 5 s to compile for x86-64, and had no end for AArch64."""
    x = np.random.default_rng(4).integers(-8, 9, (64, 999)).astype(np.float16)
    order = np.random.default_rng(5).permutation(999)

    def gathered(x: Any, order: Any) -> Any:
        return (x[:, ::-1] * x).sum(1), (x[:, order] * x).sum(1), xp.flip(x, 1).max(1)

    shown = adze.trace(gathered, x, order)
    for target in (AVX2, AVX512, parse_target("cpu:aarch64")):
        steps = re.findall(r"vector_reduction = \[0, (\d+)\]", shown.at_stage("kernels", target))
        assert steps and min(map(int, steps)) <= 2 * target.vector_bits // 16
    for size in (960, 1000, 1024):
        text = adze.trace(lambda x: xp.flip(x, 1).max(1), adze.ShapeDtype((64, size), np.float16))
        (step,) = map(int, re.findall(r"vector_reduction = \[0, (\d+)\]", text.at_stage("kernels", AVX2)))
        assert size % step and step <= 32
    expected = gathered(x.astype(np.float64), order)
    for got, want in zip(adze.jit(gathered)(x, order), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-2)


@pytest.mark.usefixtures("_without_own_loops")
def test_elements_that_are_read_one_by_one_are_few_at_once() -> None:
    """IREE's own tiles were half as fast."""
    x, places = adze.ShapeDtype((50_000,), np.float32), adze.ShapeDtype((40_009,), np.int32)
    text = adze.trace(lambda x, places: x[places], x, places).at_stage("kernels", AVX512)
    assert "distribution = [1248], vector_common_parallel = [8]" in text
    assert "enable_loop_peeling" in text
    columns = adze.ShapeDtype((301,), np.int32)
    halves = adze.ShapeDtype((600, 100), np.float16)
    text = adze.trace(lambda x, places: x[:, places], halves, columns)
    tiles = "distribution = [15, 301], vector_common_parallel = [1, 8]"
    assert tiles in text.at_stage("kernels", AVX512)
    small = adze.trace(lambda x, places: x[places], x, adze.ShapeDtype((4000,), np.int32))
    assert "lowering_config" not in small.at_stage("kernels", AVX512)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.bool_, np.complex64])
def test_values_of_elements_that_are_read_one_by_one(dtype: Any) -> None:
    generator = np.random.default_rng(8)
    x = (9 * generator.standard_normal(5003)).astype(dtype)
    places = generator.integers(-5003, 5003, 4099)
    rows, columns = x[:5000].reshape(100, 50), places[:80] % 50

    def taken(x: Any, places: Any, rows: Any, columns: Any) -> Any:
        return x[places], rows[:, columns], xp.flip(rows, 0), rows[columns[:60, None], columns]

    got = adze.jit(taken)(x, places, rows, columns)
    want = x[places], rows[:, columns], rows[::-1], rows[columns[:60, None], columns]
    for mine, expected in zip(got, want, strict=True):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.usefixtures("_without_own_loops")
def test_sums_along_a_middle_axis_have_strips_of_columns() -> None:
    x, y = (np.random.default_rng(n).integers(-4, 5, (600, 256)).astype(np.float16) for n in (6, 7))

    def blocks(x: Any, y: Any) -> Any:
        return (x * y).reshape(20, -1, 256).sum(1)

    text = adze.trace(blocks, x, y).at_stage("kernels", AVX2)
    assert "vector_common_parallel = [1, 64, 0], vector_reduction = [0, 0, 1]" in text
    np.testing.assert_array_equal(adze.jit(blocks)(x, y), blocks(x, y))


def complex_forms(z: Any, rows: Any, narrow: Any, wide: Any) -> Any:
    return abs(z), z * z[::-1], rows * rows[0], abs(narrow), narrow.real, wide / (wide + 3), rows.T * 2


COMPLEX = [
    ((10_007,), np.complex64),
    ((91, 257), np.complex64),
    ((3001, 3), np.complex64),
    ((70, 99), complex),
]


def test_complex_numbers_are_in_loops_of_known_length() -> None:
    rng = np.random.default_rng(2)
    arguments = [(rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(t) for s, t in COMPLEX]
    without, with_tiles = with_and_without(complex_forms, arguments)
    for before, after, want in zip(without, with_tiles, complex_forms(*arguments), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-6)
        np.testing.assert_allclose(after, want, rtol=1e-5)
    tiles = complex_tiles([10_007], KernelBody(32, 12))
    assert levels(tiles) == {"distribution": [1024], "vector_common_parallel": [64]}
    assert "enable_loop_peeling" in str(tiles)
    assert levels(complex_tiles([3001, 3], SHORT))["vector_common_parallel"] == [1, 3]
    assert complex_tiles([10, 20], SHORT) is None
    text = adze.trace(lambda z: z * 2, arguments[0]).mlir("kernels")
    assert "vector_common_parallel = [64]" in text


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_of_a_named_size_are_in_loops_of_known_length(dtype: Any) -> None:
    def forms(z: Any, w: Any) -> Any:
        return abs(z), z * w + 1, w.real * 2 + z.imag

    traced = adze.trace(forms, *[adze.ShapeDtype(("n", 3), dtype)] * 2)
    assert "vector_common_parallel = [64]" in traced.mlir("kernels")
    compiled = traced.lower(RUNNABLE).compile()
    rng = np.random.default_rng(2)
    for count in (0, 1, 21, 22, 1366, 5500):
        z, w = ((rng.standard_normal((count, 3)) * (1 + 2j)).astype(dtype) for _ in range(2))
        for mine, expected in zip(compiled(z, w), forms(z, w), strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-5)
