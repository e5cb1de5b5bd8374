"""The transpose engine: accumulation, zeros, called functions, and what is not linear."""

from __future__ import annotations

import numpy as np
import pytest

from adze.dialects.errors import MissingRuleError
from adze.passes.analysis.verify import verify
from adze.passes.engines import Engines

from ..texts import module, ops, run

MIXED = """
func.func @f(%x: f64[3], %y: f64[3], %c: f64[3]) -> (f64[3], f64[3]) {
  %0 = mul(%x, %c) : (f64[3], f64[3]) -> f64[3]
  %1 = add(%0, %x) : (f64[3], f64[3]) -> f64[3]
  %2 = neg(%y) : (f64[3]) -> f64[3]
  return %1, %2 : f64[3], f64[3]
}
"""


def test_cotangents_of_a_value_that_is_used_twice_are_added() -> None:
    parsed = module(MIXED)
    made = Engines(parsed).transposer.transpose("f", (True, True, False))
    verify(parsed)
    assert made.nonzero == (True, True)
    c, a, b = np.array([[2.0, 3, 4], [1, 1, 1], [5, 6, 7]])
    to_x, to_y = run(parsed, made.symbol, c, a, b)
    np.testing.assert_array_equal(to_x, a * c + a)
    np.testing.assert_array_equal(to_y, -b)


def test_argument_without_cotangent_is_no_array_of_zeros() -> None:
    parsed = module(MIXED)
    made = Engines(parsed).transposer.transpose("f", (True, True, False), (False, True))
    assert made.nonzero == (False, True)
    assert ops(parsed, made.symbol) == ["neg"]


def test_called_function_is_transposed_as_a_call() -> None:
    parsed = module(
        MIXED,
        """
func.func @g(%x: f64[3], %c: f64[3]) -> f64[3] {
  %0:2 = "adze.call"(%x, %x, %c) {callee = @f, results = [f64[3], f64[3]]}
    : (f64[3], f64[3], f64[3]) -> (f64[3], f64[3])
  %1 = "adze.sub"(%0#0, %0#1) : (f64[3], f64[3]) -> f64[3]
  return %1 : f64[3]
}
""",
    )
    made = Engines(parsed).transposer.transpose("g", (True, False))
    verify(parsed)
    c, ct = np.array([2.0, 3, 4]), np.array([1.0, 2, 3])
    np.testing.assert_array_equal(run(parsed, made.symbol, c, ct)[0], ct * c + 2 * ct)


def test_transpose_of_a_transpose_is_the_function() -> None:
    parsed = module("""
func.func @f(%x: f64[2,3]) -> f64[3] {
  %0 = "adze.slice"(%x) {start = array<i64: 1, 0>, limit = array<i64: 2, 3>, strides = array<i64: 1, 1>}
    : (f64[2,3]) -> f64[1,3]
  %1 = reshape(%0) {shape = array<i64: 3>} : (f64[1,3]) -> f64[3]
  return %1 : f64[3]
}
""")
    engine = Engines(parsed).transposer
    twice = engine.transpose(engine.transpose("f", (True,)).symbol, (True,))
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(run(parsed, twice.symbol, x)[0], run(parsed, "f", x)[0])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%0 = sin(%x) : (f64[]) -> f64[]", "'sin' cannot be transposed: it is not linear in its operands"),
        (
            "%0 = mul(%x, %x) : (f64[], f64[]) -> f64[]",
            "'mul' cannot be transposed: it is not linear in these",
        ),
        (
            "%0 = div(%c, %x) : (f64[], f64[]) -> f64[]",
            "'div' cannot be transposed: it is not linear in these",
        ),
    ],
)
def test_function_that_is_not_linear_is_refused(line: str, message: str) -> None:
    parsed = module(f"""
func.func @f(%x: f64[], %c: f64[]) -> f64[] {{
  {line}
  return %0 : f64[]
}}
""")
    with pytest.raises(MissingRuleError, match=message):
        Engines(parsed).transposer.transpose("f", (True, False))


def test_dynamic_shape_that_nothing_has_is_refused() -> None:
    parsed = module("""
func.func @f(%x: f64[?]) -> f64[] {
  %0 = reshape(%x) {shape = array<i64>} : (f64[?]) -> f64[]
  return %0 : f64[]
}
""")
    with pytest.raises(MissingRuleError, match=r"the shape of a linear argument of type .* is dynamic"):
        Engines(parsed).transposer.transpose("f", (True,))


def test_sizes_of_a_linear_value_are_not_linear_in_it() -> None:
    """A value repeated to the size of a tangent is a constant factor; its shape operand has the size."""
    parsed = module("""
func.func @f(%x: f64[?], %c: f64[?]) -> f64[?] attributes {adze.shape_operands = array<i64: 1, -1>} {
  %n = dim(%x) {axis = 0 : i64} : (f64[?]) -> index
  %two = "adze.constant"() {dtype = f64, value = dense<2.0> : f64[]} : () -> f64[]
  %twos = "adze.broadcast_in_dim"(%two, %n)
    {dimensions = array<i64>, shape = array<i64: -9223372036854775808>} : (f64[], index) -> f64[?]
  %0 = mul(%x, %twos) : (f64[?], f64[?]) -> f64[?]
  return %0 : f64[?]
}
""")
    made = Engines(parsed).transposer.transpose("f", (True, False))
    verify(parsed)
    (result,) = run(parsed, made.symbol, np.zeros(3), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(result, [2, 4, 6])
