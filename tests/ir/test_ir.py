"""Runs the `.mlir` files of this folder with lit: small before/after pairs, one behaviour of a pass each.

One of them by hand: `lit -v tests/ir/grad/of_a_chain.mlir`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adze.passes.registry import GROUPS, PASSES

HERE = Path(__file__).resolve().parent
FILES = sorted(str(path.relative_to(HERE)) for path in HERE.rglob("*.mlir"))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """What lit says of each file."""
    report = tmp_path_factory.mktemp("lit") / "report.json"
    run = "from lit.main import main; main()"  # lit has no module to run
    command = [sys.executable, "-c", run, "-j2", "--verbose", f"--output={report}", str(HERE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert report.exists(), done.stdout + done.stderr
    tests = json.loads(report.read_text())["tests"]
    return {test["name"].removeprefix("adze :: "): test for test in tests}


@pytest.mark.parametrize("file", FILES)
def test_file_gives_what_it_states(results: Mapping[str, Any], file: str) -> None:
    assert file in results, f"lit did not run it; it ran {sorted(results)}"
    assert results[file]["code"] == "PASS", results[file]["output"]


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
