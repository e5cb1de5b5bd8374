"""`custom_vmap` and `sequential_vmap`: rules under maps and derivatives, and what wrong rules are told."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError
from adze import numpy as xp
from adze.custom_batching import custom_vmap, sequential_vmap
from adze.dialects.errors import MissingRuleError
from adze.frontend.tracing.interpreter import ops
from adze.passes.ir.parsing import parse_module
from adze.passes.pipeline import run_pipeline
from adze.passes.registry import parse_pipeline

A = np.arange(12.0).reshape(3, 4) / 7
B = np.arange(12.0)[::-1].reshape(3, 4) / 5
ROWS = adze.ShapeDtype(("n", 4), np.float64)


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12, atol=1e-14)


def wave() -> tuple[custom_vmap, list[Any]]:
    """sin(x) y with a rule, and what the rule was told at each of its calls."""
    told: list[Any] = []

    @custom_vmap
    def f(x: Any, y: Any) -> Any:
        return xp.sin(x) * y

    @f.def_vmap
    def rule(axis_size: Any, in_batched: Any, x: Any, y: Any) -> Any:
        told.append((axis_size, in_batched))
        return xp.sin(x) * y, True

    return f, told


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: xp.sum(f(*args))


# -- the rule ------------------------------------------------------------------------------------------


def test_rule_is_used_in_place_of_the_function() -> None:
    @custom_vmap
    def f(x: Any) -> Any:
        return x + 1

    f.def_vmap(lambda axis_size, in_batched, x: (x * 10 * axis_size, True))
    same(f(A), A + 1)
    same(adze.jit(f)(A), A + 1)
    same(adze.vmap(f)(A), A * 30)
    same(adze.jit(adze.vmap(f))(A), A * 30)
    same(adze.vmap(adze.jit(f))(A), A * 30)


def test_rule_is_told_which_arguments_are_batched() -> None:
    f, told = wave()
    same(adze.vmap(f)(A, B), np.sin(A) * B)
    same(adze.vmap(f, (0, None))(A, B[0]), np.sin(A) * B[0])
    same(adze.vmap(f, (None, 1))(A[:, 0], B), (np.sin(A[:, :1]) * B).T)
    assert told == [(3, [True, True]), (3, [True, False]), (4, [False, True])]


def test_rule_gets_trees_and_says_which_results_are_batched() -> None:
    @custom_vmap
    def f(p: Any, x: Any) -> Any:
        return {"sum": p["w"] + x, "shared": [p["b"] * 2]}

    @f.def_vmap
    def rule(axis_size: Any, in_batched: Any, p: Any, x: Any) -> Any:
        assert in_batched == [{"w": True, "b": False}, True]
        return {"sum": p["w"] + x, "shared": [p["b"] * 2]}, {"sum": True, "shared": [False]}

    p = {"w": A, "b": np.arange(2.0)}
    axes = ({"w": 0, "b": None}, 0)
    result = adze.vmap(f, in_axes=axes, out_axes={"sum": 0, "shared": [None]})(p, B)
    same(result["sum"], A + B)
    same(result["shared"][0], [0, 2])
    same(adze.vmap(f, in_axes=axes)(p, B)["shared"][0], [[0, 2]] * 3)


def test_rule_is_not_used_where_nothing_is_batched() -> None:
    f, told = wave()
    same(adze.vmap(lambda x, y, z: f(x, y) * z, (None, None, 0))(A[0], B[0], A), np.sin(A[0]) * B[0] * A)
    assert told == []


def test_rule_is_batched_by_outer_maps() -> None:
    f, told = wave()
    same(adze.vmap(adze.vmap(f))(A, B), np.sin(A) * B)
    same(adze.vmap(adze.vmap(f, (0, None)), (None, 0))(A[0], B[0]), np.outer(B[0], np.sin(A[0])))
    assert told == [(4, [True, True]), (4, [True, False])]


def test_rule_may_call_its_own_function() -> None:
    @custom_vmap
    def f(x: Any, y: Any) -> Any:
        return xp.outer(x, y)

    @f.def_vmap
    def rule(axis_size: Any, in_batched: Any, x: Any, y: Any) -> Any:
        if in_batched == [True, False]:  # the rows of one larger product
            return f(x.reshape((-1,)), y).reshape((axis_size, -1, y.size)), True
        return x[..., :, None] * y[..., None, :], True

    same(adze.vmap(f, (0, None))(A, B[0]), A[:, :, None] * B[0])
    same(adze.vmap(f)(A, B), A[:, :, None] * B[:, None, :])
    same(adze.vmap(adze.vmap(f, (0, None)), (None, 0))(A, B)[2], A[:, :, None] * B[2])


def test_rule_meets_a_size_that_is_dynamic() -> None:
    f, told = wave()
    mapped = adze.trace(adze.vmap(f), ROWS, ROWS).lower().compile()
    same(mapped(A, B), np.sin(A) * B)
    ((size, flags),) = told
    assert not isinstance(size, int) and flags == [True, True]


def test_function_is_inlined_where_it_is_not_batched() -> None:
    f, _ = wave()
    text = adze.trace(f, A, B).mlir("simplified")
    assert "custom_batch_call" not in text and "adze.sin" in text


def test_arguments_by_keyword_and_by_default() -> None:
    @custom_vmap
    def f(x: Any, scale: Any = 2.0) -> Any:
        return x * scale

    f.def_vmap(lambda axis_size, in_batched, x, scale: (x * scale, in_batched[0]))
    same(adze.vmap(f)(A), 2 * A)
    same(adze.vmap(lambda x: f(scale=3.0, x=x))(A), 3 * A)


def test_loops_and_branches_batch_calls_inside_by_the_rule() -> None:
    f, told = wave()

    def looped(x: Any, y: Any) -> Any:
        return adze.fori_loop(0, 3, lambda i, s: f(s, y), x)

    expected = A
    for _ in range(3):
        expected = np.sin(expected) * B
    same(adze.vmap(looped)(A, B), expected)
    same(adze.jit(adze.vmap(looped))(A, B), expected)
    assert told and all(size == 3 for size, _ in told)

    def chosen(flag: Any, x: Any, y: Any) -> Any:
        return adze.cond(flag, f, lambda x, y: x, x, y)

    flags = np.array([True, False, True])
    same(adze.vmap(chosen)(flags, A, B), np.where(flags[:, None], np.sin(A) * B, A))


# -- derivatives ---------------------------------------------------------------------------------------


def test_gradient_of_a_map() -> None:
    f, _ = wave()
    same(adze.grad(lambda a: xp.sum(adze.vmap(f)(a, B)))(A), np.cos(A) * B)
    same(adze.grad(lambda b: xp.sum(adze.vmap(f, (0, None))(A, b)))(B[0]), np.sin(A).sum(0))


@pytest.mark.parametrize("argument", [0, 1])
def test_map_of_a_gradient(argument: int) -> None:
    f, told = wave()
    result = adze.vmap(adze.grad(total(f), argnums=argument))(A, B)
    same(result, [np.cos(A) * B, np.sin(A)][argument])
    result = adze.vmap(adze.grad(total(f), argnums=argument), (0, None))(A, B[0])
    same(result, [np.cos(A) * B[0], np.sin(A)][argument])
    assert told, "the derivative is one of the function, not of the rule"


def test_rule_is_differentiated_where_a_gradient_is_mapped() -> None:
    @custom_vmap
    def f(x: Any) -> Any:
        return x * x

    f.def_vmap(lambda axis_size, in_batched, x: (5 * x, True))
    same(adze.vmap(adze.grad(total(f)))(A), 5 * np.ones_like(A))
    same(adze.vmap(lambda x: adze.jvp(f, (x,), (x,)))(A)[1], 5 * A)
    same(adze.grad(total(f))(A), 2 * A)


def test_forward_mode_on_both_sides() -> None:
    f, _ = wave()
    expected = np.cos(A) * A * B + np.sin(A) * B
    same(adze.jvp(adze.vmap(f), (A, B), (A, B))[1], expected)
    same(adze.vmap(lambda x, y: adze.jvp(f, (x, y), (x, y))[1])(A, B), expected)
    same(adze.vmap(lambda x, y: adze.jvp(lambda x: f(x, y), (x,), (x,))[1])(A, B), np.cos(A) * A * B)


def test_second_derivatives() -> None:
    f, _ = wave()
    result = adze.vmap(adze.hessian(total(f)))(A, B)
    for k in range(3):
        same(result[k], np.diag(-np.sin(A[k]) * B[k]))
    slopes = adze.vmap(adze.grad(total(f)))
    same(adze.grad(lambda a: xp.sum(slopes(a, B) ** 2))(A), -2 * np.cos(A) * np.sin(A) * B * B)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("derive", [adze.grad, adze.hessian])
def test_derivatives_with_a_dynamic_batch(derive: Any) -> None:
    f, _ = wave()
    mapped = adze.vmap(derive(total(f)))
    same(adze.trace(mapped, ROWS, ROWS).lower().compile()(A, B), mapped(A, B))


def test_own_derivative_inside_which_the_rule_is() -> None:
    f, told = wave()

    @adze.custom_jvp
    def g(x: Any) -> Any:
        return f(x, xp.ones_like(x))

    g.defjvp(lambda primals, tangents: (g(*primals), 7 * tangents[0]))
    same(adze.vmap(adze.grad(total(g)))(A), 7 * np.ones_like(A))
    same(adze.vmap(g)(A), np.sin(A))
    assert told


def test_checkpointed_calls_keep_the_rule() -> None:
    f, told = wave()
    loss = total(lambda x, y: adze.checkpoint(f)(x, y))
    same(adze.vmap(adze.grad(loss))(A, B), np.cos(A) * B)
    assert told


# -- outer values --------------------------------------------------------------------------------------


def scaled_by(w: Any) -> custom_vmap:
    @custom_vmap
    def f(x: Any) -> Any:
        return x * w

    f.def_vmap(lambda axis_size, in_batched, x: (x * w, True))
    return f


def test_function_and_rule_use_outer_values() -> None:
    def f(w: Any) -> Any:
        return adze.vmap(scaled_by(w))(A)

    same(adze.jit(f)(np.float64(2)), 2 * A)
    same(adze.jvp(f, (np.float64(2),), (np.float64(1),))[1], A)
    same(adze.grad(total(f))(np.float64(2)), A.sum())
    same(adze.vmap(f)(np.arange(2.0)), [0 * A, A])


def test_error_of_an_outer_value_that_is_mapped() -> None:
    error = check(
        lambda: adze.vmap(lambda w, x: scaled_by(w)(x))(np.arange(3.0), A),
        "custom_vmap function f, or its batching rule, uses an outer value that is mapped",
    )
    assert error.hint == "make that value an argument, so that the rule sees whether it is batched"


# -- sequential_vmap -----------------------------------------------------------------------------------


def lines(function: Callable[..., Any], *arguments: Any) -> str:
    return adze.trace(function, *arguments).mlir("simplified")


def test_sequential_map_is_a_loop_with_the_values_of_a_map() -> None:
    f = sequential_vmap(lambda x, y: {"product": xp.sum(x) * y, "sin": [xp.sin(x)]})
    result = adze.vmap(f)(A, B)
    same(result["product"], A.sum(1)[:, None] * B)
    same(result["sin"][0], np.sin(A))
    same(adze.jit(adze.vmap(f, (0, None)))(A, B[0])["product"], A.sum(1)[:, None] * B[0])
    same(adze.vmap(f, (None, 0))(A[0], B)["sin"][0], [np.sin(A[0])] * 3)
    text = lines(adze.vmap(f), A, B)
    assert "adze.scan" in text and "tensor<4xf64>" in text and "tensor<3x4xf64>, tensor<3x4xf64>) ->" in text


def test_sequential_maps_nest_and_are_differentiated() -> None:
    f = sequential_vmap(lambda x, y: xp.sum(xp.sin(x)) * y)
    grid = adze.vmap(adze.vmap(f, (None, 0)), (0, None))
    same(grid(A, B), np.sin(A).sum(1)[:, None, None] * B)
    slopes = np.cos(A) * B.sum(1)[:, None]
    inside, outside = (
        adze.vmap(adze.grad(total(f))),
        adze.grad(lambda a, b: xp.sum(adze.vmap(f)(a, b))),
    )
    for derivative in (inside, outside):
        same(derivative(A, B), slopes)
        same(adze.jit(derivative)(A, B), slopes)
        assert "adze.scan" in lines(derivative, A, B)
    tangents = np.cos(A).sum(1)[:, None] * B
    same(adze.vmap(lambda x, y: adze.jvp(lambda x: f(x, y), (x,), (x * 0 + 1,))[1])(A, B), tangents)
    same(adze.vmap(adze.hessian(total(f)))(A, B)[1], np.diag(-np.sin(A[1]) * B[1].sum()))


def test_sequential_map_keeps_what_its_derivative_needs() -> None:
    f = sequential_vmap(lambda x: xp.sum(xp.exp(x)))
    assert lines(adze.grad(lambda a: xp.sum(adze.vmap(f)(a))), A).count("adze.exp") == 1
    assert lines(adze.vmap(adze.grad(f)), A).count("adze.exp") == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("derive", [lambda f: f, lambda f: adze.grad(total(f))])
def test_sequential_map_of_a_dynamic_batch(derive: Any) -> None:
    f = adze.vmap(derive(sequential_vmap(lambda x, y: xp.sum(x) * xp.sin(y))))
    same(adze.trace(f, ROWS, ROWS).lower().compile()(A, B), f(A, B))


def test_sequential_map_uses_outer_values_that_are_mapped() -> None:
    result = adze.vmap(lambda w, x: sequential_vmap(lambda x: x * w)(x))(np.arange(3.0), A)
    same(result, np.arange(3.0)[:, None] * A)


def test_sequential_map_shows_one_element_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    @sequential_vmap
    def f(x: Any) -> Any:
        ops.print(x, format="{}")
        return x + 1

    same(adze.vmap(f)(np.arange(3.0)), [1, 2, 3])
    assert capsys.readouterr().out.split() == ["0.0", "1.0", "2.0"]


def test_sequential_map_survives_printing() -> None:
    text = adze.trace(lambda x: sequential_vmap(xp.sin)(x), A).mlir("traced")
    name = re.search(r"func.func @(\w+)", text)
    assert name is not None
    assert "adze.scan" in after(text, f"batch{{function={name[1]} size=2}}")


def costly_where(flag: Any, x: Any, **options: Any) -> Any:
    return adze.cond(flag, lambda: xp.sin(x), lambda: x * 2, **options)


def test_branches_stay_branches_on_demand() -> None:
    flags = np.array([True, False, True])
    chosen = adze.vmap(lambda p, x: costly_where(p, x, batching="map"))
    expected = np.where(flags[:, None], np.sin(A), 2 * A)
    same(chosen(flags, A), expected)
    same(adze.jit(chosen)(flags, A), expected)
    text = lines(chosen, flags, A)
    assert "adze.scan" in text and "adze.cond" in text and "adze.select" not in text
    assert "adze.scan" not in lines(adze.vmap(costly_where), flags, A)
    same(costly_where(True, A, batching="map"), np.sin(A))
    slopes = adze.grad(lambda a: xp.sum(chosen(flags, a)))
    same(slopes(A), np.where(flags[:, None], np.cos(A), 2.0))
    assert "adze.cond" in lines(slopes, A)
    result = adze.vmap(lambda i, x: adze.switch(i, [xp.sin, xp.cos, xp.exp], x, batching="map"))
    same(result(np.array([2, 0, 1]), A), [np.exp(A[0]), np.sin(A[1]), np.cos(A[2])])


def test_error_of_another_batching() -> None:
    message = (
        "batching is 'loop', expected 'select' (every branch for all, then a choice) or 'map' (one element "
        "after the other)"
    )
    check(lambda: costly_where(True, A, batching="loop"), message)
    check(lambda: adze.switch(0, [xp.sin], A, batching="loop"), message)


# -- errors --------------------------------------------------------------------------------------------


def check(call: Callable[[], Any], message: str) -> AdzeError:
    with pytest.raises(AdzeError) as caught:
        call()
    assert caught.value.message == message
    assert caught.value.where is not None and "test_custom_batching.py" in caught.value.where
    return caught.value


def ruled(rule: Callable[..., Any]) -> Callable[[], Any]:
    @custom_vmap
    def f(x: Any) -> Any:
        return {"y": x * 2}

    f.def_vmap(lambda axis_size, in_batched, x: rule(x))
    return lambda: adze.vmap(f)(A)


def test_error_of_a_function_without_a_rule() -> None:
    @custom_vmap
    def f(x: Any) -> Any:
        return x

    error = check(lambda: f(A), "custom_vmap function f has no batching rule")
    assert error.hint == "define one: @f.def_vmap"


def test_error_of_a_rule_that_gives_no_pair() -> None:
    check(
        ruled(lambda x: {"y": x}),
        "the batching rule of f must return (result, which of it is batched), it returns {'y': *}",
    )


def test_error_of_a_result_of_another_tree() -> None:
    check(
        ruled(lambda x: ([x, x], True)),
        "the batching rule of f returns a result of tree [*, *], f itself returns {'y': *}",
    )


@pytest.mark.parametrize("flags", [True, {"y": 1}, {"z": True}])
def test_error_of_flags_that_are_not_those_of_the_result(flags: Any) -> None:
    check(
        ruled(lambda x: ({"y": x}, flags)),
        f"the batching rule of f says {flags!r} for which of its result is batched, expected a bool for "
        "each array of {'y': *}",
    )


def test_error_of_results_of_another_type() -> None:
    check(
        ruled(lambda x: ({"y": x[0]}, {"y": True})),
        "the batching rule of f returns result['y'] of type f64[4], expected f64[3,4]: it is said to be "
        "batched, and f itself returns f64[4]",
    )
    check(
        ruled(lambda x: ({"y": x}, {"y": False})),
        "the batching rule of f returns result['y'] of type f64[3,4], expected f64[4]: it is said to be not "
        "batched, and f itself returns f64[4]",
    )
    check(
        ruled(lambda x: ({"y": x.astype(np.float32)}, {"y": True})),
        "the batching rule of f returns result['y'] of type f32[3,4], expected f64[3,4]: it is said to be "
        "batched, and f itself returns f64[4]",
    )


def test_error_of_arguments_that_the_function_does_not_take() -> None:
    f, _ = wave()
    check(lambda: f(A), "f(): missing a required argument: 'y'")


def after(text: str, pipeline: str) -> str:
    """The text of a program after passes, as `adze opt` runs them."""
    module = parse_module(text, "program.mlir")
    run_pipeline(module, parse_pipeline(pipeline))
    return str(module)


def test_program_survives_printing_and_says_that_its_rule_is_gone() -> None:
    f, told = wave()
    text = adze.trace(lambda x, y: f(x, y), A, B).mlir("traced")
    name = re.search(r"func.func @(\w+)", text)
    assert name is not None and 'rule = "f#' in text
    assert "adze.sin" in after(text, "simplify")
    assert "adze.cos" in after(text, f"jvp{{function={name[1]}}}")
    for alive in (True, False):
        with pytest.raises(MissingRuleError) as caught:
            after(text, f"batch{{function={name[1]} size=3}}")
        assert "is a Python function, which this text of the program has lost" in caught.value.message
        assert caught.value.hint == "batch it where the rule is defined, with adze.vmap"
        assert caught.value.where is not None
        if alive:
            del f
            gc.collect()
    assert told == []
