"""The table of elementwise calls: every function on every dtype that NumPy takes, with special values."""

from typing import Any

import ml_dtypes
import numpy as np

from .running import FLOAT_TOLERANCE, Call, flat, numpy_result

DTYPES = (
    *("bool", "int8", "int32", "int64", "uint8", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, 1e3, np.inf, -np.inf, np.nan]

# adze's name is NumPy's unless a pair is given; the dtypes are those that NumPy has a loop for.
UNARY = (
    *("abs", "absolute", "negative", "positive", "sign", "square", "reciprocal", "sqrt", "cbrt", "exp"),
    *("exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "rint", "fabs"),
    *("isnan", "isinf", "isfinite", "isneginf", "isposinf", "isreal", "iscomplex", "signbit", "deg2rad"),
    *("rad2deg", "sinc", "real", "imag", "conj", "angle", "nan_to_num", "logical_not", "invert"),
    *("bitwise_count", "frexp", "modf", "fix", "round", "arcsin", "arctanh", "degrees", "radians"),
)
BINARY = (
    *("add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "mod", "fmod"),
    *("divmod", "power", "float_power", "maximum", "minimum", "fmax", "fmin", "arctan2", "hypot"),
    *("copysign", "nextafter", "heaviside", "logaddexp", "logaddexp2", "equal", "not_equal", "less"),
    *("less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "isclose"),
)
# Where the value is not NumPy's on purpose, or where NumPy itself differs between loops.
LOOSE = {"cbrt": 4, "float_power": 4, "power": 40, "reciprocal": 4, "tan": 4, "sinc": 4}


def values(dtype: str, seed: int = 0) -> Any:
    """A vector of values that mean something to most functions of the dtype, specials included."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.arange(7) % 2 == 0
    if kind in "iu":
        limits = np.iinfo(dtype)
        plain = rng.integers(0 if kind == "u" else -9, 10, 8).tolist()
        return np.array([*plain, 0, 1, 2, limits.max, limits.min], dtype)
    reals = np.array([*SPECIAL, *rng.normal(size=4)])
    if kind == "f":
        return reals.astype(dtype)
    finite = rng.normal(size=8) + 1j * rng.normal(size=8)
    return finite.astype(dtype)


ORDER = ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "fmax", "fmin")


def numpy_takes(name: str, *arrays: Any) -> bool:
    """Whether NumPy has a loop; NumPy's order of complex numbers is left out: the standard has none."""
    if name in ORDER and any(np.asarray(a).dtype.kind == "c" for a in arrays):
        return False
    try:
        with np.errstate(all="ignore"):
            results = getattr(np, name)(*arrays)
    except (TypeError, ValueError):
        return False
    parts = results if isinstance(results, tuple) else (results,)
    return all(np.asarray(p).dtype.kind in "biufc" for p in parts)


def _unary_calls() -> list[Call]:
    calls = []
    for name in UNARY:
        for dtype in DTYPES:
            x = values(dtype)
            if name == "reciprocal" and x.dtype.kind in "biu":  # 1 / 0 of integers is anything
                x = x[x != 0]
            if name == "sinc" and dtype == "float16":  # NumPy computes it in half precision
                continue
            if numpy_takes(name, x):
                calls.append(Call(name, (x,), tolerance=_loosened(name, x)))
    return calls


def _loosened(name: str, *arrays: Any) -> float | None:
    if name not in LOOSE:
        return None
    dtype = np.asarray(flat(numpy_result(Call(name, arrays)))[0]).dtype
    return LOOSE[name] * FLOAT_TOLERANCE.get(dtype.name, 0.0)


def _pair(dtype: str, name: str) -> tuple[Any, Any]:
    left, right = values(dtype, 1), np.roll(values(dtype, 2), 3)
    if np.dtype(dtype).kind in "iu":
        if name in ("power", "float_power"):
            right = np.abs(right) % 5
        elif name in ("left_shift", "right_shift"):
            right = np.abs(right) % (np.dtype(dtype).itemsize * 8)
        right = right.astype(dtype)
    return left, right


def _binary_calls() -> list[Call]:
    return [
        Call(name, pair, tolerance=_loosened(name, *pair))
        for name in BINARY
        for dtype in DTYPES
        for pair in [_pair(dtype, name)]
        if numpy_takes(name, *pair)
    ]


def _mixed_calls() -> list[Call]:
    """Promotion: pairs of dtypes, Python scalars on either side, broadcasting."""
    names = (
        "int8",
        "uint8",
        "int32",
        "uint64",
        "int64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "bool",
    )
    calls = []
    for left in names:
        for right in names:
            for name in ("add", "divide", "less", "maximum"):
                pair = (np.ones(3, left), np.full((2, 1), 2, right))
                if numpy_takes(name, *pair):
                    calls.append(Call(name, pair))
        for scalar in (2, 2.5, True, 1j):
            for name in ("add", "multiply", "divide", "power"):
                if numpy_takes(name, np.ones(3, left), scalar):
                    calls.append(Call(name, (np.full(3, 3, left), scalar)))
                    calls.append(Call(name, (scalar, np.full(3, 2, left))))
        if left != "complex64":
            calls.append(Call("less", (np.ones(3, left), 1000)))
    big = np.array([2**63 + 5, 7], np.uint64)
    signed = np.array([-1, 7], np.int64)
    calls += [Call(name, pair) for name in BINARY[19:25] for pair in ((big, signed), (signed, big))]
    return calls


BFLOAT16 = ml_dtypes.bfloat16
HALF = np.array([0.5, 1.5, -2.0], BFLOAT16)
BFLOAT16_CALLS = [
    *(Call(n, (HALF,)) for n in ("exp", "negative", "square", "floor", "abs")),
    *(Call(n, (HALF, HALF)) for n in ("add", "multiply", "maximum", "less", "floor_divide")),
    Call("add", (HALF, np.ones(3, np.float32))),
    Call("add", (HALF, np.ones(3, np.float64))),
    Call("sum", (HALF,)),
]

ELEMENTWISE = [*_unary_calls(), *_binary_calls(), *_mixed_calls(), *BFLOAT16_CALLS]
