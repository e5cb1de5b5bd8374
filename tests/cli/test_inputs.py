"""What `--in` of `adze run` takes is what the program gets; a value that would change is bad usage."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from adze.cli.inputs import read_array
from adze.cli.reporting import BadUsage
from adze.runtime.artifact.signature import ArraySpec


def spec(dtype: Any, *shape: Any) -> ArraySpec:
    return ArraySpec("x", np.dtype(dtype), shape)


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("3", "int32", 3),
        ("[-128, 127]", "int8", [-128, 127]),
        ("18446744073709551615", "uint64", 2**64 - 1),
        ("-9223372036854775808", "int64", -(2**63)),
        ("[true, false]", "bool", [True, False]),
        ("[1, 0.1, -2.5e3]", "float32", [1, 0.1, -2500]),
        ("0.1", "float64", 0.1),
        ("16777217.0", "float32", 16777216),
        ("0.333", "float16", 0.333),
        ("[1, 0.1]", ml_dtypes.bfloat16, [1, 0.1]),
        ("[NaN, Infinity, -Infinity]", "float32", [np.nan, np.inf, -np.inf]),
        ('["nan", "inf", "-inf"]', "float32", [np.nan, np.inf, -np.inf]),
        ("[]", "float32", []),
        ("[[], []]", "int8", [[], []]),
    ],
)
def test_numbers_are_read_in_the_dtype_of_the_input(text: str, dtype: Any, expected: Any) -> None:
    array = read_array(text, spec(dtype, *np.shape(expected)))
    assert array.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(array, np.array(expected).astype(dtype))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_are_pairs_as_results_are(dtype: str) -> None:
    np.testing.assert_array_equal(read_array("[[1, 2], [-0.5, 0]]", spec(dtype, 2)), [1 + 2j, -0.5])
    assert read_array("[1.5, -2]", spec(dtype)) == 1.5 - 2j
    assert read_array("[]", spec(dtype, "n")).shape == (0,)


def test_empty_list_has_the_axes_of_the_input_behind_it() -> None:
    assert read_array("[]", spec("float32", "n", 3, 2)).shape == (0, 3, 2)
    assert read_array("[]", spec("float32", "n", "m")).shape == (0,)


INTEGER = "write an integer, or build the program for a float input"
WIDER = "give a value in its range, or build the program for a wider dtype"
RANGE = "give a value in that range, or build the program for a wider dtype"
BOX = "write lists of one shape"


@pytest.mark.parametrize(
    ("text", "wanted", "problem", "hint"),
    [
        ("1.7", spec("int32"), "1.7 is no integer", INTEGER),
        ("[1, 2.0]", spec("int32", 2), "[1] 2.0 is no integer", INTEGER),
        ("NaN", spec("int32"), "NaN is no integer", INTEGER),
        ('"nan"', spec("int32"), '"nan" is no number', "write numbers such as 3 or 3.5"),
        ("[[1, 2, 255.9]]", spec("uint8", 1, 3), "[0][2] 255.9 is no integer", INTEGER),
        ("[300]", spec("uint8", 1), "[0] 300 is out of range for uint8 (0 to 255)", RANGE),
        ("-1", spec("uint64"), "-1 is out of range for uint64 (0 to 18446744073709551615)", RANGE),
        ("true", spec("int8"), "true is no number", "write numbers such as 3 or 3.5"),
        ("[null]", spec("float32", 1), "[0] null is no number", "write numbers such as 3 or 3.5"),
        ('["3"]', spec("float32", 1), '[0] "3" is no number', "write numbers such as 3 or 3.5"),
        ('{"a": 1}', spec("float32"), '{"a": 1} is no number', "write numbers such as 3 or 3.5"),
        ("true", spec("float32"), "true is no number", "write numbers such as 3 or 3.5"),
        ("1e300", spec("float32"), "1e300 is out of range for float32", WIDER),
        ("1e5000", spec("float64"), "1e5000 is out of range for float64", WIDER),
        ("1" + "0" * 400, spec("float64"), "1" + "0" * 56 + "... is out of range for float64", WIDER),
        ("70000", spec("float16"), "70000 is out of range for float16", WIDER),
        ("1e-60", spec("float32"), "1e-60 is too near 0 for float32", WIDER),
        ("1e-5000", spec("float64"), "1e-5000 is too near 0 for float64", WIDER),
        (
            "16777217",
            spec("float32"),
            "16777217 is no float32: the nearest is 16777216",
            "write 16777217.0 to have it rounded",
        ),
        (
            "[257]",
            spec(ml_dtypes.bfloat16, 1),
            "[0] 257 is no bfloat16: the nearest is 256",
            "write 257.0 to have it rounded",
        ),
        ("2", spec("bool"), "2 is no bool", "write true or false"),
        ("[1]", spec("bool", 1), "[0] 1 is no bool", "write true or false"),
        ("[[1, 2], [3]]", spec("int8", 2, 2), "[1] has 1 entries where others have 2", BOX),
        ("[[1], 2]", spec("int8", 2, 1), "[1] 2 stands where others are lists", BOX),
        ("[1, [2]]", spec("int8", 2), "[1] is a list where others are numbers", BOX),
        (
            "[1.5, 2]",
            spec("complex64", 2),
            "[0] 1.5 is no complex number",
            "write each as a pair [real, imaginary], such as [1.5, -2]",
        ),
        (
            "1",
            spec("complex64"),
            "1 is no complex number",
            "write each as a pair [real, imaginary], such as [1.5, -2]",
        ),
        ("[[1e300, 0]]", spec("complex64", 1), "[0][0] 1e300 is out of range for float32", WIDER),
    ],
)
def test_value_that_would_change_is_refused(text: str, wanted: ArraySpec, problem: str, hint: str) -> None:
    with pytest.raises(BadUsage) as caught:
        read_array(text, wanted)
    assert str(caught.value) == f"--in: {wanted}: {problem}\n  hint: {hint}"


@pytest.mark.parametrize("text", ["", "[1,", "one", "no_such.npy", "[" * 100_000, "9" * 5000, "a\0b"])
def test_text_that_is_neither_a_file_nor_numbers(text: str) -> None:
    with pytest.raises(BadUsage, match="is neither a file nor numbers"):
        read_array(text, spec("float32"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex64", "bfloat16"])
@pytest.mark.parametrize("other", ["bool", "int16", "int64", "float16", "float64", "complex128", "V2", "<U3"])
def test_file_is_never_converted(dtype: str, other: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    wanted = spec(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype, 2)
    np.save(path, np.zeros(2, other))
    if dtype == other or (dtype == "bfloat16" and other == "V2"):
        assert read_array(str(path), wanted).dtype == wanted.dtype
        return
    with pytest.raises(BadUsage) as caught:
        read_array(str(path), wanted)
    assert f"{path} holds {np.dtype(other).name}[2] for {wanted}: a file is never converted" in str(
        caught.value
    )
    assert f"hint: write one of that dtype: np.save(file, array.astype({dtype!r}))" in str(caught.value)


def test_file_of_the_other_byte_order_holds_the_same_values(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([1, 2], ">i4"))
    array = read_array(str(tmp_path / "x.npy"), spec("int32", 2))
    assert array.dtype.isnative
    np.testing.assert_array_equal(array, [1, 2])


def test_records_and_objects_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "record.npy", np.zeros(2, [("a", "f4")]))
    np.save(tmp_path / "object.npy", np.array([None, 1]), allow_pickle=True)
    for name, problem in (("record.npy", "a file is never converted"), ("object.npy", "is not a .npy file")):
        with pytest.raises(BadUsage, match=problem):
            read_array(str(tmp_path / name), spec("float32", 2))
