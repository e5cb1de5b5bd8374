"""The manifest: JSON and back, what a bad one says, and its way through IREE."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from adze.dialects.types import ANY
from adze.runtime.artifact.manifest import (
    ExportedFunction,
    Manifest,
    make_manifest,
    manifest_from_json,
    manifest_from_reflection,
    reflection_text,
)
from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
from adze.runtime.compile.compiler import compile_bytecode
from adze.runtime.errors import ArtifactError
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target


def test_the_text_comes_back_as_the_manifest(manifest: Manifest) -> None:
    assert manifest_from_json(manifest.to_json()) == manifest


def test_every_dtype_and_kind_of_dim_survives() -> None:
    specs = tuple(
        ArraySpec(f"x{number}", dtype, (number, "batch", None))
        for number, dtype in enumerate(sorted(ANY, key=str))
    )
    function = ExportedFunction(FunctionSignature("f", specs, specs[:1]), None, {"dict": {"a": "*"}})
    manifest = make_manifest((function,), parse_target("cpu:x86-64-v3"))
    again = manifest_from_json(manifest.to_json())
    assert again == manifest
    assert again.function("f").signature.inputs[3].dtype == specs[3].dtype
    assert "avx2" in again.required_features


def test_equal_manifests_are_equal_text(manifest: Manifest) -> None:
    text = manifest.to_json()
    assert manifest_from_json(text).to_json() == text
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_it_travels_inside_the_program(manifest: Manifest) -> None:
    module = f"func.func @f() attributes {{iree.reflection = {reflection_text(manifest)}}} {{ return }}"
    vmfb = compile_bytecode(module.encode(), parse_target("cpu")).vmfb
    reflection = Executable(vmfb).reflection("f")
    assert manifest_from_reflection(reflection) == manifest
    assert manifest_from_reflection({}) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 99}, "its manifest has format version 99, newer than the 2 of this adze"),
        ({"format_version": 0}, "its manifest has format version 0, older than the 2 of this adze"),
        ({"functions": 3}, "its manifest is damaged: functions is 3, expected a list"),
        ({"functions": []}, "its manifest is damaged: functions is [], expected at least one function"),
        ({"functions": [{"name": "f"}]}, "its manifest is damaged: functions[0].arguments is missing"),
        ({"versions": None}, "its manifest is damaged: versions is None, expected an object"),
        (
            {"work": "much"},
            "its manifest is damaged: work is 'much', expected a number of at least 0, or null",
        ),
        (
            {"target": "tpu"},
            "its manifest is damaged: target is 'tpu', expected a target: cpu, vulkan, cuda, rocm or metal",
        ),
        ({"ir_sha256": "ab"}, "its manifest is damaged: ir_sha256 is 'ab', expected a SHA-256 in hex digits"),
        ({"more": 1}, "its manifest is damaged: more is no field of the format"),
    ],
    ids=str,
)
def test_a_bad_manifest_says_so(manifest: Manifest, change: dict[str, Any], message: str) -> None:
    text = json.dumps(json.loads(manifest.to_json()) | change)
    with pytest.raises(ArtifactError) as caught:
        manifest_from_json(text)
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null"])
def test_what_is_no_manifest_says_so(text: str) -> None:
    with pytest.raises(ArtifactError, match="its manifest cannot be read: "):
        manifest_from_json(text)


def test_an_unknown_dtype_or_dim_says_so(manifest: Manifest) -> None:
    place = "its manifest is damaged: functions[0].inputs[0]"
    for damage, message in (
        ({"dtype": "f128"}, f"{place}.dtype is 'f128', expected the name of a dtype"),
        ({"dtype": ["f32"]}, f"{place}.dtype is ['f32'], expected the name of a dtype"),
        ({"shape": [1.5]}, f"{place}.shape[0] is 1.5, expected a size, a name or null"),
        ({"shape": [True]}, f"{place}.shape[0] is True, expected a size, a name or null"),
        ({"shape": [-1]}, f"{place}.shape[0] is -1, expected a size, a name or null"),
        ({"shape": ["a b"]}, f"{place}.shape[0] is 'a b', expected a size, a name or null"),
        ({"shape": [2**62, 3]}, f"{place}: f32[4611686018427387904,3] is not "),
        ({"name": ""}, f"{place}.name is '', expected a name"),
    ):
        data = json.loads(manifest.to_json())
        data["functions"][0]["inputs"][0] |= damage
        with pytest.raises(ArtifactError) as caught:
            manifest_from_json(json.dumps(data))
        assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    "tree",
    [
        *(1, [], "x", {}, {"dict": []}, {"list": {}}, {"tuple": 1}, {"map": []}, {"dict": {}, "list": []}),
        *({"namedtuple": "a b", "fields": []}, {"dataclass": "A", "fields": [["x"]]}, {"node": 1}),
        *(
            {"namedtuple": "A", "fields": [["x", "*"], ["x", "*"]]},
            {"dataclass": "A", "fields": [["1", "*"]]},
        ),
    ],
    ids=str,
)
def test_a_bad_tree_says_so(manifest: Manifest, tree: Any) -> None:
    for name in ("input_tree", "output_tree"):
        data = json.loads(manifest.to_json())
        data["functions"][0][name] = tree
        with pytest.raises(ArtifactError, match=rf"its manifest is damaged: .*functions\[0\].{name}"):
            manifest_from_json(json.dumps(data))


VARIANT = {
    "target": "cpu",
    "architecture": "x86_64",
    "required_features": [],
    "flags": [],
    "work": None,
    "bytes": 1,
    "kernels": 1,
}
HELD = {"name": "w", "dtype": "f32", "shape": [3], "mutable": True, "parameter": False}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("variants",), [{**VARIANT, "target": "cuda"}], "variants[0] is {'target': 'cuda'"),
        (
            ("variants",),
            [{**VARIANT, "bytes": -1}],
            "variants[0].bytes is -1, expected a number of at least 0",
        ),
        (("variants",), [{**VARIANT, "bytes": True}], "variants[0].bytes is True, expected a number"),
        (("parameters",), [], "parameters is [], expected an object with scope, file, sha256, held"),
        (("parameters", "file"), "../w", "parameters.file is '../w', expected the name of a file, or null"),
        (("parameters", "file"), "..", "parameters.file is '..', expected the name of a file, or null"),
        (("parameters", "held"), [HELD, HELD], "parameters.held is ['w', 'w'], expected different names"),
        (("parameters", "held"), [{**HELD, "shape": ["n"]}], "parameters.held[0].shape[0] is 'n'"),
        (("parameters", "held"), [{**HELD, "shape": [2**62, 9]}], "parameters.held[0]: f32["),
        (("functions", 0, "dims"), {"m": {}}, "functions[0].dims.m."),
        (
            ("functions", 0, "dims"),
            {"m": {"min": 1, "max": 2, "multiple_of": 1}},
            "functions[0].dims is ['m'], expected names of dims of inputs",
        ),
        (
            ("functions", 1, "dims"),
            {"n": {"min": 3, "max": 2, "multiple_of": 1}},
            "functions[1].dims.n is {'min': 3, 'max': 2",
        ),
        (
            ("functions", 1, "dims"),
            {"n": {"min": 0, "max": 2, "multiple_of": 0}},
            "functions[1].dims.n.multiple",
        ),
        (("functions", 0, "donated"), [2], "functions[0].donated is 2, expected the position of an input"),
        (("functions", 0, "arguments"), [1], "functions[0].arguments[0] is 1, expected a name, or null"),
        (
            ("functions", 0, "specializations"),
            [{"sizes": {"n": 8}, "function": "gone"}],
            "functions[0].specializations[0].function is 'gone', expected the name of a function",
        ),
    ],
)
def test_what_programs_state_is_checked(manifest: Manifest, place: Any, value: Any, message: str) -> None:
    data = json.loads(manifest.to_json())
    data["parameters"] = {"scope": "model", "file": None, "held": [HELD]}
    inner = data
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(ArtifactError) as caught:
        manifest_from_json(json.dumps(data))
    assert caught.value.message.startswith(f"its manifest is damaged: {message}")


def test_the_first_format_is_read(manifest: Manifest) -> None:
    data = json.loads(manifest.to_json())
    for name in ("parameters", "variants"):
        del data[name]
    for function in data["functions"]:
        for name in ("arguments", "dims", "donated", "specializations"):
            del function[name]
    data |= {"format_version": 1, "extra": {"arguments": ["left", None], "note": "kept"}}
    read = manifest_from_json(json.dumps(data))
    assert read.functions[0].arguments == ("left", None) and read.extra == {"note": "kept"}
    assert manifest_from_json(read.to_json()) == read
    with pytest.raises(ArtifactError, match="its manifest is damaged: variants is no field of the format"):
        manifest_from_json(json.dumps({**data, "variants": []}))


def test_a_manifest_that_is_too_deep_says_so() -> None:
    with pytest.raises(ArtifactError, match="its manifest cannot be read: "):
        manifest_from_json('{"format_version": 1, "functions": ' + "[" * 100_000)


def test_an_unknown_function_lists_the_known(manifest: Manifest) -> None:
    with pytest.raises(ArtifactError, match="the program has no function 'sub': it has add, both"):
        manifest.function("sub")


def test_signatures_print_as_one_line() -> None:
    spec = ArraySpec("x", np.dtype(np.float32), ("n", 4, None))
    assert str(FunctionSignature("f", (spec,), ())) == "f(x: f32[n,4,?]) -> ()"


def test_dims_of_results_may_be_expressions(manifest: Manifest) -> None:
    data = json.loads(manifest.to_json())
    data["functions"][0]["outputs"][0]["shape"] = ["2*n + 1"]
    assert manifest_from_json(json.dumps(data)).signatures[0].outputs[0].shape == ("2*n + 1",)
    for text in ("n+1", "n +", "__import__('os')", "2*n; n", "n.m", "n[0]", "lambda: n", "2*2"):
        data["functions"][0]["outputs"][0]["shape"] = [text]
        with pytest.raises(ArtifactError, match=r"outputs\[0\].shape\[0\] is "):
            manifest_from_json(json.dumps(data))
    data["functions"][0]["outputs"][0]["shape"] = ["n"]
    data["functions"][0]["inputs"][0]["shape"] = ["2*n"]
    with pytest.raises(
        ArtifactError, match=r"inputs\[0\].shape\[0\] is '2\*n', expected a size, a name or null"
    ):
        manifest_from_json(json.dumps(data))
