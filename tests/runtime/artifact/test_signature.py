"""Signatures: read from IREE's declarations, and dims that must agree."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from adze.runtime.artifact.signature import (
    ArraySpec,
    FunctionSignature,
    check_arguments,
    signature_from_declaration,
)
from adze.runtime.errors import ArtifactError, CallError

F32 = np.dtype(np.float32)
ATTENTION = FunctionSignature(
    "f",
    (ArraySpec("q", F32, ("n", "k", 2)), ArraySpec("v", F32, ("k", None))),
    (ArraySpec("out", F32, ("n",)),),
)


@pytest.mark.parametrize(
    ("declaration", "text"),
    [
        ("sync func @f()", "f() -> ()"),
        ("sync func @f() -> (%output0: tensor<f64>)", "f() -> (output0: f64[])"),
        (
            "sync func @f(%input0: tensor<?x4xi1>, %input1: tensor<2xcomplex<f32>>) -> "
            "(%output0: tensor<bf16>, %output1: tensor<?xui8>)",
            "f(input0: i1[?,4], input1: c64[2]) -> (output0: bf16[], output1: ui8[?])",
        ),
        ("sync func @f(%x: tensor<4xf32>)", "f(x: f32[4]) -> ()"),
    ],
)
def test_declarations_are_read(declaration: str, text: str) -> None:
    assert str(signature_from_declaration("f", declaration)) == text


@pytest.mark.parametrize(
    "declaration", ["sync func @f(%x: i32) -> (%y: tensor<f32>)", "sync func @f(%x: !vm.list)"]
)
def test_arguments_that_are_no_arrays_are_refused(declaration: str) -> None:
    with pytest.raises(
        ArtifactError, match="function 'f' has an argument or result that adze cannot pass: %x"
    ):
        signature_from_declaration("f", declaration)


def test_a_program_without_a_declaration_is_refused() -> None:
    with pytest.raises(ArtifactError, match="function 'f' has a declaration that adze cannot read: "):
        signature_from_declaration("f", "")


def test_dims_of_one_name_agree_within_and_between_arguments() -> None:
    check_arguments(ATTENTION, [((7, 3, 2), F32), ((3, 11), F32)])
    with pytest.raises(CallError) as caught:
        check_arguments(ATTENTION, [((7, 3, 2), F32), ((4, 11), F32)])
    assert caught.value.message == (
        "f(): argument 'v' has size 4 along axis 0, which is dim 'k': expected 3, the size of axis 1 of 'q'"
    )


def test_unknown_dims_take_any_size() -> None:
    for size in (0, 1, 10**12):
        check_arguments(ATTENTION, [((0, 3, 2), F32), ((3, size), F32)])


def test_a_dtype_without_a_name_is_named_as_numpy_does() -> None:
    with pytest.raises(CallError, match=r"argument 'q' is float8_e5m2\[1\]: expected f32\[n,k,2\]"):
        check_arguments(ATTENTION, [((1,), np.dtype(ml_dtypes.float8_e5m2)), ((3, 1), F32)])
