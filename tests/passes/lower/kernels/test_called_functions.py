"""Long computations of elements that call their functions: values as without, of all shapes of operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.passes.lower.kernels.called_functions import FEWEST, MOST_IN_PART, CallFunctions
from adze.passes.pipeline import PIPELINE
from adze.runtime.compile import compiler

from .reductions import given


def chain(count: int) -> Callable[..., Any]:
    def function(x: Any, *others: Any) -> Any:
        lib = np if isinstance(x, np.ndarray) else xp
        y = x
        for k in range(count):
            other = others[k % len(others)] if others else x.dtype.type(0.1) * k
            y = lib.sin(y * x.dtype.type(1.1) + other) + x
        return y

    return function


def lowered(function: Callable[..., Any], *arguments: Any) -> str:
    return adze.jit(function).trace(*arguments).lower("cpu").mlir()


@pytest.mark.parametrize("count", [FEWEST, MOST_IN_PART + 1, 3 * MOST_IN_PART + 5])
def test_values(count: int) -> None:
    x = given(67)
    assert "kernel_functions" in lowered(chain(count), x)
    got = np.asarray(adze.jit(chain(count))(x))
    np.testing.assert_allclose(got, chain(count)(x.astype(np.float64)), rtol=0, atol=2e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5003,), (16,), (3, 70), (2, 3, 129)])
def test_operands_that_lie_otherwise(shape: tuple[int, ...], dtype: str) -> None:
    draws = np.random.default_rng(0)
    x = draws.standard_normal(shape).astype(dtype)
    row = draws.standard_normal(shape[-1:]).astype(dtype)
    column = draws.standard_normal((*shape[:-1], 1)).astype(dtype)
    number = draws.standard_normal(()).astype(dtype)
    others = row, column, number, x * 2
    got = np.asarray(adze.jit(chain(FEWEST))(x, *others))
    assert "kernel_functions" in lowered(chain(FEWEST), x, *others)
    assert got.dtype == x.dtype
    want = chain(FEWEST)(x.astype(np.float64), *(np.asarray(o, np.float64) for o in others))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-4 if dtype == "float32" else 1e-10)


def test_single_numbers_of_one_array_are_one_operand() -> None:
    count = 3 * FEWEST

    def function(x: Any, w: Any) -> Any:
        lib = np if isinstance(x, np.ndarray) else xp
        total = x
        for k in range(count):
            total = total + lib.sin(x * w[k])
        return total

    x, w = given(100), given(count)
    text = lowered(function, x, w)
    assert text.count("flow.dispatch @kernel_functions") == 1
    np.testing.assert_allclose(np.asarray(adze.jit(function)(x, w)), function(x, w), rtol=0, atol=1e-3)


def test_one_computation_of_the_result_of_another() -> None:
    def function(x: Any) -> Any:
        first = chain(FEWEST)(x)
        return chain(FEWEST)(first) * first[::-1], first

    x = given(200, 150)  # more than what becomes one kernel of small ops
    assert lowered(function, x).count("flow.dispatch @kernel_functions") == 2
    for got, want in zip(adze.jit(function)(x), function(x), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=1e-3)


def test_loops_of_the_host_call_such_kernels() -> None:
    x = given(30_000)

    def function(x: Any) -> Any:
        return adze.lax.fori_loop(0, 3, lambda _, y: chain(FEWEST)(y) * 0.5, x)

    want = x
    for _ in range(3):
        want = chain(FEWEST)(want) * 0.5
    np.testing.assert_allclose(np.asarray(adze.jit(function)(x)), want, rtol=0, atol=1e-3)


def test_special_values_are_those_of_one_function() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3e38, -3e38] * 3, np.float32)

    def several(x: Any) -> Any:
        total = xp.tanh(x)
        for k in range(1, FEWEST + 2):
            total = xp.where(x == k, xp.exp(x * k), total)
        return total

    got = np.asarray(adze.jit(several)(x))
    assert "kernel_functions" in lowered(several, x)
    want = np.asarray(adze.jit(xp.tanh)(x))
    np.testing.assert_array_equal(got, want)
    assert np.signbit(got).tolist() == np.signbit(want).tolist()


@pytest.mark.parametrize(
    "x",
    [
        np.ones(15, np.float16),
        np.ones(0, np.float32),
        np.ones((), np.float32),
        np.ones(3, np.float32),
        np.ones(40, np.complex64),
    ],
)
def test_others_stay_as_they_are(x: np.ndarray) -> None:
    def function(x: Any) -> Any:
        for _ in range(FEWEST):
            x = xp.sin(x)
        return x

    assert "kernel_functions" not in lowered(function, x)
    got = np.asarray(adze.jit(function)(x))
    want = x
    for _ in range(FEWEST):
        want = np.sin(want)
    np.testing.assert_allclose(got, want, rtol=1e-2, atol=1e-3)


def test_they_are_linked_without_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(program: bytes) -> bytes:
        raise AssertionError("a function of the program itself was taken for one of a library")

    monkeypatch.setattr(compiler, "with_libraries", fail)
    adze.jit(chain(FEWEST)).trace(given(67)).lower("cpu:x86-64-v3").compile(cache=False)


def test_named_sizes_stay_as_they_are() -> None:
    text = adze.trace(chain(FEWEST), adze.ShapeDtype(("n",))).lower("cpu").mlir()
    assert "kernel_functions" not in text


def test_gpus_have_none() -> None:
    text = adze.jit(chain(FEWEST)).trace(given(100)).lower("cuda:sm_80").mlir()
    assert "kernel_functions" not in text


def test_the_pass_comes_before_computations_are_merged() -> None:
    names = [step.name for step in PIPELINE]
    assert names.index(CallFunctions.name) + 1 == names.index("merge-elementwise")
