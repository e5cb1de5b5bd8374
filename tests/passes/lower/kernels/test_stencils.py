"""Kernels of stencils of stencils: every access within bounds, values as NumPy's, and what stays apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.passes.lower.kernels import stencils
from adze.passes.lower.kernels.written_kernels import KernelWarning
from adze.passes.lower.tuning import stencil_tiles

from .reductions import AVX2, AVX512, STENCILS, VULKAN, given, kernels_of, run_reduction


def laplace(x: Any) -> Any:
    return 4 * x[1:-1, 1:-1] - x[2:, 1:-1] - x[:-2, 1:-1] - x[1:-1, 2:] - x[1:-1, :-2]


def twice(x: Any) -> Any:
    """Read along both axes, and once where it lies."""
    y = laplace(x)
    return laplace(y) * y[1:-1, 1:-1]


def thrice(x: Any) -> Any:
    """Rows that several stages behind one another still read."""
    y = laplace(x)
    z = laplace(y)
    return laplace(z) - x[3:-3, 3:-3] * z[1:-1, 1:-1] + y[2:-2, 4:]


def along_rows(x: Any) -> Any:
    y = x[:, 1:] - x[:, :-1]
    return y[:, 1:] * y[:, :-1]


def branching(x: Any) -> Any:
    """Two stages that read one and are read by one, and a comparison, whose bools are kept as bytes."""
    y = laplace(x)
    down, right = y[1:, :-1] > y[:-1, :-1], y[:-1, 1:] - y[:-1, :-1]
    return xp.where(down[1:, 1:] & down[:-1, 1:], right[1:, 1:], right[1:, :-1])


def in_space(x: Any) -> Any:
    """Three axes: what is kept are planes."""

    def differences(a: Any) -> Any:
        inner = a[1:-1, 1:-1, 1:-1]
        return a[2:, 1:-1, 1:-1] - a[:-2, 1:-1, 1:-1] + a[1:-1, 2:, 1:-1] * inner + a[1:-1, 1:-1, :-2]

    return differences(differences(x))


CASES: tuple[tuple[Callable[[Any], Any], tuple[int, ...]], ...] = (
    (twice, (45, 131)),
    (thrice, (67, 90)),
    (along_rows, (40, 130)),
    (branching, (70, 131)),
    (in_space, (14, 18, 41)),
)


@pytest.mark.parametrize("extra", [-1, 10, 1000])
@pytest.mark.parametrize(("function", "shape"), CASES)
def test_all_accesses_are_within_bounds(
    function: Callable[[Any], Any], shape: tuple[int, ...], extra: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All stages are kept, some are computed where they are read, or all."""
    monkeypatch.setattr(stencil_tiles, "EXTRA", extra)
    monkeypatch.setattr(stencil_tiles, "SMALL", 1)
    monkeypatch.setattr(stencil_tiles, "ROW_HALOS", 2)
    x = given(shape[0] // 2 + 1, *shape[1:-1], shape[-1] // 2 + 1)
    got, *_ = run_reduction(function, x, passes=STENCILS)
    np.testing.assert_array_equal(got, np.asarray(function(x)))


@pytest.mark.parametrize("width", [96, 131])
def test_rows_that_are_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into equal parts, and into parts of which the last one is shorter."""
    monkeypatch.setattr(stencil_tiles, "EXTRA", -1)
    monkeypatch.setattr(stencil_tiles, "SMALL", 1)
    monkeypatch.setattr(stencil_tiles, "FIRST_CACHE", 64)
    x = given(13, width)
    got, *_ = run_reduction(thrice, x, passes=STENCILS)
    np.testing.assert_array_equal(got, thrice(x))


@pytest.mark.parametrize("extra", [-1, 10, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64, np.uint32])
def test_values(dtype: Any, extra: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stencil_tiles, "EXTRA", extra)
    monkeypatch.setenv("ADZE_CACHE", "off")  # it does not know the limit
    arrays = [given(*shape).astype(dtype) for _, shape in CASES]
    functions = [function for function, _ in CASES]

    def every(*arrays: Any) -> Any:
        return [function(x) for function, x in zip(functions, arrays, strict=True)]

    for got, want in zip(adze.jit(every)(*arrays), every(*arrays), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("rows", [5, 6, 80])
def test_few_rows(rows: int) -> None:
    x = given(rows, 1500)
    np.testing.assert_array_equal(adze.jit(twice)(x), twice(x))


def test_sizes_that_are_known_when_the_program_runs() -> None:
    compiled = adze.trace(twice, adze.ShapeDtype(("n", 200))).lower("cpu").compile()
    for rows in (5, 61):
        x = given(rows, 200)
        np.testing.assert_array_equal(compiled(x), twice(x))


def kept(function: Callable[..., Any], x: np.ndarray, target: Any = AVX2) -> int:
    """How many stages of the only stencil keep rows."""
    text = str(kernels_of(function, x, target=target, passes=STENCILS))
    (call,) = [line for line in text.splitlines() if "flow.dispatch @kernel_stencil" in line]
    return call.split(" -> ")[-1].count("%") - 1 if ":" in call.split(" = ")[0] else 0


def test_what_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cheap stages, and where the result is large those that would be read at many places too."""
    assert kept(along_rows, given(150, 130)) == 0
    assert kept(branching, given(150, 130)) == 0
    assert kept(twice, given(150, 130)) == 1
    assert kept(thrice, given(150, 130)) == 2
    monkeypatch.setattr(stencil_tiles, "FAR", 1 << 10)
    assert kept(twice, given(150, 130)) == 0
    assert kept(lambda x: twice(xp.sqrt(x)), given(150, 130)) == 0
    assert kept(lambda x: laplace(xp.sqrt(laplace(x))), given(150, 130)) == 1


def test_long_chains_compute_each_element_once_for_a_vector() -> None:
    """Each stage is read at two places: without what is known, code doubles with each of them."""

    def smoothed(x: Any) -> Any:
        for _ in range(16):
            x = x[:, 1:] + x[:, :-1]
        return x

    text = str(kernels_of(smoothed, given(150, 130), target=AVX2, passes=STENCILS))
    assert text.count("arith.addf") < 4000
    x = given(150, 130)
    np.testing.assert_array_equal(adze.jit(smoothed)(x), smoothed(x))


def test_gradients() -> None:
    x = given(60, 90)
    got = adze.jit(adze.grad(lambda x: (along_rows(x) * 2).sum()))(x)
    want = np.zeros_like(x)
    y = x[:, 1:] - x[:, :-1]
    for at, value in ((slice(1, None), y[:, :-1]), (slice(None, -1), y[:, 1:])):
        inner = np.zeros_like(y)
        inner[:, at] = 2 * value
        want[:, 1:] += inner
        want[:, :-1] -= inner
    np.testing.assert_array_equal(got, want)


def kernels(function: Callable[..., Any], x: np.ndarray, target: Any = AVX2) -> tuple[int, int]:
    """How many kernels of stencils and how many of IREE's a program has."""
    text = str(kernels_of(function, x, target=target, passes=STENCILS))
    return text.count("stream.executable private @kernel_stencil"), text.count("flow.executable private")


def test_what_becomes_one_kernel() -> None:
    x = given(150, 130)
    for function in (thrice, branching):
        assert kernels(function, x) == (1, 0)
    assert kernels(along_rows, x, target=AVX512) == (1, 0)

    def both(x: Any) -> Any:
        y = laplace(x)
        return y, laplace(y)

    assert kernels(both, x) == (0, 2)  # the array is a result itself
    assert kernels(twice, x, target=VULKAN)[0] == 0
    assert kernels(twice, given(20, 20))[0] == 0


def test_kernels_that_cannot_be_written_stay_with_iree(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no such code")

    monkeypatch.setattr(stencils.Stencil, "emit", fail)
    monkeypatch.setenv("ADZE_CACHE", "off")
    x = given(100, 130)
    with pytest.warns(KernelWarning, match="a kernel of a stencil was not written"):
        got = adze.jit(twice)(x)
    np.testing.assert_array_equal(got, twice(x))
