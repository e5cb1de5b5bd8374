"""The inliner: nested calls, calls of one function in several places, functions that stay."""

from __future__ import annotations

import numpy as np

from adze.passes.analysis.verify import verify
from adze.passes.optimize.inline import inline

from ..texts import module, ops, run

MAIN = """
func.func @f(%x: f64[], %y: f64[]) -> (f64[], f64[]) {
  %0:2 = "adze.call"(%x, %y) {callee = @swap, results = [f64[], f64[]]} : (f64[], f64[]) -> (f64[], f64[])
  %1:2 = "adze.call"(%0#0, %0#1) {callee = @swap, results = [f64[], f64[]]} : (f64[], f64[]) -> (f64[], f64[])
  return %1#0, %1#1 : f64[], f64[]
}
"""
SWAP = """
func.func private @swap(%x: f64[], %y: f64[]) -> (f64[], f64[]) {
  %0 = call(%y) {callee = @neg, results = [f64[]]} : (f64[]) -> f64[]
  return %0, %x : f64[], f64[]
}
"""
NEG = """
func.func private @neg(%x: f64[]) -> f64[] {
  %0 = neg(%x) : (f64[]) -> f64[]
  return %0 : f64[]
}
"""


def test_calls_in_calls_are_replaced() -> None:
    parsed = module(MAIN, SWAP, NEG)
    before = run(parsed, "f", np.float64(1), np.float64(2))
    inline(parsed)
    verify(parsed)
    assert ops(parsed, "f") == ["neg", "neg"]
    assert run(parsed, "f", np.float64(1), np.float64(2)) == before


def test_order_of_functions_does_not_matter() -> None:
    parsed = module(NEG, SWAP, MAIN)
    inline(parsed)
    assert ops(parsed, "f") == ["neg", "neg"]


def test_result_that_is_an_argument_is_passed_through() -> None:
    parsed = module(
        """
func.func @f(%x: f64[]) -> f64[] {
  %0 = call(%x) {callee = @same, results = [f64[]]} : (f64[]) -> f64[]
  return %0 : f64[]
}
""",
        """
func.func private @same(%x: f64[]) -> f64[] {
  return %x : f64[]
}
""",
    )
    inline(parsed)
    assert ops(parsed, "f") == []
