"""The evaluator: arguments are checked, functions are called, errors of ops are placed."""

from __future__ import annotations

import numpy as np
import pytest

from adze.dialects.errors import AdzeError, VerificationError
from adze.passes.analysis.evaluate import evaluate
from adze.passes.ir.parsing import parse_module

from ..texts import module, run

DOUBLE = """
func.func @f(%x: f32[?,2], %n: index) -> f32[?,2] {
  %0 = add(%x, %x) : (f32[?,2], f32[?,2]) -> f32[?,2]
  return %0 : f32[?,2]
}
"""


def test_arrays_and_sizes_are_arguments() -> None:
    results = run(module(DOUBLE), "f", np.ones((3, 2), np.float32), 7)
    np.testing.assert_array_equal(results[0], np.full((3, 2), 2, np.float32))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((3, 2), np.float32),), "@f takes 2 arguments, got 1"),
        ((np.ones((3, 2)), 1), "argument 0 of @f is f64[3,2], expected f32[?,2]"),
        ((np.ones((3, 4), np.float32), 1), "argument 0 of @f is f32[3,4], expected f32[?,2]"),
        ((np.ones(3, np.float32), 1), "argument 0 of @f is f32[3], expected f32[?,2]"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(VerificationError) as caught:
        evaluate(module(DOUBLE), "f", arguments)
    assert caught.value.message == message


def test_function_that_does_not_exist_is_refused() -> None:
    with pytest.raises(VerificationError, match="there is no function @g; the module has @f"):
        evaluate(module(DOUBLE), "g", ())


def test_error_of_an_op_has_its_place() -> None:
    text = """
func.func @f(%p: tensor<i1>) {
  "adze.check"(%p) {message = "x must be positive"} : (tensor<i1>) -> () loc("model.py":3:1)
  return
}
"""
    with pytest.raises(AdzeError, match="x must be positive") as caught:
        evaluate(parse_module(text), "f", [np.False_])
    assert caught.value.where == "model.py:3"
    assert evaluate(parse_module(text), "f", [np.True_]) == []


def test_op_of_another_dialect_is_not_evaluated() -> None:
    text = "func.func @f(%x: f32) -> f32 {\n  %0 = arith.negf %x : f32\n  return %0 : f32\n}"
    with pytest.raises(AdzeError):
        evaluate(parse_module(text), "f", [np.float32(1)])
