"""Derivatives where the mathematics leaves a choice or a textbook formula fails: kinks, ties, poles, zeros.

Each convention is stated once here; most are JAX's, and the last test compares with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp

INF, NAN = np.inf, np.nan


def derivative(function: Callable[..., Any], *points: Any, argnums: int = 0) -> np.ndarray:
    """The derivative of an elementwise function at each of the points, by reverse mode; forward agrees."""
    arrays = [np.asarray(p, np.float64) for p in points]
    ones = [np.ones_like(a) if i == argnums else np.zeros_like(a) for i, a in enumerate(arrays)]
    _, tangent = adze.jvp(function, arrays, ones)
    with np.errstate(all="ignore"):
        pulled = adze.vjp(function, *arrays)[1](np.ones_like(np.asarray(tangent)))[argnums]
    np.testing.assert_allclose(np.asarray(pulled), np.asarray(tangent), rtol=1e-14)
    return np.asarray(pulled)


@pytest.mark.parametrize(
    ("function", "points", "expected"),
    [
        pytest.param(lax.abs, [-2, -0.0, 0.0, 3], [-1, 0, 0, 1], id="abs has slope zero at zero"),
        pytest.param(lax.sign, [-2, 0, 3], [0, 0, 0], id="sign is flat"),
        pytest.param(lax.floor, [-1, 0, 2.5], [0, 0, 0], id="floor is flat"),
        pytest.param(adze.nn.relu, [-1, 0, 2], [0, 0, 1], id="relu has slope zero at zero"),
        pytest.param(lax.sqrt, [0, 4], [INF, 0.25], id="the root is steep at zero"),
        pytest.param(lax.cbrt, [0, 8], [INF, 1 / 12], id="the cube root is steep at zero"),
        pytest.param(lambda x: x**2, [0, -1], [0, -2], id="a square is flat at zero"),
        pytest.param(lambda x: x**2.0, [0, 3], [0, 6], id="a float power of two is flat at zero"),
        pytest.param(lambda x: x**0, [0, 2, INF], [0, 0, 0], id="the power zero is flat"),
        pytest.param(lambda x: x**1.0, [0, -2], [1, 1], id="the power one has slope one"),
        pytest.param(lambda x: x**0.5, [0, 4], [INF, 0.25], id="the power one half is steep at zero"),
        pytest.param(lax.log1p, [0, 1e-300, -1], [1, 1, INF], id="log1p near zero"),
        pytest.param(lax.expm1, [0, 1e-300, -1e6], [1, 1, 0], id="expm1 near zero"),
        pytest.param(lax.logistic, [-1e4, 1e4], [0, 0], id="the logistic function saturates"),
        pytest.param(lax.tanh, [-1e4, 1e4], [0, 0], id="tanh saturates"),
        pytest.param(xp.sinc, [0, 1], [0, -1], id="sinc is flat at zero"),
    ],
)
def test_slope(function: Any, points: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(derivative(function, points), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("function", [lax.max, lax.min, xp.maximum, xp.minimum])
def test_extrema_share_the_tangent_at_a_tie(function: Any) -> None:
    x, y = [1.0, 2.0, 2.0, 0.0], [2.0, 1.0, 2.0, -0.0]
    to_x, to_y = derivative(function, x, y), derivative(function, x, y, argnums=1)
    np.testing.assert_array_equal(to_x + to_y, 1)
    np.testing.assert_array_equal(to_x[2:], 0.5)
    assert set(to_x[:2]) == {0.0, 1.0}


def test_clamp_gives_the_tangent_to_the_bound_that_is_reached() -> None:
    points = ([0.0] * 4, [-1.0, 0.0, 0.5, 1.0], [1.0] * 4)
    np.testing.assert_array_equal(derivative(lax.clamp, *points, argnums=1), [0, 0, 1, 0])
    np.testing.assert_array_equal(derivative(lax.clamp, *points, argnums=0), [1, 1, 0, 0])
    np.testing.assert_array_equal(derivative(lax.clamp, *points, argnums=2), [0, 0, 0, 1])
    crossed = ([2.0], [1.5], [1.0])  # the low bound is above the high one, which wins
    assert [derivative(lax.clamp, *crossed, argnums=k).item() for k in range(3)] == [0, 0, 1]


def test_power_at_zero() -> None:
    x, y = [0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 2.0, 0.0]
    np.testing.assert_array_equal(derivative(lax.pow, x, y), [0, 1, 0, 0])
    np.testing.assert_allclose(derivative(lax.pow, x, y, argnums=1), [0, 0, 0, np.log(2)])


def test_mixed_derivative_of_a_power_at_exponent_zero() -> None:
    """`d/dy (y x**(y-1))` at `y = 0` is `1 / x`: no guard may freeze the exponent there."""
    mixed = adze.grad(adze.grad(lambda x, y: x**y, 0), 1)
    np.testing.assert_allclose(np.asarray(mixed(np.float64(4), np.float64(0))), 0.25)


def test_negative_base_has_a_derivative_in_the_base_only() -> None:
    to_base = adze.grad(lambda x: x ** np.float64(3))
    assert float(to_base(np.float64(-2))) == 12
    assert np.isnan(adze.grad(lambda y: np.float64(-2) ** y)(np.float64(3)))


def test_select_does_not_see_nan_in_the_branch_not_taken() -> None:
    """The cotangent of the branch that was not taken is zero; NaN comes back only through its own rule."""
    x = np.array([-1.0, 4.0])

    def chosen(x: Any) -> Any:
        return xp.where(x > 0, x * NAN, 2 * x)

    value = chosen(xp.asarray(x))
    assert np.isnan(np.asarray(value)).tolist() == [False, True]
    np.testing.assert_array_equal(
        np.asarray(adze.vjp(lambda a, b: xp.where(x > 0, a, b), x, x * NAN)[1](x)[0]), [0, 4]
    )


def test_double_where_keeps_the_gradient_finite() -> None:
    """One `where` computes 0 * inf = NaN at the point that it excludes; a second one inside does not."""

    def single(x: Any) -> Any:
        return xp.where(x > 0, xp.sqrt(x), 0.0)

    def double(x: Any) -> Any:
        return xp.where(x > 0, xp.sqrt(xp.where(x > 0, x, 1.0)), 0.0)

    with np.errstate(all="ignore"):
        assert np.isnan(adze.grad(single)(np.float64(0)))
    assert float(adze.jvp(single, (np.float64(0),), (np.float64(1),))[1]) == 0
    np.testing.assert_array_equal(derivative(double, [0.0, 4.0]), [0, 0.25])


def test_atan2_has_no_derivative_at_the_origin() -> None:
    assert np.isnan(derivative(lax.atan2, [0.0], [0.0])).all()
    np.testing.assert_array_equal(derivative(lax.atan2, [0.0, 1.0], [1.0, 0.0]), [1, 0])


def test_digamma_and_its_derivatives_are_consistent() -> None:
    special = pytest.importorskip("scipy.special")
    points = np.array([-3.7, -0.3, 0.2, 0.49, 0.51, 1.0, 7.9, 8.1, 60.0])
    np.testing.assert_allclose(derivative(lax.digamma, points), special.polygamma(1, points), rtol=2e-14)
    trigamma = lambda x: adze.jvp(lax.digamma, (x,), (np.ones_like(points),))[1]  # noqa: E731
    np.testing.assert_allclose(derivative(trigamma, points), special.polygamma(2, points), rtol=1e-12)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-6), (np.float64, 1e-13)])
def test_the_derivative_of_digamma_is_exact_beside_its_poles(dtype: type, rtol: float) -> None:
    """`sin(pi x)` is not: in float32 the derivative at -83.9999 was 16 % off."""
    mp = pytest.importorskip("mpmath").mp
    points = np.array([-1.0001, -7.99, -16.01, -83.9999, -99.5], dtype)
    expected = [float(mp.psi(1, mp.mpf(float(x)))) for x in points]
    gradient = adze.grad(lambda x: xp.sum(lax.digamma(x)))
    for computed in (gradient(points), adze.jit(gradient)(points)):
        np.testing.assert_allclose(computed, expected, rtol=rtol)
    assert np.isposinf(gradient(np.array([-1, -2, -100], dtype))).all()


def test_complex_gradient_is_the_conjugate_of_steepest_ascent() -> None:
    """`f(z + dz) = f(z) + Re(g dz)`: for `|z|^2` the gradient is `2 conj(z)`."""
    z = np.complex128(1 + 2j)
    gradient = adze.grad(lambda z: xp.real(z * xp.conj(z)))(z)
    assert complex(gradient) == 2 - 4j
    assert complex(adze.grad(lambda z: z * z * z, holomorphic=True)(z)) == pytest.approx(3 * z * z)


def test_modulus_of_zero_is_flat() -> None:
    gradient = adze.grad(lambda z: xp.abs(z))(np.complex128(0))
    assert complex(gradient) == 0


UNARY = [
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "digamma", "erf"),
    *("erf_inv", "erfc", "exp", "exp2", "expm1", "lgamma", "log", "log1p", "logistic", "neg", "rsqrt"),
    *("sign", "sin", "sinh", "sqrt", "tan", "tanh"),
]
HALF_LINE = {"acosh": 1.0, "log": 0.0, "sqrt": 0.0, "rsqrt": 0.0}
OPEN_INTERVAL = {"acos", "asin", "atanh", "erf_inv"}
COMPLEX_TOO = {*UNARY} - {"cbrt", "digamma", "erf", "erf_inv", "erfc", "exp2", "lgamma", "sign"}
"""Not `sign`: of complex numbers it turns with its argument, JAX has zero."""


@pytest.mark.thorough
@pytest.mark.oracle
@pytest.mark.parametrize("name", UNARY)
def test_elementwise_derivatives_are_those_of_jax(name: str, jax: Any) -> None:
    rng = np.random.default_rng(3)
    points = rng.uniform(-0.95, 0.95, 40) if name in OPEN_INTERVAL else rng.uniform(-3, 3, 40)
    if name in HALF_LINE:
        points = HALF_LINE[name] + np.abs(points) + 0.1
    for x in (points, points + 1j * rng.permutation(points)) if name in COMPLEX_TOO else (points,):
        dx = rng.standard_normal(x.shape).astype(x.dtype)
        want = jax.jvp(getattr(jax.lax, name), (x,), (dx,))[1]
        result = adze.jvp(getattr(lax, name), (x,), (dx,))[1]
        np.testing.assert_allclose(np.asarray(result), np.asarray(want), rtol=1e-10, atol=1e-12)


@pytest.mark.thorough
@pytest.mark.oracle
@pytest.mark.parametrize("name", ["atan2", "div", "max", "min", "mul", "pow", "rem", "sub"])
def test_binary_derivatives_are_those_of_jax(name: str, jax: Any) -> None:
    rng = np.random.default_rng(4)
    x, y = np.abs(rng.standard_normal(40)) + 0.1, rng.standard_normal(40)
    x[:5] = y[:5]
    x[:5], y[:5] = np.abs(x[:5]), np.abs(x[:5])  # ties
    tangents = tuple(rng.standard_normal((2, 40)))
    want = jax.jvp(getattr(jax.lax, name), (x, y), tangents)[1]
    tangent = adze.jvp(getattr(lax, name), (x, y), tangents)[1]
    np.testing.assert_allclose(np.asarray(tangent), np.asarray(want), rtol=1e-10, atol=1e-12)
