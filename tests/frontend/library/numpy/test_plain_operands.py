"""Elementwise ops on plain operands: the short way and the general one have the same results."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.library.numpy import plain_operands
from adze.frontend.tracing.array import Array

UNARY = [
    *(
        "negative",
        "sqrt",
        "cbrt",
        "exp",
        "expm1",
        "log",
        "log1p",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
    ),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
]
BINARY = [
    *("add", "subtract", "multiply", "divide", "nextafter", "atan2", "remainder", "floor_divide", "fmod"),
    *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
]
DTYPES = [
    *("bool", "int8", "int32", "int64", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128"),
]
NUMBERS = [
    *(2, -3, 0, 2**31, 2**40, 2**60, 2.5, -0.0, 1e300, math.inf, math.nan, True, 1j),
    *(np.float32(2), np.int8(3), np.float64(0.5)),
]


def arrays(dtype: str) -> list[Any]:
    elements = np.array([[0.5, -1.5, 0.0], [3.0, -0.0, 7.0]]).astype(anp.dtype(dtype))
    return list(map(anp.asarray, (elements, elements[0], elements[0, 0], elements[:0])))


@pytest.fixture(params=["plain", "jax"])
def rules(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "plain":
        yield
        return
    with adze.default_dtypes("float32"):
        yield


def outcome(function: Any, *operands: Any) -> Any:
    """What a call returns, or the text of its error."""
    try:
        result = function(*operands)
    except (adze.AdzeError, TypeError) as error:
        return type(error), str(error).partition("\n")[0]
    assert type(result) is Array and not np.asarray(result).flags.writeable
    return result.dtype, result.shape, result.weak_type, np.asarray(result).tobytes()


def outcomes(monkeypatch: pytest.MonkeyPatch, function: Any, *operands: Any) -> tuple[Any, Any]:
    """The outcome of the call, and that of the general way."""
    first = outcome(function, *operands)
    with monkeypatch.context() as general:
        general.setattr(plain_operands, "_is_at_once", lambda: False)
        return first, outcome(function, *operands)


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_one_operand(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in UNARY:
        for x in arrays(dtype):
            quickly, generally = outcomes(monkeypatch, getattr(anp, name), x)
            assert quickly == generally, name


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_two_operands(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [*NUMBERS, anp.asarray(2.5), anp.asarray(2)]
    others += [*arrays(dtype), *arrays("float32"), *arrays("int32"), *map(np.asarray, arrays(dtype))]
    for name in BINARY:
        for x in arrays(dtype):
            for y in others:
                for pair in ((x, y), (y, x)):
                    quickly, generally = outcomes(monkeypatch, getattr(anp, name), *pair)
                    assert quickly == generally, (name, pair)


def test_plain_operands_go_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    result = plain_operands._result
    monkeypatch.setattr(plain_operands, "_result", lambda *of: seen.append(of) or result(*of))
    x = anp.asarray(np.arange(3, dtype=np.float32))
    for value in (x + 1, 2.5 - x, x * x, x / 3, -x, x > 1, x == x, anp.exp(x), adze.jit(lambda x: x)(x) + x):
        assert value.shape == (3,)
    assert len(seen) == 9
    adze.jit(lambda y: y + x)(x), adze.grad(lambda y: (y * x).sum())(x)
    assert len(seen) == 9
    with adze.debug.nans(), pytest.raises(adze.AdzeError, match="NaN"):
        anp.log(x - 1)


def test_operands_that_nothing_takes_are_errors() -> None:
    x = anp.asarray(np.ones(2, np.float32))
    with pytest.raises(adze.AdzeError, match="broadcast"):
        x + anp.asarray(np.ones(3, np.float32))
    with pytest.raises(adze.AdzeError, match="complex numbers have no order"):
        _ = anp.asarray(np.ones(2, np.complex64)) < anp.asarray(np.ones(2, np.complex64))
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "1"
    with pytest.raises(TypeError, match="positional"):
        anp.add(x)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_remainders_are_those_of_numpy_to_the_bit(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    special = np.array([0, 1, -1, 7, -7, 3], dtype)
    if dtype.startswith("float"):
        special = np.concatenate([special, np.array([-0.0, math.inf, -math.inf, math.nan, 0.1, 1e30], dtype)])
    else:
        special = np.concatenate([special, [np.iinfo(dtype).min, np.iinfo(dtype).max]])
    x = np.concatenate([np.repeat(special, len(special)), (rng.standard_normal(3000) * 1e4).astype(dtype)])
    y = np.concatenate([np.tile(special, len(special)), (rng.standard_normal(3000) * 50).astype(dtype)])
    for name in ("remainder", "floor_divide", "fmod"):
        quickly, generally = outcomes(monkeypatch, getattr(anp, name), anp.asarray(x), anp.asarray(y))
        results = [np.frombuffer(each[-1], dtype) for each in (quickly, generally)]
        np.testing.assert_array_equal(*results)
        np.testing.assert_array_equal(*map(np.signbit, np.nan_to_num(results)))
