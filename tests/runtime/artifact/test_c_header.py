"""The C header of a program: compilers accept it, names are distinct, and it holds the program's bytes."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adze.dialects.types import ANY, dtype_from_name, dtype_name
from adze.runtime.artifact.c_code import quoted
from adze.runtime.artifact.c_header import c_header
from adze.runtime.artifact.c_names import distinct, identifier
from adze.runtime.artifact.manifest import ExportedFunction, Held, Manifest, Parameters, make_manifest
from adze.runtime.artifact.signature import ArraySpec, Bounds, FunctionSignature
from adze.runtime.errors import ArtifactError
from adze.runtime.targets import parse_target

API = Path(__file__).parent / "iree_c_api"
DTYPES = sorted(map(dtype_name, ANY))


def manifest_of(*signatures: FunctionSignature, target: str = "cpu:x86-64-v3") -> Manifest:
    return make_manifest(tuple(map(ExportedFunction, signatures)), parse_target(target))


def array(name: str, dtype: str, *shape: int | str | None) -> ArraySpec:
    return ArraySpec(name, dtype_from_name(dtype), shape)


EVERY_DTYPE = FunctionSignature(
    "all",
    tuple(array(f"p['{dtype}'][0]", dtype, "n", 3) for dtype in DTYPES),
    tuple(array(f"result['{dtype}']", dtype, "n", "n") for dtype in DTYPES),
)
AWKWARD = FunctionSignature(
    "été",
    (
        array("int", "f32", None, "n"),
        array("program", "i32"),
        array("a b", "f64", 0),
        array("a_b", "f64", "*/", 2),
    ),
    (array("Int", "f32", None), array("out\\", "f32", "m"), array("none", "f32", 0, "n")),
)
BOUNDED = FunctionSignature("b", (array("x", "f32", "n"),), (), {"n": Bounds(1, 1024, 8)})
NO_ARGUMENTS = FunctionSignature("nothing", (), (array("x", "f32"),))
NO_RESULTS = FunctionSignature("prints", (array("x", "f32"),), ())


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cpu:aarch64", "vulkan:ampere"])
@pytest.mark.parametrize(("compiler", "standard"), [("gcc", "c11"), ("g++", "c++17")])
def test_compilers_accept_the_header(compiler: str, standard: str, target: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    several = manifest_of(EVERY_DTYPE, AWKWARD, BOUNDED, NO_ARGUMENTS, NO_RESULTS, target=target)
    (tmp_path / "several.h").write_text(c_header(several, "my prog", file='a "b"\\c?.vmfb'))
    (tmp_path / "one.h").write_text(
        c_header(manifest_of(NO_ARGUMENTS), "one", file="one.vmfb", content=b"PK\x03")
    )
    source = tmp_path / ("main.c" if compiler == "gcc" else "main.cc")
    source.write_text(
        '#define ADZE_MY_PROG_IMPLEMENTATION\n#include "several.h"\n#include "several.h"\n'
        '#define ADZE_ONE_IMPLEMENTATION\n#include "one.h"\n'
    )
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only", f"-I{API}"]
    done = subprocess.run(
        [compiler, *flags, str(source)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_function_has_its_sizes_arguments_and_results_in_order() -> None:
    predict = FunctionSignature(
        "predict",
        (array("x", "f32", "n", 3), array("k", "ui8")),
        (array("y", "f32", "n"), array("z", "i1", None)),
    )
    text = c_header(manifest_of(predict), "predict", file="predict.vmfb")
    declared = re.search(r"iree_status_t predict_call\(([^)]*)\);", text)
    assert declared is not None
    assert [part.strip() for part in declared[1].split(",")] == [
        "predict_program_t* program",
        "int64_t n",
        "const float* x",
        "const uint8_t* k",
        "float* y",
        "iree_hal_buffer_view_t** z",
    ]
    assert "#define PREDICT_X_COUNT(n) ((size_t)(n) * (size_t)3)" in text
    assert '#define PREDICT_FILE "predict.vmfb"' in text
    assert '"module.predict"' in text


def test_each_function_of_several_has_its_name() -> None:
    text = c_header(manifest_of(NO_ARGUMENTS, NO_RESULTS), "model", file="model.vmfb")
    assert "iree_status_t model_call_nothing(" in text and "iree_status_t model_call_prints(" in text
    assert "MODEL_NOTHING_X_COUNT" in text and "MODEL_PRINTS_X_COUNT" in text


def test_the_header_holds_the_bytes_of_the_program() -> None:
    content = np.random.default_rng(0).bytes(1000)
    text = c_header(manifest_of(NO_ARGUMENTS), "p", file="p.vmfb", content=content)
    numbers = re.search(r"p_vmfb\[1000\] = \{([\d,\s]*)\};", text)
    assert numbers is not None
    assert bytes(int(n) for n in numbers[1].replace("\n", "").split(",") if n) == content
    assert "P_FILE" not in text


def test_a_program_for_a_processor_is_refused_where_features_lack() -> None:
    text = c_header(manifest_of(NO_ARGUMENTS, target="cpu:x86-64-v3"), "p", file="p.vmfb")
    assert '__builtin_cpu_supports("avx2")' in text and "avx512f" not in text
    assert "__builtin_cpu_supports" not in c_header(
        manifest_of(NO_ARGUMENTS, target="vulkan:ampere"), "p", file="p"
    )


def test_sizes_outside_their_bounds_are_errors() -> None:
    text = c_header(manifest_of(BOUNDED), "b", file="b.vmfb")
    assert "if (n < 1 || n > 1024 || n % 8 != 0) return" in text and "1..1024, %%8" in text


def test_weights_outside_the_program_are_refused() -> None:
    held = Held(array("w", "f32", 3), is_mutable=False, is_parameter=True)
    manifest = replace(manifest_of(NO_ARGUMENTS), parameters=Parameters("model", "w.irpa", (held,)))
    with pytest.raises(ArtifactError, match="weights outside its file"):
        c_header(manifest, "p", file="p.vmfb")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("params['w'][0]", "params_w_0"),
        ("x", "x"),
        ("int", "int_"),
        ("été", "u00e9tu00e9"),
        ("0", "n0"),
        ("", "_"),
        ("a__b", "a_b"),
        ("*/ \n#", "_"),
    ],
)
def test_identifiers(name: str, expected: str) -> None:
    assert identifier(name) == expected


def test_equal_names_are_numbered() -> None:
    assert distinct(["a b", "a_b", "A_B", "program"], taken=["program"]) == [
        "a_b",
        "a_b_2",
        "A_B_3",
        "program_2",
    ]


def test_texts_are_quoted_for_c() -> None:
    assert quoted('a"b\\?é\n') == '"a\\042b\\134\\077\\303\\251\\012"'
