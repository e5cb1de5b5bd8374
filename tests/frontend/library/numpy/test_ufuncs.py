"""Methods of elementwise functions: outer, reduce, accumulate, reduceat, at, as NumPy's ufuncs have them."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

from .running import assert_same, traced_and_evaluated

X = np.array([[1.5, 2.0, 3.0], [4.0, 0.5, 6.0]])
N = np.array([[12, 7, 5], [10, 14, 35]])
B = np.array([[True, False, True], [True, True, False]])

FLOATS = ("add", "subtract", "multiply", "divide", "maximum", "fmin", "hypot", "logaddexp", "copysign")
INTEGERS = ("add", "multiply", "floor_divide", "bitwise_and", "bitwise_xor", "gcd", "minimum")
TRUTHS = ("logical_and", "logical_or", "logical_xor", "bitwise_or", "maximum", "add")
CASES = [
    *((name, X) for name in FLOATS),
    *((name, X.astype(np.float16)) for name in ("add", "subtract", "hypot")),
    *((name, N) for name in INTEGERS),
    *((name, N.astype(np.int32)) for name in ("add", "subtract", "maximum")),
    *((name, B) for name in TRUTHS),
]
PARAMETERS = [pytest.param(name, x, id=f"{name}-{x.dtype}") for name, x in CASES]


def both(name: str, method: str, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A method's result, traced, and NumPy's."""
    x, *others = args
    result = traced_and_evaluated(lambda x: getattr(getattr(anp, name), method)(x, *others, **kwargs), x)
    return result, getattr(getattr(np, name), method)(x, *others, **kwargs)


@pytest.mark.parametrize(("name", "x"), PARAMETERS)
def test_reduce_gives_what_numpy_gives(name: str, x: Any) -> None:
    assert_same(*both(name, "reduce", x))
    assert_same(*both(name, "reduce", x, 1, keepdims=True))
    assert_same(getattr(anp, name).reduce(x, axis=-1), getattr(np, name).reduce(x, axis=-1))


@pytest.mark.parametrize(("name", "x"), PARAMETERS)
def test_accumulate_gives_what_numpy_gives(name: str, x: Any) -> None:
    for axis in (0, 1):
        assert_same(*both(name, "accumulate", x, axis))
    empty = np.zeros((0, 3), x.dtype)
    assert_same(*both(name, "accumulate", empty))


@pytest.mark.parametrize(("name", "x"), PARAMETERS)
def test_reduceat_gives_what_numpy_gives(name: str, x: Any) -> None:
    assert_same(*both(name, "reduceat", x, [0, 2, 1], 1))
    assert_same(*both(name, "reduceat", x, [1, 0]))


@pytest.mark.parametrize(("name", "x"), PARAMETERS)
def test_outer_gives_what_numpy_gives(name: str, x: Any) -> None:
    assert_same(*both(name, "outer", x, x[0]))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "hypot", "power"])
def test_at_applies_the_function_for_each_index(name: str) -> None:
    i, values = np.array([0, 1, 0, -1]), np.array([2.0, 3.0, 0.5, 1.5])
    expected = X[0].copy()
    getattr(np, name).at(expected, i, values)
    result = traced_and_evaluated(lambda x: getattr(anp, name).at(x, i, values, inplace=False), X[0])
    assert_same(result, expected)


def test_at_of_one_operand_and_of_several_axes() -> None:
    negated = X.copy()
    np.negative.at(negated, ([0, 1, 0], [0, 2, 0]))
    assert_same(anp.negative.at(X, ([0, 1, 0], [0, 2, 0]), inplace=False), negated)
    expected = X.copy()
    np.subtract.at(expected, [0, 0], np.array([1.0, 2.0, 3.0]))
    assert_same(anp.subtract.at(X, [0, 0], np.array([1.0, 2.0, 3.0]), inplace=False), expected)


def test_options_of_reduce() -> None:
    mask = np.array([[True, False, True], [False, True, True]])
    assert_same(*both("subtract", "reduce", X, 1, initial=10.0, where=mask))
    assert_same(*both("add", "reduce", X, None))
    assert_same(*both("hypot", "reduce", X, (0, 1)))
    assert_same(*both("add", "reduce", X, 0, np.float32))
    assert_same(*both("maximum", "reduce", X, 1, initial=2.5, where=mask))
    assert_same(*both("logaddexp", "reduce", X[:0]))
    assert_same(*both("gcd", "reduce", N[:0]))


def test_numpys_own_methods_reach_traced_arrays() -> None:
    result = traced_and_evaluated(
        lambda x: (
            np.add.outer(x, x),
            np.subtract.reduce(x, axis=1),
            np.hypot.accumulate(x, axis=1),
            np.maximum.reduceat(x, [0, 1], axis=1),
        ),
        X,
    )
    assert_same(
        result,
        [
            np.add.outer(X, X),
            np.subtract.reduce(X, axis=1),
            np.hypot.accumulate(X, axis=1),
            np.maximum.reduceat(X, [0, 1], axis=1),
        ],
    )


def test_methods_compile_differentiate_and_batch() -> None:
    def f(x: Any) -> Any:
        return anp.subtract.reduce(x) + anp.hypot.reduce(x) + anp.divide.accumulate(x)[-1]

    row = X[0]
    assert_same(adze.jit(f)(row), f(row), 1e-12)
    assert_same(adze.vmap(f)(X), np.stack([f(r) for r in X]), 1e-12)
    step = 1e-6 * np.eye(3)
    slopes = [(float(f(row + d)) - float(f(row - d))) / 2e-6 for d in step]
    assert np.allclose(adze.grad(f)(row), slopes, rtol=1e-6)


def test_a_reduction_runs_over_a_dynamic_axis() -> None:
    spec = adze.ShapeDtype(("n", 3), np.float64)
    program = (
        adze.trace(lambda x: (anp.subtract.reduce(x), anp.add.outer(x[0], x[0])), spec).lower().compile()
    )
    for n in (1, 4):
        x = np.arange(3.0 * n).reshape(n, 3)
        assert_same(program(x), [np.subtract.reduce(x), np.add.outer(x[0], x[0])])


def test_functions_are_ufuncs_and_still_functions() -> None:
    assert isinstance(anp.add, anp.ufunc) and isinstance(anp.sin, anp.ufunc)
    assert isinstance(anp.isnan, anp.ufunc) and not isinstance(anp.sum, anp.ufunc)
    assert (anp.add.nin, anp.add.nout, anp.add.nargs, anp.add.identity) == (2, 1, 3, 0)
    assert anp.add.__name__ == "add" and "logical or" in anp.add.__doc__
    assert list(inspect.signature(anp.add).parameters) == ["x", "y", "out", "where"]
    assert repr(anp.add) == "<ufunc adze.numpy.add>"
    for name in ("add", "subtract", "less", "isnan", "power", "gcd", "logaddexp"):
        function = getattr(anp, name)
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: anp.sin.reduce(X), ValueError, "sin.reduce: only functions of two arrays with one result"),
        (lambda: anp.add.at(X, 0, 1.0), TypeError, r"write x = x.at\[index\].add\(values\), or x = add.at"),
        (lambda: anp.hypot.at(X, 0, 1.0), TypeError, "write x = hypot.at.x, index, values, inplace=False"),
        (lambda: anp.add.at(X, 0, inplace=False), TypeError, "add takes 2 operands, no second one is given"),
        (lambda: anp.subtract.reduce(X, axis=None), ValueError, "the order of elements matters"),
        (lambda: anp.hypot.reduce(X, axis=2), IndexError, "hypot.reduce: axis 2 is out of range"),
        (lambda: anp.subtract.reduce(X[:0]), ValueError, "subtract has no identity"),
        (lambda: anp.add.reduceat(X, [5]), IndexError, "add.reduceat: index 5 is out of bounds for axis 0"),
        (lambda: anp.add.reduceat(X, [0.5]), TypeError, "add.reduceat: expected a vector of integers"),
        (
            lambda: anp.less.reduce(X),
            NotImplementedError,
            "less compares, so it has no reductions of float64",
        ),
        (lambda: anp.add.reduce(X, out=X), TypeError, "add.reduce: out= writes into an array"),
        (lambda: np.add.at(anp.asarray(X), 0, 1.0), TypeError, "numpy.add.at writes into its argument"),
    ],
)
def test_misuse_says_what_is_wrong(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        call()
    assert isinstance(caught.value, adze.AdzeError) and f"at {__file__}:" in str(caught.value)
