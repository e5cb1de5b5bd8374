"""Indexing follows NumPy: random indices and updates, eager and traced; bounds, masks, dynamic sizes."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import adze.numpy as anp
from adze import ShapeDtype
from adze.dialects.errors import AdzeError
from adze.frontend.errors import (
    ArgumentError,
    ConcretizationError,
    DtypeError,
    IndexingError,
    ShapeError,
    TraceError,
)
from adze.frontend.tracing.trace import trace_program
from adze.passes.analysis.evaluate import evaluate

from .running import assert_same, traced_and_evaluated

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
SHAPES = ((4,), (3, 5), (2, 3, 4), (2, 1, 3, 2))


@st.composite
def array_and_index(draw: st.DrawFn) -> tuple[Any, Any]:
    """An array, and an index of basic and advanced entries that NumPy accepts."""
    shape = draw(st.sampled_from(SHAPES))
    x = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    batch = draw(
        hnp.broadcastable_shapes(draw(st.sampled_from([(2,), (3,), (2, 3), (1,)])), max_dims=2, max_side=3)
    )
    entries: list[Any] = []
    used = draw(st.integers(0, len(shape)))
    for n in shape[:used]:
        kind = draw(st.sampled_from(["int", "slice", "array", "mask", "slice"]))
        if kind == "int":
            entries.append(draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            entries.append(draw(st.slices(n)))
        elif kind == "array":
            dtype = draw(st.sampled_from([np.int64, np.int32, np.int8]))
            entries.append(draw(hnp.arrays(dtype, batch, elements=st.integers(-n, n - 1))))
        else:
            mask = np.zeros(n, bool)
            mask[draw(st.integers(0, n - 1))] = True
            entries.append(mask)
    for place in draw(st.lists(st.integers(0, len(entries)), max_size=2)):
        entries.insert(place, None)
    if draw(st.booleans()):
        place = draw(st.integers(0, len(entries)))
        tail = len(shape) - used
        # An ellipsis moves what follows it to the last axes: only there if nothing consuming follows.
        if tail == 0 or all(e is None for e in entries[place:]):
            entries.insert(place, Ellipsis)
    index = tuple(entries)
    return x, index[0] if len(index) == 1 and draw(st.booleans()) else index


@settings(max_examples=250, deadline=None)
@given(array_and_index())
def test_random_index_gives_what_numpy_gives(case: tuple[Any, Any]) -> None:
    x, index = case
    assert_same(anp.asarray(x)[index], x[index])


@settings(max_examples=80, deadline=None)
@given(array_and_index())
def test_random_index_gives_the_same_when_traced(case: tuple[Any, Any]) -> None:
    x, index = case
    entries = index if isinstance(index, tuple) else (index,)
    arrays = [e for e in entries if isinstance(e, np.ndarray) and e.dtype != bool]

    def function(x: Any, *traced: Any) -> Any:
        left = list(traced)
        return x[tuple(left.pop(0) if isinstance(e, np.ndarray) and e.dtype != bool else e for e in entries)]

    assert_same(traced_and_evaluated(function, x, *arrays), [x[index]])


@settings(max_examples=200, deadline=None)
@given(array_and_index(), st.sampled_from(["set", "add", "mul", "min", "max"]), st.booleans())
def test_random_update_gives_what_numpy_gives(case: tuple[Any, Any], kind: str, scalar: bool) -> None:
    x, index = case
    rng = np.random.default_rng(3)
    values = rng.integers(1, 9, () if scalar else x[index].shape)
    assert_same(getattr(anp.asarray(x).at[index], kind)(values), updated(x, index, kind, values))


@settings(max_examples=60, deadline=None)
@given(array_and_index(), st.sampled_from(["set", "add", "max"]))
def test_random_update_gives_the_same_when_traced(case: tuple[Any, Any], kind: str) -> None:
    x, index = case
    values = np.random.default_rng(3).integers(1, 9, x[index].shape)
    actual = traced_and_evaluated(lambda x, v: getattr(x.at[index], kind)(v), x, values)
    assert_same(actual, [updated(x, index, kind, values)])


def updated(x: Any, index: Any, kind: str, values: Any) -> Any:
    result = x.copy()
    functions = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
    if kind == "set":
        result[index] = values
    else:
        functions[kind].at(result, index, values)
    return result


# -- traced integers ---------------------------------------------------------------------------


@pytest.mark.parametrize("position", [0, 2, -1, -3])
def test_traced_integer_lowers_to_dynamic_slice(position: int) -> None:
    program = trace_program(lambda x, i: x[i, 1:, None], (X, np.int32(position)), {})
    text = str(program.module)
    assert "adze.dynamic_slice" in text
    assert "adze.gather" not in text
    assert_same(
        evaluate(program.module, program.symbol, [X, np.asarray(np.int32(position))]), [X[position, 1:, None]]
    )


def test_basic_index_lowers_to_slices_only() -> None:
    program = trace_program(lambda x: (x[1, ::-2, 1:4], x[..., -1], x[None, 0]), (X,), {})
    text = str(program.module)
    assert "adze.gather" not in text
    assert "adze.slice" in text
    assert_same(evaluate(program.module, program.symbol, [X]), [X[1, ::-2, 1:4], X[..., -1], X[None, 0]])


def test_values_out_of_bounds_are_clamped_when_read_and_dropped_when_written() -> None:
    x, i = np.arange(4.0), np.array([1, 7, -9])
    read = traced_and_evaluated(lambda x, i: (x[i], x[i[1]], x.at[i].get(mode="fill", fill_value=-1)), x, i)
    assert_same(read, [np.array([1.0, 3.0, 0.0]), np.asarray(3.0), np.array([1.0, -1.0, -1.0])])
    written = traced_and_evaluated(lambda x, i: (x.at[i].set(9.0), x.at[i].add(1.0, mode="clip")), x, i)
    assert_same(written, [np.array([0.0, 9.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0, 4.0])])
    assert_same(anp.asarray(x)[i], read[0])
    assert_same(anp.asarray(x).at[i].set(9.0), written[0])


def test_at_has_every_update_of_the_documentation() -> None:
    x = np.array([4.0, 9.0])
    a = anp.asarray(x)
    assert_same(a.at[0].subtract(1.0), np.array([3.0, 9.0]))
    assert_same(a.at[0].divide(2.0), np.array([2.0, 9.0]))
    assert_same(a.at[1].power(0.5), np.array([4.0, 3.0]))
    assert_same(a.at[:].apply(anp.sqrt), np.sqrt(x))


# -- masks -------------------------------------------------------------------------------------


def test_traced_mask_updates_without_knowing_its_count() -> None:
    mask = X[:, :, 0] > 20
    actual = traced_and_evaluated(
        lambda x, m: (x.at[m].set(1.5), x.at[m, :].add(2.0), x.at[m].mul(x[0, 0])), X, mask
    )
    first, second, third = X.copy(), X.copy(), X.copy()
    first[mask] = 1.5
    second[mask] += 2
    third[mask] *= X[0, 0]
    assert_same(actual, [first, second, third])


def test_reading_by_traced_mask_names_the_ways_out() -> None:
    with pytest.raises(ArgumentError) as raised:
        trace_program(lambda x: x[x > 0], (X,), {})
    text = str(raised.value)
    assert "x[mask] with a traced mask i1[3,4,5] has a shape that depends on values" in text
    assert "where" in text
    assert "nonzero(mask, size=...)" in text
    assert "test_indexing.py:" in text


def test_concrete_mask_reads_and_writes() -> None:
    mask = X > 30
    assert_same(anp.asarray(X)[mask], X[mask])
    expected = X.copy()
    expected[mask] = np.arange(mask.sum())
    assert_same(anp.asarray(X).at[mask].set(np.arange(mask.sum(), dtype=np.float32)), expected)
    assert_same(anp.asarray(X)[True], X[True])
    assert_same(anp.asarray(X)[False, 1], X[False, 1])


# -- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "kind", "text"),
    [
        (5, ShapeError, "index 5 is out of bounds for axis 0 of f32[3,4,5]"),
        ((0, -5), ShapeError, "index -5 is out of bounds for axis 1 of f32[3,4,5]"),
        ((0, 0, 0, 0), ShapeError, "too many indices: f32[3,4,5] has 3 dimensions, the index names 4"),
        (
            1.5,
            ArgumentError,
            "an index must be an integer, a slice, None, '...' or an integer or boolean array",
        ),
        ("a", ArgumentError, "got 'a'"),
        (np.ones(3), IndexingError, "an index array must be of integers or booleans, got f64[3]"),
        ((..., ...), ArgumentError, "only one ellipsis"),
        (np.ones((2, 4), bool), ShapeError, "a boolean index of shape (2, 4) does not fit f32[3,4,5]"),
        (([0, 1], [0, 1, 2]), ShapeError, "index arrays could not be broadcast together: shapes (2,), (3,)"),
        (slice(0, 2, 0), ArgumentError, "a slice's step must be a nonzero integer"),
    ],
)
def test_wrong_index_says_what_is_wrong_and_where(index: Any, kind: type, text: str) -> None:
    for run in (lambda: anp.asarray(X)[index], lambda: trace_program(lambda x: x[index], (X,), {})):
        with pytest.raises(kind) as raised:
            run()
        assert text in str(raised.value)
        assert "test_indexing.py:" in str(raised.value)


def test_index_out_of_bounds_is_an_index_error_too() -> None:
    with pytest.raises(IndexError):
        anp.asarray(X)[3]


def test_traced_slice_bound_points_to_dynamic_slice() -> None:
    with pytest.raises(
        ConcretizationError, match=r"a slice bound must be known while tracing[\s\S]*dynamic_slice"
    ):
        trace_program(lambda x, i: x[i : i + 2], (X, np.int64(1)), {})


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        (
            np.ones(3, np.float32),
            ShapeError,
            "cannot write f32[3] into the part of shape (4, 5) of f32[3,4,5]",
        ),
        (1j, DtypeError, "cannot write 1j into f32[3,4,5] without losing its kind of number"),
        (np.ones(5, np.complex64), DtypeError, "cannot write c64[5] into f32[3,4,5]"),
    ],
)
def test_values_that_do_not_fit_are_an_error(values: Any, kind: type, text: str) -> None:
    with pytest.raises(kind) as raised:
        anp.asarray(X).at[0].set(values)
    assert text in str(raised.value)


def test_item_assignment_points_to_at() -> None:
    with pytest.raises(TraceError, match=r"\.at\[index\]\.set"):
        anp.asarray(X)[0] = 1


# -- dynamic sizes -----------------------------------------------------------------------------

DYNAMIC = [
    lambda x: x[0],
    lambda x: x[-1],
    lambda x: x[1:],
    lambda x: x[:-1],
    lambda x: x[1:-1],
    lambda x: x[-2:],
    lambda x: x[::2],
    lambda x: x[::-1],
    lambda x: x[::-2],
    lambda x: x[-2::-1],
    lambda x: x[3:0:-1],
    lambda x: x[:0:-1],
    lambda x: x[5:100],
    lambda x: x[1:, 0],
    lambda x: x[None, :, 1],
    lambda x: x[: x.shape[0] - 1],
    lambda x: x[np.array([0, -1, 1])],
    lambda x: x[:, np.array([0, 1])],
    lambda x: x[np.array([0, 1]), None, 1:],
]


@pytest.mark.parametrize("function", DYNAMIC)
def test_index_of_dynamic_size_gives_what_numpy_gives(function: Any) -> None:
    program = trace_program(function, (ShapeDtype(("n", 3), np.float32),), {})
    for n in (6, 7):
        x = np.arange(n * 3, dtype=np.float32).reshape(n, 3)
        assert_same(evaluate(program.module, program.symbol, [x]), [function(x)])


@pytest.mark.parametrize(
    "index", [0, -1, slice(1, None), slice(None, None, 2), slice(None, None, -1), slice(1, -1)]
)
def test_update_of_dynamic_size_gives_what_numpy_gives(index: Any) -> None:
    program = trace_program(
        lambda x: (x.at[index].set(7.0), x.at[index].add(x[index])), (ShapeDtype(("n",), np.float32),), {}
    )
    for n in (5, 6):
        x = np.arange(n, dtype=np.float32)
        first, second = x.copy(), x.copy()
        first[index] = 7
        second[index] += x[index]
        assert_same(evaluate(program.module, program.symbol, [x]), [first, second])


def test_errors_of_indexing_are_errors_of_adze() -> None:
    with pytest.raises(AdzeError):
        anp.take(X, [9], axis=0)


@pytest.mark.each_value
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (7, 3), (3, 7), (4, 4, 4), (0, 3), (1, 1)])
@pytest.mark.parametrize("value", [5, [1.5, -2.0], np.arange(24.0)])
def test_fill_diagonal_gives_what_numpy_writes(shape: tuple[int, ...], wrap: bool, value: Any) -> None:
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    result = anp.fill_diagonal(array, value, wrap)
    np.fill_diagonal(array, value, wrap)
    np.testing.assert_array_equal(result, array)
    assert result.dtype == array.dtype


def test_fill_diagonal_refuses_what_it_cannot_do() -> None:
    for call, text in (
        (lambda: anp.fill_diagonal(np.ones((2, 2)), 0, inplace=True), "arrays of adze do not change"),
        (lambda: anp.fill_diagonal(np.ones((2, 3, 2)), 0), "must be equal, got f64[2,3,2]"),
        (lambda: anp.fill_diagonal(np.ones(3), 0), "fill_diagonal"),
    ):
        with pytest.raises(AdzeError, match=re.escape(text)):
            call()
