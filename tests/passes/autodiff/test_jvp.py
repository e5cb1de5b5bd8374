"""The jvp engine: activity, functions of the module, locations, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from adze.dialects.errors import MissingRuleError
from adze.passes.analysis.verify import verify
from adze.passes.engines import Engines
from adze.passes.ir.parsing import parse_module

from ..texts import module, ops, run, symbols

PRODUCT = """
func.func @f(%x: f64[], %y: f64[]) -> f64[] {
  %0 = sin(%x) : (f64[]) -> f64[]
  %1 = mul(%0, %y) : (f64[], f64[]) -> f64[]
  return %1 : f64[]
}
"""
CALLER = """
func.func @g(%x: f64[], %y: f64[]) -> f64[] {
  %0 = call(%x, %y) {callee = @f, results = [f64[]]} : (f64[], f64[]) -> f64[]
  %1 = call(%0, %y) {callee = @f, results = [f64[]]} : (f64[], f64[]) -> f64[]
  return %1 : f64[]
}
"""


def test_derivative_is_made_once_for_each_set_of_active_arguments() -> None:
    parsed = module(PRODUCT)
    engine = Engines(parsed).forward
    both = engine.differentiate("f", (True, True))
    assert engine.differentiate("f", (True, True)) is both
    assert engine.differentiate("f", (True, False)).symbol != both.symbol
    verify(parsed)


def test_function_that_is_called_twice_is_differentiated_once() -> None:
    parsed = module(PRODUCT, CALLER)
    made = Engines(parsed).forward.differentiate("g", (True, True))
    verify(parsed)
    assert symbols(parsed) == ["f", "g", "g_jvp", "f_jvp"]
    x, y, dx, dy = np.array([0.3, 2.0, 1.0, 0.0])
    value, tangent = run(parsed, made.symbol, x, y, dx, dy)
    assert value == np.sin(np.sin(x) * y) * y
    np.testing.assert_allclose(tangent, np.cos(np.sin(x) * y) * y * np.cos(x) * y)


def test_nothing_is_computed_for_arguments_that_do_not_move() -> None:
    parsed = module(PRODUCT)
    made = Engines(parsed).forward.differentiate("f", (False, True))
    assert ops(parsed, made.symbol) == ["sin", "mul", "mul"]
    assert made.active_results == (True,)
    still = Engines(parsed).forward.differentiate("f", (False, False))
    assert still.active_results == (False,)
    assert ops(parsed, still.symbol) == ["sin", "mul"]


def test_integers_carry_no_tangent_on_the_way() -> None:
    parsed = module("""
func.func @f(%x: f64[]) -> f64[] {
  %0 = convert(%x) {dtype = i32} : (f64[]) -> i32[]
  %1 = convert(%0) {dtype = f64} : (i32[]) -> f64[]
  return %1 : f64[]
}
""")
    made = Engines(parsed).forward.differentiate("f", (True,))
    assert made.active_results == (False,)


def test_ops_of_the_derivative_keep_the_users_line() -> None:
    text = """
func.func @f(%x: tensor<f64>) -> tensor<f64> {
  %0 = "adze.sin"(%x) : (tensor<f64>) -> tensor<f64> loc("model.py":7:3)
  return %0 : tensor<f64>
}
"""
    parsed = parse_module(text)
    Engines(parsed).forward.differentiate("f", (True,))
    made = parsed.body.operations[1].regions[0].blocks[0].operations
    cosine = next(str(o.location) for o in made if o.operation.name == "adze.cos")
    assert cosine == 'loc(fused<"jvp">["model.py":7:3])'


def test_missing_rule_names_op_and_line() -> None:
    text = """
func.func @f(%x: tensor<f64>) -> tensor<f64> {
  %0 = "adze.nextafter"(%x, %x) : (tensor<f64>, tensor<f64>) -> tensor<f64> loc("model.py":7:3)
  return %0 : tensor<f64>
}
"""
    with pytest.raises(MissingRuleError, match="'nextafter' cannot be differentiated") as caught:
        Engines(parse_module(text)).forward.differentiate("f", (True,))
    assert caught.value.where == "model.py:7"
