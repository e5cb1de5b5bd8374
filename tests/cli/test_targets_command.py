"""`adze targets`: what there is, what runs here, and what a function compiles for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from adze.runtime.cpu import host_cpu
from adze.runtime.targets import NEVER_RUN, TargetKind, parse_target, seen_of, target_names

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
    assert adze("targets", "-t", "cuda:sm_80").stdout.startswith("cuda:sm_80  sm_80; run on an NVIDIA ")
    assert rows["cpu"]["seen"] is rows["cpu:x86-64-v3"]["seen"] is None
    assert rows["cpu:aarch64:neoverse-n1"]["text"].startswith(
        "aarch64, vectors of 128 bits; run under QEMU; "
    )
    assert rows["cpu:riscv64"]["seen"] == NEVER_RUN
    assert rows["metal"]["text"].endswith("; compiled, never run; adze has no metal devices")


def test_the_page_about_gpus_says_the_same_of_each_target(checkout: Path) -> None:
    """Until somebody runs a program for a target, both say that nobody did."""
    page = (checkout / "docs" / "gpu.md").read_text()
    rows = re.findall(r"^\| (`.*?) \| .* \| (.*) \|$", page.partition("\n## ")[0], re.M)
    shown = {name: verdict for names, verdict in rows for name in re.findall(r"`([^`]+)`", names)}
    targets = [parse_target(name) for name in target_names() if ":" in name or name == "metal"]
    gpus = {target.name: seen_of(target) for target in targets if target.kind is not TargetKind.CPU}
    assert shown.keys() == gpus.keys()
    assert [name for name in gpus if (shown[name] == "never") != (gpus[name] == NEVER_RUN)] == []


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
