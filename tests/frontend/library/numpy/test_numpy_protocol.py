"""Plain NumPy code on traced arrays: ufuncs, their methods, functions, and what cannot be traced."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import adze
import adze.numpy as anp
from adze.frontend.errors import ArgumentError, TraceError, UnsupportedError
from adze.frontend.tracing.trace import trace_program

from .array_calls import ALL_CALLS
from .running import assert_same, run_traced, traced_and_evaluated

X = np.arange(12, dtype=np.float64).reshape(3, 4) / 7 - 0.6

PROGRAMS: list[Callable[[Any], Any]] = [
    lambda x: np.sin(x) + np.exp(x),
    lambda x: np.add(x, 1, dtype=np.float64),
    lambda x: np.float64(2) * x - np.ones(4),
    lambda x: np.ones((3, 1)) / x,
    lambda x: np.add.reduce(x),
    lambda x: np.add.reduce(x, axis=None),
    lambda x: np.maximum.reduce(x, axis=1, keepdims=True),
    lambda x: np.logical_and.reduce(x > 0, axis=0),
    lambda x: np.multiply.reduce(x, 1),
    lambda x: np.add.accumulate(x, axis=1),
    lambda x: np.maximum.accumulate(x),
    lambda x: np.multiply.outer(x[0], x[1]),
    lambda x: np.subtract.outer(x, x[0]),
    lambda x: np.sum(x, axis=1, keepdims=True),
    lambda x: np.concatenate((np.zeros((1, 4)), x)),
    lambda x: np.stack([x[0], x[1]]),
    lambda x: np.where(x > 0, x, 0.0),
    lambda x: np.clip(x, -0.5, 0.5),
    lambda x: np.einsum("ij,kj->ik", x, x),
    lambda x: np.linalg.norm(x),
    lambda x: np.linalg.norm(x, axis=0),
    lambda x: np.matmul(x, x.T),
    lambda x: np.pad(x, 1),
    lambda x: np.mean(x, axis=0),
    lambda x: np.std(x),
    lambda x: np.histogram(x, 4, range=(-1.0, 1.0))[0],
    lambda x: np.zeros_like(x) + np.full_like(x, 2),
    lambda x: np.sort(x, axis=0)[::-1],
    lambda x: np.modf(x)[0],
    lambda x: np.tril(x),
    lambda x: np.swapaxes(x, 0, 1),
    lambda x: np.split(x, 2, axis=1)[1],
    lambda x: np.interp(x[0], np.arange(4.0), x[1]),
    lambda x: np.nan_to_num(x / 0.0, posinf=1.0, neginf=-1.0),
    lambda x: np.full(np.shape(x), 1.0) + np.ndim(x) + np.size(x),
    lambda x: np.trapezoid(x, axis=0),
    lambda x: np.copy(x),
    lambda x: np.squeeze(x[None]),
    lambda x: np.median(x, axis=1),
    lambda x: np.percentile(x, 30),
    lambda x: sum(np.roll(x, i, axis=0) for i in range(3)),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_numpy_program_traces_unchanged(program: Callable[[Any], Any]) -> None:
    with np.errstate(all="ignore"):
        assert_same(traced_and_evaluated(program, X), [program(X)])


def test_numpy_functions_of_the_table_reach_adze() -> None:
    """Of every name in the table that NumPy dispatches, one call through NumPy's own function."""
    reached = 0
    for name in sorted({c.name for c in ALL_CALLS}):
        function: Any = np
        for part in name.split("."):
            function = getattr(function, part)
        if not hasattr(function, "__wrapped__"):
            continue  # not a function that NumPy dispatches
        call = next(c for c in ALL_CALLS if c.name == name)
        if not any(isinstance(a, np.ndarray) for a in call.args):
            continue
        wrapped = type(call)(call.name, call.args, call.kwargs, tolerance=call.tolerance)
        got = run_traced(wrapped)
        first = [anp.asarray(a) if isinstance(a, np.ndarray) else a for a in call.args]
        assert_same(function(*first, **call.kwargs), got, call.tolerance)
        reached += 1
    assert reached > 60


def out_argument(x: Any) -> Any:
    return np.add(x, 1, out=np.zeros((3, 4)))


def in_place_sum(x: Any) -> Any:
    total = np.zeros((3, 4))
    total += x
    return total


def ufunc_at(x: Any) -> Any:
    np.add.at(x, [0], 1)
    return x


def where_argument(x: Any) -> Any:
    return np.add(x, 1, where=x > 0)


def unsupported(x: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, 2, axis=0)


def without_counterpart(x: Any) -> Any:
    return np.real_if_close(x)


def reduced_comparison(x: Any) -> Any:
    return np.less.reduce(x)


def copies(x: Any) -> Any:
    np.copyto(x, 1.0)
    return x


@pytest.mark.parametrize(
    ("program", "kind", "texts"),
    [
        (out_argument, TraceError, ("numpy.add(..., out=...)", "use the result instead")),
        (in_place_sum, TraceError, ("numpy.add(..., out=...)", "y = y + x in place of y += x")),
        (ufunc_at, TraceError, ("numpy.add.at writes into its argument", ".at[index].add(values)")),
        (where_argument, UnsupportedError, ("numpy.add(..., where=...)", "numpy.where(condition")),
        (unsupported, UnsupportedError, ("sliding_window_view is not supported on arrays of adze",)),
        (without_counterpart, UnsupportedError, ("numpy.real_if_close is not supported",)),
        (reduced_comparison, UnsupportedError, ("less compares, so it has no reductions of float64",)),
        (copies, TraceError, ("numpy.copyto", "immutable")),
    ],
)
def test_what_cannot_be_traced_is_named_with_a_way_out(
    program: Callable[[Any], Any], kind: type, texts: tuple[str, ...]
) -> None:
    with pytest.raises(kind) as raised:
        trace_program(program, (X,), {})
    for text in texts:
        assert text in str(raised.value)
    assert "test_numpy_protocol.py:" in str(raised.value)


def test_unsupported_function_names_the_nearest_ones() -> None:
    with pytest.raises(
        UnsupportedError, match=r"numpy.real_if_close is not supported[\s\S]*adze.numpy has .*isclose"
    ):
        trace_program(lambda x: np.real_if_close(x), (X,), {})


def test_argument_that_adze_does_not_take_is_an_error_of_adze() -> None:
    with pytest.raises(ArgumentError, match="adze's function of that name does not take these arguments"):
        trace_program(lambda x: np.isin(x, x, kind="sort"), (X,), {})


def test_positional_arguments_are_in_the_order_of_numpy() -> None:
    program = [
        lambda x: np.mean(x, 0, None, None, True),
        lambda x: np.std(x, 1, None, None, 1, True),
        lambda x: np.max(x, 1, None, True),
        lambda x: np.argmin(x, 0, None),
        lambda x: np.clip(x, 0.0, 0.5, None),
        lambda x: np.cumsum(x, 1, None, None),
        lambda x: np.nanstd(x, 1, None, None, 1),
        lambda x: np.sum(a=x, axis=0),
        lambda x: np.tile(A=x, reps=2),
        lambda x: np.moveaxis(x, source=0, destination=1),
        lambda x: np.take(x, indices=[1, 0], axis=1),
    ]
    for function in program:
        assert_same(traced_and_evaluated(function, X), [function(X)])


def test_output_argument_of_method_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"sum: out= writes into an array in place"):
        trace_program(lambda x: x.sum(axis=0, out=np.zeros(4)), (X,), {})


def test_ufuncs_of_others_take_known_arrays_and_no_traced_ones() -> None:
    x = anp.asarray([0.0, 1.0])
    for ufunc in (scipy.special.expit, np.frompyfunc(lambda v: v + 1, 1, 1)):
        result = ufunc(x)
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, ufunc(np.asarray(x)))
    with pytest.raises(UnsupportedError, match=r"numpy\.expit is not supported on arrays of adze"):
        adze.jit(lambda v: scipy.special.expit(v))(x)


def test_known_arrays_are_written_into_arrays_of_numpy() -> None:
    y, x = np.array([1.0, 2.0]), anp.asarray([0.5, 1.0])
    same = y
    y -= x
    np.multiply(x, 10, out=y, where=np.array([False, True]))
    assert y is same and type(y) is np.ndarray and y.tolist() == [0.5, 10.0]

    def traced(v: Any) -> Any:
        z = np.ones(2)
        z -= v
        return z

    with pytest.raises(TraceError, match="a NumPy array cannot hold a traced value"):
        adze.jit(traced)(x)
