"""`adze check`: the artifacts of a project and one function, in workers."""

import json
from pathlib import Path

import pytest

from .conftest import CONFIGURATION, FAILING, run

MORE = """
[artifact.wrong]
entry = "wrong_of_projects.py:f"
inputs = ["f32[3]"]

[artifact.meant]
entry = "wrong_of_projects.py:f"
inputs = ["f32[3]"]
gradients = false
output = "meant.vmfb"

[artifact.wide]
entry = "wide_of_projects.py:f"
inputs = ["f32[3]"]
gradients = false
output = "wide.vmfb"

[artifact.narrow]
entry = "wide_of_projects.py:f"
inputs = ["f32[3]"]
gradients = false
default_dtypes = "float32"
output = "narrow.vmfb"
"""

WIDE = """\
import adze
import numpy as np


def f(x):
    if (x * np.float64(2)).dtype == np.float64:
        raise ValueError("wide")
    return x * np.float64(2)
"""

WRONG = """\
import adze


def f(x):
    return adze.lax.stop_gradient(x) * x
"""


def test_each_artifact_is_checked_and_nothing_is_written(project: Path) -> None:
    (project / "adze.toml").write_text(CONFIGURATION + FAILING + MORE)
    (project / "wrong_of_projects.py").write_text(WRONG)
    (project / "wide_of_projects.py").write_text(WIDE)
    files = sorted(project.rglob("*.vmfb"))
    result = run("check", "--json")
    assert result.exit_code == 1
    told = {a["name"]: a for a in json.loads(result.stdout)["artifacts"]}
    assert {name: a["state"] for name, a in told.items()} == {
        "predict": "good",
        "fail": "failed",
        "wrong": "failed",
        "meant": "good",
        "wide": "failed",
        "narrow": "good",
    }
    assert told["predict"]["why"].startswith("reverse ")
    (problem,) = told["wrong"]["problems"]
    assert "a difference of values" in problem["message"]
    assert problem["where"].endswith("wrong_of_projects.py:4")
    assert told["fail"]["problems"][0]["message"] == "ValueError: not today"
    assert sorted(project.rglob("*.vmfb")) == files


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.py:f", "--dim", "n"], "--dim: cannot read the dimension"),
        (["--in", "f32[3]"], "--in, --dim and --target are for functions"),
        (["a.py:f", "--project", "."], "--project is for the artifacts"),
        (["a.py:f", "-t", "cpu:z80"], "unknown CPU 'z80'"),
    ],
)
def test_options_that_do_not_go_together_are_bad_usage(words: list[str], said: str, project: Path) -> None:
    result = run("check", *words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output
