"""`jet`: derivatives along curves, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.experimental.jet import jet


def test_a_curve_through_a_sine() -> None:
    x, v, a = 0.2, 1.3, -0.7
    value, series = jet(anp.sin, (np.float64(x),), ((np.float64(v), np.float64(a)),))
    np.testing.assert_allclose(value, math.sin(x), rtol=1e-12)
    want = [math.cos(x) * v, math.cos(x) * a - math.sin(x) * v**2]
    np.testing.assert_allclose(np.asarray(series), want, rtol=1e-12)


def test_several_arguments_and_results() -> None:
    def f(tree: dict[str, np.ndarray], y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return anp.exp(tree["x"]) * y, anp.sum(tree["x"] * y)

    x, y, one, zero = (np.full(2, v, np.float64) for v in (0.5, 3.0, 1.0, 0.0))
    terms = [{"x": one}, {"x": zero}, {"x": zero}], [one, zero, zero]
    value, series = jet(f, ({"x": x}, y), terms)
    np.testing.assert_allclose(np.asarray(value[0]), np.exp(0.5) * 3 * one)
    assert [len(part) for part in series] == [3, 3], "as JAX: in place of each array a list"
    for k, (product, total) in enumerate(zip(*series, strict=True), 1):
        np.testing.assert_allclose(np.asarray(product), np.exp(0.5) * (3 + k) * one, rtol=1e-12)
        np.testing.assert_allclose(np.asarray(total), {1: 7.0, 2: 4.0, 3: 0.0}[k], atol=1e-12)


def test_coefficients_in_a_traced_function() -> None:
    cube = adze.jit(lambda x: jet(lambda x: x**3, (x,), ((1.0, 0.0, 0.0),), factorial_scaled=False))
    value, series = cube(np.float32(2))
    assert [float(value), *map(float, series)] == [8, 12, 6, 1]
    assert value.dtype == np.float32


def test_series_have_one_length() -> None:
    with pytest.raises(ValueError, match="as many series of one length"):
        jet(anp.add, (1.0, 2.0), ((1.0,), (1.0, 0.0)))


def test_integers_have_no_series() -> None:
    with pytest.raises(TypeError, match="jet along a curve of int32: expected floating"):
        jet(lambda x: x * 2, (np.int32(2),), ((np.int32(1),),))
