"""Integer and bool scalar code against NumPy: all pairs of 8-bit values, edges and random pairs of others."""

from collections.abc import Callable

import numpy as np
import pytest

from adze.passes.lower.scalars import Scalars

from .kernels import compile_kernels, op_kernel

INTEGERS = [
    *(np.dtype(name) for name in ("int8", "uint64")),
    *(
        pytest.param(np.dtype(name), marks=pytest.mark.thorough)
        for name in ("uint8", "int16", "uint16", "int32", "uint32", "int64")
    ),
]
BOOL = np.dtype(bool)
Reference = Callable[..., np.ndarray]


def _divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Truncating division; x / 0 has all bits set, INT_MIN / -1 wraps."""
    safe = np.where(y == 0, y.dtype.type(1), y)
    quotient = x // safe
    if x.dtype.kind == "i":
        inexact = (quotient * safe != x) & ((x < 0) != (safe < 0))
        quotient = quotient + inexact.astype(x.dtype)
    return np.where(y == 0, ~np.zeros_like(x), quotient)


def _remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    safe = np.where(y == 0, y.dtype.type(1), y)
    return np.where(y == 0, x, np.fmod(x, safe))


def _power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = np.power(x, np.maximum(y, y.dtype.type(0)))
    if x.dtype.kind == "i":
        odd = np.where(y & 1, x.dtype.type(-1), x.dtype.type(1))
        negative = np.where(x == 1, x.dtype.type(1), np.where(x == -1, odd, x.dtype.type(0)))
        result = np.where(y < 0, negative, result)
    return result


def _unsigned(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.itemsize}")


def _shift(function: Reference, unsigned: bool) -> Reference:
    def reference(x: np.ndarray, amount: np.ndarray) -> np.ndarray:
        width = x.itemsize * 8
        count = _unsigned(amount).astype(np.uint64)
        limit = np.minimum(count, width - 1).astype(x.dtype)
        if unsigned:
            shifted = function(_unsigned(x), _unsigned(limit)).view(x.dtype)
            return np.where(count < width, shifted, x.dtype.type(0))
        return function(x.view(f"i{x.itemsize}"), limit.view(f"i{x.itemsize}")).view(x.dtype)

    return reference


BINARY: dict[str, Reference] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": _divide, "rem": _remainder, "pow": _power,
    "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "shift_left": _shift(np.left_shift, True), "shift_right_logical": _shift(np.right_shift, True),
    "shift_right_arithmetic": _shift(np.right_shift, False),
}  # fmt: skip
UNARY: dict[str, Reference] = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "not": np.invert, "floor": np.positive,
    "popcount": lambda x: np.array([int(v).bit_count() for v in _unsigned(x)], x.dtype),
    "clz": lambda x: np.array([x.itemsize * 8 - int(v).bit_length() for v in _unsigned(x)], x.dtype),
}  # fmt: skip
COMPARE: dict[str, Reference] = {
    "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater,
    "GE": np.greater_equal,
}  # fmt: skip


def _operands(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    limits = np.iinfo(dtype)
    if dtype.itemsize == 1:
        values = np.arange(limits.min, limits.max + 1).astype(dtype)
    else:
        edges = [limits.min, limits.min + 1, limits.max, limits.max - 1, *range(0, 70)]
        if dtype.kind == "i":
            edges += list(range(-70, 0))
        random = np.random.default_rng(0).integers(limits.min, limits.max, 100, dtype=dtype, endpoint=True)
        values = np.concatenate([np.array(edges, dtype), random])
    x, y = np.meshgrid(values, values)
    return x.ravel(), y.ravel()


@pytest.fixture(scope="module", params=INTEGERS, ids=str)
def dtype(request: pytest.FixtureRequest) -> np.dtype:
    return request.param


@pytest.fixture(scope="module")
def run(dtype: np.dtype, thorough: bool) -> Callable[..., np.ndarray]:
    scalars = Scalars("cpu")
    kernels = {op: op_kernel(scalars, op, dtype, 2) for op in BINARY}
    kernels |= {op: op_kernel(scalars, op, dtype, 1) for op in UNARY}
    for direction in COMPARE:
        kernel = op_kernel(scalars, "add", dtype, 2, BOOL)
        body = lambda x, y, d=direction: scalars.compare(dtype, d, x, y)  # noqa: E731
        kernels[direction] = type(kernel)(body, kernel.inputs, BOOL)
    return compile_kernels(kernels, joined=not thorough)


def test_every_op_agrees_with_numpy(dtype: np.dtype, run: Callable[..., np.ndarray]) -> None:
    x, y = _operands(dtype)
    single = np.unique(x)
    with np.errstate(all="ignore"):
        for op, reference in UNARY.items():
            np.testing.assert_array_equal(run(op, single), reference(single), err_msg=f"{op} {dtype}")
        for op, reference in (BINARY | COMPARE).items():
            np.testing.assert_array_equal(run(op, x, y), reference(x, y), err_msg=f"{op} {dtype}")


def test_bools_follow_numpy() -> None:
    references: dict[str, Reference] = {
        "add": np.add, "mul": np.multiply, "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
        "max": np.maximum, "min": np.minimum,
    }  # fmt: skip
    scalars = Scalars("cpu")
    kernels = {op: op_kernel(scalars, op, BOOL, 2) for op in references} | {
        "not": op_kernel(scalars, "not", BOOL, 1)
    }
    run = compile_kernels(kernels)
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    for op, reference in references.items():
        np.testing.assert_array_equal(run(op, x, y), reference(x, y), err_msg=op)
    np.testing.assert_array_equal(run("not", x), ~x)
