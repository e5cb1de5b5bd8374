"""Runs the `.mlir` files of this folder: small before/after pairs, one behaviour of a pass each.

One of them by hand: `lit -v tests/ir/grad/of_a_chain.mlir`. Here their RUN lines are executed in this
process; `make test-all` also runs all of them with lit itself, `make test` two.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from adze.passes.registry import GROUPS, PASSES

from .in_process import check_file, parse

HERE = Path(__file__).resolve().parent
FILES = sorted(str(path.relative_to(HERE)) for path in HERE.rglob("*.mlir"))
SAMPLE = ("grad/of_a_chain.mlir", "grad/needs_a_scalar.mlir")


def run_lit(files: Sequence[str], folder: Path) -> Mapping[str, Any]:
    """What lit says of each file."""
    report = folder / "report.json"
    run = "from lit.main import main; main()"  # lit has no module to run
    paths = [str(HERE / file) for file in files]
    command = [sys.executable, "-c", run, "-j2", "--verbose", f"--output={report}", *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert report.exists(), done.stdout + done.stderr
    tests = json.loads(report.read_text())["tests"]
    return {test["name"].removeprefix("adze :: "): test for test in tests}


@pytest.mark.parametrize("file", FILES)
def test_file_gives_what_it_states(file: str, tmp_path: Path) -> None:
    check_file(HERE / file, tmp_path)


@pytest.mark.parametrize(
    "files", [pytest.param(SAMPLE, id="sample"), pytest.param(FILES, id="all", marks=pytest.mark.thorough)]
)
def test_lit_runs_the_files_too(files: Sequence[str], tmp_path: Path) -> None:
    results = run_lit(files, tmp_path)
    assert set(results) == set(files)
    failed = [result["output"] for result in results.values() if result["code"] != "PASS"]
    assert not failed, "\n".join(failed)


def test_every_pass_and_group_has_a_file_in_the_folder_of_its_name() -> None:
    shown = {Path(file).parent.name for file in FILES}
    assert {known.name for known in PASSES} <= shown
    assert shown <= {known.name for known in (*PASSES, *GROUPS)}


@pytest.mark.parametrize("file", FILES)
def test_file_runs_the_pass_that_its_folder_names(file: str) -> None:
    run = next(line for line in (HERE / file).read_text().splitlines() if line.startswith("// RUN: "))
    assert Path(file).parent.name in run or "--pass-pipeline" not in run


@pytest.mark.parametrize("file", FILES)
def test_file_says_what_it_shows(file: str) -> None:
    lines = (HERE / file).read_text().splitlines()
    assert lines[0].startswith("// ") and lines[0].endswith(".")
    assert lines[1].startswith("// RUN: ")
    assert any("CHECK" in line for line in lines)


# -- the runner itself -----------------------------------------------------------------------------------

IDENTITY = "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n"


@pytest.mark.parametrize(
    ("run", "check", "message"),
    [
        ("adze opt %s | filecheck %s", "func.func @g", "@g"),
        ("not adze opt %s | filecheck %s", "func.func @f", "exit code 0"),
        ("adze opt %s --pass-pipeline='grad{function=g}' | filecheck %s", "func.func", "exit code 1"),
    ],
)
def test_what_a_file_states_can_fail(tmp_path: Path, run: str, check: str, message: str) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(f"// Fails.\n// RUN: {run}\n{IDENTITY}// CHECK: {check}\n")
    with pytest.raises(AssertionError, match=message):
        check_file(path, tmp_path)


def test_a_line_that_only_a_shell_can_run_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"f\.mlir"):
        parse("adze opt %s > out.txt && filecheck %s", HERE / "f.mlir")
