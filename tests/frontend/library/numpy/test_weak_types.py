"""Results of Python numbers alone stay weak and keep 64 bits until they meet an array."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.lax as lax
import adze.nn as nn
import adze.numpy as anp
import adze.scipy.special as special
from adze.frontend.tracing.trace import trace_program
from adze.passes.analysis.evaluate import evaluate

from .running import traced_and_evaluated

X = np.ones(3)

# Functions of Python numbers, each with its value in 64 bits.
ALONE: list[tuple[str, Callable[[], Any], complex]] = [
    ("unary", lambda: anp.sqrt(14.0), math.sqrt(14.0)),
    ("of an integer", lambda: anp.sqrt(14), math.sqrt(14.0)),
    ("binary", lambda: anp.divide(1.0, 3.0), 1 / 3),
    ("integers divided", lambda: anp.divide(1, 3), 1 / 3),
    ("power", lambda: anp.power(1.1, 3.7), 1.1**3.7),
    ("small power", lambda: anp.power(1.1, 3), 1.1 * 1.1 * 1.1),
    ("chain", lambda: anp.sin(anp.sqrt(2.0) / 3) + 0.1, math.sin(math.sqrt(2.0) / 3) + 0.1),
    ("where", lambda: anp.where(anp.sqrt(2.0) > 1.4142135, 0.1, 0.2), 0.1),
    ("sinc", lambda: anp.sinc(0.3), math.sin(0.3 * math.pi) / (0.3 * math.pi)),
    ("clip", lambda: anp.clip(anp.sqrt(2.0), 0.1, 1.3), 1.3),
    ("round", lambda: anp.round(anp.sqrt(2.0), 3), 1.414),
    ("index", lambda: anp.sqrt(2.0)[()], math.sqrt(2.0)),
    ("reshape", lambda: anp.reshape(anp.sqrt(2.0), (1,))[0], math.sqrt(2.0)),
    ("expand_dims", lambda: anp.expand_dims(anp.sqrt(2.0), 0)[0], math.sqrt(2.0)),
    ("broadcast", lambda: anp.broadcast_to(anp.sqrt(2.0), (3,)), math.sqrt(2.0)),
    ("sum", lambda: anp.sum(anp.sqrt(2.0)), math.sqrt(2.0)),
    ("mean", lambda: anp.mean(0.1), 0.1),
    ("max", lambda: anp.max(anp.sqrt(2.0)), math.sqrt(2.0)),
    ("lax", lambda: lax.exp(lax.add(0.1, 0.2)), math.exp(0.1 + 0.2)),
    ("complex", lambda: anp.sqrt(2.0 + 1.0j), cmath.sqrt(2.0 + 1.0j)),
    ("special function", lambda: special.erf(0.3), math.erf(0.3)),
    ("special function of two", lambda: special.xlogy(0.3, 0.7), 0.3 * math.log(0.7)),
    ("activation", lambda: nn.sigmoid(0.3), 1 / (1 + math.exp(-0.3))),
    ("nan_to_num", lambda: anp.nan_to_num(0.1), 0.1),
]


@pytest.mark.parametrize(("make", "expected"), [c[1:] for c in ALONE], ids=[c[0] for c in ALONE])
def test_python_numbers_alone_keep_64_bits_eagerly_and_in_a_trace(
    make: Callable[[], Any], expected: complex
) -> None:
    alone = make()
    assert alone.weak_type
    assert alone.dtype == (np.complex64 if isinstance(expected, complex) else np.float32)
    np.testing.assert_allclose(np.asarray(X * make()), expected, rtol=3e-16)
    multiplied, returned = traced_and_evaluated(lambda x: (x * make(), make()), X)
    np.testing.assert_allclose(np.asarray(multiplied), expected, rtol=3e-16)
    assert returned.dtype == alone.dtype
    half = np.ones(3, np.float16) * make()
    assert half.dtype == (np.complex64 if isinstance(expected, complex) else np.float16)


def test_weak_numbers_cross_jit_boundaries_with_their_bits() -> None:
    inner = adze.jit(lambda s: anp.sin(s) / 3)
    f = adze.jit(lambda x, s: (x * inner(s), inner(s)))
    multiplied, alone = f(X, anp.sqrt(2.0))
    np.testing.assert_allclose(np.asarray(multiplied), math.sin(math.sqrt(2.0)) / 3, rtol=3e-16)
    assert alone.dtype == np.float32 and not alone.weak_type


def test_dtype_in_a_trace_is_the_one_outside() -> None:
    seen: list[Any] = []
    adze.trace(lambda s: seen.append((s.dtype, anp.sqrt(s).dtype)) or anp.ones(2, s.dtype), 2.0)
    assert seen == [(np.dtype(np.float32), np.dtype(np.float32))]


def test_captured_weak_numbers_keep_their_bits_in_branches_and_loops() -> None:
    def f(x: Any, s: Any) -> Any:
        root = anp.sqrt(s)
        x = adze.cond(x[0] > 0, lambda v: v * root, lambda v: v, x)
        return adze.fori_loop(0, 2, lambda _, v: v * root, x)

    program = trace_program(f, (X, 14.0), {})
    (result,) = evaluate(program.module, program.symbol, [X, np.float64(14)])
    np.testing.assert_allclose(result, 14.0**1.5, rtol=1e-15)


@pytest.mark.parametrize("s", [0.1, 0.1 + 0.2j])
def test_arguments_of_transforms_keep_their_bits(s: complex) -> None:
    """A number beside the differentiated or mapped argument, and the differentiated one itself."""
    expected = 3 * s
    batched = adze.vmap(lambda x, s: x * s, in_axes=(0, None))(X, s)
    np.testing.assert_allclose(np.asarray(batched), s, rtol=3e-16)
    results = adze.jvp(lambda x: (x * s).sum(), (X,), (X,))
    np.testing.assert_allclose(np.asarray(results[1]), expected, rtol=1e-15)


def test_differentiated_numbers_keep_their_bits() -> None:
    """The number 14.1 is no float32; its derivatives are of the default dtype, as it seems to be."""
    c = np.float64(1.1)
    value, slope = adze.value_and_grad(lambda x: x * x * c)(14.1)
    assert float(value) == pytest.approx(14.1 * 14.1 * 1.1, rel=3e-16)
    assert slope.dtype == np.float32 and float(slope) == pytest.approx(2 * 14.1 * 1.1, rel=1e-7)
    value, tangent = adze.jvp(lambda x: x * c, (14.1,), (1.0,))
    assert float(value) == pytest.approx(14.1 * 1.1, rel=3e-16) and float(tangent) == 1.1
    compiled = adze.jit(adze.value_and_grad(lambda x: x * x * c))(14.1)
    assert float(compiled[0]) == pytest.approx(14.1 * 14.1 * 1.1, rel=3e-16)
    assert float(adze.grad(adze.grad(lambda x: x**3 * c))(14.1)) == pytest.approx(6 * 14.1 * 1.1, rel=1e-6)
    complex_ = adze.jvp(lambda x: x * np.complex128(1), (0.1 + 0.2j,), (1.0,))[0]
    assert complex(complex_) == pytest.approx(0.1 + 0.2j, rel=3e-16)
    with pytest.raises(OverflowError, match=r"1e\+300 is out of range for float32"):
        adze.grad(lambda x: x * c)(1e300)


def test_strong_values_stay_strong() -> None:
    assert not anp.sqrt(np.float32(2)).weak_type
    assert not anp.asarray(anp.sqrt(2.0)).astype(np.float64).weak_type
    assert not anp.sum(2.0, dtype=np.float64).weak_type
    assert not lax.convert_element_type(2.0, np.float64).weak_type
    assert not (anp.sqrt(2.0) > 1).weak_type


A, B = 0.1, 2.3

# What makes float64 numbers of two Python numbers, and what NumPy makes.
MADE: list[tuple[str, Callable[..., Any], Any]] = [
    ("linspace", lambda a, b: anp.linspace(a, b, 125, dtype=np.float64), np.linspace(A, B, 125)),
    (
        "linspace without its end",
        lambda a, b: anp.linspace(a, b, 9, endpoint=False, dtype=float),
        np.linspace(A, B, 9, endpoint=False),
    ),
    ("linspace's step", lambda a, b: anp.linspace(a, b, 9, retstep=True)[1] * X, (B - A) / 8 * X),
    ("logspace", lambda a, b: anp.logspace(a, b, 25, dtype=np.float64), np.logspace(A, B, 25)),
    ("base", lambda a, b: anp.logspace(a, 1, 9, base=b, dtype=float), np.logspace(A, 1, 9, base=B)),
    ("geomspace", lambda a, b: anp.geomspace(a, b, 25, dtype=np.float64), np.geomspace(A, B, 25)),
    ("full", lambda a, b: anp.full(2, a, dtype=np.float64), np.full(2, A)),
    ("full_like", lambda a, b: anp.full_like(anp.ones(2), a, dtype=np.float64), np.full(2, A)),
    ("asarray", lambda a, b: anp.asarray([a, b, anp.sin(a)], dtype=float), np.array([A, B, math.sin(A)])),
    ("lax.full", lambda a, b: lax.full((2,), b, np.float64), np.full(2, B)),
    ("sum", lambda a, b: anp.sum(a, dtype=np.float64), np.float64(A)),
    ("mean", lambda a, b: anp.mean(a, dtype=np.float64), np.float64(A)),
    ("set", lambda a, b: anp.zeros(2, np.float64).at[[0]].set(a), np.array([A, 0.0])),
    ("clip", lambda a, b: anp.clip(np.array([-9.0, 9.0]), a, b), np.array([A, B])),
]


def test_creation_in_float64_loses_nothing_of_python_numbers() -> None:
    makers = [m[1] for m in MADE]
    program = trace_program(lambda a, b: [make(a, b) for make in makers], (A, B), {})
    traced = evaluate(program.module, program.symbol, [np.float64(A), np.float64(B)])
    for (name, make, expected), actual in zip(MADE, traced, strict=True):
        for result in (make(A, B), actual):
            assert np.asarray(result).dtype == np.float64, name
            np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, "bfloat16", np.int32])
def test_creation_in_other_dtypes_rounds_once(dtype: Any) -> None:
    ends = np.float32(A), np.float32(B)
    for function in ("linspace", "geomspace"):
        exact = getattr(np, function)(*map(np.float64, ends), 25)
        expected = anp.asarray(np.floor(exact) if dtype is np.int32 else exact).astype(dtype)
        result = getattr(anp, function)(*ends, 25, dtype=dtype)
        assert result.dtype == expected.dtype
        error = np.abs(np.asarray(result, np.float64) - np.asarray(expected, np.float64)).max()
        spacing = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 3e-7, "float64": 1e-15, "int32": 0}
        assert error <= 2 * spacing[expected.dtype.name], function


# -- numbers that a dtype cannot hold ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: anp.ones(2) * 1e300, "Python float 1e+300 is out of range for float32 (at most 3.40282e+38"),
        (lambda: anp.asarray(-1e300), "Python float -1e+300 is out of range for float32"),
        (
            lambda: anp.full(2, 7e4, np.float16),
            "Python float 70000.0 is out of range for float16 (at most 65504",
        ),
        (lambda: anp.ones(2, "bfloat16") + 3.4e38, "is out of range for bfloat16 (at most 3.38953e+38"),
        (lambda: anp.ones(2, np.complex64) * 1e300j, "Python complex 1e+300j is out of range for complex64"),
        (lambda: anp.ones(2, np.float16) * 10**6, "Python integer 1000000 is out of range for float16"),
        (lambda: anp.ones(2) * 10**400, "is out of range for float32"),
        (lambda: anp.ones(2).at[0].set(1e39), "Python float 1e+39 is out of range for float32"),
        (lambda: anp.where(np.array([True]), np.float32(1), 1e39), "out of range for float32"),
        (lambda: lax.add(anp.ones(2), 1e39), "Python float 1e+39 is out of range for float32"),
        (lambda: lax.full((2,), 1e39), "Python float 1e+39 is out of range for float32"),
        (lambda: anp.ones(2, np.int8) + 300, "Python integer 300 is out of range for int8 (-128 to 127)"),
        (lambda: anp.full(2, 300, np.int8), "Python integer 300 is out of range for int8 (-128 to 127)"),
        (lambda: lax.full((2,), 300, np.int8), "Python integer 300 is out of range for int8"),
        (lambda: lax.add(anp.ones(2, np.int8), 300), "Python integer 300 is out of range for int8"),
        (lambda: anp.asarray(math.nan, np.int32), "Python float nan is out of range for int32"),
        (lambda: anp.asarray(1e10, np.int32), "Python float 10000000000.0 is out of range for int32"),
    ],
)
def test_python_numbers_that_a_dtype_cannot_hold_are_errors(call: Callable[[], Any], message: str) -> None:
    for run in (call, lambda: adze.trace(lambda _: call(), 1)):
        with pytest.raises(OverflowError) as raised:
            run()
        assert isinstance(raised.value, adze.AdzeError)
        assert message in str(raised.value)
        assert "test_weak_types.py:" in str(raised.value)


def test_numbers_that_fit_do_not_raise() -> None:
    assert float((anp.ones(1) * 3.4028235e38)[0]) == float(np.float32(3.4028235e38))
    assert float((anp.ones(1, np.float16) * 65519.0)[0]) == 65504.0  # rounds to the largest
    assert np.isinf(np.asarray(anp.ones(1) * math.inf))[0]
    assert np.isnan(np.asarray(anp.ones(1) * math.nan))[0]
    assert float((anp.ones(1) * 1e-300)[0]) == 0.0
    assert float((anp.asarray(X)[:1] * 1e300)[0]) == 1e300


def test_comparison_with_a_number_beyond_the_dtype_is_exact() -> None:
    x = np.array([1.0, np.inf, -np.inf, np.nan], np.float32)
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        for number in (1e300, -1e300):
            expected = getattr(np, name)(x.astype(np.float64), number)
            np.testing.assert_array_equal(np.asarray(getattr(anp, name)(x, number)), expected)


# -- booleans that count ----------------------------------------------------------------------------


def test_booleans_and_python_integers_count_in_an_int64_that_yields() -> None:
    mask = anp.asarray([True, False])
    counts = (
        lambda m: 1 - m,
        lambda m: m + 1,
        lambda m: m << 1,
        lambda m: anp.maximum(m, 2),
        lambda m: anp.add(True, m + 1),
        lambda m: anp.where(m, 1, m),
    )
    for count in counts:
        alone, with_int8 = count(mask), count(mask) * anp.ones(2, "int8")
        traced = adze.jit(lambda m, count=count: (count(m), count(m) * anp.ones(2, "int8")))(mask)
        assert (alone.dtype, with_int8.dtype) == (np.int64, np.int8)
        assert [r.dtype for r in traced] == [np.int64, np.int8]
        np.testing.assert_array_equal(traced[0], alone)
    # What is computed with an array, or becomes floating, is as strong as before.
    for strong in (mask.sum(), mask * anp.ones(2, "int32"), mask * 0.5, mask / 2, mask + mask):
        assert not strong.weak_type


def test_a_percent_that_is_a_python_number_keeps_the_dtype() -> None:
    x = np.array([1.5, 2.0, 3.0], np.float32)
    for function in (anp.percentile, anp.nanpercentile):
        for percent in (50, 12.5):
            result = function(x, percent)
            assert result.dtype == np.float32
            assert float(result) == np.percentile(x, percent)
            assert adze.jit(lambda v, f=function, p=percent: f(v, p))(x).dtype == np.float32
        assert function(x, np.float64(50)).dtype == np.float64


INDEXED: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda i, v: v * i,
    "sum": lambda i, v: v + i,
    "where": lambda i, v: anp.where(v > i, v, i),
    "maximum": lambda i, v: anp.maximum(i, v),
    "branch": lambda i, v: lax.cond(i > 1, lambda w: w + i, lambda w: w, v),
    "inner loop": lambda i, v: lax.fori_loop(0, i + 1, lambda j, w: w + j, v),
}


@pytest.mark.parametrize("case", INDEXED)
def test_an_index_of_fori_loop_is_weak(case: str) -> None:
    def plain(v: np.ndarray) -> np.ndarray:
        for i in range(3):
            small = v.dtype.type(i)
            inner = v + v.dtype.type(sum(range(i + 1)))
            v = {
                "product": v * small,
                "sum": v + small,
                "where": np.where(v > small, v, small),
                "maximum": np.maximum(small, v),
                "branch": v + small if i > 1 else v,
                "inner loop": inner,
            }[case]
        return v

    def loop(v: Any) -> Any:
        return lax.fori_loop(0, 3, INDEXED[case], v)

    for dtype in (np.int8, np.int32, np.uint8):
        x = np.array([1, 2, 3], dtype)
        for result in (loop(x), adze.jit(loop)(x), adze.vmap(loop)(x[None])[0]):
            assert result.dtype == dtype
            np.testing.assert_array_equal(np.asarray(result), plain(x))


def test_an_index_of_fori_loop_has_the_dtype_of_traced_bounds_alone() -> None:
    def loop(low: Any, high: Any) -> Any:
        return lax.fori_loop(low, high, lambda i, v: v * i, np.ones(2, np.int8))

    bound = np.int64(3)
    for result in (
        loop(np.int64(0), bound),
        loop(0, anp.asarray(bound)),
        adze.jit(lambda n: loop(0, n))(bound),
    ):
        assert result.dtype == np.int8
    first = anp.asarray(np.int32(0))
    loop(first, 3)
    assert not first.weak_type
    with pytest.raises(adze.AdzeError, match="changes its type"):
        adze.jit(lambda n: loop(n - n, n))(bound)
