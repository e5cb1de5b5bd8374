"""Compiled code computes what NumPy computes at zeros, infinities, NaN and the ends of the range.

Subnormal numbers are the documented exception: IREE's processor code takes and returns zeros in their place.
Of complex results the sign of a zero, and the sign of a part beside a NaN, are left open, as C99 leaves most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
import adze.scipy.special as special

from ....selection import part

UNARY = (
    *("abs", "sign", "floor", "ceil", "round", "trunc", "sqrt", "cbrt", "exp", "exp2", "expm1", "log"),
    *("log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"),
    *("arcsinh", "arccosh", "arctanh", "square", "reciprocal", "negative", "isnan", "isinf", "isfinite"),
    *("signbit", "sinc", "deg2rad", "rad2deg", "i0", "nan_to_num"),
)
SPECIAL = (
    *("erf", "erfc", "erfinv", "gammaln", "gamma", "digamma", "expit", "logit", "ndtr", "log_ndtr"),
    *("i0", "i1", "i0e", "i1e"),
)
BINARY = (
    *("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "power", "arctan2"),
    *("hypot", "logaddexp", "logaddexp2", "floor_divide", "remainder", "fmod", "copysign", "nextafter"),
    *("heaviside", "less", "equal"),
)
COMPLEX = (
    *("abs", "sign", "sqrt", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan"),
    *("arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "square"),
    *("reciprocal", "negative", "isnan", "isinf", "isfinite", "angle", "conj"),
)
TOLERANCE = {2: 2e-3, 4: 1e-4, 8: 1e-9}


def points(dtype: Any) -> np.ndarray:
    """Zeros, units, infinities, NaN, both ends of the normal range and what overflows exponentials."""
    limits = np.finfo(dtype)
    ends = [limits.max, limits.tiny, limits.max / 4, float(limits.max) ** 0.5]
    large = [88.0, 709.0, 1e3, 3e4] if dtype == np.float16 else [88.0, 709.0, 1e5, float(limits.max) * 0.6]
    both = [0.0, 1.0, 0.5, 2.0, np.inf, np.pi, 1e-3, *ends, *large]
    return np.array([np.nan, *both, *(-v for v in both)], dtype)


def is_tiny(x: np.ndarray) -> np.ndarray:
    """Whether a part is subnormal, or so close to it that a step on the way is."""
    if np.iscomplexobj(x):
        return is_tiny(x.real) | is_tiny(x.imag)
    if x.dtype.kind != "f":
        return np.zeros(x.shape, bool)
    size = np.abs(x)
    return (size > 0) & (size <= 4 * np.finfo(x.dtype).tiny)


def is_cancelled(expected: np.ndarray, actual: np.ndarray, given: tuple[np.ndarray, ...]) -> np.ndarray:
    """Where one way results in zero, and the other what is left of numbers up to 1 that cancel."""
    if expected.dtype.kind != "f":
        return np.zeros(expected.shape, bool)
    size = np.minimum(1, np.max([np.abs(x).astype(np.float64) for x in given], axis=0))
    with np.errstate(invalid="ignore"):
        return (expected == 0) & (np.abs(actual) <= size * np.finfo(expected.dtype).eps)


def agree(expected: np.ndarray, actual: np.ndarray, tolerance: float) -> np.ndarray:
    if expected.dtype.kind == "b":
        return expected == actual
    if np.iscomplexobj(expected):
        real, imag = (agree(getattr(expected, p), getattr(actual, p), tolerance) for p in ("real", "imag"))
        same_nans = np.isnan(expected.real) == np.isnan(actual.real)
        same_nans &= np.isnan(expected.imag) == np.isnan(actual.imag)
        return (real & imag) | (expected == actual) | (np.isnan(expected) & same_nans)
    with np.errstate(all="ignore"):
        exact = (expected == actual) & (np.signbit(expected) == np.signbit(actual))
        close = np.abs(expected.astype(np.float64) - actual) <= tolerance * np.abs(
            expected.astype(np.float64)
        )
    close &= np.isfinite(expected) & np.isfinite(actual) & (expected != 0) & (actual != 0)
    return exact | close | (np.isnan(expected) & np.isnan(actual))


def check(functions: dict[str, Callable[..., Any]], arguments: dict[str, tuple[np.ndarray, ...]]) -> None:
    """Eager and compiled results of all functions, in one program."""
    compiled = adze.jit(lambda given: {n: f(*given[n]) for n, f in functions.items()})(arguments)
    for name, function in functions.items():
        given = arguments[name]
        expected, actual = np.asarray(function(*given)), np.asarray(compiled[name])
        same = agree(expected, actual, TOLERANCE[given[0].real.dtype.itemsize])
        same |= is_tiny(expected) | is_cancelled(expected, actual, given)
        for x in given:
            same |= is_tiny(x)
        wrong = np.flatnonzero(~same)[:5]
        results = [(*(str(x[k]) for x in given), str(expected[k]), str(actual[k])) for k in wrong]
        assert same.all(), f"{name}: (arguments, eager, compiled) {results}"


# What is not one op, whose scalar code `tests/passes/lower/scalars/` compiles at such points.
COMPOSED = (
    *("sinc", "i0", "nan_to_num", "log10", "signbit", "hypot", "logaddexp", "logaddexp2", "floor_divide"),
    *("remainder", "fmod", "copysign", "heaviside", *(f"special.{n}" for n in SPECIAL)),
)
# One program a dtype: float32 has everything, the others what is code of their own.
CHOSEN = {
    np.float16: ("exp", "sqrt", "log1p", "power", "add", "divide", "nan_to_num", "floor_divide"),
    np.float32: part((*UNARY, *BINARY, *(f"special.{n}" for n in SPECIAL)), COMPOSED[::3]),
    np.float64: (
        "exp",
        "expm1",
        "log",
        "log1p",
        "sin",
        "tan",
        "tanh",
        "arcsinh",
        "cbrt",
        "power",
        "i0",
        "remainder",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "dtype", [np.float32, *(pytest.param(d, marks=pytest.mark.thorough) for d in CHOSEN if d != np.float32)]
)
def test_compiled_real_functions_agree_at_special_values(dtype: Any) -> None:
    x = points(dtype)
    pairs = tuple(np.ravel(v) for v in np.meshgrid(x, x))
    functions = {
        n: getattr(special, n[8:]) if n.startswith("special.") else getattr(anp, n) for n in CHOSEN[dtype]
    }
    check(functions, {n: pairs if n in BINARY else (x,) for n in functions})


@pytest.mark.parametrize(
    ("dtype", "names"),
    [
        pytest.param(np.float32, COMPLEX, marks=pytest.mark.thorough),
        (np.float64, ("tanh", "log")),
    ],
)
def test_compiled_complex_functions_agree_at_special_values(dtype: Any, names: tuple[str, ...]) -> None:
    limits = np.finfo(dtype)
    parts = np.array([0, 1, 0.5, np.inf, limits.max, limits.max / 4, 30], dtype)
    real, imag = (
        np.ravel(v) for v in np.meshgrid(*[np.concatenate([parts, -parts, parts[:1] * np.nan])] * 2)
    )
    z = np.empty(real.shape, np.result_type(dtype, np.complex64))
    z.real, z.imag = real, imag
    check({n: getattr(anp, n) for n in names}, dict.fromkeys(names, (z,)))


@pytest.mark.parametrize(
    ("name", "z", "expected"),
    [  # C99 Annex G
        ("expm1", complex(np.inf, 0), complex(np.inf, 0)),
        ("expm1", complex(-np.inf, np.inf), complex(-1, 0)),
        ("tanh", complex(1e300, np.inf), complex(np.nan, np.nan)),
        ("tanh", complex(np.inf, np.inf), complex(1, 0)),
        ("arctanh", complex(np.inf, np.nan), complex(0, np.nan)),
        ("log2", complex(np.inf, 0), complex(np.inf, 0)),
        ("log10", complex(-np.inf, 1), complex(np.inf, np.pi / np.log(10))),
    ],
)
def test_complex_functions_at_infinity_are_those_of_c99(name: str, z: complex, expected: complex) -> None:
    result = np.asarray(getattr(anp, name)(np.array([z])))
    assert agree(np.array([expected]), result, 1e-12).all(), result


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bessel_functions_of_the_largest_numbers_are_infinite(dtype: Any) -> None:
    x = np.array([0.6 * np.finfo(dtype).max, -np.finfo(dtype).max, np.inf, -np.inf], dtype)
    for function in (special.i0, anp.i0):
        np.testing.assert_array_equal(np.asarray(function(x)), np.full(4, np.inf, dtype))
    np.testing.assert_array_equal(np.asarray(special.i1(x)), np.sign(x) * np.inf)
    np.testing.assert_array_equal(np.asarray(special.i0e(x))[2:], [0, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_code_takes_and_gives_zeros_for_subnormal_numbers(dtype: Any) -> None:
    """What the documentation says; where this fails, IREE keeps subnormal numbers now: then say so there."""
    tiny = np.finfo(dtype).tiny
    x = np.array([tiny, -tiny], dtype)
    compiled = adze.jit(lambda x, y: (x * 0.5, x > 0, y * 4, adze.numpy.sqrt(y)))
    halved, _, grown, root = (np.asarray(v) for v in compiled(x, np.abs(x / 2)))
    np.testing.assert_array_equal(halved, np.zeros(2, dtype))
    np.testing.assert_array_equal(grown, np.zeros(2, dtype))
    np.testing.assert_array_equal(root, np.zeros(2, dtype))
    np.testing.assert_array_equal(np.asarray(anp.multiply(x, 0.5)), x / 2)


def test_compiled_half_precision_keeps_its_subnormal_numbers() -> None:
    """float16 and bfloat16 are computed in float32; the subnormal numbers of float16 are normal there."""
    x = np.array([6e-8, 3e-6, 6e-5], np.float16)
    np.testing.assert_array_equal(np.asarray(adze.jit(lambda x: x * 0.5)(x)), x * np.float16(0.5))
