"""The verifier: what is not adze IR is refused, with the op and the line."""

from __future__ import annotations

import pytest

from adze.dialects.errors import VerificationError
from adze.passes.analysis.verify import location_text, verify
from adze.passes.ir.parsing import parse_module


def refused(body: str, result: str = "tensor<4xf32>") -> str:
    text = f"func.func @f(%x: tensor<4xf32>, %n: index) -> {result} {{\n{body}\n  return %0 : {result}\n}}"
    with pytest.raises(VerificationError) as caught:
        verify(parse_module(text))
    return caught.value.message


def test_operand_count_is_checked() -> None:
    message = refused('  %0 = "adze.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>')
    assert message == "in @f: add: expected 2 operands, got 1"


def test_size_is_no_array() -> None:
    message = refused('  %0 = "adze.neg"(%n) : (index) -> tensor<4xf32>')
    assert message == "in @f: neg: operand 'x' must be an array, got a size"


def test_array_is_no_size() -> None:
    message = refused('  %0 = "adze.size_add"(%x, %n) : (tensor<4xf32>, index) -> index', "index")
    assert message == "in @f: size_add: operand 'm' must be a size, got f32[4]"


def test_dynamic_size_needs_its_operand() -> None:
    message = refused(
        """
  %c = "adze.constant"() {dtype = f32, value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "adze.broadcast_in_dim"(%c) {dimensions = array<i64>, shape = array<i64: -9223372036854775808>}
    : (tensor<f32>) -> tensor<?xf32>
""",
        "tensor<?xf32>",
    )
    assert message == "in @f: op 'adze.broadcast_in_dim' takes sizes for 'shape', got tensor<f32>"


def test_result_may_state_less_than_is_known() -> None:
    verify(
        parse_module("""
func.func @f(%x: tensor<4xf32>) -> tensor<?xf32> {
  %0 = "adze.neg"(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
""")
    )


def test_module_holds_functions_only() -> None:
    with pytest.raises(VerificationError, match="a module of adze holds functions only"):
        verify(parse_module("module { module {} }"))


def test_place_is_the_users_line() -> None:
    text = """
func.func @f(%x: tensor<4xf32>) -> tensor<3xf32> {
  %0 = "adze.neg"(%x) : (tensor<4xf32>) -> tensor<3xf32> loc(fused<"jvp">["model.py":12:4])
  return %0 : tensor<3xf32>
}
"""
    with pytest.raises(VerificationError) as caught:
        verify(parse_module(text))
    assert caught.value.where == "model.py:12"
    assert location_text(parse_module("").operation.location)


def test_call_passes_what_the_callee_takes() -> None:
    callee = "func.func private @g(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %x : tensor<3xf32>\n}\n"
    call = '"adze.call"(%x) {callee = @g, results = [tensor<4xf32>]} : (tensor<4xf32>) -> tensor<4xf32>'
    body = f"%0 = {call}\n  return %0 : tensor<4xf32>"
    text = f"{callee}func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  {body}\n}}"
    with pytest.raises(VerificationError) as caught:
        verify(parse_module(text))
    assert caught.value.message == "in @f: op 'adze.call' passes (f32[4]) where @g has (f32[3])"


def test_call_states_the_results_of_the_callee() -> None:
    callee = "func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"
    call = '"adze.call"(%x) {callee = @g, results = [tensor<4xi32>]} : (tensor<4xf32>) -> tensor<4xi32>'
    body = f"%0 = {call}\n  return %0 : tensor<4xi32>"
    text = f"{callee}func.func @f(%x: tensor<4xf32>) -> tensor<4xi32> {{\n  {body}\n}}"
    with pytest.raises(VerificationError) as caught:
        verify(parse_module(text))
    assert caught.value.message == "in @f: op 'adze.call' states results (i32[4]) where @g has (f32[4])"


def test_size_becomes_no_complex_number() -> None:
    message = refused(
        '  %0 = "adze.size_to_array"(%n) {dtype = complex<f32>} : (index) -> tensor<complex<f32>>',
        "tensor<complex<f32>>",
    )
    assert message == "in @f: size_to_array: complex64 cannot hold a size; expected an integer or float dtype"
