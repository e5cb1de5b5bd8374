"""The linearize engine: which values become residuals, and dynamic shapes of linear functions."""

from __future__ import annotations

import numpy as np

from adze.passes.analysis.verify import verify
from adze.passes.autodiff.linearize import Residual
from adze.passes.engines import Engines

from ..texts import module, ops, run

TANH = """
func.func @f(%x: f64[?]) -> f64[?] {
  %0 = tanh(%x) : (f64[?]) -> f64[?]
  %1 = mul(%0, %x) : (f64[?], f64[?]) -> f64[?]
  return %1 : f64[?]
}
"""


def test_inputs_and_results_are_not_saved_again() -> None:
    parsed = module("""
func.func @f(%x: f64[], %y: f64[]) -> (f64[], f64[]) {
  %0 = exp(%x) : (f64[]) -> f64[]
  %1 = mul(%0, %y) : (f64[], f64[]) -> f64[]
  return %0, %1 : f64[], f64[]
}
""")
    made = Engines(parsed).linearizer.linearize("f", (True, True))
    assert set(made.residuals) == {Residual("input", 1), Residual("result", 0)}
    assert ops(parsed, made.primal) == ["exp", "mul"]


def test_value_that_only_the_linear_part_needs_is_saved() -> None:
    parsed = module("""
func.func @f(%x: f64[]) -> f64[] {
  %0 = sin(%x) : (f64[]) -> f64[]
  return %0 : f64[]
}
""")
    made = Engines(parsed).linearizer.linearize("f", (True,))
    assert made.residuals == (Residual("saved", 0),)
    assert ops(parsed, made.primal) == ["sin", "cos"]
    assert ops(parsed, made.linear) == ["mul"]


def test_policy_of_saving_nothing_computes_again_behind_a_barrier() -> None:
    parsed = module("""
func.func @f(%x: f64[]) -> f64[] {
  %0 = exp(%x) : (f64[]) -> f64[]
  %1 = sin(%0) : (f64[]) -> f64[]
  return %1 : f64[]
}
""")
    made = Engines(parsed).linearizer.linearize("f", (True,), ("nothing", ""))
    assert made.residuals == (Residual("input", 0),)
    assert ops(parsed, made.primal) == ["exp", "sin"]
    assert ops(parsed, made.linear)[0] == "optimization_barrier"
    assert {"exp", "cos"} <= set(ops(parsed, made.linear))


def test_linear_function_of_dynamic_shape_is_transposed() -> None:
    parsed = module(TANH)
    engine = Engines(parsed).linearizer
    made = engine.linearize("f", (True,))
    count = len(made.residuals)
    back = engine.transposer.transpose(made.linear, (False,) * count + (True,))
    verify(parsed)
    x = np.array([0.5, -1.0, 2.0])
    outputs = run(parsed, made.primal, x)
    residuals = made.residual_values([x], outputs)
    (gradient,) = run(parsed, back.symbol, *residuals, np.ones(3))
    np.testing.assert_allclose(gradient, np.tanh(x) + x / np.cosh(x) ** 2)


def test_linear_part_is_linear() -> None:
    parsed = module(TANH)
    made = Engines(parsed).linearizer.linearize("f", (True,))
    x = np.array([0.5, -1.0])
    residuals = made.residual_values([x], run(parsed, made.primal, x))
    u, v = np.array([1.0, 2.0]), np.array([-3.0, 0.5])
    left = run(parsed, made.linear, *residuals, 2 * u + v)[0]
    right = 2 * run(parsed, made.linear, *residuals, u)[0] + run(parsed, made.linear, *residuals, v)[0]
    np.testing.assert_allclose(left, right)


def test_split_of_a_function_is_made_once() -> None:
    engine = Engines(module(TANH)).linearizer
    assert engine.linearize("f", (True,)) is engine.linearize("f", (True,))
