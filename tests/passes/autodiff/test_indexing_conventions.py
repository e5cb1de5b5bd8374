"""Conventions of the derivatives of indexing, the form of what is made, compiled programs, and effects.

At duplicates the last update counts, zeros leave the product of the others, ties share; a batch stays one op.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import lax
from adze.dialects.errors import AdzeError, MissingRuleError
from adze.frontend.tracing.interpreter import as_value, ops
from adze.passes.analysis.evaluate import evaluate
from adze.passes.ir.parsing import parse_module

from .indexing_numbers import compare, pulled

# -- conventions ---------------------------------------------------------------------------------------


def vector(kind: str, indices: list[int], unique: bool = False) -> Callable[[Any, Any], Any]:
    """The scatter of single elements into a vector."""
    function = lax.scatter if kind == "set" else getattr(lax, f"scatter_{kind}")
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    places = np.asarray(indices)[:, None]
    return lambda x, u: function(x, places, u, numbers, unique_indices=unique)


def test_of_updates_that_overwrite_each_other_the_last_gets_the_cotangent() -> None:
    back = pulled(adze, vector("set", [0, 2, 0, 5, -1]), (np.ones(3), np.ones(5)), np.array([1.0, 2, 3]))
    np.testing.assert_array_equal(back[1], [0, 2, 0])
    np.testing.assert_array_equal(back[2], [0, 3, 1, 0, 0])


def test_of_windows_that_overlap_each_element_has_its_own_last() -> None:
    numbers = lax.ScatterDimensionNumbers((1,), (), (0,))
    places = np.array([[1], [0], [2]])
    ct = np.array([1.0, 2, 3, 4])
    back = pulled(adze, lambda u: lax.scatter(np.zeros(4), places, u, numbers), (np.ones((3, 2)),), ct)
    np.testing.assert_array_equal(back[1], [[0, 0], [1, 2], [3, 4]])


def test_a_window_that_leaves_the_array_gets_nothing_in_mode_drop() -> None:
    numbers = lax.ScatterDimensionNumbers((1,), (), (0,))
    places = np.array([[3], [-1], [0]])
    ct = np.array([1.0, 2, 3, 4])
    for mode, want in (("drop", [[0, 0], [0, 0], [1, 2]]), ("clip", [[3, 4], [0, 0], [1, 2]])):
        back = pulled(
            adze,
            lambda u, m=mode: lax.scatter(np.zeros(4), places, u, numbers, mode=m),
            (np.ones((3, 2)),),
            ct,
        )
        np.testing.assert_array_equal(back[1], want)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("factors", [[2.0, 3, 5], [0, 3, 5], [0, 0, 5], [0, 0, 0], [2, 3, 0]])
def test_factors_that_are_zero_leave_the_product_of_the_others(factors: list[float]) -> None:
    """Value, first and second derivatives of 7 u0 u1 u2 (at place 1) and 11 u3 (at place 0)."""
    u = np.array([*factors, 4.0])
    f = vector("mul", [1, 1, 1, 0])
    x = np.array([11.0, 7.0])

    def by_hand(x: Any, u: Any) -> Any:
        return anp.stack([x[0] * u[3], x[1] * u[0] * u[1] * u[2]])

    ct = np.array([1.0, 2.0])
    for result, want in zip(pulled(adze, f, (x, u), ct), pulled(adze, by_hand, (x, u), ct), strict=True):
        compare(result, want)
    for along in np.eye(4):
        for second in (pushed_twice, pushed_pullback):
            compare(second(partial(f, x), u, along, ct), second(partial(by_hand, x), u, along, ct))


def pushed_twice(f: Callable[[Any], Any], u: Any, along: Any, ct: Any) -> Any:
    return adze.jvp(lambda v: adze.jvp(f, (v,), (along,))[1], (u,), (u + along + 1,))[1]


def pushed_pullback(f: Callable[[Any], Any], u: Any, along: Any, ct: Any) -> Any:
    return adze.jvp(lambda v: adze.vjp(f, v)[1](ct)[0], (u,), (along,))[1]


@pytest.mark.parametrize("kind", ["min", "max"])
def test_extrema_that_tie_share_equally(kind: str) -> None:
    sign = 1.0 if kind == "max" else -1.0
    x, u = sign * np.array([1.0, 5, 2, 3]), sign * np.array([1.0, 1, 0, 5, 9, 4])
    ct = np.array([6.0, 10, 14, 18])
    back = pulled(adze, vector(kind, [0, 0, 0, 1, 2, 7]), (x, u), ct)
    np.testing.assert_allclose(back[1], [2, 5, 0, 18])
    np.testing.assert_allclose(back[2], [2, 2, 0, 5, 14, 0])


def test_promised_indices_are_transposed_with_their_promise() -> None:
    numbers = {"operand_batching_dims": (), "start_indices_batching_dims": (), "fill_value": np.zeros(())}
    places = np.array([[2], [0], [2]])

    def take(x: Any) -> Any:
        return ops.gather(
            as_value(x),
            as_value(places),
            offset_dims=(),
            collapsed_slice_dims=(0,),
            start_index_map=(0,),
            slice_sizes=(1,),
            mode="promise_in_bounds",
            **numbers,
        )

    back = pulled(adze, take, (np.array([1.0, 2, 3]),), np.array([1.0, 2, 4]))
    np.testing.assert_array_equal(back[0], [3, 1, 3])
    np.testing.assert_array_equal(back[1], [2, 0, 5])


def test_the_tangent_of_an_extremum_that_is_nan_is_nan() -> None:
    tangent = adze.jvp(
        vector("max", [0]), (np.array([np.nan, 1]), np.array([1.0])), (np.ones(2), np.ones(1))
    )[1]
    np.testing.assert_array_equal(tangent, [np.nan, 1])


def test_a_scatter_that_is_not_linear_is_not_transposed() -> None:
    def transposed(kind: str) -> Any:
        return adze.linear_transpose(lambda u: vector(kind, [0, 0])(np.ones(2), u), np.ones(2))(np.ones(2))

    for kind in ("mul", "min", "max"):
        with pytest.raises(MissingRuleError, match=f"kind '{kind}' is not linear"):
            transposed(kind)
    np.testing.assert_array_equal(transposed("add")[0], [1, 1])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_indexing_keeps_its_dtype_when_it_is_differentiated(dtype: str) -> None:
    x = anp.asarray(np.arange(4) + 1).astype(dtype)
    u = anp.asarray([2, 0, 3]).astype(dtype)

    def f(x: Any, u: Any) -> Any:
        y = vector("mul", [0, 0, 1])(vector("set", [1, 1, 3])(x, u), u)
        return anp.take(y, np.array([0, 1, 1, 3])) * u[0]

    value, back = adze.vjp(f, x, u)
    assert [c.dtype for c in back(value)] == [x.dtype, u.dtype]


# -- the form of what is made --------------------------------------------------------------------------


def ops_of(f: Callable[..., Any], *args: Any) -> list[str]:
    """The names of the ops of a program, in order."""
    text = adze.trace(f, *args).mlir("simplified")
    words = text.replace('"', " ").replace("(", " ").split()
    return [word.removeprefix("adze.") for word in words if word.startswith("adze.")]


def test_batches_stay_one_gather_and_one_scatter() -> None:
    x, places, u = np.ones((3, 5, 2)), np.zeros((3, 4, 1), np.int32), np.ones((3, 4, 2))
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    into = lax.ScatterDimensionNumbers((1,), (0,), (0,))

    def take(x: Any, i: Any) -> Any:
        return lax.gather(x, i, rows, (1, 2))

    def put(x: Any, i: Any, u: Any) -> Any:
        return lax.scatter_add(x, i, u, into)

    assert ops_of(adze.vmap(take), x, places) == ["gather"]
    assert ops_of(adze.vmap(take, (0, None)), x, places[0]) == ["gather"]
    assert ops_of(adze.vmap(take, (None, 0)), x[0], places) == ["gather"]
    assert ops_of(adze.vmap(adze.vmap(take, (None, 0)), (0, None)), x, places) == ["gather"]
    assert ops_of(adze.vmap(put), x, places, u) == ["scatter"]
    assert ops_of(adze.vmap(put, (0, None, 0)), x, places[0], u) == ["scatter"]


def test_shared_starts_stay_one_window() -> None:
    x, start = np.ones((3, 5, 2)), np.int32(1)
    made = ops_of(adze.vmap(lambda x, i: lax.dynamic_slice_in_dim(x, i, 2), (0, None)), x, start)
    assert "gather" not in made
    assert made.count("dynamic_slice") == 1
    made = ops_of(adze.vmap(lambda x, i: lax.dynamic_index_in_dim(x, i), (None, 0)), x[0], np.arange(3))
    assert made.count("gather") == 1
    assert not {"dynamic_slice", "concatenate"} & set(made)


def test_the_pullback_of_a_lookup_is_one_scatter() -> None:
    def back(x: Any, i: Any, ct: Any) -> Any:
        return adze.vjp(lambda x: lax.gather(x, i, lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 2)), x)[
            1
        ](ct)

    made = ops_of(back, np.ones((5, 2)), np.zeros((4, 1), np.int32), np.ones((4, 2)))
    assert made == ["constant", "broadcast_in_dim", "scatter"]


PLACED = [
    # x, indices, updates; window axes, inserted, indexed, batching axes of x and of the indices
    ((4, 6), (4, 1, 1), (4, 1), (), (1,), (1,), (0,), (0,)),
    ((4, 6), (1, 1), (4, 1), (0,), (1,), (1,), (), ()),
    ((6,), (1,), (), (), (0,), (0,), (), ()),
    ((3, 6, 2), (2, 3, 1), (2, 3), (), (1,), (1,), (2, 0), (0, 1)),
    ((6, 3, 2), (1, 2, 1), (1, 3, 2), (1,), (0,), (0,), (2,), (1,)),
]


@pytest.mark.each_value(lambda dtype, case: (dtype, str(case)))
@pytest.mark.parametrize("case", PLACED, ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint32, np.int64, np.uint64])
def test_single_updates_of_zeros_are_chosen_by_position(case: Any, dtype: Any) -> None:
    shape, of_indices, of_updates, window, inserted, indexed, *together = case
    rng = np.random.default_rng(0)
    updates = rng.standard_normal(of_updates)
    indices = rng.integers(0 if np.dtype(dtype).kind == "u" else -2, 8, of_indices).astype(dtype)
    if dtype in (np.int64, np.uint64):
        indices.reshape(-1)[0] = 2**32 + 3  # its low half is a position
    numbers = lax.ScatterDimensionNumbers(window, inserted, indexed, *together)
    for mode in ("drop", "clip"):
        for scatter in (lax.scatter, lax.scatter_add):

            def f(i: Any, u: Any, scatter: Any = scatter, mode: str = mode) -> Any:
                return scatter(anp.zeros(shape, np.float64), i, u, numbers, mode=mode)

            assert "scatter" not in ops_of(f, indices, updates)
            traced = adze.trace(f, indices, updates)
            (result,) = evaluate(
                parse_module(traced.mlir("simplified")), traced.program.symbol, [indices, updates]
            )
            np.testing.assert_array_equal(result, f(indices, updates))


# -- compiled ------------------------------------------------------------------------------------------


def everything(x: Any, u: Any, i: Any, s: Any) -> Any:
    """Pullbacks of every op, plain and batched, of f32[n, 3], f32[m, 3], i32[m, 1], i32[]."""
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    into = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    results = []
    for f, args in (
        (lambda x: lax.gather(x, i, rows, (1, 3), mode="fill"), (x,)),
        (lambda x: lax.gather(x, i, rows, (1, 3), mode="clip"), (x,)),
        *(
            (lambda x, u, put=put: put(x, i, u, into), (x, u))
            for put in (lax.scatter, lax.scatter_add, lax.scatter_mul, lax.scatter_min, lax.scatter_max)
        ),
        (lambda x: lax.dynamic_slice(x, (s, 1), (2, 2)), (x,)),
        (lambda x, u: lax.dynamic_update_slice(x, u[:2, :2], (s, 1)), (x, u)),
        (adze.vmap(lambda x, k: lax.dynamic_slice(x, (k,), (2,)), (1, 0)), (x, np.array([0, 2, 1]))),
        (adze.vmap(lambda x, k: lax.dynamic_update_slice(x, x[:1], (k,)), (1, 0)), (x, np.array([0, 2, 1]))),
        (adze.vmap(lambda x, k: x.at[k].set(x[0]), (None, 0)), (x, i)),
        (lambda x: anp.take_along_axis(x, i[:4], axis=1), (x,)),
    ):
        value, back = adze.vjp(f, *args)
        results += [value, *(c for c in back(anp.sin(value)) if c.dtype == value.dtype)]
    return results


STATIC = pytest.param(((4, 3), (5, 3)), marks=pytest.mark.thorough)


@pytest.mark.thorough
@pytest.mark.parametrize("shapes", [STATIC, ((None, 3), ("m", 3))])
def test_compiled_derivatives_are_the_evaluated_ones(shapes: Any) -> None:
    rng = np.random.default_rng(3)
    x, u = (rng.standard_normal(s).astype(np.float32) for s in ((4, 3), (5, 3)))
    i = np.array([[1], [3], [1], [4], [-1]], np.int32)
    s = np.int32(1)
    u[1, 0], u[2, 1] = 0, x[1, 1]
    specs = (
        *(adze.ShapeDtype(d) for d in shapes),
        adze.ShapeDtype((shapes[1][0], 1), "int32"),
        adze.ShapeDtype((), "int32"),
    )
    program = adze.trace(everything, *specs).lower("cpu").compile()
    for result, want in zip(program(x, u, i, s), everything(x, u, i, s), strict=True):
        assert result.dtype == want.dtype
        np.testing.assert_allclose(np.asarray(result), np.asarray(want), rtol=1e-5, atol=1e-6)


def cross_entropy(x: Any, labels: Any) -> Any:
    shifted = x - anp.max(x, axis=-1, keepdims=True)
    chosen = anp.take_along_axis(shifted, labels[:, None], axis=-1)[:, 0]
    return anp.mean(anp.log(anp.sum(anp.exp(shifted), axis=-1)) - chosen)


def test_elements_are_not_read_before_they_are_computed() -> None:
    """IREE's fusion overlooks what a gather takes its elements from; see docs/iree_notes.md."""
    rng = np.random.default_rng(5)
    logits = rng.standard_normal((64, 100)).astype(np.float32)
    labels = rng.integers(0, 100, 64)

    both = adze.value_and_grad(cross_entropy)
    for result, want in zip(adze.jit(both)(logits, labels), both(logits, labels), strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(want), rtol=1e-5, atol=1e-7)


# -- effects -------------------------------------------------------------------------------------------


def test_effects_happen_once_on_primals(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        ops.print(x, format="x is {}")
        ops.check(anp.all(x > 0), message="x must be positive")
        return x * x

    _, back = adze.vjp(f, np.array([1.0, 2]))
    np.testing.assert_array_equal(back(np.ones(2))[0], [2, 4])
    assert capsys.readouterr().out == "x is [1. 2.]\n"
    np.testing.assert_array_equal(adze.jvp(f, (np.array([3.0]),), (np.ones(1),))[1], [6])
    assert capsys.readouterr().out == "x is [3.]\n"
    with pytest.raises(AdzeError, match="x must be positive"):
        adze.vjp(f, np.array([-1.0]))


def test_a_batch_is_shown_whole_and_checked_for_every_element(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        ops.print(x, format="x is {}")
        ops.check(x > 0, message="x must be positive")
        return x + 1

    np.testing.assert_array_equal(adze.vmap(f)(np.array([1.0, 2])), [2, 3])
    assert capsys.readouterr().out == "x is [1. 2.]\n"
    with pytest.raises(AdzeError, match="x must be positive"):
        adze.vmap(f)(np.array([1.0, -2]))
