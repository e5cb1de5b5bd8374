"""The batch engine: which results have the batch, memory of what was made, dynamic sizes, calls."""

from __future__ import annotations

import numpy as np

from adze.passes.analysis.verify import verify
from adze.passes.engines import Engines

from ..texts import module, ops, run, symbols

TWO = """
func.func @f(%x: f64[3], %y: f64[3]) -> (f64[3], f64[3]) {
  %0 = sin(%x) : (f64[3]) -> f64[3]
  %1 = exp(%y) : (f64[3]) -> f64[3]
  %2 = mul(%0, %1) : (f64[3], f64[3]) -> f64[3]
  return %1, %2 : f64[3], f64[3]
}
"""
CALLER = """
func.func @g(%x: f64[3]) -> f64[3] {
  %0 = call(%x) {callee = @h, results = [f64[3]]} : (f64[3]) -> f64[3]
  %1 = call(%0) {callee = @h, results = [f64[3]]} : (f64[3]) -> f64[3]
  return %1 : f64[3]
}
"""
CALLEE = """
func.func private @h(%x: f64[3]) -> f64[3] {
  %0 = sin(%x) : (f64[3]) -> f64[3]
  return %0 : f64[3]
}
"""
X, Y = np.arange(6.0).reshape(2, 3), np.array([0.1, 0.2, 0.3])


def test_result_that_depends_on_no_batched_argument_has_no_batch() -> None:
    parsed = module(TWO)
    made = Engines(parsed).batcher(2).batch("f", (True, False))
    verify(parsed)
    assert made.batched_results == (False, True)
    single, batched = run(parsed, made.symbol, X, Y)
    np.testing.assert_array_equal(single, np.exp(Y))
    np.testing.assert_array_equal(batched, np.sin(X) * np.exp(Y))
    assert ops(parsed, made.symbol).count("broadcast_in_dim") == 1


def test_all_results_get_the_batch_on_demand() -> None:
    parsed = module(TWO)
    made = Engines(parsed).batcher(2).batch("f", (True, False), all_results=True)
    assert made.batched_results == (True, True)
    np.testing.assert_array_equal(run(parsed, made.symbol, X, Y)[0], np.stack([np.exp(Y)] * 2))


def test_dynamic_batch_takes_its_size_first() -> None:
    parsed = module(TWO)
    made = Engines(parsed).batcher(None).batch("f", (True, False))
    verify(parsed)
    np.testing.assert_array_equal(run(parsed, made.symbol, 2, X, Y)[1], np.sin(X) * np.exp(Y))


def test_called_function_is_batched_once() -> None:
    for size in (2, None):
        parsed = module(CALLER, CALLEE)
        made = Engines(parsed).batcher(size).batch("g", (True,))
        verify(parsed)
        assert symbols(parsed) == ["g", "h", "g_batched", "h_batched"]
        leading = [] if size else [2]
        np.testing.assert_array_equal(run(parsed, made.symbol, *leading, X)[0], np.sin(np.sin(X)))


def test_batch_is_made_once_for_each_set_of_batched_arguments() -> None:
    engine = Engines(module(TWO)).batcher(2)
    made = engine.batch("f", (True, False))
    assert engine.batch("f", (True, False)) is made
    assert engine.batch("f", (False, True)).symbol != made.symbol
