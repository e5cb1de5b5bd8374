"""`adze targets`: what there is, what runs here, and what a function compiles for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adze.runtime.cpu import host_cpu

from .conftest import Adze

MODEL = """\
def wide(x):
    y = x * 2
    return y.astype("float64") + 1

def argument(x):
    return x + x
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("model_of_targets.py").write_text(MODEL)
    return "model_of_targets.py"


def test_the_list_says_what_runs_here(adze: Adze) -> None:
    rows = {row["target"]: row for row in json.loads(adze("targets", "--json").stdout)}
    assert rows["cpu"]["runs_here"] and rows["vulkan:adreno"]["missing_dtypes"][0] == "f64"
    other = "cpu:aarch64" if host_cpu().architecture == "x86_64" else "cpu:x86-64-v3"
    assert rows[other]["text"].endswith(f"; this machine is {host_cpu().architecture}")
    lines = adze("targets").stdout.splitlines()
    assert len(lines) == len(rows) and lines[0].startswith("cpu ")
    assert adze("targets", "-t", "cuda:sm_80").stdout.startswith("cuda:sm_80  sm_80; ")


@pytest.mark.thorough
def test_an_op_that_is_in_the_way_is_named(adze: Adze, model: str) -> None:
    wanted = ("-t", "cpu", "-t", "vulkan:adreno")
    tried = adze("targets", "--for", f"{model}:wide", "--in", "f32[3]", *wanted)
    assert tried.exit_code == 0, tried.stderr
    here, there = tried.stdout.splitlines()
    assert here.startswith("cpu            yes: ") and ", 1 kernel, " in here
    assert there.startswith("vulkan:adreno  no: op adze.convert at ")
    assert there.endswith(
        f"{model}:3: it computes f64[3], and vulkan:adreno has no such arithmetic (the feature shaderFloat64)"
    )
    row = json.loads(
        adze("targets", "--for", f"{model}:argument", "--in", "x=f64[]", *wanted, "--json").stdout
    )[1]
    assert row["compiles"] is False and row["op"] is None and row["where"].endswith(f"{model}:5")
    assert row["reason"] == (
        "argument 'x' is f64[], and vulkan:adreno has no such arithmetic (the feature shaderFloat64)"
    )


def test_bad_usage(adze: Adze, model: str) -> None:
    for arguments, message in (
        (("-t", "tpu"), "--target: unknown target 'tpu'"),
        (("--in", "f32[3]"), "--in: there is no function"),
        (("--for", f"{model}:none"), "has no function 'none'"),
        (("--for", f"{model}:wide"), "--in: wide(x) cannot be called so"),
    ):
        failed = adze("targets", *arguments)
        assert failed.exit_code == 2 and message in failed.stderr
