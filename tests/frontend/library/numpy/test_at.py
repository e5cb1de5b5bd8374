"""`x.at[index]`: reading and writing agree in every mode, and elements named twice are updated twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.errors import ArgumentError
from adze.frontend.library.numpy.index_expressions import IndexBoundsError

from .running import assert_same, traced_and_evaluated

X = np.array([1.0, 2.0, 4.0])
POSITIONS = (-(2**40), -8, -4, -3, -1, 0, 2, 3, 9, 2**40)
MODES = ("drop", "fill", "clip", "wrap")
UPDATES = {
    "set": lambda old, new: new,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "min": np.minimum,
    "max": np.maximum,
}


def place(position: int, mode: str, wraps: bool = True) -> int | None:
    """Where a position lies in an array of size 3; None for nowhere."""
    if mode == "wrap":
        return position % 3
    position = position + 3 if position < 0 and wraps else position
    if mode == "clip":
        return min(max(position, 0), 2)
    return position if 0 <= position < 3 else None


def updated(kind: str, where: int | None) -> np.ndarray:
    result = X.copy()
    if where is not None:
        result[where] = UPDATES[kind](X[where], 3.0)
    return result


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("wraps", [True, False])
def test_reading_and_writing_agree_on_every_position(mode: str, wraps: bool) -> None:
    keywords: dict[str, Any] = {"mode": mode, "wrap_negative_indices": wraps}
    for position in POSITIONS:
        where = place(position, mode, wraps)
        for index in (position, np.int64(position), np.array([position])):
            read = anp.asarray(X).at[index].get(**keywords, fill_value=-7.0)
            expected = -7.0 if where is None else X[where]
            assert_same(read, np.full(np.shape(index), expected))
            for kind in UPDATES:
                result = getattr(anp.asarray(X).at[index], kind)(3.0, **keywords)
                assert_same(result, updated(kind, where))


@pytest.mark.thorough
def test_compiled_reading_and_writing_agree_on_every_position() -> None:
    @adze.jit
    def everything(x: Any, i: Any) -> Any:
        return {
            mode: (
                x.at[i].get(mode=mode, fill_value=-7.0),
                x.at[i[0]].get(mode=mode, fill_value=-7.0),
                *(getattr(x.at[i], kind)(3.0, mode=mode) for kind in UPDATES),
            )
            for mode in MODES
        }

    for position in POSITIONS:
        actual = everything(X, np.array([position]))
        for mode in MODES:
            where = place(position, mode)
            expected = -7.0 if where is None else X[where]
            assert_same(actual[mode][0], np.array([expected]))
            assert_same(actual[mode][1], np.array(expected))
            for kind, result in zip(UPDATES, actual[mode][2:], strict=True):
                np.testing.assert_allclose(np.asarray(result), updated(kind, where), rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int8, np.int32])
def test_positions_of_every_integer_dtype(dtype: Any) -> None:
    largest = np.array([np.iinfo(dtype).max], dtype)
    assert_same(anp.asarray(X).at[largest].get(mode="clip"), X[-1:])
    assert_same(anp.asarray(X).at[largest].set(9.0, mode="clip"), np.array([1.0, 2.0, 9.0]))
    assert_same(anp.asarray(X).at[largest].get(mode="fill", fill_value=0.0), np.zeros(1))
    assert_same(anp.asarray(X).at[largest].set(9.0), X)


def test_known_positions_outside_are_errors_without_a_mode() -> None:
    for method in (lambda at: at.get(), lambda at: at.set(1.0), lambda at: at.get(mode="promise_in_bounds")):
        with pytest.raises(IndexBoundsError, match="index 3 is out of bounds for axis 0"):
            method(anp.asarray(X).at[3])


def test_unknown_modes_and_keywords_are_errors() -> None:
    for method in ("get", "set", "apply"):
        values = () if method == "get" else (1.0,) if method == "set" else (anp.sqrt,)
        with pytest.raises(ArgumentError, match="mode is 'never', expected one of None, drop, fill"):
            getattr(anp.asarray(X).at[0], method)(*values, mode="never")
        with pytest.raises(TypeError, match="unexpected keyword argument 'sorted'"):
            getattr(anp.asarray(X).at[0], method)(*values, sorted=True)


TWICE = np.array([0, 2, 0, 0, 1, 2])
VALUES = np.array([2.0, 3.0, 0.5, 5.0, 7.0, 2.0])


@pytest.mark.parametrize("kind", ["add", "subtract", "multiply", "divide", "power", "min", "max"])
def test_elements_named_twice_are_updated_as_by_a_ufuncs_at(kind: str) -> None:
    ufunc = {"min": np.minimum, "max": np.maximum}.get(kind) or getattr(np, kind)
    for values in (VALUES, 2.0):
        expected = X.copy()
        ufunc.at(expected, TWICE, values)
        for index in (TWICE, TWICE.tolist()):
            result = getattr(anp.asarray(X).at[index], kind)(values)
            np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-14)


def test_apply_applies_once_for_each_time_an_element_is_named() -> None:
    expected = X.copy()
    np.sqrt.at(expected, TWICE)
    assert_same(anp.asarray(X).at[TWICE].apply(anp.sqrt), expected)
    assert_same(adze.jit(lambda x, i: x.at[i].apply(anp.sqrt))(X, TWICE), expected)
    assert_same(anp.asarray(X).at[[0, 0, 5]].apply(lambda v: v + 1, mode="clip"), X + np.array([2, 0, 1]))
    assert_same(anp.asarray(X).at[[0, 0, 5]].apply(lambda v: v + 1), X + np.array([2, 0, 0]))
    assert_same(anp.asarray(X).at[1:].apply(lambda v: v + 1), X + np.array([0, 1, 1]))
    assert_same(anp.asarray(X).at[X > 1.5].apply(lambda v: v + 1), X + np.array([0, 1, 1]))
    assert_same(anp.asarray(X).at[np.zeros(0, int)].apply(lambda v: v + 1), X)
    rows = X.reshape(3, 1) * np.ones(2)
    result = anp.asarray(rows).at[[1, 1], [0, 1]].apply(lambda v: v + 1)
    assert_same(result, rows + np.array([[0, 0], [1, 1], [0, 0]]))


def test_apply_is_differentiated_through_each_application() -> None:
    slope = np.array([1 / (4 * 4.0**0.75), 1 / (2 * 3.0), 1.0])
    start = np.array([4.0, 9.0, 16.0])
    for index in ([0, 0, 1], [0, 1, 0]):
        known = adze.grad(lambda x, i=index: x.at[i].apply(anp.sqrt).sum())(start)
        np.testing.assert_allclose(np.asarray(known), slope, rtol=1e-14)
        traced = adze.grad(lambda x, i: x.at[i].apply(anp.sqrt).sum())(start, np.array(index))
        np.testing.assert_allclose(np.asarray(traced), slope, rtol=1e-14)


def test_integers_are_divided_in_their_own_dtype() -> None:
    x = np.array([7, 8, 9])
    assert_same(anp.asarray(x).at[[0, 0]].divide(2), np.array([1, 8, 9]))
    assert_same(anp.asarray(x).at[1].divide(3), np.array([7, 2, 9]))


def test_promises_are_accepted() -> None:
    keywords = {"indices_are_sorted": True, "unique_indices": True}
    assert_same(anp.asarray(X).at[[0, 2]].get(**keywords), X[[0, 2]])
    assert_same(anp.asarray(X).at[[0, 2]].add(1.0, **keywords), X + np.array([1, 0, 1]))
    assert_same(anp.asarray(X).at[[0, 2]].divide(2.0, **keywords), X / [2, 1, 2])


@pytest.mark.oracle
def test_modes_of_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    from jax.lax import GatherScatterMode

    x = X.astype(np.float32)
    for mode in (GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP):
        for position in (-4, -1, 3):
            theirs, ours = (a.at[np.array([position])] for a in (jnp.asarray(x), anp.asarray(x)))
            assert_same(ours.get(mode=mode), np.asarray(theirs.get(mode=mode)))
            assert_same(ours.add(3.0, mode=mode), np.asarray(theirs.add(3.0, mode=mode)))


WINDOWS: tuple[tuple[Any, ...], ...] = (
    ("i", slice(1, -1)),
    (slice(1, -1), "i"),
    (slice(0, 2), "i", slice(3, None)),
    ("i", slice(2, 2)),
    (slice(-9, 3), "i", slice(None, None, 2)),
    (slice(4, 0, -2), slice(1, 3), "i"),
    ("i", None, slice(1, 4), "j"),
    (slice(None), "j", slice(1, 3)),
    ("rows", slice(1, 4)),
    (slice(1, 3), "rows", "rows"),
    ("rows", slice(1, 3), "i"),
)


@pytest.mark.parametrize("kind", ["set", "add"])
@pytest.mark.parametrize("entries", WINDOWS, ids=str)
def test_slices_beside_traced_positions(entries: tuple[Any, ...], kind: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 6, 7))
    for i, j in ((2, -1), (-4, 0), (9, 2), (1, -50)):
        positions = {"i": np.int32(i), "j": np.int64(j), "rows": np.array([[3, -1], [0, 60]])}
        padded = np.pad(x, ((0, 1),) * 3)
        index = padded_index([positions[e] if isinstance(e, str) else e for e in entries], x.shape)
        updates = rng.standard_normal(padded[index].shape)
        if kind == "set":
            padded[index] = updates
        else:
            np.add.at(padded, index, updates)

        def update(x: Any, updates: Any, i: Any, j: Any, rows: Any) -> Any:
            traced = {"i": i, "j": j, "rows": rows}
            return getattr(x.at[tuple(traced[e] if isinstance(e, str) else e for e in entries)], kind)(
                updates
            )

        (result,) = traced_and_evaluated(update, x, updates, *map(np.asarray, positions.values()))
        np.testing.assert_allclose(result, padded[:-1, :-1, :-1], rtol=1e-14)


def padded_index(entries: list[Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index of an array with one more element on each axis, which stands for all positions outside."""
    index: list[Any] = []
    sizes = iter(shape)
    for entry in entries:
        if entry is None:
            index.append(None)
            continue
        n = next(sizes)
        if isinstance(entry, slice):
            start, stop, step = entry.indices(n)
            index.append(slice(start, None if stop < 0 else stop, step))
            continue
        inside = np.where((-n <= entry) & (entry < n), entry % n, n)
        index.append(inside if inside.ndim else int(inside))
    return (*index, *(slice(0, n) for n in sizes))


def test_a_row_within_bounds_is_one_window() -> None:
    def update(x: Any, i: Any) -> Any:
        return x.at[i, 1:-1].set(0.0)

    text = str(adze.trace(update, np.zeros((5, 600)), np.int32(2)))
    assert "iota" not in text
    assert "update_window_dims = array<i64: 0>" in text


STRIDED = [
    np.s_[::2],
    np.s_[1::3],
    np.s_[7:2:-2],
    np.s_[::-1],
    np.s_[2:2:2],
    (np.s_[::2], np.s_[1::2]),
    (0, np.s_[::2]),
]


@pytest.mark.parametrize("index", STRIDED, ids=str)
@pytest.mark.parametrize("method", ["set", "add", "multiply", "min", "max"])
def test_one_number_at_strided_places(index: Any, method: str) -> None:
    x = np.arange(1.0, 10.0) if not isinstance(index, tuple) else np.arange(1.0, 31.0).reshape(5, 6)
    want = x.copy()
    ufunc = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
    want[index] = 4.0 if method == "set" else ufunc[method](x[index], 4.0)

    def update(x: Any, v: Any) -> Any:
        return getattr(x.at[index], method)(v)

    for number in (4.0, np.full((1,), 4.0)):
        np.testing.assert_array_equal(update(anp.asarray(x), number), want)
        np.testing.assert_array_equal(adze.jit(lambda x, n=number: update(x, n))(x), want)
        np.testing.assert_array_equal(adze.jit(update)(x, np.asarray(number)), want)


def test_elements_that_stay_have_no_part_in_the_gradient_of_the_number() -> None:
    x = np.array([1.0, np.inf, 2.0, np.nan])
    for method, slope in (("multiply", 3.0), ("add", 2.0), ("set", 2.0)):
        f = lambda v, m=method: getattr(anp.asarray(x).at[::2], m)(v)[::2].sum()  # noqa: E731
        assert float(adze.grad(f)(5.0)) == slope
    left = adze.grad(lambda x: x.at[::2].multiply(np.inf).sum())(np.ones(4))
    np.testing.assert_array_equal(left, [np.inf, 1.0, np.inf, 1.0])


LONG_STRIDES = [
    *(np.s_[start:stop:step] for start in (0, 1, 4) for stop in (None, -1, 9) for step in (2, 3, 5)),
    np.s_[10:1:-3],
    np.s_[11::2],
]


@pytest.mark.parametrize("size", [12, 13])
@pytest.mark.parametrize("index", LONG_STRIDES, ids=str)
def test_arrays_at_strided_places(size: int, index: slice) -> None:
    for shape, whole in (((size,), index), ((size, 3), index), ((2, size, 2), np.s_[:, index, ::1])):
        x = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
        values = -np.arange(1.0, 1 + x[whole].size).reshape(x[whole].shape)
        want, kept = x.copy(), np.ones(shape)
        want[whole], kept[whole] = values, 0

        def update(x: Any, v: Any, at: Any = whole) -> Any:
            return x.at[at].set(v)

        assert_same(update(anp.asarray(x), values), want)
        assert_same(adze.jit(update)(x, values), want)
        weighted = lambda x, v, w, update=update: (update(x, v) * w).sum()  # noqa: E731
        dx, dv = adze.jit(adze.grad(weighted, argnums=(0, 1)))(x, values, want)
        assert_same(dx, kept * want)
        assert_same(dv, values)
