"""`adze bench` and `adze profile`: what they print and write, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Adze

QUICK = ("--calls", "20", "--size", "n=4")


def test_the_table_has_latency_memory_and_kernels(adze: Adze, program: Path) -> None:
    done = adze("bench", program, *QUICK)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith("add_row(x: f32[n,3], b: f32[3]) -> (sum: f32[n,3], positive: i1[3])")
    assert lines[1] == "  20 calls on local-sync, n=4"
    assert lines[2].startswith("  latency     p50 ") and " p90 " in lines[2] and " p99 " in lines[2]
    assert lines[3].startswith("  throughput  ")
    assert "(arguments 60 B, results 51 B)" in lines[4]
    assert any("add_row_dispatch_0" in line for line in lines[6:])


def test_json_compares_two_programs(adze: Adze, program: Path) -> None:
    done = adze("bench", program, *QUICK, "--against", program, "--json", "--no-kernels")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert [entry["latency"]["calls"] for entry in told["programs"]] == [20, 20]
    assert told["programs"][0]["sizes"] == {"n": 4} and told["programs"][0]["kernels"] is None
    assert told["comparison"]["rounds"] >= 1 and told["comparison"]["ratio"] > 0
    memory = [entry["memory"] for entry in told["programs"]]
    assert memory[0] == memory[1] and memory[0]["peak"] >= 111


def test_given_inputs_are_used(adze: Adze, program: Path) -> None:
    done = adze("bench", program, "--in", "[[1, 2, 3]]", "--in", "[1, 2, 3]", "--calls", 10, "--no-kernels")
    assert done.exit_code == 0 and "10 calls on local-sync, n=1" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "has sizes that only a call states: n"),
        (["--size", "m=3"], "--size: the program has no dimension 'm': it has n"),
        (["--size", "n"], "--size: 'n' is not NAME=N"),
        (["--size", f"n={10**14}"], f"--size: inputs with n={10**14} do not fit into memory"),
        (["--size", f"n={10**25}"], f"--size: inputs with n={10**25} do not fit into memory"),
        (["--size", "n=-1"], "--size: 'n=-1' is not NAME=N"),
        (["--size", "n=1", "--size", "n=2"], "--size: 'n' is stated twice"),
        (
            ["--in", "[[1,2,3]]", "--in", "[1,2,3]", "--size", "n=1"],
            "--size: the arrays of --in have their sizes",
        ),
        (["--in", "[1]", "--in", "[1,2,3]"], "--in:"),
        (["--size", "n=1", "--device", "abacus"], "--device: unknown device 'abacus'"),
        (["--size", "n=1", "--function", "other"], "--function: the program has no function 'other'"),
        (["--size", "n=1", "--against", "none.vmfb"], "there is no file 'none.vmfb'"),
    ],
)
@pytest.mark.parametrize("command", ["bench", "profile"])
def test_wrong_options_are_bad_usage(
    command: str, options: list[str], message: str, adze: Adze, program: Path, tmp_path: Path
) -> None:
    if command == "profile" and "--against" in options:
        return
    output = ["-o", tmp_path / "trace.json"] if command == "profile" else []
    done = adze(command, program, *options, *output)
    assert done.exit_code == 2 and message in done.stderr, done.stderr
    assert not (tmp_path / "trace.json").exists()


def test_weights_outside_the_program_are_used(adze: Adze, tmp_path: Path) -> None:
    import numpy as np

    import adze as api

    program = api.Program({"w": np.ones((3, 2), np.float32)}, outside=True)
    program.reads(api.ShapeDtype((4, 3)))(predict)
    saved = program.save(tmp_path / "weights.vmfb")
    done = adze("bench", saved, "--calls", 10, "--json")
    assert done.exit_code == 0, done.stderr
    (entry,) = json.loads(done.stdout)["programs"]
    assert entry["kernels"] and entry["memory"]["peak"] >= entry["memory"]["arguments"] + 24
    done = adze("profile", saved, "--calls", 2, "-o", tmp_path / "trace.json")
    assert done.exit_code == 0, done.stderr


def predict(state: dict[str, Any], x: Any) -> Any:
    return x @ state["w"]


def test_a_program_of_another_signature_is_no_comparison(adze: Adze, program: Path, tmp_path: Path) -> None:
    import adze as api

    other = api.trace(lambda x: x + 1, api.ShapeDtype((2,))).lower().compile().save(tmp_path / "other.vmfb")
    done = adze("bench", program, *QUICK, "--against", other)
    assert done.exit_code == 2 and "does not take the inputs of the first program" in done.stderr


def test_a_profile_is_a_trace_for_perfetto(adze: Adze, program: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    done = adze("profile", program, "--size", "n=4", "--calls", 3, "-o", trace)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith(f"{trace}: 3 calls of add_row(")
    entries = json.loads(trace.read_text())["traceEvents"]
    spans = [entry for entry in entries if entry["ph"] == "X" and entry["cat"] == "kernel"]
    assert spans and all(entry["name"].startswith("add_row_dispatch_") for entry in spans)
    assert {"ph", "ts", "dur", "pid", "tid", "name"} <= spans[0].keys()


def test_the_trace_does_not_replace_the_program(adze: Adze, program: Path) -> None:
    done = adze("profile", program, "--size", "n=4", "-o", program)
    assert done.exit_code == 2 and "is read by this command" in done.stderr
