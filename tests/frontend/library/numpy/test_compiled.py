"""Selected calls compiled return what NumPy returns: few modules of many calls, since each compile costs."""

import zlib
from functools import partial
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import ShapeDtype

from ....selection import part
from .array_calls import ALL_CALLS
from .elementwise_calls import ELEMENTWISE
from .running import Call, assert_same, flat
from .test_calls import by_numpy
from .test_indexing import DYNAMIC as DYNAMIC_INDICES
from .test_namespace import DYNAMIC
from .test_numpy_protocol import PROGRAMS
from .test_special_values import CHOSEN

# Compiled sums run in another order, and transcendental functions round elsewhere.
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-11, "complex64": 2e-5, "complex128": 1e-11}
GROUPS = 6


def traced_arrays(call: Call) -> list[int]:
    return [k for k, a in enumerate(call.args) if isinstance(a, np.ndarray)]


def chosen_calls() -> list[Call]:
    """One call of every function of whole arrays that has arrays to trace."""
    first: dict[str, Call] = {}
    for call in ALL_CALLS:
        if traced_arrays(call) and call.name not in ("allclose", "array_equal", "array_equiv"):
            first.setdefault(call.name, call)
    return list(first.values())


def elementwise_calls(dtype: str) -> list[Call]:
    """One call of every elementwise function that takes the dtype.

    Where not everything is run, those of float32 at special values are compiled by `test_special_values.py`.
    """
    first: dict[str, Call] = {}
    for call in ELEMENTWISE:
        if all(isinstance(a, np.ndarray) and a.dtype == dtype for a in call.args):
            first.setdefault(call.name, call)
    elsewhere = part([], [] if dtype != "float32" else CHOSEN[np.float32])
    return [first[name] for name in first if name not in elsewhere]


def group_of(call: Call) -> int:
    return zlib.crc32(call.name.encode()) % GROUPS


@pytest.mark.thorough
@pytest.mark.parametrize(
    "group", [0, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(1, GROUPS))]
)
def test_compiled_calls_give_what_numpy_gives(group: int) -> None:
    check_together([call for call in chosen_calls() if group_of(call) == group])


@pytest.mark.thorough
@pytest.mark.parametrize(
    "dtype", ["complex64", "float32", "float16", "float64", "int8", "int64", "uint64", "bool"]
)
def test_compiled_elementwise_functions_give_what_numpy_gives(dtype: str) -> None:
    check_together(elementwise_calls(dtype))


def check_together(calls: list[Call]) -> None:
    """The calls as one compiled program; what is wrong is told of each."""
    assert calls

    @adze.jit
    def together(inputs: list[list[Any]]) -> list[list[Any]]:
        results = []
        for call, arrays in zip(calls, inputs, strict=True):
            args = list(call.args)
            for place, value in zip(traced_arrays(call), arrays, strict=True):
                args[place] = value
            results.append(flat(call.of(anp)(*args, **call.kwargs)))
        return results

    results = together([[call.args[k] for k in traced_arrays(call)] for call in calls])
    wrong = []
    for call, result in zip(calls, results, strict=True):
        for got, wanted in zip(result, by_numpy(call), strict=True):
            bound = (call.tolerance or 0.0) + TOLERANCE.get(wanted.dtype.name, 0.0)
            wrong.append(close(got, wanted, str(call), bound))
    assert not [w for w in wrong if w]


def close(actual: Any, expected: Any, name: str, bound: float | None = None) -> str:
    """What is wrong with a result, or nothing."""
    wanted = np.asarray(expected)
    try:
        assert_same(
            np.asarray(actual), wanted, TOLERANCE.get(wanted.dtype.name, 0.0) if bound is None else bound
        )
    except AssertionError as error:
        return f"{name}: {error}"
    return ""


X = np.arange(12, dtype=np.float64).reshape(3, 4) / 7 - 0.6
INDICES: list[Any] = [
    *(0, -1, (1, 2), (slice(None), 1), slice(1, None), (None, 0), (..., 0), slice(3, 3), slice(2, 0, -1)),
    (slice(None, None, -1), slice(None, None, 2)),
    (slice(None), slice(None, None, -3)),
    np.array([0, 2, -1]),
    (np.array([0, 1]), np.array([1, 3])),
    (slice(None), np.array([3, 0])),
    (np.array([[0], [2]]), np.array([1, 2])),
    (slice(None, None, 2), None, np.array([3, 1])),
    (np.array([[1, 0]]), 0),
    X > 0.2,
    (slice(None), X[0] > -0.4),
]


@pytest.mark.thorough
def test_compiled_index_gives_what_numpy_gives() -> None:
    results = adze.jit(lambda x: [x[i] for i in INDICES])(X)
    wrong = [close(got, X[i], str(i)) for got, i in zip(results, INDICES, strict=True)]
    assert not [w for w in wrong if w]


@pytest.mark.thorough
def test_compiled_update_gives_what_numpy_gives() -> None:
    chosen = INDICES[::2]

    def updates(x: Any) -> list[Any]:
        return [y for i in chosen for y in (x.at[i].set(2.0), x.at[i].add(x[i]))]

    expected = []
    for i in chosen:
        first, second = X.copy(), X.copy()
        first[i] = 2.0
        np.add.at(second, i, X[i])
        expected += [first, second]
    wrong = [close(got, want, "update") for got, want in zip(adze.jit(updates)(X), expected, strict=True)]
    assert not [w for w in wrong if w]


def test_compiled_traced_index_and_mask() -> None:
    def function(x: Any, i: Any, m: Any) -> list[Any]:
        read = [x[i], x[i, 1:], x[:, i], anp.take(x, i, axis=1)]
        return [*read, x.at[i].set(1.0), x.at[m].set(0.0), x.at[i, 1:3].mul(2.0)]

    i, m = -2, X > 0
    first, third = X.copy(), X.copy()
    first[i] = 1.0
    third[i, 1:3] *= 2
    expected = [X[i], X[i, 1:], X[:, i], X[:, i], first, np.where(m, 0, X), third]
    results = adze.jit(function)(X, np.int32(i), m)
    wrong = [close(got, want, "traced") for got, want in zip(results, expected, strict=True)]
    assert not [w for w in wrong if w]


@pytest.mark.thorough
def test_compiled_numpy_programs_give_what_numpy_gives() -> None:
    programs = part(PROGRAMS, PROGRAMS[::2])
    results = adze.jit(lambda x: [program(x) for program in programs])(X)
    with np.errstate(all="ignore"):
        pairs = zip(results, programs, strict=True)
        wrong = [close(got, p(X), f"program {k}") for k, (got, p) in enumerate(pairs)]
    assert not [w for w in wrong if w]


def test_moments_of_complex_numbers_of_named_sizes() -> None:
    def moments(xp: Any, z: Any) -> Any:
        return z.mean(), z.mean(0), z.var(1), z.std(), xp.average(z, axis=1)

    for dtype, rtol in ((np.complex64, 1e-5), (np.complex128, 1e-12)):
        compiled = adze.jit(partial(moments, anp)).trace(ShapeDtype(("n", "m"), dtype)).lower().compile()
        for shape in ((3, 70), (1, 1), (40, 2)):
            parts = np.random.default_rng(shape).standard_normal((2, *shape))
            z = (parts[0] + 1j * parts[1]).astype(dtype)
            for got, want in zip(compiled(z), moments(np, z), strict=True):
                np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


@pytest.mark.thorough
def test_compiled_dynamic_sizes_give_what_numpy_gives() -> None:
    for dtype, functions in (
        (np.float64, [partial(f, anp) for f in part(DYNAMIC, DYNAMIC[::2])]),
        (np.float32, part(DYNAMIC_INDICES, DYNAMIC_INDICES[::2])),
    ):
        spec = ShapeDtype(("n", 3), dtype)
        compiled = (
            adze.jit(lambda x, functions=functions: [f(x) for f in functions]).trace(spec).lower().compile()
        )
        in_numpy = [partial(f.func, np) if isinstance(f, partial) else f for f in functions]
        for n in (4, 7):
            x = np.random.default_rng(n).normal(size=(n, 3)).astype(dtype)
            pairs = zip(compiled(x), in_numpy, strict=True)
            wrong = [close(got, f(x), f"function {k}, n = {n}") for k, (got, f) in enumerate(pairs)]
            assert not [w for w in wrong if w]
