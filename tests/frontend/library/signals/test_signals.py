"""Signals, images and cosine transforms: values of SciPy and JAX, derivatives by differences."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.interpolate
import scipy.ndimage
import scipy.signal

import adze
import adze.numpy as anp
from adze import image
from adze.frontend.errors import ArgumentError, ShapeError
from adze.scipy import fft, interpolate, ndimage, signal

RANDOM = np.random.default_rng(0)
SHAPES = [((7,), (3,)), ((3,), (7,)), ((6, 5), (4, 4)), ((3, 4, 5), (2, 2, 3))]


def close(actual: Any, expected: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=tolerance, atol=tolerance)


def drawn(shape: tuple[int, ...], dtype: Any) -> Any:
    value = RANDOM.normal(size=shape) * 5
    return value + 1j * RANDOM.normal(size=shape) if dtype is complex else value.astype(dtype)


@pytest.mark.parametrize("dtype", [float, complex, np.float32, int])
def test_convolutions_are_those_of_scipy(dtype: Any) -> None:
    tolerance = 1e-5 if dtype is np.float32 else 1e-10
    for (of_x, of_y), mode in itertools.product(SHAPES, ("full", "same", "valid")):
        x, y = drawn(of_x, dtype), drawn(of_y, dtype)
        close(signal.convolve(x, y, mode), scipy.signal.convolve(x, y, mode, "direct"), tolerance)
        close(signal.correlate(x, y, mode), scipy.signal.correlate(x, y, mode, "direct"), tolerance)
        if dtype is not int:
            close(signal.fftconvolve(x, y, mode), scipy.signal.fftconvolve(x, y, mode), 10 * tolerance)
        if x.ndim == 2:
            for boundary in ("fill", "wrap", "symm"):
                for name in ("convolve2d", "correlate2d"):
                    expected = getattr(scipy.signal, name)(x, y, mode, boundary)
                    close(getattr(signal, name)(x, y, mode, boundary), expected, tolerance)


def test_convolutions_refuse_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match="have not the same rank"):
        signal.convolve(np.ones(3), np.ones((3, 3)))
    with pytest.raises(ShapeError, match="mode valid needs one array that is as large"):
        signal.convolve(np.ones((3, 5)), np.ones((4, 2)), "valid")
    with pytest.raises(ArgumentError, match="boundary is 'mirror'"):
        signal.convolve2d(np.ones((3, 5)), np.ones((2, 2)), boundary="mirror")


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosine_transforms_are_those_of_scipy_and_their_inverses(kind: int) -> None:
    x = RANDOM.normal(size=(3, 11))
    for norm, n, axis in itertools.product((None, "ortho", "forward"), (None, 7, 14), (0, 1)):
        close(fft.dct(x, kind, n, axis, norm), scipy.fft.dct(x, kind, n, axis, norm))
        close(fft.idct(x, kind, n, axis, norm), scipy.fft.idct(x, kind, n, axis, norm))
    close(fft.dctn(x, kind, s=(5,)), scipy.fft.dctn(x, kind, s=(5,)))
    close(fft.idctn(fft.dctn(x, kind, norm="ortho"), kind, norm="ortho"), x)
    assert fft.dct(x.astype(np.float16), kind).dtype == np.float16
    adze.check_grads(lambda x: fft.dct(x, kind), (x,), 1)


def test_spectra_are_those_of_scipy() -> None:
    x, y = RANDOM.normal(size=(2, 150)), RANDOM.normal(size=(2, 130))
    windows = ("hann", ("kaiser", 3.0), "boxcar", "triang", "tukey", ("gaussian", 5.0), "flattop", "cosine")
    for window, (size, kept) in itertools.product(windows, ((32, {}), (31, {"noverlap": 20, "nfft": 40}))):
        options = {"nperseg": size, "window": window, **kept}
        for sided in (True, False):
            options["return_onesided"] = sided
            for name, inputs in (("stft", (x,)), ("csd", (x, y)), ("welch", (x,))):
                expected = getattr(scipy.signal, name)(*inputs, 10.0, **options)
                for mine, theirs in zip(
                    getattr(signal, name)(*inputs, 10.0, **options), expected, strict=True
                ):
                    close(mine, theirs, 1e-5)
    options = {"nperseg": 30, "average": "median", "scaling": "spectrum", "detrend": "linear"}
    close(signal.welch(x, **options)[1], scipy.signal.welch(x, **options)[1], 1e-9)
    for boundary, padded in itertools.product(("zeros", "even", "odd", "constant", None), (True, False)):
        options = {"boundary": boundary, "padded": padded, "nperseg": 50, "axis": 0}
        close(signal.stft(x.T, **options)[2], scipy.signal.stft(x.T, **options)[2], 1e-9)
    for sided in (True, False):
        spectrum = signal.stft(x, nperseg=32, return_onesided=sided)[2]
        back = np.asarray(signal.istft(spectrum, nperseg=32, input_onesided=sided)[1])
        close(back[:, :150], x, 1e-9)
    with pytest.raises(ArgumentError, match="window 'sine' is not known"):
        signal.stft(x, window="sine")


def test_trends_are_those_of_scipy_and_differentiate() -> None:
    x = RANDOM.normal(size=(12, 5))
    for kind, breaks, axis in itertools.product(("linear", "constant"), (0, [2, 4]), (0, 1)):
        close(signal.detrend(x, axis, kind, breaks), scipy.signal.detrend(x, axis, kind, breaks))
    adze.check_grads(lambda x: signal.detrend(x) ** 2, (x[:2],), 1, ("rev",))
    adze.check_grads(lambda x: anp.abs(signal.stft(x, nperseg=4)[2]) ** 2, (x[0],), 1, ("rev",))


@pytest.mark.parametrize("mode", ["constant", "nearest", "wrap", "mirror", "reflect"])
def test_coordinates_are_mapped_as_in_scipy(mode: str) -> None:
    x = RANDOM.normal(size=(5, 6))
    places = RANDOM.uniform(0.01, 3.99, size=(2, 40)) if mode == "wrap" else RANDOM.uniform(-9, 14, (2, 40))
    reference = "grid-constant" if mode == "constant" else mode
    for order in (0, 1):
        expected = scipy.ndimage.map_coordinates(x, places, order=order, mode=reference, cval=2.0)
        close(ndimage.map_coordinates(x, places, order, mode, 2.0), expected)
    adze.check_grads(lambda x, c: ndimage.map_coordinates(x, c, 1, mode), (x, places), 1)


def test_map_coordinates_keeps_integers_and_refuses_splines() -> None:
    result = ndimage.map_coordinates(np.array([0, 10]), [np.array([0.26, 0.25])], 1)
    assert result.dtype == np.int64
    assert result.tolist() == [3, 2]
    with pytest.raises(ArgumentError, match="order is 3"):
        ndimage.map_coordinates(np.ones(3), [np.ones(2)], 3)


def test_grids_are_those_of_scipy() -> None:
    points, values = (np.float64([0, 1, 3, 4, 9]), np.linspace(0, 1, 6)), RANDOM.normal(size=(5, 6))
    where = np.stack([RANDOM.uniform(-1, 10, 30), RANDOM.uniform(-0.2, 1.2, 30)], -1)
    for method, fill in itertools.product(("linear", "nearest"), (np.nan, None, 3.0)):
        options = {"method": method, "fill_value": fill, "bounds_error": False}
        mine = interpolate.RegularGridInterpolator(points, values, **options)
        close(mine(where), scipy.interpolate.RegularGridInterpolator(points, values, **options)(where))


@pytest.mark.oracle
@pytest.mark.thorough
def test_images_are_those_of_jax() -> None:
    from jax.image import resize

    picture = np.float32(RANDOM.normal(size=(2, 9, 7, 3)))
    for method, shape in itertools.product(
        ("nearest", "linear", "cubic", "lanczos3", "lanczos5"), ((2, 5, 11, 3), (2, 20, 3, 3))
    ):
        for antialias in (True, False):
            expected = resize(picture, shape, method, antialias)
            close(image.resize(picture, shape, method, antialias), expected, 1e-5)


def test_images_shrink_and_grow() -> None:
    ramp = np.arange(8.0)
    close(image.resize(ramp, (4,), "linear", antialias=False), [0.5, 2.5, 4.5, 6.5])
    close(image.resize(ramp, (4,), "linear"), [5 / 7, 2.5, 4.5, 44 / 7])
    for method in ("linear", "cubic", "lanczos3", "lanczos5"):
        grown = np.asarray(image.resize(np.full((3, 4), 2.0), (7, 9), method))
        close(grown, np.full((7, 9), 2.0))


def test_images_scale_move_and_differentiate() -> None:
    picture = RANDOM.normal(size=(4, 5))
    same = image.scale_and_translate(picture, (4, 5), (0, 1), np.ones(2), np.zeros(2), "cubic")
    close(same, picture, 1e-6)
    moved = image.scale_and_translate(picture, (4, 5), (0,), np.ones(1), np.ones(1), "linear")
    close(np.asarray(moved)[1:], picture[:-1])
    for method in ("linear", "cubic", "lanczos3"):
        adze.check_grads(
            lambda p, s, t, method=method: image.scale_and_translate(p, (3, 8), (0, 1), s, t, method),
            (picture, np.array([0.7, 1.6]), np.array([0.3, -0.2])),
            1,
        )
    assert image.resize(np.arange(4), (2,), "nearest").tolist() == [1, 3]
    with pytest.raises(ArgumentError, match="method is 'area'"):
        image.resize(picture, (2, 2), "area")


def test_padding_by_computed_values_is_that_of_numpy() -> None:
    modes: list[tuple[str, dict[str, Any]]] = [
        ("linear_ramp", {}),
        ("linear_ramp", {"end_values": (1, -3)}),
        ("maximum", {"stat_length": 2}),
        ("minimum", {}),
        ("mean", {"stat_length": 2}),
        ("median", {}),
        ("reflect", {"reflect_type": "odd"}),
        ("symmetric", {"reflect_type": "odd"}),
    ]
    for dtype, shape, width in itertools.product((float, int), ((5,), (1, 3)), ((2, 3), 9)):
        x = drawn(shape, dtype)
        for mode, options in modes:
            expected = np.pad(x, width, mode, **options)  # type: ignore[call-overload]
            result = anp.pad(x, width, mode, **options)
            assert result.dtype == expected.dtype
            close(result, expected)
    edges = np.array([[1, np.nan, 3], [np.inf, 2, -np.inf]])
    with np.errstate(invalid="ignore"):
        close(anp.pad(edges, (2, 3), "linear_ramp"), np.pad(edges, (2, 3), "linear_ramp"))
    assert anp.pad(np.zeros(1), 1, lambda v, widths, axis, kwargs: v.at[: widths[0]].set(7.0)).tolist() == [
        7,
        0,
        0,
    ]
    with pytest.raises(ArgumentError, match="mode mean does not take constant_values"):
        anp.pad(np.ones(3), 2, "mean", constant_values=2)
