"""Specs are read from text, print as that text, and refuse with the legal names what they cannot be."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adze
from adze.dialects.types import TensorType
from adze.frontend.errors import ArgumentError
from adze.frontend.tracing.specs import DTYPE_NAMES, ShapeDtype, SpecError, parse_spec

EXAMPLES = "f32[8,784], f32[n,784], f32[?,784], f32[] or {w: f32[3], b: f32[]}"


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("f32[8,784]", (8, 784), "float32"),
        ("f32[n,784]", ("n", 784), "float32"),
        (" i64[ ? , 4 ] ", (None, 4), "int64"),
        ("bool[]", (), "bool"),
        ("i1[2]", (2,), "bool"),
        ("u8[2]", (2,), "uint8"),
        ("c128[0]", (0,), "complex128"),
        ("float64[1]", (1,), "float64"),
    ],
)
def test_leaf_has_the_shape_and_dtype_written(text: str, shape: tuple[object, ...], dtype: str) -> None:
    spec = parse_spec(text)
    assert isinstance(spec, ShapeDtype)
    assert spec.shape == shape
    assert spec.dtype == np.dtype(dtype)


def test_trees_are_python_containers() -> None:
    leaf = ShapeDtype((3,), "float32")
    assert parse_spec("{w: f32[3], b: [f32[3], (f32[3], None)]}") == {"w": leaf, "b": [leaf, (leaf, None)]}
    assert parse_spec("{}") == {}
    assert parse_spec("(f32[3],)") == (leaf,)


@given(
    st.sampled_from(sorted(DTYPE_NAMES)),
    st.lists(st.one_of(st.integers(0, 1000), st.sampled_from(["?", "n", "batch_size"])), max_size=5),
)
def test_text_of_a_spec_is_read_back_unchanged(name: str, shape: list[int | str]) -> None:
    text = f"{name}[{','.join(map(str, shape))}]"
    assert str(parse_spec(text)) == text


def test_names_of_dimensions_are_not_part_of_the_type() -> None:
    assert ShapeDtype((2, "n", None), "float32").type == TensorType((2, None, None), np.dtype("float32"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "f31[2]",
            "unknown dtype 'f31': expected one of bool, i8, i16, i32, i64, ui8, ui16, ui32, ui64, "
            "f16, bf16, f32, f64, c64, c128",
        ),
        ("f32", "expected '[', got the end"),
        ("f32[2", "expected ',', got the end"),
        ("f32[-1]", "unexpected '-'"),
        ("f32[2x]", "'2x' is not a dimension: expected an integer, ? or a name"),
        ("f32[None]", "'None' is not a dimension: expected an integer, ? or a name"),
        ("f32[" + "9" * 31 + "]", f"{'9' * 31} is not a dimension: it does not fit in 64 bits"),
        ("f32[2] f32[3]", "unexpected 'f32'"),
        ("{a: f32[], a: f32[]}", "the key 'a' stands twice"),
        ("", "expected a dtype, got the end"),
    ],
)
def test_malformed_text_is_named_with_examples(text: str, problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert str(caught.value) == f"cannot read the spec {text!r}: {problem}\n  hint: write {EXAMPLES}"


def test_dimension_below_zero_is_refused() -> None:
    with pytest.raises(SpecError) as caught:
        ShapeDtype((2, -1), "float32")
    assert str(caught.value).startswith("-1 is not a dimension: expected an integer of at least 0")


@pytest.mark.parametrize("text", ["[" * 5000, "{a:" * 3000, "f32[" + "9" * 9999 + "]", "f32[2]" * 5000])
def test_long_text_is_cut_in_the_error(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert len(caught.value.message) < 300


def test_a_weakly_typed_spec_yields_as_a_number_does() -> None:
    weak, strong = ShapeDtype((), "float32", weak_type=True), ShapeDtype((), "float32")
    half = ShapeDtype((3,), "bfloat16")
    assert weak != strong
    assert adze.eval_shape(lambda a, b: a + b, weak, half) == half
    assert adze.eval_shape(lambda a, b: a + b, strong, half) == ShapeDtype((3,), "float32")


def test_a_named_spec_with_a_colon_says_how_arguments_are_named() -> None:
    with pytest.raises(SpecError, match="unknown dtype 'x'") as caught:
        parse_spec("x: f32[3]")
    assert caught.value.hint == "an argument is named with =: x=f32[3]"


def test_sizes_of_traced_arrays_are_dimensions() -> None:
    seen = []

    def function(x: Any) -> Any:
        seen.append(adze.ShapeDtype((x.shape[0], 2 * x.shape[0], x.shape[1], 3), x.dtype).shape)
        return x

    adze.trace(function, adze.ShapeDtype(("n", None)))
    assert seen == [("n", "2*n", None, 3)]


def test_results_of_callbacks_have_known_sizes() -> None:
    def function(x: Any) -> Any:
        return adze.pure_callback(np.sin, adze.ShapeDtype(x.shape, x.dtype), x)

    with pytest.raises(ArgumentError, match="the sizes of a callback's results must be known"):
        adze.trace(function, adze.ShapeDtype(("n",)))
