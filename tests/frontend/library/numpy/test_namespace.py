"""`adze.numpy` as a whole: the names of the standard, default dtypes, inspection, cheap import."""

import builtins
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import adze.numpy as anp
from adze import ShapeDtype
from adze.dialects.errors import AdzeError
from adze.frontend.errors import ArgumentError, ConcretizationError, DtypeError, IndexingError, ShapeError
from adze.frontend.tracing.trace import trace_program
from adze.passes.analysis.evaluate import evaluate

from .running import assert_same, traced_and_evaluated

# The names of the Python array API standard, version 2024.12, without its extensions.
STANDARD = (
    *("e", "inf", "nan", "newaxis", "pi", "astype", "can_cast", "finfo", "iinfo", "isdtype"),
    *("result_type", "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full"),
    *("full_like", "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros"),
    *("zeros_like", "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh"),
    *("bitwise_and", "bitwise_left_shift", "bitwise_invert", "bitwise_or", "bitwise_right_shift"),
    *("bitwise_xor", "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp"),
    *("expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite"),
    *("isinf", "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp"),
    *("logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply"),
    *("negative", "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder"),
    *("round", "sign", "signbit", "sin", "sinh", "square", "sqrt", "subtract", "tan", "tanh"),
    *("trunc", "take", "take_along_axis", "matmul", "matrix_transpose", "tensordot", "vecdot"),
    *("broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis"),
    *("permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack", "argmax"),
    *("argmin", "count_nonzero", "nonzero", "searchsorted", "where", "unique_all", "unique_counts"),
    *("unique_inverse", "unique_values", "argsort", "sort", "cumulative_prod", "cumulative_sum"),
    *("max", "mean", "min", "prod", "std", "sum", "var", "all", "any", "diff"),
    *("__array_namespace_info__", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16"),
    *("uint32", "uint64", "float32", "float64", "complex64", "complex128"),
)


@pytest.mark.parametrize("name", STANDARD)
def test_every_name_of_the_standard_is_public(name: str) -> None:
    assert hasattr(anp, name)
    assert name in anp.__all__


def test_public_names_are_listed_once() -> None:
    assert len(anp.__all__) == len(set(anp.__all__))
    assert not {name for name in anp.__all__ if not hasattr(anp, name)}


def test_public_functions_say_what_they_do() -> None:
    silent = [n for n in anp.__all__ if callable(getattr(anp, n)) and not getattr(anp, n).__doc__]
    assert silent == []


def test_import_loads_no_compiler_and_no_scipy() -> None:
    unwanted = (
        "iree",
        "adze.runtime.compile",
        "adze.runtime.execute",
        "adze.passes.pipeline",
        "adze.passes.engines",
        "adze.passes.lower",
        "adze.scipy.stats",
        "adze.frontend.library.solvers",
        "logging",
    )
    script = (
        "import sys\nfrom adze import grad, jit, lax, nn, numpy, vmap\n"
        f"print([m for m in sys.modules if m.startswith({unwanted!r})])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_inspection_of_the_standard() -> None:
    info = anp.asarray([1.0]).__array_namespace__().__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == np.float32
    assert info.default_dtypes()["integral"] == np.int64
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert info.default_device() in info.devices()
    assert info.capabilities()["boolean indexing"] is False


def test_new_arrays_are_float32_and_int64_by_default() -> None:
    made = [
        anp.zeros(2),
        anp.ones((1, 2)),
        anp.empty(1),
        anp.eye(2),
        anp.linspace(0, 1, 3),
        anp.arange(0.0, 1.0, 0.5),
    ]
    made += [
        anp.asarray(1.5),
        anp.asarray([1.5, 2]),
        anp.full(2, 2.5),
        anp.logspace(0, 1, 3),
        anp.geomspace(1, 8, 4),
    ]
    assert {x.dtype for x in made} == {np.dtype(np.float32)}
    whole = [anp.arange(3), anp.asarray([1, 2]), anp.asarray(3), anp.full(2, 7), anp.argmax(anp.zeros(3))]
    assert {x.dtype for x in whole} == {np.dtype(np.int64)}
    assert anp.asarray([True, False]).dtype == np.bool_
    assert anp.asarray(1j).dtype == np.complex64
    assert anp.asarray(np.zeros(2)).dtype == np.float64
    assert anp.asarray([0.1], dtype=anp.float64).tolist() == [0.1]


def test_dtype_functions() -> None:
    assert anp.finfo(anp.float32).eps == np.finfo(np.float32).eps
    assert anp.finfo(anp.complex128).bits == 64
    assert anp.finfo(anp.bfloat16).max > 3e38
    assert anp.iinfo(anp.uint8).max == 255
    assert anp.isdtype(anp.int8, "signed integer")
    assert anp.isdtype(anp.float32, ("integral", "real floating"))
    assert not anp.isdtype(anp.uint8, anp.int8)
    assert anp.can_cast(anp.int8, anp.int16)
    assert not anp.can_cast(anp.zeros(1), anp.float16)
    assert anp.can_cast(anp.bfloat16, anp.float32)
    assert anp.result_type(anp.int32, 1.0) == np.float32
    assert anp.result_type(anp.int64, anp.float16) == anp.result_type(anp.bool, anp.float16) == np.float16
    assert anp.result_type(anp.int64, anp.uint64, anp.float32) == np.float32
    assert anp.result_type(anp.float32, anp.asarray(np.ones(1, np.int8)), 3) == np.float32
    assert anp.promote_types("int8", "uint8") == np.int16
    assert anp.issubdtype(anp.bfloat16, anp.floating)
    assert not anp.issubdtype(anp.int8, anp.floating)
    assert anp.issubdtype(anp.asarray(1).dtype, anp.int64)
    assert isinstance(anp.asarray(1), anp.ndarray)
    with pytest.raises(ArgumentError, match="finfo: expected a float dtype, got int8"):
        anp.finfo(anp.int8)
    with pytest.raises(ArgumentError, match="isdtype: unknown kind 'number'"):
        anp.isdtype(anp.int8, "number")


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows_are_float32(name: str) -> None:
    assert_same(getattr(anp, name)(7), getattr(np, name)(7).astype(np.float32))


def test_kaiser_window() -> None:
    assert_same(anp.kaiser(9, 5.0), np.kaiser(9, 5.0).astype(np.float32))


def test_astype_and_view() -> None:
    x = np.array([1.9, -1.9, 300.0, np.nan], np.float32)
    assert_same(anp.astype(x, anp.int32), np.array([1, -1, 300, 0], np.int32))
    assert_same(anp.astype(x, anp.uint8), np.array([1, 0, 255, 0], np.uint8))
    assert_same(anp.asarray(x).view(np.int32), x.view(np.int32))
    assert_same(anp.asarray(x).astype(bool), x.astype(bool))
    mask = np.array([True, False, True, True])
    for dtype in (np.int8, np.uint8, np.uint16, bool):
        assert_same(anp.asarray(mask).view(dtype), mask.view(dtype))
    assert_same(anp.asarray(np.array([0, 1, 256], np.uint16)).view(bool), np.array([0, 0, 1, 0, 0, 1], bool))


def test_one_hot() -> None:
    assert_same(anp.one_hot(np.array([0, 2]), 3), np.eye(3, dtype=np.float32)[[0, 2]])
    assert_same(anp.one_hot(np.array([0, 2]), 3, axis=0, dtype=np.int8), np.eye(3, dtype=np.int8)[:, [0, 2]])


# -- Python's own functions --------------------------------------------------------------------


def test_builtins_work_on_traced_arrays() -> None:
    x = np.arange(6, dtype=np.float64).reshape(3, 2) - 2.5

    def function(x: Any) -> tuple[Any, ...]:
        total = builtins.sum(x)
        count = len(x)
        rows = [row * i for i, row in zip(range(x.shape[0]), x, strict=True)]
        first, *_ = x
        return total, x * count, rows[2], first, abs(x), round(x), divmod(x, 2.0)[0], -x, +x

    expected = [builtins.sum(x), x * 3, x[2] * 2, x[0], abs(x), np.round(x), x // 2.0, -x, x]
    assert_same(traced_and_evaluated(function, x), expected)


def test_min_of_python_asks_for_a_known_truth() -> None:
    with pytest.raises(AdzeError, match=r"bool\(\) of a traced array"):
        trace_program(lambda x: builtins.min(x), (np.arange(3.0),), {})


def test_operators_are_the_functions() -> None:
    x, y = np.array([5, -3, 2], np.int32), np.array([2, 2, -1], np.int32)

    def function(x: Any, y: Any) -> list[Any]:
        arithmetic = [x + y, x - y, x * y, x / y, x // y, x % y, x ** abs(y), x @ y]
        bits = [x & y, x | y, x ^ y, ~x, x << abs(y), x >> abs(y), 1 << abs(x)]
        comparisons = [x < y, x <= y, x > y, x >= y, x == y, x != y]
        return arithmetic + bits + comparisons + [2 - x, 2 / x, 7 // x, 3.0 * x]

    expected = [r.astype(np.float32) if r.dtype == np.float64 else r for r in function(x, y)]
    assert_same(traced_and_evaluated(function, x, y), expected)


def test_methods_are_the_functions() -> None:
    x = np.arange(6.0).reshape(2, 3)

    def function(x: Any) -> list[Any]:
        shapes = [x.T, x.mT, x.reshape(3, 2), x.reshape((6,)), x.transpose(1, 0), x.ravel(), x.flatten()]
        shapes += [x.squeeze(), x.swapaxes(0, 1), x.diagonal(), x.repeat(2, 0), x.take(1, axis=1)]
        sums = [x.sum(), x.sum(axis=0), x.mean(1), x.std(), x.var(ddof=1), x.prod(axis=0), x.trace()]
        extrema = [x.max(), x.min(axis=1), x.any(), x.argmax(axis=0), x.cumsum(axis=1), x.clip(1, 3)]
        return (
            shapes + sums + extrema + [x.round(1), x.dot(x.T), x.astype(np.float32), x.real, x.imag, x.conj()]
        )

    assert_same(traced_and_evaluated(function, x), function(x))


# -- dynamic sizes -----------------------------------------------------------------------------

DYNAMIC = [
    lambda np, x: x + np.ones_like(x),
    lambda np, x: x * x[0],
    lambda np, x: x + x[:, :1],
    lambda np, x: np.sum(x, axis=0),
    lambda np, x: np.mean(x),
    lambda np, x: np.var(x, axis=0),
    lambda np, x: np.std(x, axis=0, keepdims=True),
    lambda np, x: np.reshape(x, (-1,)),
    lambda np, x: np.reshape(x, (x.shape[0], 3, 1)),
    lambda np, x: np.concatenate([x, x]),
    lambda np, x: np.stack([x, x], axis=1),
    lambda np, x: np.roll(x, 2, axis=0),
    lambda np, x: np.roll(x, -1, axis=1),
    lambda np, x: np.where(x > 0, x, 0),
    lambda np, x: x @ np.ones((3, 2), x.dtype),
    lambda np, x: x.T @ x,
    lambda np, x: np.einsum("ij,ij->i", x, x),
    lambda np, x: np.einsum("ij,kj->ik", x, x),
    lambda np, x: np.tile(x, (2, 1)),
    lambda np, x: np.repeat(x, 2, axis=0),
    lambda np, x: np.pad(x, ((1, 2), (0, 1))),
    lambda np, x: np.pad(x, ((2, 1), (0, 0)), mode="edge"),
    lambda np, x: np.diff(x, axis=0),
    lambda np, x: np.cumsum(x, axis=0),
    lambda np, x: np.sort(x, axis=0),
    lambda np, x: np.argmax(x, axis=0),
    lambda np, x: np.flip(x, axis=0),
    lambda np, x: np.tril(x),
    lambda np, x: np.full_like(x, 3),
    lambda np, x: np.expand_dims(x, 1),
    lambda np, x: np.broadcast_to(x[:, None], (x.shape[0], 2, 3)),
    lambda np, x: np.outer(x[:, 0], x[:, 1]),
    lambda np, x: np.gradient(x[:, 0]),
    lambda np, x: np.linalg.norm(x, axis=1),
    lambda np, x: np.searchsorted(np.sort(x[:, 0]), x[:, 1]),
    lambda np, x: np.meshgrid(x[:, 0], x[:, 1])[0],
    lambda np, x: np.average(x, axis=0),
    lambda np, x: np.quantile(x, 0.3, axis=0),
]


@pytest.mark.parametrize("function", DYNAMIC)
def test_function_of_dynamic_size_gives_what_numpy_gives(function: Any) -> None:
    program = trace_program(lambda x: function(anp, x), (ShapeDtype(("n", 3), np.float64),), {})  # type: ignore[operator]
    for n in (3, 7):
        x = np.random.default_rng(n).normal(size=(n, 3))
        assert_same(evaluate(program.module, program.symbol, [x]), [function(np, x)])  # type: ignore[operator]


def test_two_names_of_dimensions_may_be_equal_and_a_static_size_wins() -> None:
    specs = (ShapeDtype(("n",), np.float32), ShapeDtype(("m",), np.float32), ShapeDtype((4,), np.float32))
    program = trace_program(lambda x, y, z: (x + y, x * z), specs, {})
    x = np.arange(4, dtype=np.float32)
    assert_same(evaluate(program.module, program.symbol, [x, x, x]), [x + x, x * x])
    with pytest.raises(AdzeError):
        trace_program(
            lambda x, z: x.reshape(2, 2) + z, (ShapeDtype((4,), np.float32), ShapeDtype((3,), np.float32)), {}
        )


# -- static sizes for what depends on values ---------------------------------------------------


def test_nonzero_with_size() -> None:
    x = np.array([[0, 1, 0], [2, 0, 3]])
    for size in (2, 3, 5):
        rows, columns = traced_and_evaluated(lambda x, size=size: anp.nonzero(x, size=size), x)
        wanted = [np.pad(axis, (0, 5))[:size] for axis in np.nonzero(x)]
        assert_same([rows, columns], wanted)
    assert_same(traced_and_evaluated(lambda x: anp.argwhere(x, size=4, fill_value=-1), x),
                [np.array([[0, 1], [1, 0], [1, 2], [-1, -1]])])  # fmt: skip
    assert_same(
        traced_and_evaluated(lambda x: anp.extract(x > 0, x, size=4, fill_value=9), x),
        [np.array([1, 2, 3, 9])],
    )


def test_nonzero_without_size_says_what_to_state() -> None:
    with pytest.raises(
        ConcretizationError, match=r"nonzero of a traced array i64\[2\][\s\S]*nonzero\(x, size=n\)"
    ):
        trace_program(lambda x: anp.nonzero(x), (np.ones(2, np.int64),), {})


def test_unique_with_size() -> None:
    x = np.array([3, 1, 3, 2, 1, 3])
    values, indices, inverse, counts = traced_and_evaluated(lambda x: anp.unique_all(x, size=4), x)
    assert values.tolist() == [1, 2, 3, 1]
    assert indices.tolist() == [1, 3, 0, 1]  # where the filler first occurs, as in JAX
    assert inverse.tolist() == [2, 0, 2, 1, 0, 2]
    assert counts.tolist() == [2, 1, 3, 0]
    assert_same(anp.unique_all(x), np.unique_all(x))
    assert_same(anp.unique_counts(x), np.unique_counts(x))
    assert_same(anp.unique_inverse(x), np.unique_inverse(x))
    assert_same(anp.unique(x, return_counts=True), np.unique(x, return_counts=True))
    with pytest.raises(ConcretizationError, match=r"unique_values of a traced array i64\[6\]"):
        trace_program(lambda x: anp.unique_values(x), (x,), {})


@pytest.mark.parametrize("name", ["intersect1d", "setdiff1d", "union1d", "setxor1d"])
def test_sets_eager_and_with_size(name: str) -> None:
    x, y = np.array([5, 1, 3, 3, 1]), np.array([3, 9, 5, 2])
    wanted = getattr(np, name)(x, y)
    assert_same(getattr(anp, name)(x, y), wanted)
    (padded,) = traced_and_evaluated(lambda x, y: getattr(anp, name)(x, y, size=6, fill_value=-1), x, y)
    assert padded.tolist() == [*wanted.tolist(), *[-1] * (6 - len(wanted))]


def test_bincount_with_length() -> None:
    x, w = np.array([1, 3, 1, 7]), np.array([0.5, 1.0, 2.0, 4.0])
    assert_same(anp.bincount(x, minlength=9), np.bincount(x, minlength=9))
    assert_same(
        traced_and_evaluated(lambda x, w: anp.bincount(x, w, length=5), x, w), [np.bincount(x, w)[:5]]
    )
    with pytest.raises(ConcretizationError, match=r"bincount\(x, length=n\)"):
        trace_program(lambda x: anp.bincount(x), (x,), {})


def test_put_along_axis_and_top_k() -> None:
    x = np.arange(6.0).reshape(2, 3)
    i = np.array([[2], [0]])
    expected = x.copy()
    np.put_along_axis(expected, i, -1.0, 1)
    assert_same(anp.put_along_axis(x, i, -1.0, 1), expected)
    values, positions = anp.top_k(x, 2)
    assert_same(values, np.array([[2.0, 1.0], [5.0, 4.0]]))
    assert_same(positions, np.array([[2, 1], [2, 1]], np.int32))


def test_apply_along_axis() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert_same(
        anp.apply_along_axis(lambda v: v[::-1] * 2, 0, x), np.apply_along_axis(lambda v: v[::-1] * 2, 0, x)
    )


# -- errors ------------------------------------------------------------------------------------

A = np.ones((3, 4), np.float32)


@pytest.mark.parametrize(
    ("function", "kind", "text"),
    [
        (
            lambda x: anp.reshape(x, (5, 2)),
            ShapeError,
            "reshape: cannot reshape f32[3,4] (12 elements) into shape (5, 2)",
        ),
        (lambda x: anp.reshape(x, (-1, -1)), ShapeError, "may have one -1"),
        (
            lambda x: anp.sum(x, axis=2),
            ShapeError,
            "sum: axis 2 is out of range for an array of 2 dimensions",
        ),
        (lambda x: anp.sum(x, axis=(0, -2)), ShapeError, "sum: axis (0, -2) names an axis twice"),
        (lambda x: anp.sum(x, axis="a"), ArgumentError, "sum: axis must be an integer, got 'a'"),
        (
            lambda x: anp.transpose(x, (0,)),
            ShapeError,
            "transpose: axes (0,) must name every axis of f32[3,4] once",
        ),
        (
            lambda x: anp.matmul(x, x),
            ShapeError,
            "matmul: f32[3,4] and f32[3,4] do not fit: axis 1 of the first has size 4",
        ),
        (lambda x: anp.matmul(x, 2.0), ShapeError, "matmul: 0-d operands are not matrices"),
        (lambda x: anp.concat([x, x[:, :2]]), ShapeError, "concat: arrays must agree in all axes but 0"),
        (lambda x: anp.concat([]), ArgumentError, "concat: need at least one array"),
        (
            lambda x: anp.stack([x, x[0]]),
            ShapeError,
            "stack: arrays must have one shape: got f32[3,4], f32[4]",
        ),
        (lambda x: anp.squeeze(x, axis=0), ShapeError, "squeeze: axis 0 of f32[3,4] has size 3, expected 1"),
        (
            lambda x: anp.broadcast_to(x, (2, 4)),
            ShapeError,
            "f32[3,4] cannot be broadcast to shape (2, 4)",
        ),
        (
            lambda x: anp.einsum("ij,jk->ik", x, x),
            ShapeError,
            "einsum: label 'j' of 'ij,jk->ik' has sizes 4 and 3",
        ),
        (lambda x: anp.einsum("ij->kz", x), ArgumentError, "einsum: "),
        (lambda x: anp.einsum("ijk", x), ShapeError, "einsum: term 'ijk' of 'ijk' has 3 labels"),
        (
            lambda x: anp.einsum(3, x),
            ArgumentError,
            "einsum: the first argument must be a string like 'ij,jk->ik', got 3",
        ),
        (lambda x: anp.max(x[:0], axis=0), ShapeError, "max: axis 0 of f32[0,4] is empty"),
        (lambda x: anp.pad(x, 1, mode="spline"), ArgumentError, "pad: mode is 'spline'"),
        (
            lambda x: anp.split(x, 5),
            ShapeError,
            "split: axis 0 of f32[3,4] cannot be split into 5 equal sections",
        ),
        (lambda x: anp.zeros((2, -1)), ShapeError, "zeros: shape (2, -1) has a negative size"),
        (lambda x: anp.zeros(2, dtype="float99"), DtypeError, "'float99' is not a dtype"),
        (lambda x: anp.add(x, "text"), ArgumentError, "expected an array or a number, got str: 'text'"),
        (lambda x: anp.add(x, None), ArgumentError, "expected an array or a number, got NoneType"),
        (
            lambda x: anp.arange(x[0, 0]),
            ConcretizationError,
            "arange: bounds and step must be numbers known while tracing",
        ),
        (
            lambda x: anp.quantile(x, 1.5),
            ArgumentError,
            "quantile: quantiles must be in the range [0, 1], got 1.5",
        ),
        (
            lambda x: anp.searchsorted(x, x),
            ShapeError,
            "searchsorted: expected an ascending vector, got f32[3,4]",
        ),
        (lambda x: anp.where(x > 0, x), ArgumentError, "where: x and y must be given both or not at all"),
        (
            lambda x: anp.repeat(x, x[0], axis=1),
            ConcretizationError,
            "repeat: repeats must be known while tracing",
        ),
        (
            lambda x: anp.linalg.norm(x, 3),
            ArgumentError,
            "norm: the order is 3, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices",
        ),
        (lambda x: anp.take(x, x, axis=0), IndexingError, "take: indices must be integers, got f32[3,4]"),
    ],
)
def test_misuse_says_what_is_wrong_and_where(function: Any, kind: type, text: str) -> None:
    with pytest.raises(kind) as raised:
        trace_program(function, (A,), {})  # type: ignore[arg-type]
    assert text in str(raised.value)
    assert "test_namespace.py:" in str(raised.value)
