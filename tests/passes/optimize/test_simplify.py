"""The simplifier keeps values: bit for bit, effects and signs of zero included."""

from __future__ import annotations

import numpy as np
import pytest

from adze.passes.analysis.verify import verify
from adze.passes.optimize.simplify import FOLD_LIMIT, simplify

from ..texts import module, ops, run, symbols


def test_equal_ops_with_different_attributes_stay() -> None:
    parsed = module("""
func.func @f(%x: f64[2,3]) -> (f64[2,3], f64[2,3]) {
  %0 = reverse(%x) {axes = array<i64: 0>} : (f64[2,3]) -> f64[2,3]
  %1 = reverse(%x) {axes = array<i64: 1>} : (f64[2,3]) -> f64[2,3]
  return %0, %1 : f64[2,3], f64[2,3]
}
""")
    simplify(parsed)
    assert ops(parsed, "f") == ["reverse", "reverse"]


@pytest.mark.parametrize(
    ("op", "constant", "stays"),
    [
        ("add", "0.0", True),
        ("add", "-0.0", False),
        ("sub", "0.0", False),
        ("sub", "-0.0", True),
        ("mul", "1.0", False),
        ("div", "1.0", False),
        ("mul", "-1.0", True),
    ],
)
def test_identities_keep_the_sign_of_zero(op: str, constant: str, stays: bool) -> None:
    parsed = module(f"""
func.func @f(%x: f64[]) -> f64[] {{
  %c = "adze.constant"() {{dtype = f64, value = dense<{constant}> : f64[]}} : () -> f64[]
  %0 = {op}(%x, %c) : (f64[], f64[]) -> f64[]
  return %0 : f64[]
}}
""")
    before = [run(parsed, "f", np.float64(v))[0] for v in (0.0, -0.0, np.inf)]
    simplify(parsed)
    verify(parsed)
    assert (op in ops(parsed, "f")) == stays
    after = [run(parsed, "f", np.float64(v))[0] for v in (0.0, -0.0, np.inf)]
    np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(np.signbit(before), np.signbit(after))


@pytest.mark.parametrize(("left", "right"), [("%x", "%n"), ("%n", "%x")])
def test_adding_a_negative_is_a_difference(left: str, right: str) -> None:
    parsed = module(f"""
func.func @f(%x: f64[], %y: f64[]) -> f64[] {{
  %n = neg(%y) : (f64[]) -> f64[]
  %0 = add({left}, {right}) : (f64[], f64[]) -> f64[]
  return %0 : f64[]
}}
""")
    pairs = [(0.0, 0.0), (-0.0, 0.0), (0.0, -0.0), (-0.0, -0.0), (np.inf, np.inf), (3.0, 5.0)]
    before = np.array([run(parsed, "f", *map(np.float64, pair))[0] for pair in pairs])
    simplify(parsed)
    verify(parsed)
    assert ops(parsed, "f") == ["sub"]
    after = np.array([run(parsed, "f", *map(np.float64, pair))[0] for pair in pairs])
    np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(np.signbit(before), np.signbit(after))


@pytest.mark.parametrize(("count", "folded"), [(FOLD_LIMIT, True), (FOLD_LIMIT + 1, False)])
def test_large_results_are_not_stored_in_the_program(count: int, folded: bool) -> None:
    values = ", ".join(f"{n}.0" for n in range(count))
    parsed = module(f"""
func.func @f() -> f64[{count}] {{
  %c = "adze.constant"() {{dtype = f64, value = dense<[{values}]> : f64[{count}]}} : () -> f64[{count}]
  %0 = neg(%c) : (f64[{count}]) -> f64[{count}]
  return %0 : f64[{count}]
}}
""")
    simplify(parsed)
    assert ("neg" not in ops(parsed, "f")) == folded


def test_effects_are_kept_and_kept_in_order() -> None:
    parsed = module(
        """
func.func @f(%x: f64[]) -> f64[] {
  "adze.print"(%x) {format = "first {}"} : (f64[]) -> ()
  "adze.print"(%x) {format = "first {}"} : (f64[]) -> ()
  "adze.call"(%x) {callee = @g, results = []} : (f64[]) -> ()
  return %x : f64[]
}
""",
        """
func.func private @g(%x: f64[]) {
  "adze.print"(%x) {format = "second {}"} : (f64[]) -> ()
  return
}
""",
    )
    simplify(parsed)
    assert ops(parsed, "f") == ["print", "print", "call"]
    assert symbols(parsed) == ["f", "g"]


def test_call_without_effect_and_use_is_dropped_with_its_function() -> None:
    parsed = module(
        """
func.func @f(%x: f64[]) -> f64[] {
  %0 = call(%x) {callee = @g, results = [f64[]]} : (f64[]) -> f64[]
  return %x : f64[]
}
""",
        """
func.func private @g(%x: f64[]) -> f64[] {
  %0 = sin(%x) : (f64[]) -> f64[]
  return %0 : f64[]
}
""",
    )
    simplify(parsed)
    assert symbols(parsed) == ["f"]


def test_folded_value_is_the_evaluated_one() -> None:
    parsed = module("""
func.func @f() -> f32[] {
  %c = "adze.constant"() {dtype = f32, value = dense<0.1> : f32[]} : () -> f32[]
  %0 = exp(%c) : (f32[]) -> f32[]
  return %0 : f32[]
}
""")
    before = run(parsed, "f")[0]
    simplify(parsed)
    assert ops(parsed, "f") == ["constant"]
    after = run(parsed, "f")[0]
    assert before == after and after.dtype == np.float32


def test_repeated_scalars_of_select_and_compare_fold() -> None:
    parsed = module("""
func.func @f() -> f64[4] {
  %a = "adze.constant"() {dtype = f64, value = dense<1.0> : f64[]} : () -> f64[]
  %b = "adze.constant"() {dtype = f64, value = dense<2.0> : f64[]} : () -> f64[]
  %x = broadcast_in_dim(%a) {dimensions = array<i64>, shape = array<i64: 4>} : (f64[]) -> f64[4]
  %y = broadcast_in_dim(%b) {dimensions = array<i64>, shape = array<i64: 4>} : (f64[]) -> f64[4]
  %p = compare(%x, %y) {direction = "LT"} : (f64[4], f64[4]) -> i1[4]
  %0 = select(%p, %x, %y) : (i1[4], f64[4], f64[4]) -> f64[4]
  return %0 : f64[4]
}
""")
    simplify(parsed)
    verify(parsed)
    assert ops(parsed, "f") == ["constant", "broadcast_in_dim"]
    np.testing.assert_array_equal(run(parsed, "f")[0], np.ones(4))


def test_bits_of_a_known_key_scaled_by_repeated_scalars_fold() -> None:
    parsed = module("""
func.func @f() -> ui32[3] {
  %k = "adze.constant"() {dtype = ui32, value = dense<[3, 7]> : ui32[2]} : () -> ui32[2]
  %c = "adze.constant"() {dtype = ui32, value = dense<2> : ui32[]} : () -> ui32[]
  %r = random_bits(%k) {shape = array<i64: 3>, width = 32 : i64} : (ui32[2]) -> ui32[3]
  %b = broadcast_in_dim(%c) {dimensions = array<i64>, shape = array<i64: 3>} : (ui32[]) -> ui32[3]
  %0 = mul(%r, %b) : (ui32[3], ui32[3]) -> ui32[3]
  return %0 : ui32[3]
}
""")
    before = run(parsed, "f")[0]
    simplify(parsed)
    verify(parsed)
    assert ops(parsed, "f") == ["constant"]
    np.testing.assert_array_equal(run(parsed, "f")[0], before)


def test_sizes_are_asked_of_what_they_come_from() -> None:
    pairs = "contracting = [array<i64: 1>, array<i64: 0>], batch = [array<i64>, array<i64>], dtype = f64"
    shape = "dimensions = array<i64: 1>, shape = array<i64: 4, -9223372036854775808>"
    parsed = module(f"""
func.func @f(%x: f64[?,3], %y: f64[?,3], %w: f64[3,?], %n: index) -> (index, index, index, index, index) {{
  %0 = add(%x, %y) : (f64[?,3], f64[?,3]) -> f64[?,3]
  %1 = reduce_sum(%0) {{axes = array<i64: 1>}} : (f64[?,3]) -> f64[?]
  %2 = dim(%1) {{axis = 0 : i64}} : (f64[?]) -> index
  %3 = dot_general(%0, %w) {{{pairs}}} : (f64[?,3], f64[3,?]) -> f64[?,?]
  %4 = dim(%3) {{axis = 1 : i64}} : (f64[?,?]) -> index
  %5 = broadcast_in_dim(%1, %n) {{{shape}}} : (f64[?], index) -> f64[4,?]
  %6 = dim(%5) {{axis = 1 : i64}} : (f64[4,?]) -> index
  %7 = concatenate(%x, %y) {{axis = 0 : i64}} : (f64[?,3], f64[?,3]) -> f64[?,3]
  %8 = dim(%7) {{axis = 0 : i64}} : (f64[?,3]) -> index
  %9 = dim(%7) {{axis = 1 : i64}} : (f64[?,3]) -> index
  return %2, %4, %6, %8, %9 : index, index, index, index, index
}}
""")
    simplify(parsed)
    assert ops(parsed, "f") == ["dim", "dim", "concatenate", "dim", "size_constant"]
    x, y = np.ones((5, 3)), np.ones((5, 3))
    assert run(parsed, "f", x, y, np.ones((3, 2)), 7) == [5, 2, 7, 10, 3]
