"""`adze.debug.nans()`: which line made the first NaN, in which pass, evaluated and compiled; exact texts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.debug import NanError, nans
from adze.passes.ir.parsing import parse_module
from adze.passes.pipeline import run_pipeline
from adze.passes.registry import parse_pipeline
from adze.runtime.errors import CallError

POINTS = np.array([1, -1, 2], np.float32)
ZEROS = np.zeros(3, np.float32)

DOUBLE_WHERE = (
    "the derivative is infinite there and meets a zero; where a `where` drops this branch, put another "
    "`where` inside it that keeps the argument in the domain"
)


def sum_of_logs(x: Any) -> Any:
    y = anp.log(x)
    return anp.sum(y)


def quotient(x: Any, y: Any) -> Any:
    return anp.sum(anp.divide(x, y))


def norm(x: Any) -> Any:
    squares = anp.sum(x * x)
    return anp.sqrt(squares)


def root_where_positive(x: Any) -> Any:
    y = anp.where(x > 0, anp.sqrt(x), 0.0)
    return anp.sum(y)


def root_where_positive_twice(x: Any) -> Any:
    y = anp.where(x > 0, anp.sqrt(anp.where(x > 0, x, 1.0)), 0.0)
    return anp.sum(y)


def line_of(function: Callable[..., Any], offset: int) -> str:
    """A line of this file, counted from where a function begins."""
    return f"{__file__}:{function.__code__.co_firstlineno + offset}"


def text_of(call: Callable[[], Any]) -> str:
    """The whole text of the NanError that a call raises while NaN are looked for."""
    with nans(), pytest.raises(NanError) as caught:
        call()
    return str(caught.value)


# -- evaluated -----------------------------------------------------------------------------------------


def test_forward_log_of_a_negative_number() -> None:
    text = text_of(lambda: sum_of_logs(anp.asarray(POINTS)))
    assert text == f"NaN in the forward pass: log(f32[3] in [-1, 2])\n  at {line_of(sum_of_logs, 1)}"


def test_forward_zero_by_zero() -> None:
    text = text_of(lambda: quotient(ZEROS, ZEROS))
    assert text == (f"NaN in the forward pass: div(f32[3] all 0, f32[3] all 0)\n  at {line_of(quotient, 1)}")


def test_forward_of_a_gradient_is_told_from_backward() -> None:
    text = text_of(lambda: adze.grad(sum_of_logs)(POINTS))
    assert text == f"NaN in the forward pass: log(f32[3] in [-1, 2])\n  at {line_of(sum_of_logs, 1)}"


def test_backward_of_the_root_at_zero_says_where_the_infinity_comes_from() -> None:
    text = text_of(lambda: adze.grad(norm)(ZEROS))
    assert text == (
        f"NaN in the backward pass (transpose): mul(f32[3] all inf, f32[3] all 0)\n"
        f"  at {line_of(norm, 1)}\n"
        f"  hint: the infinity comes from div(f32[] 0.5, f32[] 0) in the backward pass (linearize) of "
        f"{line_of(norm, 2)}; {DOUBLE_WHERE}"
    )


def test_a_where_does_not_hide_the_branch_that_it_drops_from_the_gradient() -> None:
    text = text_of(lambda: adze.grad(root_where_positive)(ZEROS))
    line = line_of(root_where_positive, 1)
    assert text == (
        f"NaN in the backward pass (transpose): mul(f32[3] all 0, f32[3] all inf)\n  at {line}\n"
        f"  hint: the infinity comes from div(f32[3] all 0.5, f32[3] all 0) in the backward pass (linearize) "
        f"of {line}; {DOUBLE_WHERE}"
    )


def test_the_double_where_that_the_hint_proposes_is_free_of_nan() -> None:
    with nans():
        gradient = adze.grad(root_where_positive_twice)
        np.testing.assert_array_equal(gradient(ZEROS), ZEROS)
        np.testing.assert_array_equal(adze.jit(gradient)(ZEROS), ZEROS)


def test_tangents_are_neither_forward_nor_backward() -> None:
    text = text_of(lambda: adze.jvp(norm, (ZEROS,), (ZEROS,)))
    line = line_of(norm, 2)
    assert text == (
        f"NaN in the tangent (jvp): mul(f32[] 0, f32[] inf)\n  at {line}\n"
        f"  hint: the infinity comes from div(f32[] 0.5, f32[] 0) in the tangent (jvp) of {line}"
    )


def test_batched_ops_say_so() -> None:
    rows = np.stack([POINTS, POINTS])
    text = text_of(lambda: adze.vmap(sum_of_logs)(rows))
    assert text == (
        f"NaN in the forward pass (batch): log(f32[2,3] in [-1, 2])\n  at {line_of(sum_of_logs, 1)}"
    )
    text = text_of(lambda: adze.vmap(adze.grad(norm))(np.stack([ZEROS, ZEROS])))
    assert text.startswith(
        "NaN in the backward pass (transpose, batch): mul(f32[2,3] all inf, f32[2,3] all 0)\n"
        f"  at {line_of(norm, 1)}\n"
    )


def test_nan_that_were_given_are_seen_among_the_operands() -> None:
    text = text_of(lambda: norm(anp.asarray([np.nan, 1.0])))
    assert text == f"NaN in the forward pass: mul(f32[2] with NaN, f32[2] with NaN)\n  at {line_of(norm, 1)}"


def test_a_nan_that_the_user_writes_and_moves_is_no_error() -> None:
    with nans():
        for function in (lambda: anp.flip(anp.full((3,), np.nan)), adze.jit(lambda: anp.full((3,), np.nan))):
            assert np.isnan(np.asarray(function())).all()


# -- compiled ------------------------------------------------------------------------------------------


@pytest.mark.one_in(3)
@pytest.mark.each_value(lambda make, arguments, text, line: text.partition(":")[0])
@pytest.mark.parametrize(
    ("make", "arguments", "text", "line"),
    [
        (lambda: sum_of_logs, (POINTS,), "forward pass: log(f32[3])", (sum_of_logs, 1)),
        (lambda: quotient, (ZEROS, ZEROS), "forward pass: div(f32[3], f32[3])", (quotient, 1)),
        (lambda: adze.grad(sum_of_logs), (POINTS,), "forward pass: log(f32[3])", (sum_of_logs, 1)),
        (lambda: adze.grad(norm), (ZEROS,), "backward pass (transpose): mul(f32[3], f32[3])", (norm, 1)),
        (
            lambda: adze.grad(root_where_positive),
            (ZEROS,),
            "backward pass (transpose): mul(f32[3], f32[3])",
            (root_where_positive, 1),
        ),
        (
            lambda: adze.vmap(adze.grad(norm)),
            (np.stack([ZEROS, ZEROS]),),
            "backward pass (transpose, batch): mul(f32[2,3], f32[2,3])",
            (norm, 1),
        ),
    ],
    ids=["log", "quotient", "forward of grad", "root", "where", "vmap of grad"],
)
def test_compiled_programs_say_op_pass_and_line(
    make: Callable[[], Any], arguments: tuple[Any, ...], text: str, line: tuple[Any, int]
) -> None:
    result = text_of(lambda: adze.jit(make())(*arguments))
    assert result == f"NaN in the {text}\n  at {line_of(*line)}"


def test_a_jitted_function_inside_a_gradient() -> None:
    text = text_of(lambda: adze.grad(adze.jit(norm))(ZEROS))
    assert text.startswith("NaN in the backward pass (transpose): mul(f32[3] all inf, f32[3] all 0)\n")


def step_of_logs(total: Any, x: Any) -> Any:
    total = total + anp.log(x)
    return total, total * 2


def logs_in_a_loop(x: Any) -> Any:
    return adze.scan(step_of_logs, np.float32(0), x)


def test_the_first_nan_of_a_loop_is_reported_though_all_steps_after_have_them() -> None:
    points = np.array([1, 2, -1, 2, 1], np.float32)
    text = text_of(lambda: adze.jit(logs_in_a_loop)(points))
    assert text == f"NaN in the forward pass: log(f32[])\n  at {line_of(step_of_logs, 1)}"


def test_arguments_that_hold_nan_are_named() -> None:
    text = text_of(lambda: adze.jit(quotient)(ZEROS + 1, ZEROS + np.nan))
    assert text == (
        f"NaN in the forward pass: div(f32[3], f32[3])\n  at {line_of(quotient, 1)}\n"
        "  hint: NaN came in through y"
    )


def test_checked_and_unchecked_programs_live_side_by_side() -> None:
    jitted = adze.jit(sum_of_logs)
    assert np.isnan(jitted(POINTS))
    for _ in range(2):
        text_of(lambda: jitted(POINTS))
    assert np.isnan(jitted(POINTS))
    assert jitted.cache_size() == 2
    assert adze.explain_retrace(jitted).splitlines()[1].endswith(": checks for NaN were switched on")


def test_checked_programs_give_what_unchecked_ones_give() -> None:
    gradient = adze.jit(adze.value_and_grad(norm))
    expected = gradient(POINTS)
    with nans():
        for one, other in zip(gradient(POINTS), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_saved_program_keeps_its_checks(tmp_path: Path) -> None:
    with nans():
        compiled = adze.jit(sum_of_logs).trace(POINTS).lower().compile()
    program = adze.load(compiled.save(tmp_path / "checked.vmfb"))
    assert float(program(np.ones(3, np.float32))) == 0
    with pytest.raises(CallError) as caught:
        program(POINTS)
    assert caught.value.message == (
        f"sum_of_logs(): NaN in the forward pass of {line_of(sum_of_logs, 1)}: log(f32[3])"
    )


def test_half_precision_and_complex_numbers_are_checked() -> None:
    def roots(x: Any, y: Any, z: Any) -> Any:
        return anp.sqrt(x), anp.log(y), z / z

    one = anp.ones((2,), dtype="bfloat16"), np.ones(2, np.float16), np.ones(2, np.complex64)
    bad = -one[0], -one[1], 0 * one[2]
    jitted = adze.jit(roots)
    with nans():
        jitted(*one)
    for position, op in enumerate(("sqrt", "log", "div")):
        given = [bad[i] if i == position else one[i] for i in range(3)]
        assert text_of(lambda given=given: jitted(*given)).startswith(f"NaN in the forward pass: {op}(")


# -- the setting ---------------------------------------------------------------------------------------


def test_outside_the_context_nan_are_values() -> None:
    with nans(), nans(False):
        assert np.isnan(sum_of_logs(anp.asarray(POINTS)))
    assert np.isnan(sum_of_logs(anp.asarray(POINTS)))


def test_a_decorated_function_is_watched() -> None:
    watched = nans()(sum_of_logs)
    for _ in range(2):
        with pytest.raises(NanError):
            watched(anp.asarray(POINTS))


def test_other_threads_are_not_watched() -> None:
    results = []
    with nans():
        thread = threading.Thread(target=lambda: results.append(float(sum_of_logs(anp.asarray(POINTS)))))
        thread.start()
        thread.join()
    assert np.isnan(results).all() and len(results) == 1


# -- the pass ------------------------------------------------------------------------------------------


def test_the_pass_checks_what_computes_and_not_what_moves() -> None:
    module = parse_module("""
func.func @f(%x: tensor<2xf32>, %n: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = "adze.reverse"(%x) {axes = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32> loc("model.py":2:1)
  %1 = "adze.log"(%0) : (tensor<2xf32>) -> tensor<2xf32> loc(fused<"batch">["model.py":3:1])
  %2 = "adze.neg"(%n) : (tensor<2xi32>) -> tensor<2xi32> loc("model.py":4:1)
  return %1, %2 : tensor<2xf32>, tensor<2xi32>
}
""")
    run_pipeline(module, parse_pipeline("check-nans,verify"))
    text = str(module)
    assert text.count('"adze.check"') == 1
    assert 'message = "NaN in the forward pass (batch) of model.py:3: log(f32[2])"' in text


def test_the_pass_leaves_integers_alone() -> None:
    module = parse_module("""
func.func @f(%n: tensor<2xi32>) -> tensor<2xi32> {
  %0 = "adze.neg"(%n) : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
""")
    before = str(module)
    run_pipeline(module, parse_pipeline("check-nans"))
    assert str(module) == before
