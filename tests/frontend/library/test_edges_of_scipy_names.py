"""SciPy's and NumPy's names at their edges: special points, other dtypes, dynamic sizes, mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.signal
import scipy.special as reference

import adze
import adze.numpy as anp
import adze.scipy.linalg
from adze import image, lax
from adze.dialects.errors import AdzeError
from adze.experimental.ode import odeint
from adze.scipy import fft, interpolate, ndimage, signal, special
from adze.scipy.cluster.vq import vq
from adze.scipy.optimize import minimize
from adze.scipy.sparse.linalg import cg, gmres

RANDOM = np.random.default_rng(0)
BFGS = {"method": "BFGS"}


def bowl(x: Any) -> Any:
    return ((x - 1) ** 2).sum()


def same(actual: Any, expected: Any, tolerance: float = 1e-6) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=tolerance, atol=1e-300)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: minimize(bowl, np.zeros(2), method="l-bfgs-b"), "expected 'BFGS' or 'L-BFGS'"),
        (lambda: minimize(bowl, np.zeros(2), options={"maxcor": 5}, **BFGS), "options maxcor are not known"),
        (
            lambda: gmres(anp.eye(2, dtype="bfloat16"), anp.ones(2, "bfloat16")),
            "too narrow for linear algebra",
        ),
        (lambda: image.resize(np.ones(3), (2,), 1), "method is 1"),
        (
            lambda: image.scale_and_translate(np.ones(3), (3,), (0,), np.ones(2), np.ones(1), "linear"),
            "expected 1 numbers as scale",
        ),
        (lambda: signal.stft(np.ones(9), window=("hann", 3), nperseg=4), "has not the parameters"),
        (lambda: fft.dct(np.ones(3), n=-1), "n is -1"),
        (lambda: anp.pad(np.ones(3), 1.5), "pad_width must be integers"),
        (lambda: interpolate.RegularGridInterpolator((np.float32([1, 0]),), np.ones(2)), "do not ascend"),
    ],
)
def test_what_has_no_meaning_is_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(AdzeError, match=words):
        call()


def test_solvers_at_their_edges() -> None:
    wide = minimize(lambda x: ((x - np.float64([1, 2])) ** 2).sum(), np.zeros(2, np.float32), **BFGS)
    same(wide.x, [1, 2])
    assert bool(minimize(bowl, np.zeros(2), options={"norm": -np.inf}, **BFGS).success)
    for b in ([np.nan, 1.0], [1e200, 1.0]):  # the norm of the second one overflows
        assert np.isnan(np.asarray(cg(np.eye(2), np.array(b))[0])).all()
    assert np.isnan(np.asarray(cg(np.array([[np.nan, 0], [0, 1]]), np.ones(2))[0])).all()
    number, distance = vq(np.full((1, 2), 300, np.float16), np.zeros((1, 2), np.float16))
    assert (number.tolist(), distance.dtype) == ([0], np.float16)
    same(distance, [np.float16(300 * np.sqrt(2))], 1e-3)
    assert adze.grad(lambda p: vq(p, np.zeros((1, 2)))[1].sum())(np.zeros((1, 2))).tolist() == [[0, 0]]


def test_odeint_at_its_edges() -> None:
    times = np.array([0.0, 0.0, 1.0, 1.0])
    same(odeint(lambda y, t: -y, np.array([1]), times, rtol=1e-6)[:, 0], np.exp(-times), 1e-5)
    slope = adze.grad(lambda y: odeint(lambda y, t: -y, y, times, rtol=1e-6).sum())(np.ones(1))
    same(slope, [np.exp(-times).sum()], 1e-5)
    assert np.isnan(np.asarray(odeint(lambda y, t: -y, np.ones(1), np.array([0.0, 10]), mxstep=3))[1])
    assert np.isnan(np.asarray(odeint(lambda y, t: -y, np.ones(1), np.array([1.0, 0])))[1])


def test_special_functions_far_away() -> None:
    x = np.float32([1e20, -1e30])
    same(special.fresnel(x)[0], [0.5, -0.5])
    z = np.array([1e200, 1e155 + 1e155j, np.inf, -1e9])
    same(special.wofz(z), reference.wofz(z), 1e-12)
    n, k = np.array([1000.0, 1000, 1e6, 500, 300, 60]), np.array([2.0, 3, 2, 10, 7, 30])
    same(special.comb(n.astype(np.float32), k.astype(np.float32)), reference.comb(n, k), 1e-5)
    n, k = np.array([1e15, 500, 30.5, 2.5]), np.array([1, 250, 12.25, 1.5])
    same(special.comb(n, k), reference.comb(n, k), 1e-12)
    assert float(special.comb(0.0, 0.0, repetition=True)) == 1
    adze.check_grads(special.comb, (np.array([30.0, 12.5]), np.array([12.0, 3.25])), 1)
    a, b, y = np.array([1.0, 0.5, -2, 30, 1.3]), np.array([2, 1.5, 1.5, 2, 40]), np.float64([-1000])
    same(special.hyp1f1(a, b, y), reference.hyp1f1(a, b, y), 1e-9)
    narrow = special.hyp1f1(*(v.astype(np.float32) for v in (a[:3], b[:3], y / 10)))
    same(narrow, reference.hyp1f1(a[:3], b[:3], y / 10), 1e-5)


def test_a_series_that_does_not_converge_is_nan() -> None:
    from adze.frontend.library.special import orders

    before, orders._MOST_TERMS = orders._MOST_TERMS, 20
    try:
        values = np.asarray(special.hyp2f1(1.0, 1.0, 2.0, np.array([0.1, 0.999])))
    finally:
        orders._MOST_TERMS = before
    assert np.isnan(values).tolist() == [False, True]


def test_matrices_at_their_edges() -> None:
    jordan = np.eye(9, k=1, dtype=np.float32) + 2 * np.eye(9, dtype=np.float32)
    for a in (jordan, 1e-37 * RANDOM.normal(size=(4, 4)).astype(np.float32)):
        w, v = map(np.asarray, anp.linalg.eig(a))
        size = float(np.abs(a).max())
        np.testing.assert_allclose(a / size @ v, v * (w / size), atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(v, axis=0), np.ones(len(a)), rtol=1e-5)
    for bad in ([[1, np.nan], [0, 2]], [[np.inf, 1], [0, 2]]):
        assert np.isnan(np.asarray(anp.linalg.eigvals(np.array(bad)))).all()
    assert np.isnan(np.asarray(adze.scipy.linalg.funm(np.array([[1.0, 1], [0, 1]]), anp.exp))).any()
    same(adze.scipy.linalg.funm(2 * np.eye(2), anp.exp), np.exp(2) * np.eye(2))
    many = adze.scipy.linalg.solve_sylvester(np.eye(2), np.eye(3), np.ones((2, 2, 3)))
    same(many, np.full((2, 2, 3), 0.5))


def test_signals_at_their_edges() -> None:
    for of_x, of_y in (((3, 2), (4, 5)), ((1, 1), (3, 2)), ((5, 4), (2, 3)), ((4, 4), (5, 3))):
        x, y = RANDOM.normal(size=of_x), RANDOM.normal(size=of_y)
        same(signal.correlate2d(x, y, "same"), scipy.signal.correlate2d(x, y, "same"), 1e-9)
    spectrum = RANDOM.normal(size=(5, 6, 3)) + 1j
    wanted = scipy.signal.istft(spectrum, time_axis=2, freq_axis=0)[1]
    same(signal.istft(spectrum, time_axis=2, freq_axis=0)[1], wanted, 1e-6)
    grid, values = (np.array([0.0, 1, 3]), np.array([0.0, 2])), RANDOM.normal(size=(3, 2))
    for where in (np.array([[np.nan, 1.0], [4, 1], [1, 1]]), np.array([0.5, 1.0])):
        mine = interpolate.RegularGridInterpolator(grid, values, fill_value=0.0)
        theirs = scipy.interpolate.RegularGridInterpolator(grid, values, bounds_error=False, fill_value=0.0)
        assert mine(where).shape == theirs(where).shape
        same(mine(where), theirs(where))
    large = np.array([2**60 + 1, 5])
    assert ndimage.map_coordinates(large, [np.array([0, 1])], 0).tolist() == large.tolist()


def test_padding_at_its_edges() -> None:
    for large in (np.array([2**40 + 1, 2**40 + 3]), np.array([10**9 + 1] * 3)):
        for mode in ("mean", "median"):
            wanted = np.pad(large, 1, mode)  # type: ignore[call-overload]
            assert anp.pad(large, 1, mode).tolist() == wanted.tolist()
    for mode in ("mean", "maximum", "linear_ramp", "edge"):
        assert anp.pad(np.zeros((0, 3)), ((0, 0), (1, 1)), mode).shape == (0, 5)
        traced = adze.trace(
            lambda x, mode=mode: anp.pad(x, ((0, 0), (1, 1)), mode), adze.ShapeDtype(("n", 3), np.float32)
        )
        assert traced.program.result_types[0].shape == (None, 5)


def test_flat_positions_of_dynamic_sizes_and_narrow_integers() -> None:
    x, v, i = np.zeros(5, np.float32), np.float32([7, 8]), np.array([1, 6, 2], np.int32)
    put = adze.jit(lambda x, i, v: anp.put(x, i, v, "wrap", inplace=False))
    spec = adze.trace(
        lambda x, i, v: anp.put(x, i, v, "wrap", inplace=False),
        adze.ShapeDtype(("n",), np.float32),
        adze.ShapeDtype(("m",), np.int32),
        adze.ShapeDtype(("k",), np.float32),
    )
    assert spec.program.result_types[0].shape == (None,)
    assert put(x, i, v).tolist() == [0, 8, 7, 0, 0]
    place = adze.trace(
        lambda x: anp.place(x, x > 0, [1.0, 2], inplace=False), adze.ShapeDtype(("n", 3), np.float32)
    )
    assert place.program.result_types[0].shape == (None, 3)
    narrow = anp.put(np.zeros(300), np.uint8([200]), [1], "wrap", inplace=False)
    assert int(anp.argmax(narrow)) == 200


def test_reductions_and_searches_at_their_edges() -> None:
    mask = np.array([True, False, True])
    for initial in (np.float64(5), np.int64(5), True):
        x = np.float32([1, 9, 2])
        wanted = np.max(x, initial=initial, where=mask)  # type: ignore[call-overload]
        assert float(anp.max(x, initial=initial, where=mask)) == wanted
    assert float(anp.max(np.ones(2), where=True)) == 1
    assert [bool(f(mask, promote_integers=False)) for f in (anp.sum, anp.prod)] == [True, False]
    for ddof in (1, 2, 3):
        same(anp.nanvar(np.array([1.0, 2, np.nan]), ddof=ddof), 0.5 if ddof == 1 else np.nan)
    assert [v.tolist() for v in lax.approx_min_k(np.uint8([0, 5, 3]), 2)] == [[0, 3], [0, 2]]
    assert lax.approx_min_k(np.int8([-128, 5, 3]), 1)[0].tolist() == [-128]
    assert lax.approx_min_k(np.array([1, np.nan, 3]), 2)[0].tolist() == [1, 3]
