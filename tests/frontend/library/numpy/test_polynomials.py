"""Polynomials, grids, divisors and `vectorize` are NumPy's, compiled too; their errors say what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError
from adze import numpy as xp

from ....selection import quick_first

P, Q = np.array([2.0, -1.0, 0.5, 3.0]), np.array([1.0, 4.0])
INTS = np.array([0, 12, -18, 7, 100, -1], np.int32)

CASES: dict[str, tuple[Callable[[Any], Any], tuple[Any, ...]]] = {
    "polyadd": (lambda np_: np_.polyadd, (P, Q)),
    "polysub": (lambda np_: np_.polysub, (Q, P)),
    "polymul": (lambda np_: np_.polymul, (P, Q)),
    "polyder": (lambda np_: lambda p: np_.polyder(p, 2), (P,)),
    "polyder of a constant": (lambda np_: np_.polyder, (P[:1],)),
    "polyint": (lambda np_: lambda p: np_.polyint(p, 2, [1.0, -2.0]), (P,)),
    "poly": (lambda np_: np_.poly, (P,)),
    "polyfit": (lambda np_: lambda x, y: np_.polyfit(x, y, 2), (np.linspace(-1, 2, 9), np.arange(9.0) ** 2)),
    "polyfit with weights": (
        lambda np_: lambda x, y, w: np_.polyfit(x, y, 1, w=w),
        (np.linspace(-1, 2, 9), np.arange(9.0) ** 2, np.arange(9.0)),
    ),
    "polyval": (lambda np_: np_.polyval, (P, Q)),
    "gcd": (lambda np_: np_.gcd, (INTS[:, None], INTS)),
    "lcm": (lambda np_: np_.lcm, (INTS[:, None], INTS)),
    "gcd of uint8": (lambda np_: np_.gcd, (np.array([200, 6], np.uint8), np.uint8(80))),
    "vectorize": (
        lambda np_: np_.vectorize(lambda a, b: (a @ b) * b[0], signature="(n,m),(m)->(n)"),
        (np.arange(24.0).reshape(2, 1, 3, 4), np.arange(12.0).reshape(3, 4)),
    ),
    "vectorize scalars": (lambda np_: np_.vectorize(lambda a, b: a * b + 1), (P[:, None], Q)),
}


def check(name: str, result: Any) -> None:
    made, arguments = CASES[name]
    expected, actual = made(np)(*arguments), np.asarray(result)
    assert actual.shape == expected.shape, name
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12, err_msg=name)
    if expected.dtype.kind in "iu":
        assert actual.dtype == expected.dtype, name


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_numpy(name: str) -> None:
    made, arguments = CASES[name]
    check(name, made(xp)(*arguments))


@pytest.mark.parametrize("way", quick_first(["evaluated", "compiled"], 1))
def test_traced_values_are_those_of_numpy(way: str) -> None:
    results = adze.jit(lambda given: {name: CASES[name][0](xp)(*given[name]) for name in given})(
        {name: arguments for name, (_, arguments) in CASES.items()}
    )
    for name, result in results.items():
        check(name, result)


def test_grids() -> None:
    np.testing.assert_array_equal(np.asarray(xp.mgrid[0:3, 1:7:2]), np.mgrid[0:3, 1:7:2])
    np.testing.assert_allclose(np.asarray(xp.mgrid[0:1:5j]), np.mgrid[0:1:5j])
    assert xp.mgrid[0:1:5j].dtype == np.float32
    for result, expected in zip(xp.ogrid[0:2, 0:3], np.ogrid[0:2, 0:3], strict=True):
        np.testing.assert_array_equal(np.asarray(result), expected)
    assert xp.s_[1:3, ...] == np.s_[1:3, ...]


def test_vectorize_excludes_arguments_and_has_derivatives() -> None:
    f = xp.vectorize(lambda x, n: x**n, excluded=(1,))
    np.testing.assert_allclose(np.asarray(f(P, 3)), P**3)
    slope = adze.grad(lambda x: xp.sum(xp.vectorize(lambda a: a * xp.sin(a))(x)))(P)
    np.testing.assert_allclose(np.asarray(slope), np.sin(P) + P * np.cos(P), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: xp.gcd(P, 2), "gcd takes integers, got f64"),
        (
            lambda: xp.polyadd(np.eye(2), P),
            r"polyadd: expected a vector of static length, got f64\[2,2\]",
        ),
        (lambda: xp.polyder(P, -1), "polyder: the order is -1, expected an integer that is not negative"),
        (lambda: xp.polyint(P, 2, [1.0, 2.0, 3.0]), "polyint: expected 1 or 2 constants, got f"),
        (lambda: xp.polyfit(P, Q, 1), "polyfit: .* are not as many points"),
        (lambda: xp.polyfit(P, P, 5, cov=True), "points do not say how much 6 coefficients vary"),
        (lambda: xp.vectorize(len, signature="(n"), r"vectorize: the signature '\(n' of len cannot be read"),
        (lambda: xp.vectorize(len, excluded=("x",)), r"vectorize: excluded is \('x',\), expected positions"),
        (lambda: xp.vectorize(sum, signature="(n),(n)->()")(P), "vectorize: sum got 1 arrays, the signature"),
        (
            lambda: xp.vectorize(sum, signature="(n)->()")(1.0),
            r"sum got f32\[\] for the axes \(n\)",
        ),
        (
            lambda: xp.vectorize(max, signature="(n),(n)->()")(P, Q),
            "vectorize: axis n of max has the sizes 4 and 2",
        ),
    ],
)
def test_errors(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(AdzeError, match=message):
        call()
