"""A program to run and to inspect, built through the runtime alone, and a runner for commands."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from adze.cli.main import app

Adze = Callable[..., Result]

# Help pages wrap at the terminal's width.
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1"}

MODULE = """\
func.func @add_row(%x: tensor<?x3xf32>, %b: tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xi1>) {
  %zero = arith.constant 0.0 : f32
  %row = arith.constant 0 : index
  %n = tensor.dim %x, %row : tensor<?x3xf32>
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %b : tensor<?x3xf32>, tensor<3xf32>) outs(%empty : tensor<?x3xf32>) {
  ^bb0(%left: f32, %right: f32, %out: f32):
    %added = arith.addf %left, %right : f32
    linalg.yield %added : f32
  } -> tensor<?x3xf32>
  %bits = tensor.empty() : tensor<3xi1>
  %positive = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } ins(%b : tensor<3xf32>) outs(%bits : tensor<3xi1>) {
  ^bb0(%value: f32, %out: i1):
    %is = arith.cmpf ogt, %value, %zero : f32
    linalg.yield %is : i1
  } -> tensor<3xi1>
  return %sum, %positive : tensor<?x3xf32>, tensor<3xi1>
}
"""


@pytest.fixture
def adze() -> Adze:
    """Runs a command line in this process: `adze("run", "program.vmfb")`."""

    def run(*arguments: object, stdin: str | None = None) -> Result:
        command = [str(argument) for argument in arguments]
        return CliRunner().invoke(app, command, input=stdin, env=ENVIRONMENT)

    return run


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`add_row(x: f32[n,3], b: f32[3]) -> (sum: f32[n,3], positive: i1[3])` for this machine."""
    from adze.runtime.artifact.artifact import Contents, save
    from adze.runtime.artifact.manifest import ExportedFunction, make_manifest
    from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
    from adze.runtime.compile.compiler import compile_bytecode
    from adze.runtime.targets import parse_target

    float32, boolean = np.dtype(np.float32), np.dtype(np.bool_)
    signature = FunctionSignature(
        "add_row",
        (ArraySpec("x", float32, ("n", 3)), ArraySpec("b", float32, (3,))),
        (ArraySpec("sum", float32, ("n", 3)), ArraySpec("positive", boolean, (3,))),
    )
    target = parse_target("cpu")
    compiled = compile_bytecode(MODULE.encode(), target)
    manifest = make_manifest((ExportedFunction(signature),), target)
    path: Path = save(tmp_path_factory.mktemp("program") / "add_row.vmfb", Contents(compiled.vmfb, manifest))
    return path
