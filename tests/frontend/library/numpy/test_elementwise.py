"""Elementwise functions return what NumPy returns, dtypes exact, outside a trace and traced."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects.errors import AdzeError
from adze.frontend.errors import DtypeError, ShapeError

from .elementwise_calls import ELEMENTWISE, HALF
from .running import Call, assert_same, numpy_result, run_traced_together, traced_and_evaluated

FUNCTIONS = sorted({call.name for call in ELEMENTWISE})


def of_function(name: str) -> list[Call]:
    return [call for call in ELEMENTWISE if call.name == name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_eager_call_gives_what_numpy_gives(name: str) -> None:
    for call in of_function(name):
        check(call, call.of(anp)(*call.args, **call.kwargs))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_traced_call_gives_what_numpy_gives(name: str) -> None:
    calls = of_function(name)
    for call, results in zip(calls, run_traced_together(calls), strict=True):
        check(call, results)


def check(call: Call, actual: Any) -> None:
    expected = numpy_result(call)
    try:
        assert_same(actual, expected, call.tolerance)
    except AssertionError as error:
        raise AssertionError(f"{call}: {error}") from error


def test_bfloat16_meets_float16_in_float32() -> None:
    assert (anp.asarray(HALF) + np.ones(3, np.float16)).dtype == np.float32
    assert anp.result_type(ml_dtypes.bfloat16, np.float16) == np.float32
    assert anp.result_type(ml_dtypes.bfloat16, np.int8) == ml_dtypes.bfloat16
    assert (anp.asarray(HALF) * 2.5).dtype == ml_dtypes.bfloat16


def test_complex_numbers_have_no_order() -> None:
    for name in ("less", "maximum", "fmin"):
        with pytest.raises(
            DtypeError, match=f"{'minimum' if name == 'fmin' else name}: complex numbers have no order"
        ):
            getattr(anp, name)(np.ones(2, np.complex64), 1)


def test_weak_type_stays_weak_among_weak_operands() -> None:
    x = anp.sin(anp.multiply(2.0, 3))
    assert x.weak_type
    assert x.dtype == np.float32
    assert (x + np.float16(1)).dtype == np.float16
    assert (x + np.ones(2, np.float64)).dtype == np.float64
    assert not (x + np.ones(2, np.float32)).weak_type


def test_python_scalar_keeps_full_precision_in_float64() -> None:
    assert float((anp.asarray(np.zeros(1)) + 0.1)[0]) == 0.1


def test_numpy_float64_scalar_is_strong() -> None:
    assert (anp.asarray(np.ones(2, np.float32)) * np.float64(2)).dtype == np.float64
    assert (np.float64(2) * anp.asarray(np.ones(2, np.float32))).dtype == np.float64


@pytest.mark.parametrize("number", [300, -1])
def test_python_integer_out_of_range_names_dtype_and_range(number: int) -> None:
    with pytest.raises(DtypeError) as raised:
        anp.add(np.ones(2, np.uint8), number)
    assert f"Python integer {number} is out of range for uint8 (0 to 255)" in str(raised.value)
    assert "test_elementwise.py:" in str(raised.value)


def test_comparison_with_giant_integer_is_exact() -> None:
    x = np.array([0, 255], np.uint8)
    assert_same(anp.less(x, 256), np.array([True, True]))
    assert_same(anp.greater_equal(-1, x), np.array([False, False]))
    assert_same(anp.equal(x, 10**30), np.array([False, False]))


def test_operands_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(ShapeError) as raised:
        anp.add(np.ones((3, 4), np.float32), np.ones(5, np.float32))
    assert "operands could not be broadcast: f32[3,4] and f32[5]" in str(raised.value)
    assert "test_elementwise.py:" in str(raised.value)


def test_function_without_loop_for_dtype_says_so() -> None:
    with pytest.raises(DtypeError, match="subtract does not take bool, bool"):
        anp.subtract(np.ones(2, bool), np.ones(2, bool))
    with pytest.raises(DtypeError, match="bitwise_and does not take float32, float32"):
        anp.bitwise_and(np.ones(2, np.float32), np.ones(2, np.float32))


def test_integer_to_negative_power_is_an_error() -> None:
    with pytest.raises(AdzeError, match="negative integer powers"):
        anp.power(np.arange(3), -2)


def test_clip_and_predicates_of_several_arguments() -> None:
    x = np.array([-3.0, 0.5, np.nan, 9.0])
    for low, high in ((0, 1), (None, 2), (0, None)):
        assert_same(anp.clip(x, low, high), np.clip(x, low, high))
    small = np.arange(5, dtype=np.uint8)
    assert_same(anp.clip(small, 1, 3), np.clip(small, 1, 3))
    assert_same(traced_and_evaluated(lambda v: anp.clip(v, 0, 1), x), [np.clip(x, 0, 1)])


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_round_to_decimals(decimals: int, dtype: str) -> None:
    x = np.array([1234.56789, -0.5, 1.5, 2.5, 15, 25]).astype(dtype)
    assert_same(anp.round(x, decimals), np.round(x, decimals))


def test_ldexp_reaches_from_end_to_end() -> None:
    x, n = np.array([1.0, 0.75, 5e-324, 1e308, -3.0]), np.array([3, -1070, 1100, -2000, 0])
    with np.errstate(all="ignore"):
        assert_same(anp.ldexp(x, n), np.ldexp(x, n))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sinc_keeps_its_digits_far_from_zero(dtype: Any) -> None:
    quarters = np.array([5.5, -100.25, 12345.75, 1e6 + 0.125, 2.0**22 + 0.5, 7.0, -1e8, 3e38], dtype)
    turns = quarters.astype(np.float64) % 2
    expected = np.where(turns % 1 == 0, 0, np.sin(np.pi * turns)) / (np.pi * quarters.astype(np.float64))
    for sinc in (anp.sinc, adze.jit(anp.sinc)):
        np.testing.assert_allclose(sinc(quarters), expected, rtol=4 * np.finfo(dtype).eps, atol=0)
