"""`adze diff`: equal programs are the same, others differ where they do."""

import json
from pathlib import Path

import pytest

import adze

from .conftest import Adze

MODEL = "import numpy as np\n\n\ndef f(x):\n    return np.tanh(x) * 2\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model_of_diffs.py").write_text(MODEL)
    spec = adze.ShapeDtype((3,), "float32")
    for name, function in (
        ("a", lambda x: adze.numpy.tanh(x) * 2),
        ("b", lambda x: adze.numpy.tanh(x) + x * x),
    ):
        function.__name__ = "f"
        traced = adze.trace(function, spec)
        traced.lower("cpu:x86-64-v3").compile().save(tmp_path / f"{name}.vmfb", keep_ir=True)
    return tmp_path


def test_programs_are_compared_with_each_other_and_with_source(adze: Adze, folder: Path) -> None:
    same = adze("diff", "a.vmfb", "a.vmfb", "--exit-code")
    assert (same.exit_code, same.stdout) == (0, "a.vmfb and a.vmfb are the same program\n")
    told = adze("diff", "a.vmfb", "b.vmfb", "--exit-code")
    assert told.exit_code == 1
    assert "targets" in told.stdout and "cpu:x86-64-v3 in both" in told.stdout
    assert any(line.startswith("+  ") and "= mul(%0, %0)" in line for line in told.stdout.splitlines())
    found = json.loads(adze("diff", "a.vmfb", "b.vmfb", "--json").stdout)
    flop = {p["name"]: p for p in found["properties"]}["flop"]
    assert (flop["left"], flop["right"]) == ("6", "9")
    source = adze("diff", "a.vmfb", "model_of_diffs.py:f", "--in", "f32[3]", "--exit-code")
    assert source.exit_code == 0, source.output


@pytest.mark.thorough
def test_derivatives_and_several_functions_are_compared_with_source(adze: Adze, folder: Path) -> None:
    Path("model_of_sums.py").write_text(
        "import adze.numpy as np\n\ndef f(x):\n    return np.tanh(x).sum()\n\ndef g(x):\n    return x * 2\n"
    )
    source = "model_of_sums.py:f", "model_of_sums.py:g"
    options = "--in", "f32[n]", "--dim", "n: 1..8"
    assert adze("build", *source, *options, "--keep-ir", "-o", "fg.vmfb").exit_code == 0
    same = adze("diff", "fg.vmfb", *source, *options, "--exit-code")
    assert same.exit_code == 0, same.output
    other = adze("diff", "fg.vmfb", *source[::-1], *options, "--json")
    names = [row["name"] for row in json.loads(other.stdout)["properties"]]
    assert "flop of f" in names and "flop of g" in names and not json.loads(other.stdout)["same"]


def test_wrong_use_is_bad_usage(adze: Adze, folder: Path) -> None:
    assert adze("diff", "a.vmfb", "none.vmfb").exit_code == 2
    assert "--in is for a function" in adze("diff", "a.vmfb", "b.vmfb", "--in", "f32[3]").stderr
