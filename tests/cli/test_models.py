"""Commands on files of models: build, ir, report, check, verify, import."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import adze
from adze.cli.main import app
from adze.cli.source import MODEL_SUFFIXES
from adze.frontend.imports import loading

onnx = pytest.importorskip("onnx", reason="the package onnx (extra `onnx`) is not installed")

STABLEHLO = """
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an ONNX model, a damaged one and a StableHLO program."""
    folder = tmp_path_factory.mktemp("models")
    helper = onnx.helper
    info = [helper.make_tensor_value_info(name, 1, ["n", 3]) for name in "xy"]
    nodes = [helper.make_node("Mul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    w = onnx.numpy_helper.from_array(np.float32([1, 2, 3]), "w")
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", info[:1], info[1:], [w])), folder / "net.onnx")
    (folder / "bad.onnx").write_bytes(b"no model")
    (folder / "tanh.stablehlo.mlir").write_text(STABLEHLO)
    return folder


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_suffixes_are_those_that_are_loaded() -> None:
    assert sorted(MODEL_SUFFIXES) == sorted((*loading.ONNX, *loading.STABLEHLO))


def test_build_with_the_declared_shapes(folder: Path) -> None:
    text = run("build", folder / "net.onnx", "-o", folder / "net.vmfb")
    assert "net(x: f32[n,3]) -> (result: f32[n,3])" in text
    program = adze.load(folder / "net.vmfb")
    for n in (1, 4):
        x = np.arange(-3.0, 3 * n - 3, dtype=np.float32).reshape(n, 3)
        np.testing.assert_array_equal(np.asarray(program(x)), np.maximum(x * np.float32([1, 2, 3]), 0))


def test_build_of_stablehlo_with_a_derivative(folder: Path) -> None:
    file = folder / "tanh.stablehlo.mlir"
    out = json.loads(run("build", file, "--vjp", "-o", folder / "t.vmfb", "--json"))
    assert out["output"].endswith("t.vmfb") and "f32[4]" in out["function"]


def test_portable_bytecode(folder: Path) -> None:
    """`.mlirbc`, as `jax.export` serializes modules: the commands take it as they take text."""
    jax = pytest.importorskip("jax", reason="jax, which writes the bytecode, is not installed")
    exported = jax.export.export(jax.jit(lambda x: jax.numpy.tanh(x) * 2))(np.zeros((2, 3), np.float32))
    file, program = folder / "twice.mlirbc", folder / "twice.vmfb"
    file.write_bytes(exported.mlir_module_serialized)
    assert "twice(arg0: f32[2,3]) -> (result: f32[2,3])" in run("build", file, "-o", program)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(np.asarray(adze.load(program)(x)), np.tanh(x) * 2, rtol=1e-6)
    assert "f32[2,3] = tanh" in run("ir", file, "--stage", "pretty")
    assert "all results agree" in run("verify", file, "--samples", 1)
    run("report", file, "--no-time", "-o", folder / "b.html")
    assert "<html" in (folder / "b.html").read_text()[:200]
    file.write_bytes(exported.mlir_module_serialized[:100])
    result = CliRunner().invoke(app, ["build", str(file), "-o", str(program)])
    assert result.exit_code == 1
    said = " ".join((result.stderr or result.output).split())
    assert "twice.mlirbc is bytecode that MLIR cannot read" in said and "save the text instead" in said


def test_ir_check_report_of_models(folder: Path) -> None:
    assert "f32[2,3] = mul" in run("ir", folder / "net.onnx", "--in", "x=f32[2,3]", "--stage", "pretty")
    assert "f32[?,3] = mul" in run("ir", folder / "net.onnx", "--stage", "pretty")
    assert "good" in run("check", folder / "net.onnx", "--jobs", 1)
    run("report", folder / "net.onnx", "--no-time", "-o", folder / "r.html")
    assert "<html" in (folder / "r.html").read_text()[:200]


def test_verify_compiles_and_compares(folder: Path) -> None:
    assert "all results agree" in run("verify", folder / "net.onnx", "--samples", 1)


def test_import_writes_python(folder: Path) -> None:
    text = run("import", folder / "net.onnx", "-o", folder / "net.py")
    assert "net()" in text and "1 arrays" in text
    source = (folder / "net.py").read_text()
    assert "t1 = x * weights['w']" in source
    names: dict[str, object] = {"__file__": str(folder / "net.py")}
    exec(source, names)
    net = names["net"]
    assert callable(net)
    assert np.asarray(net(np.float32([[1, 1, -1]]))).tolist() == [[1.0, 2.0, 0.0]]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["build", "bad.onnx", "-o", "b.vmfb"], 1, "this is no ONNX model"),
        (["build", "none.onnx", "-o", "b.vmfb"], 2, "there is no file"),
        (["build", "net.onnx", "-o", "net.onnx"], 2, "would be overwritten"),
        (["build", "net.onnx", "--in", "z=f32[3]", "-o", "b.vmfb"], 2, "cannot be called so"),
        (["build", "net.onnx", "--in", "x=f32[2,4]", "-o", "b.vmfb"], 1, "the model declares ['n', 3]"),
        (["import", "net.onnx", "-o", "net.txt"], 2, "is no Python file"),
        (["import", "net.vmfb", "-o", "net.py"], 2, "is no file of a model"),
    ],
)
def test_mistakes(
    words: list[str], code: int, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    assert text in " ".join((result.stderr or result.output).split())
