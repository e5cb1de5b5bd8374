"""Functions of arrays whose sizes are named: compiled once, called with several sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.frontend.errors import ShapeError
from adze.runtime.errors import FailedCallError

FLOAT = np.dtype(np.float32)
KERNEL = np.array([2.0, -1.0, 0.5, 3.0])


def compiled(function: Callable[..., Any], *specs: adze.ShapeDtype) -> Callable[..., np.ndarray]:
    program = adze.trace(function, *specs).lower("cpu").compile()
    return lambda *arguments: np.asarray(program(*arguments))


def windows(
    x: np.ndarray, window: int, stride: int, dilation: int, padding: str, *, fill: float
) -> np.ndarray:
    """The windows of a vector, written out."""
    reach = (window - 1) * dilation
    if padding == "SAME":
        x = np.pad(x, (reach // 2, reach - reach // 2), constant_values=fill)
    starts = range(0, max(len(x) - reach, 0), stride)
    return np.array([x[start : start + reach + 1 : dilation] for start in starts]).reshape(-1, window)


WINDOWS = ((1, 2, 1, "VALID"), (2, 2, 1, "VALID"), (3, 1, 2, "VALID"), (5, 2, 2, "VALID"), (5, 1, 2, "SAME"))
"""Size, stride, dilation and padding."""


def test_windows_of_a_named_size() -> None:
    def pooled(x: Any, window: int, stride: int, dilation: int, padding: str) -> Any:
        kind = (window,), (stride,), padding
        least = lax.reduce_window(x, np.float32(np.inf), lax.min, *kind, window_dilation=(dilation,))
        total = lax.reduce_window(x, np.float32(0), lax.add, *kind, window_dilation=(dilation,))
        return xp.stack([least, total])

    spec = adze.ShapeDtype(("n",), FLOAT)
    program = adze.trace(lambda x: [pooled(x, *each) for each in WINDOWS], spec).lower("cpu").compile()
    for size in (0, 1, 2, 5, 6, 12):
        x = np.random.default_rng(size).integers(-9, 9, size).astype(FLOAT)
        for each, result in zip(WINDOWS, program(x), strict=True):
            least = windows(x, *each, fill=np.inf).min(axis=1, initial=np.inf)
            total = windows(x, *each, fill=0).sum(axis=1)
            np.testing.assert_array_equal(result, np.stack([least, total]), err_msg=str(each))


def test_windows_of_a_function_and_of_two_named_sizes() -> None:
    def joined(x: Any) -> Any:
        return lax.reduce_window(x, np.float32(0), lambda a, b: a * b + a + b, (2, 3), (2, 1), "VALID")

    def slope(x: Any) -> Any:
        return lax.reduce_window(x, np.float32(-np.inf), lax.max, (2, 3), (2, 1), "VALID").sum()

    spec = adze.ShapeDtype(("n", "m"), FLOAT)
    functions = (joined, adze.grad(slope))
    program = adze.trace(lambda x: [function(x) for function in functions], spec).lower("cpu").compile()
    for shape in ((6, 5), (2, 3), (1, 2), (9, 4)):
        x = np.random.default_rng(1).standard_normal(shape).astype(FLOAT)
        for function, result in zip(functions, program(x), strict=True):
            np.testing.assert_allclose(result, np.asarray(function(x)), rtol=1e-6)


@pytest.mark.parametrize("size", [5, 1])
def test_windows_of_known_axes_beside_a_named_one(size: int) -> None:
    """A batch of images, whose number is named, is pooled with strides."""

    def pooled(x: Any) -> Any:
        return lax.reduce_window(x, np.float32(-np.inf), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    program = compiled(pooled, adze.ShapeDtype(("b", 4, size, 3), FLOAT))
    for count in (0, 1, 7):
        x = np.random.default_rng(count).standard_normal((count, 4, size, 3)).astype(FLOAT)
        pairs = x[:, :, : size // 2 * 2].reshape(count, 2, 2, size // 2, 2, 3)
        np.testing.assert_array_equal(program(x), pairs.max(axis=(2, 4), initial=-np.inf))


@pytest.mark.each_value
@pytest.mark.parametrize("function", ["convolve", "correlate"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.int32, np.bool_], ids=lambda d: d.__name__)
def test_convolutions_of_a_named_size(function: str, dtype: Any) -> None:
    theirs, ours = getattr(np, function), getattr(xp, function)
    kernel = KERNEL.astype(dtype)
    spec = adze.ShapeDtype(("n",), dtype)
    both = adze.trace(lambda x: (ours(x, kernel, "full"), ours(kernel, x, "full")), spec)
    program = both.lower("cpu").compile()
    for size in (1, 3, 4, 9):
        x = np.random.default_rng(size).integers(-3, 3, size).astype(dtype)
        forward, swapped = program(x)
        np.testing.assert_allclose(forward, theirs(x, kernel, "full"), rtol=1e-6)
        np.testing.assert_allclose(swapped, theirs(kernel, x, "full"), rtol=1e-6)


def test_points_of_a_curve_have_one_length() -> None:
    def between(x: Any, xs: Any, ys: Any) -> Any:
        return xp.interp(x, xs, ys)

    program = compiled(between, *(adze.ShapeDtype((name,), FLOAT) for name in "nmk"))
    x, xs, ys = np.float32([0.5, 1.25]), np.float32([0, 1, 2]), np.float32([1, 3, 7])
    np.testing.assert_allclose(program(x, xs, ys), np.interp(x, xs, ys))
    with pytest.raises(FailedCallError, match="interp: fp must have the shape of xp: axis 0 differs"):
        program(x, xs, ys[:2])


def test_coordinates_of_a_gradient_fit_the_axis() -> None:
    program = compiled(lambda x, at: xp.gradient(x, at), *(adze.ShapeDtype((name,), FLOAT) for name in "nm"))
    x, at = np.float32([1, 2, 4, 3]), np.float32([0, 1, 3, 4])
    np.testing.assert_allclose(program(x, at), np.gradient(x, at), rtol=1e-6)
    with pytest.raises(FailedCallError, match="gradient: spacing must have the shape of axis 0: axis 0"):
        program(x, np.arange(5, dtype=FLOAT))
    for coordinates in (np.arange(5.0), np.ones((4, 1))):
        with pytest.raises(ShapeError) as raised:
            xp.gradient(x, coordinates)
        assert "must have the shape [4] of axis 0" in str(raised.value)


def test_one_of_two_convolved_vectors_must_be_known() -> None:
    n, m = (adze.ShapeDtype((name,), FLOAT) for name in "nm")
    with pytest.raises(ShapeError) as raised:
        adze.trace(lambda x, y: xp.convolve(x, y), n, m)
    assert str(raised.value).startswith(
        "convolve: one of the vectors must have a static length, got f32[n] and f32[m]"
    )


@pytest.mark.each_value
@pytest.mark.parametrize("fill", [None, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_distinct_values_of_a_named_size(dtype: Any, fill: int | None) -> None:
    def distinct(x: Any) -> Any:
        return xp.unique(x, True, True, True, size=4, fill_value=fill)

    program = adze.trace(distinct, adze.ShapeDtype(("n",), dtype)).lower("cpu").compile()
    for elements in ([3, 1, 3, 2, 1], [5], [2, 2], [4, 3, 2, 1], []):
        x = np.array(elements, dtype)
        values, indices, inverse, counts = np.unique(x, True, True, True)
        rest = 4 - len(values)
        filler = fill if fill is not None else (values[0] if len(values) else 0)
        for results in (program(x), adze.jit(distinct)(x)):
            ours = [np.asarray(r) for r in results]
            np.testing.assert_array_equal(ours[0], np.append(values, np.full(rest, filler, dtype)))
            np.testing.assert_array_equal(
                ours[1], np.append(indices, np.full(rest, indices[0] if len(indices) else 0))
            )
            np.testing.assert_array_equal(ours[2], inverse)
            np.testing.assert_array_equal(ours[3], np.append(counts, np.zeros(rest, int)))


def test_sets_of_a_named_size() -> None:
    other = np.array([1, 2, 8], FLOAT)
    x = np.array([3, 1, 3, 2, 1], FLOAT)

    def sets(x: Any) -> Any:
        return xp.intersect1d(x, other, size=2), xp.setdiff1d(x, other, size=1)

    common, rest = adze.trace(sets, adze.ShapeDtype(("n",), FLOAT)).lower("cpu").compile()(x)
    np.testing.assert_array_equal(common, [1, 2])
    np.testing.assert_array_equal(rest, [3])


def test_segments_of_a_named_count() -> None:
    sums = compiled(
        lambda x, i: adze.ops.segment_sum(x, i, num_segments=x.shape[0]),
        adze.ShapeDtype(("n", 2), np.float32),
        adze.ShapeDtype(("n",), np.int32),
    )
    for n in (0, 1, 5):
        x = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
        places = np.array([3, -1, 0, 9, 3], np.int32)[:n]
        expected = np.zeros_like(x)
        for row, place in zip(x, places, strict=True):
            if 0 <= place < n:
                expected[place] += row
        np.testing.assert_array_equal(sums(x, places), expected)


def test_transforms_name_the_axis_whose_size_they_need() -> None:
    with pytest.raises(ShapeError) as raised:
        adze.trace(lambda x: xp.fft.fft(x, axis=0), adze.ShapeDtype(("n", "m")))
    assert str(raised.value).startswith("fft: the size of axis 0 must be static, got the dynamic dimension n")
    assert "trace the function with a number in place of this name" in str(raised.value)


@pytest.mark.parametrize("shape", [("n", "m"), ("n", 5), (5, "n")])
def test_covariances_of_named_sizes(shape: tuple[int | str, ...]) -> None:
    def both(x: Any) -> Any:
        return xp.cov(x, rowvar=False), xp.cov(x), xp.cov(x, bias=True), xp.corrcoef(x)

    program = adze.trace(both, adze.ShapeDtype(shape, FLOAT)).lower("cpu").compile()
    for sizes in ({"n": 4, "m": 3}, {"n": 7, "m": 0}, {"n": 0, "m": 6}):
        known = [sizes[n] if isinstance(n, str) else n for n in shape]
        x = np.random.default_rng(1).standard_normal(known).astype(FLOAT)
        for got, want in zip(program(x), both(x), strict=True):
            np.testing.assert_allclose(got, np.asarray(want), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("other", [("m", 2), (1, 2), ("n", 2), (3, 2)])
def test_arrays_of_other_sizes_are_not_equal(other: tuple[int | str, ...]) -> None:
    program = compiled(xp.array_equal, adze.ShapeDtype(("n", 2), FLOAT), adze.ShapeDtype(other, FLOAT))
    for n in (0, 1, 3, 4):
        x = np.ones((n, 2), FLOAT)
        y = np.ones((3 if other[0] == "m" else n if other[0] == "n" else other[0], 2), FLOAT)
        assert bool(program(x, y)) == np.array_equal(x, y)
        assert not program(x, 2 * y) or not (x.size and y.size)
    named = adze.ShapeDtype(("n", 2, 3), FLOAT)
    assert not compiled(lambda x: xp.array_equal(x, xp.swapaxes(x, 1, 2)), named)(np.ones((1, 2, 3), FLOAT))


@pytest.mark.parametrize("offset", [2, -1])
def test_diagonals_of_named_sizes(offset: int) -> None:
    def diagonals(x: Any) -> Any:
        return xp.diagonal(x, offset), xp.trace(x, offset), xp.diagonal(x, offset, 2, 0)

    program = adze.trace(diagonals, adze.ShapeDtype(("n", 4, "m"), FLOAT)).lower("cpu").compile()
    for shape in ((3, 4, 5), (1, 4, 2), (6, 4, 1), (0, 4, 3)):
        x = np.random.default_rng(1).standard_normal(shape).astype(FLOAT)
        for got, want in zip(program(x), diagonals(x), strict=True):
            np.testing.assert_allclose(got, np.asarray(want), rtol=1e-6)


def test_slices_at_negative_places_of_a_named_axis() -> None:
    def ends(x: Any) -> Any:
        parts = xp.split(x, [1, -2], axis=0)
        at = [lax.index_in_dim(x, k, axis, keepdims=axis == 0) for k in (-1, -2, 0) for axis in (0, -1)]
        return [*parts, *xp.split(x, (9, 2), axis=1), *at]

    program = adze.trace(ends, adze.ShapeDtype(("n", "m"), FLOAT)).lower("cpu").compile()
    for shape in ((2, 3), (5, 2), (11, 12)):
        x = np.random.default_rng(1).standard_normal(shape).astype(FLOAT)
        wanted = [*np.split(x, [1, max(shape[0] - 2, 0)]), *np.split(x, (9, 2), axis=1)]
        for k in (-1, -2, 0):
            wanted += [np.take(x, [k], 0), np.take(x, k, 1)]
        for got, want in zip(program(x), wanted, strict=True):
            np.testing.assert_array_equal(got, want)


def test_evenly_spaced_numbers_of_a_named_count() -> None:
    def spaced(x: Any) -> Any:
        n = x.shape[0]
        inner = xp.linspace(x.sum(), xp.float32([3, 4]), n, endpoint=False, axis=1)
        return xp.linspace(0.1, 2, n), xp.linspace(0, 9, n, dtype=np.int32), xp.logspace(0, 1, n), inner

    program = adze.trace(spaced, adze.ShapeDtype(("n",), FLOAT)).lower("cpu").compile()
    for n in (0, 1, 2, 7):
        x = np.zeros(n, FLOAT)
        wanted = [np.linspace(0.1, 2, n), np.linspace(0, 9, n, dtype=np.int32), np.logspace(0, 1, n)]
        wanted += [np.linspace(0.0, np.float32([3, 4]), n, endpoint=False, axis=1)]
        for got, want in zip(program(x), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", ["nearest", "cubic"])
def test_a_named_batch_of_images_is_resized(method: str) -> None:
    def halved(x: Any) -> Any:
        return adze.image.resize(x, (x.shape[0], 2, 5), method)

    program = compiled(halved, adze.ShapeDtype(("b", 4, 3), FLOAT))
    for count in (0, 1, 3):
        x = np.random.default_rng(count).standard_normal((count, 4, 3)).astype(FLOAT)
        np.testing.assert_allclose(program(x), np.asarray(halved(x)), rtol=1e-5, atol=1e-6)
    with pytest.raises(ShapeError, match=r"resize: axis 0, which is resized, must be static"):
        adze.trace(lambda x: adze.image.resize(x, (2, 2), method), adze.ShapeDtype(("n", 2)))
