"""Forms of sorting without a kernel of our own, which GPUs get: ranked rows, merged blocks, selection.

Order, stability, conventions of jax.lax. What CPUs do with longer rows is tested in `passes/lower/kernels/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

from adze.dialects.errors import AdzeError, TypeCheckError
from adze.dialects.ops.ordering import Sort, TopK
from adze.dialects.types import COMPLEX64, FLOAT32, FLOAT64, INT32, TensorType
from adze.passes.lower.tuning import configuration

from ....selection import part
from ..programs import Compiled, lowered_text

LONG = 5001  # three blocks' worth, the last of them not full


def f32(*shape: int | None) -> TensorType:
    return TensorType(shape, FLOAT32)


def ordered(axis: int, num_keys: int = 1) -> Any:
    return lambda b, *x: b.sort(*x, axis=axis, num_keys=num_keys, is_stable=True)


def greatest(k: int) -> Any:
    return lambda b, x: b.top_k(x, k=k)


INTEGERS = TensorType((LONG,), INT32)
run = Compiled(
    {
        **dict(part([("long", (ordered(0), (f32(LONG), INTEGERS)))], [])),
        "long_pairs": (ordered(0, 2), (INTEGERS, TensorType((LONG,), FLOAT64))),
        "rows": (ordered(1), (f32(7, 640),)),
        "columns": (ordered(0), (f32(640, 7),)),
        "dynamic": (ordered(1), (f32(None, None), f32(None, None))),
        "complex": (ordered(1), (TensorType((None, None), COMPLEX64),)),
        "few": (greatest(5), (f32(6, 1000),)),
        "many": (greatest(100), (f32(6, 300),)),
        "dynamic_few": (greatest(3), (f32(None),)),
    }
)
RNG = np.random.default_rng(8)


@pytest.fixture(autouse=True, scope="module")
def no_kernels() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(configuration, "has_kernels", lambda target: False)
        yield


def with_ties(*shape: int) -> np.ndarray:
    values = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-42, 3.5], np.float32)
    return RNG.choice(values, shape)


def same(got: np.ndarray, want: np.ndarray) -> bool:
    return bool(np.array_equal(got, want, equal_nan=True) and (np.signbit(got) == np.signbit(want)).all())


@pytest.mark.thorough
def test_long_rows_are_sorted_stably_by_merging() -> None:
    keys, carried = with_ties(LONG), np.arange(LONG, dtype=np.int32)
    got, positions = run("long", keys, carried)
    order = np.argsort(keys, kind="stable")
    assert same(got, keys[order])
    assert (positions == order).all()


def test_second_keys_decide_between_equal_first_keys() -> None:
    first = RNG.integers(0, 9, LONG).astype(np.int32)
    second = RNG.standard_normal(LONG)
    got = run("long_pairs", first, second)
    order = np.lexsort((second, first))
    assert (got[0] == first[order]).all() and (got[1] == second[order]).all()


def test_rows_and_columns_are_sorted_apart() -> None:
    x = with_ties(7, 640)
    assert same(run("rows", x)[0], np.take_along_axis(x, np.argsort(x, 1, kind="stable"), 1))
    assert same(run("columns", x.T)[0], np.take_along_axis(x.T, np.argsort(x.T, 0, kind="stable"), 0))


@pytest.mark.parametrize("shape", [(3, 50), (1, 1), (2, 0), (0, 4)])
def test_dynamic_rows(shape: tuple[int, int]) -> None:
    keys, carried = with_ties(*shape), RNG.standard_normal(shape).astype(np.float32)
    got = run("dynamic", keys, carried)
    order = np.argsort(keys, 1, kind="stable")
    assert same(got[0], np.take_along_axis(keys, order, 1))
    assert same(got[1], np.take_along_axis(carried, order, 1))


def test_complex_rows_are_sorted_by_real_then_imaginary_part() -> None:
    x = (RNG.integers(0, 4, (3, 50)) + 1j * RNG.standard_normal((3, 50))).astype(np.complex64)
    assert (run("complex", x)[0] == np.sort(x, axis=1)).all()


@pytest.mark.parametrize(("name", "shape", "k"), [("few", (6, 1000), 5), ("many", (6, 300), 100)])
def test_greatest_elements_and_where_they_are(name: str, shape: tuple[int, int], k: int) -> None:
    x = with_ties(*shape)
    x[0] = -np.inf  # a row of nothing but the least value
    want_values, want_positions = TopK.evaluate(x, k=k)
    values, positions = run(name, x)
    assert (positions == want_positions).all()
    assert same(values, want_values)


def test_the_caller_keeps_its_array() -> None:
    x = with_ties(7, 640)
    before = x.copy()
    run("rows", x)
    assert same(x, before)


def test_too_few_elements_for_top_k_are_an_error() -> None:
    assert (run("dynamic_few", np.array([1, 3, 2], np.float32))[1] == [1, 2, 0]).all()
    with pytest.raises(AdzeError, match="top_k of 3 elements from an axis that has fewer"):
        run("dynamic_few", np.array([1, 3], np.float32))


def test_bubble_sort_is_not_used() -> None:
    assert "iree_linalg_ext.sort" not in lowered_text(ordered(0), f32(LONG))


def test_evaluation_has_the_conventions_of_jax() -> None:
    first = with_ties(40)
    first[first == np.float32(1e-42)] = 0  # denormals are zeros to XLA on CPUs
    second = RNG.standard_normal(40).astype(np.float32)
    want = jax.lax.sort((first, second), dimension=0, num_keys=1, is_stable=True)
    got = Sort.evaluate(first, second, axis=0, num_keys=1, is_stable=True)
    assert all(np.array_equal(g, np.asarray(w), equal_nan=True) for g, w in zip(got, want, strict=True))
    x = np.round(RNG.standard_normal((3, 30)) * 3).astype(np.float32) + 0.0
    values, positions = jax.lax.top_k(x, 7)
    got_values, got_positions = TopK.evaluate(x, k=7)
    assert np.array_equal(got_values, np.asarray(values)) and np.array_equal(
        got_positions, np.asarray(positions)
    )


def test_what_cannot_be_sorted_is_refused() -> None:
    with pytest.raises(TypeCheckError, match="num_keys is 2, expected at least 1 and at most the 1 operands"):
        Sort.infer(f32(3), axis=0, num_keys=2, is_stable=True)
    with pytest.raises(TypeCheckError, match="operands must have equal shapes"):
        Sort.infer(f32(3), f32(4), axis=0, num_keys=1, is_stable=True)
    with pytest.raises(TypeCheckError, match=r"k is 5, but the last axis of f32\[3\] has 3 elements"):
        TopK.infer(f32(3), k=5)
    with pytest.raises(TypeCheckError, match="expected an array with at least one axis"):
        TopK.infer(f32(), k=0)
