"""Files of arrays: what a file says is what the program gets, and what is written comes back the same."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from PIL import Image

from adze.cli.inputs import pair_inputs, read_array, read_inputs
from adze.cli.numbers import Decimal
from adze.cli.outputs import check_count, check_formats, write_all
from adze.cli.reporting import BadUsage
from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
from adze.runtime.artifact.weights import safetensors_of

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
RANDOM = np.random.default_rng(0)


def spec(dtype: Any, *shape: Any, name: str = "x") -> ArraySpec:
    return ArraySpec(name, np.dtype(dtype), shape)


def values(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Any bits of a dtype, NaN and infinities included."""
    if dtype == np.bool_:
        return RANDOM.integers(0, 2, shape).astype(bool)
    raw = RANDOM.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    return raw.view(dtype).reshape(shape)


DTYPES = [
    *map(np.dtype, ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")),
    BFLOAT16,
]
SHAPES: list[tuple[int, ...]] = [(), (5,), (1,), (0,), (3, 2), (1, 1), (2, 1), (0, 3), (2, 3, 2)]


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors", ".csv", ".json", ".png"])
def test_what_is_written_comes_back(suffix: str, tmp_path: Path) -> None:
    """Or is refused before the program runs."""
    came_back = 0
    for dtype in DTYPES:
        for shape in [*SHAPES, (4, 3, 3)]:
            path = tmp_path / f"y{suffix}"
            function = FunctionSignature("f", (), (spec(dtype, *shape, name="y['a']"),))
            array = values(dtype, shape)
            try:
                check_formats([path], function)
                write_all([path], function.outputs, [array])
            except BadUsage as error:
                assert suffix in str(error)
                continue
            back = read_array(str(path), spec(dtype, *shape))
            assert back.shape == shape and back.dtype == dtype
            is_text = suffix in (".csv", ".json")
            if is_text and dtype.kind not in "iub":
                np.testing.assert_array_equal(back, array)  # equal NaNs, whatever their bits
            else:
                assert back.tobytes() == array.tobytes()
            came_back += 1
    assert came_back >= {".csv": 13 * 7, ".png": 6}.get(suffix, 14 * 9)


def test_floats_are_the_nearest_to_what_is_written() -> None:
    """Through float64 a decimal just above the middle of two floats would become the even one."""
    for dtype in (np.dtype("f4"), np.dtype("f2"), BFLOAT16):
        low = np.array(1, dtype)
        high = np.nextafter(low, np.array(2, dtype))
        middle = (Fraction(float(low)) + Fraction(float(high))) / 2
        text = f"{float(middle):.60f}".rstrip("0")
        assert Fraction(text) == middle
        assert read_array(text, spec(dtype)) == low  # a tie, to even
        assert read_array(f"{text}{'0' * 20}1", spec(dtype)) == high
        assert read_array(f"[{text}{'0' * 20}1, 2]", spec(dtype, 2)).tolist()[0] == high
        assert read_array(f"-{text}{'0' * 20}1", spec(dtype)) == -high
        assert read_array(f"{text[:-1]}4{'9' * 20}", spec(dtype)) == low


def test_many_numbers_are_as_each_alone() -> None:
    texts = ["0", "-0.0", "1", "3.5", "NaN", "Infinity", "0.1", "1e-40", "16777216", "1e-10", "65504.0"]
    for dtype in (np.dtype("f4"), np.dtype("f8"), BFLOAT16):
        together = read_array(f"[{','.join(texts)}]", spec(dtype, len(texts)))
        alone = [read_array(text, spec(dtype)) for text in texts]
        assert together.tobytes() == b"".join(array.tobytes() for array in alone)
    assert math.isclose(Decimal("0.1"), 0.1)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("1,2\n3,4\n", spec("i4", 2, 2), [[1, 2], [3, 4]]),
        ("\ufeff1, 2.5 \r\n\r\n-inf,NaN", spec("f4", 2, 2), [[1, 2.5], [-np.inf, np.nan]]),
        ("1,2,3", spec("f4", 3), [1, 2, 3]),
        ("1\n2\n3", spec("f4", "n"), [1, 2, 3]),
        ("7\n", spec("u1"), 7),
        ("true,false", spec("bool", 1, 2), [[True, False]]),
        ('"1","2"', spec("i8", 1, 2), [[1, 2]]),
        ("+1,.5,1.", spec("f8", 3), [1, 0.5, 1]),
        ("", spec("f4", "n", 2), np.zeros((0, 2))),
    ],
)
def test_csv_files(text: str, wanted: ArraySpec, expected: Any, tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_array(str(write(tmp_path / "x.csv", text)), wanted), expected)


@pytest.mark.parametrize(
    ("name", "content", "wanted", "message"),
    [
        (
            "x.csv",
            "a,b\n1,2",
            spec("f4", 2, 2),
            "line 1, column 1: 'a' is no number\n  hint: a line of names",
        ),
        ("x.csv", "1,\n", spec("f4", 2), "line 1, column 2: nothing is no number"),
        ("x.csv", "1\n1;2\n", spec("f4", 2), "line 2, column 1: '1;2' is no number\n  hint: a .csv file has"),
        ("x.csv", "1,2\n3", spec("f4", 2, 2), "x.csv for x: f32[2,2]: [1] has 1 entries where others have 2"),
        ("x.csv", "1,2\n3,4", spec("f4", 4), "it has 2 rows of 2: expected a single row or a single column"),
        ("x.csv", "1,2", spec("f4"), "it has 1 rows of 2: expected a single number"),
        ("x.csv", "1,300", spec("u1", 2), "x: ui8[2]: [1] 300 is out of range for uint8"),
        ("x.csv", "1.5", spec("i4", 1), "[0] 1.5 is no integer"),
        ("x.csv", "1", spec("c8", 1), "a .csv file holds no complex numbers"),
        ("x.csv", "1", spec("f4", 1, 1, 1), "a .csv file holds no arrays of 3 axes"),
        ("x.csv", b"\xff\xfe1", spec("f4", 1), "is not a text in UTF-8"),
        ("x.csv", '"1', spec("f4", 1), "is not a .csv file"),
        ("x.json", "[1, 2", spec("f4", 2), "is not JSON"),
        ("x.json", "[1, 2.5]", spec("i4", 2), "x.json for x: i32[2]: [1] 2.5 is no integer"),
        ("x.json", "[" * 100_000, spec("f4", 1), "is not JSON"),
        ("x.json", '{"a": 1, "b": 2}', spec("f4"), "holds 2 arrays for x: f32[]: a, b"),
        ("x.npz", b"PK\x03\x04 nonsense", spec("f4"), "is not a .npz file"),
        ("x.npz", b"", spec("f4"), "is not a .npz file"),
        ("x.safetensors", b"", spec("f4"), "no .safetensors file, or a damaged one"),
        ("x.safetensors", b"\xff" * 100, spec("f4"), "no .safetensors file, or a damaged one"),
        ("x.png", b"\x89PNG nonsense", spec("u1", 2, 2), "is not an image that pillow reads"),
        ("x.npy", b"\x93NUMPY", spec("f4"), "is not a .npy file"),
    ],
)
def test_wrong_files_are_told(
    name: str, content: str | bytes, wanted: ArraySpec, message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadUsage) as caught:
        read_array(str(write(tmp_path / name, content)), wanted)
    assert str(caught.value).startswith("--in: ") and message in str(caught.value)


def test_images(tmp_path: Path) -> None:
    pixels = RANDOM.integers(0, 256, (4, 5, 3), dtype=np.uint8)
    path = tmp_path / "x.png"
    Image.fromarray(pixels).save(path)
    np.testing.assert_array_equal(read_array(str(path), spec("u1", 4, 5, 3)), pixels)
    for dtype in ("f4", "f2", "i4", BFLOAT16):  # the numbers 0 to 255, not scaled
        converted = read_array(str(path), spec(dtype, 4, 5, 3))
        assert converted.dtype == dtype
        np.testing.assert_array_equal(converted.astype("f8"), pixels)
    for dtype in ("i1", "bool", "c8"):
        with pytest.raises(BadUsage, match=r"holds pixels of uint8, from \d+ to \d+, which"):
            read_array(str(path), spec(dtype, 4, 5, 3))
    Image.fromarray(pixels).convert("P").save(tmp_path / "p.png")
    with pytest.raises(BadUsage, match="an image of mode 'P', whose pixels are no plain numbers"):
        read_array(str(tmp_path / "p.png"), spec("u1", 4, 5))
    frames = [Image.fromarray(pixels + n) for n in range(2)]
    frames[0].save(tmp_path / "x.tiff", save_all=True, append_images=frames[1:])
    with pytest.raises(BadUsage, match="holds several images: expected one"):
        read_array(str(tmp_path / "x.tiff"), spec("u1", 4, 5, 3))


SIGNATURE = FunctionSignature(
    "f",
    (spec("f4", 2, name="p['w']"), spec("i4", name="p['n']"), spec("f4", "n", name="x")),
    (spec("f4", 2, name="y"), spec("i4", name="file")),
)
W, N, X = np.float32([1, 2]), np.int32(7), np.float32([3, 4, 5])


def given(*texts: str) -> list[Any]:
    return [array.tolist() for array in read_inputs(pair_inputs([*texts], SIGNATURE), SIGNATURE)]


def test_files_of_several_arrays_are_inputs_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arrays: dict[str, Any] = {"p['w']": W, "p['n']": N, "x": X}
    expected = [array.tolist() for array in arrays.values()]
    np.savez("all.npz", **arrays)
    np.savez("dotted.npz", **{"p.w": W, "p.n": N})
    write(Path("all.safetensors"), safetensors_of(arrays))
    Path("all.json").write_text(json.dumps({name: array.tolist() for name, array in arrays.items()}))
    np.savez("one.npz", X)
    for texts in (
        ("all.npz",),
        ("all.safetensors",),
        ("all.json",),
        ("dotted.npz", "[3, 4, 5]"),
        ("dotted.npz", "one.npz"),
        ("dotted.npz", "x=one.npz"),
        ("p.w=all.npz:p['w']", "p.n=all.safetensors:p['n']", "all.json:x"),
    ):
        assert given(*texts) == expected
    for texts, message in (
        (("all.npz", "x=[1]"), "'x' is given twice"),
        (("all.npz", "[1]"), "f takes 3 inputs, and 2 were given"),
        (("dotted.npz",), "f takes 3 inputs, and 1 was given"),
        (("dotted.npz", "x=all.npz"), "all.npz holds 3 arrays for x: f32[n]: p['w'], p['n'], x"),
        (("dotted.npz", "x=all.npz:z"), "all.npz holds no array 'z': it has"),
        (("dotted.npz", "x=all.npz:p['n']"), "all.npz:p['n'] holds int32[] for x: f32[n]"),
    ):
        with pytest.raises(BadUsage) as caught:
            given(*texts)
        assert message in str(caught.value)


@pytest.mark.parametrize("name", ["y.npz", "y.safetensors"])
def test_one_file_holds_all_results_by_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    check_count([path], SIGNATURE)
    write_all([path], SIGNATURE.outputs, [W, np.asarray(N)])
    first = path.read_bytes()
    np.testing.assert_array_equal(read_array(f"{path}:y", spec("f4", 2)), W)
    np.testing.assert_array_equal(read_array(f"{path}:file", spec("i4")), N)
    write_all([path], SIGNATURE.outputs, [W, np.asarray(N)])
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("name", "wanted", "message"),
    [
        ("y.txt", spec("f4"), "has no format that results are written in"),
        ("y", spec("f4"), "has no format that results are written in"),
        ("y.csv", spec("c8", 2), "a .csv file holds no complex numbers"),
        ("y.csv", spec("f4", 2, 2, 2), "a .csv file holds no arrays of 3 axes"),
        ("y.safetensors", spec("c16"), "a .safetensors file holds no arrays of complex128"),
        ("y.png", spec("f4", 2, 2), "a .png file holds no pixels of float32"),
        ("y.png", spec("u2", 2, 2, 3), "a .png file holds no pixels of uint16 in channels"),
        ("y.png", spec("u1", 2, 2, 5), "a .png file holds no arrays like ui8[2,2,5]"),
        ("y.png", spec("u1", 2), "a .png file holds no arrays like ui8[2]"),
    ],
)
def test_formats_that_cannot_hold_a_result_are_refused(name: str, wanted: ArraySpec, message: str) -> None:
    with pytest.raises(BadUsage, match="--out: ") as caught:
        check_formats([Path(name)], FunctionSignature("f", (), (wanted,)))
    assert message in str(caught.value)
