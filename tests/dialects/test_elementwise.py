"""What elementwise ops mean, stated value by value.

The table of op cases compares compiled code with `evaluate`; here `evaluate` itself is held to its word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze.dialects.dialect import BY_NAME
from adze.dialects.errors import TypeCheckError
from adze.dialects.types import BFLOAT16, TensorType

NAN, INF = np.nan, np.inf
I8_MIN, I32_MIN, I32_MAX = -128, -(2**31), 2**31 - 1


def evaluated(op: str, source: Any, *operands: Any, **attributes: Any) -> list[Any]:
    arrays = [np.array(values).astype(source) for values in operands]
    result: np.ndarray = BY_NAME[op].evaluate(*arrays, **attributes)
    return list(result.tolist())


@pytest.mark.parametrize(
    ("op", "dtype", "operands", "expected"),
    [
        ("div", "int32", ([7, -7, 7, 5, I32_MIN], [2, 2, -2, 0, -1]), [3, -3, -3, -1, I32_MIN]),
        ("div", "uint8", ([200, 5], [7, 0]), [28, 255]),
        ("rem", "int32", ([7, -7, 7, 5, I32_MIN], [3, 3, -3, 0, -1]), [1, -1, 1, 5, 0]),
        ("rem", "float32", ([5.5, -5.5], [2, 2]), [1.5, -1.5]),
        ("add", "int8", ([127], [1]), [I8_MIN]),
        ("mul", "uint8", ([16], [16]), [0]),
        ("neg", "int8", ([I8_MIN],), [I8_MIN]),
        ("pow", "int32", ([2, 1, -1, -1, 0, 3], [-1, -5, -2, -3, -1, 2]), [0, 1, 1, -1, 0, 9]),
        ("round", "float32", ([0.5, 1.5, 2.5, -0.5],), [0.0, 2.0, 2.0, -0.0]),
        ("sign", "float64", ([-0.0, 3, -2],), [-0.0, 1.0, -1.0]),
        ("max", "float32", ([-0.0, 0.0, 1], [0.0, -0.0, 2]), [0.0, 0.0, 2.0]),
        ("min", "float32", ([-0.0, 0.0, 1], [0.0, -0.0, 2]), [-0.0, -0.0, 1.0]),
        ("shift_left", "int8", ([1, 1, 1, -1], [7, 8, -1, 1]), [I8_MIN, 0, 0, -2]),
        ("shift_right_logical", "int8", ([-1, -1], [4, 8]), [15, 0]),
        ("shift_right_arithmetic", "int8", ([-16, -16, 16], [2, 100, 100]), [-4, -1, 0]),
        ("popcount", "int8", ([-1, 3],), [8, 2]),
        ("clz", "int16", ([0, 1, -1],), [16, 15, 0]),
        ("clamp", "float32", ([0, 0, 0], [-1, 0.5, 7], [1, 1, 1]), [0.0, 0.5, 1.0]),
        ("logistic", "float32", ([-100.0, 0.0],), [float(np.float32(np.exp(-100.0))), 0.5]),
    ],
)
def test_values(op: str, dtype: str, operands: tuple[Any, ...], expected: list[Any]) -> None:
    got = evaluated(op, dtype, *operands)
    assert got == pytest.approx(expected, rel=1e-6)
    assert np.array_equal(np.signbit(got), np.signbit(expected))


@pytest.mark.parametrize("op", ["max", "min"])
def test_extrema_propagate_nan(op: str) -> None:
    assert np.isnan(evaluated(op, "float32", [NAN, 1], [1, NAN])).all()


@pytest.mark.parametrize(
    ("source", "to", "values", "expected"),
    [
        ("float32", "int32", [NAN, INF, -INF, 1e20, -2.7], [0, I32_MAX, I32_MIN, I32_MAX, -2]),
        ("float64", "uint8", [-3.0, 255.9, 256.0], [0, 255, 255]),
        ("float64", "int64", [9.3e18, -9.3e18], [2**63 - 1, -(2**63)]),
        ("int32", "int8", [200, -200], [-56, 56]),
        ("complex64", "float32", [1 + 2j], [1.0]),
        ("float32", "bool", [0.0, -0.0, NAN, 0.5], [False, False, True, True]),
        ("complex64", "bool", [0j, 1j], [False, True]),
    ],
)
def test_conversion(source: str, to: str, values: list[Any], expected: list[Any]) -> None:
    assert evaluated("convert", source, values, dtype=np.dtype(to)) == expected


def test_half_precision_is_rounded_once() -> None:
    x = np.array([1.0, 256.0], BFLOAT16)
    result = BY_NAME["add"].evaluate(x, np.array([2.0**-8, 1.0], BFLOAT16))
    assert result.dtype == BFLOAT16
    assert result.tolist() == [1.0, 256.0]


@pytest.mark.parametrize(("direction", "expected"), [("EQ", False), ("NE", True), ("LT", False)])
def test_comparison_with_nan(direction: str, expected: bool) -> None:
    assert evaluated("compare", "float32", [NAN], [1.0], direction=direction) == [expected]


@pytest.mark.parametrize(
    ("op", "types", "attributes", "message"),
    [
        (
            "add",
            ["f32[2]", "f32[3]"],
            {},
            "add: operands must have equal shapes, got f32[2], f32[3]",
        ),
        (
            "add",
            ["f32[2]", "i32[2]"],
            {},
            "add: operands must have equal dtypes, got f32[2], i32[2]",
        ),
        ("and", ["f32[2]", "f32[2]"], {}, "and: operand 'x' has dtype f32, expected one of i1, i16, i32"),
        (
            "compare",
            ["c64[2]", "c64[2]"],
            {"direction": "LT"},
            "compare: complex numbers have no order, got direction LT for c64[2]",
        ),
        (
            "compare",
            ["f32[2]", "f32[2]"],
            {"direction": "ABOVE"},
            "compare: attribute 'direction' is 'ABOVE', expected one of ('EQ', 'NE'",
        ),
        (
            "select",
            ["i1[]", "f32[2]", "f32[2]"],
            {},
            "select: operands must have equal shapes, got i1[], f32[2], f32[2]",
        ),
        (
            "bitcast_convert",
            ["f32[2]"],
            {"dtype": np.dtype(np.int64)},
            "bitcast_convert: cannot read the bits of f32[2] as int64: expected an integer or float dtype of "
            "32 bits",
        ),
    ],
)
def test_wrong_operands(op: str, types: list[str], attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeCheckError) as caught:
        BY_NAME[op].result_types([parsed(t) for t in types], attributes)
    assert message in str(caught.value)


def parsed(text: str) -> TensorType:
    """The type written as `f32[2]`."""
    name, _, sizes = text.rstrip("]").partition("[")
    names = {"f32": np.float32, "i32": np.int32, "i1": np.bool_, "c64": np.complex64}
    return TensorType(tuple(int(n) for n in sizes.split(",") if n), np.dtype(names[name]))


def test_dynamic_dimensions_merge_with_static_ones() -> None:
    f32 = np.dtype(np.float32)
    (result,) = BY_NAME["add"].result_types([TensorType((None, 3), f32), TensorType((2, None), f32)], {})
    assert result == TensorType((2, 3), f32)
