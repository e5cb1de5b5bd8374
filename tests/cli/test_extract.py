"""`adze extract`: one module of a file as a plain one, and weights put inside for hosts without files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import adze as api
from adze import ShapeDtype
from adze.frontend.staging.packages import write_traced
from adze.runtime.artifact import artifact

from .conftest import Adze

WEIGHTS = np.random.default_rng(2).normal(size=(64, 64)).astype("float32")
TARGETS = ["cpu:generic", "cpu:x86-64-v2"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.thorough
def test_a_module_of_several_alone(adze: Adze, folder: Path) -> None:
    traced = api.trace(lambda x: x @ WEIGHTS, ShapeDtype((2, 64)))
    write_traced("two.vmfb", traced, TARGETS, keep_ir=True)
    contents = artifact.read("two.vmfb")
    assert WEIGHTS.tobytes() in contents.parts["module.cpu:x86-64-v2"]
    assert Path("two.vmfb").read_bytes().count(WEIGHTS.tobytes()) == 1  # once for two targets and the IR
    done = adze("extract", "two.vmfb", "-t", TARGETS[1], "-o", "plain.vmfb", "--c-stub", "plain.h", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["target"] == TARGETS[1]
    assert Path("plain.vmfb").read_bytes() == contents.parts["module.cpu:x86-64-v2"]
    assert "plain_call(" in Path("plain.h").read_text()
    first = adze("extract", "two.vmfb", "-o", "first.vmfb")
    assert first.stdout.endswith("the module for cpu:generic\n")
    assert Path("first.vmfb").read_bytes() == contents.module


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-t", "cuda:sm_80", "-o", "x.vmfb"], "the file has no module for cuda:sm_80: it has cpu"),
        (["-o", "{program}"], "is read by this command"),
        (["-o", "x.vmfb", "--c-stub", "x.vmfb"], "is read by this command"),
        (["-o", "x.vmfb", "--c-embed"], "--c-embed: there is no header"),
    ],
)
def test_wrong_use_is_bad_usage(
    adze: Adze, folder: Path, program: Path, options: list[str], message: str
) -> None:
    words = [option.format(program=program) for option in options]
    failed = adze("extract", program, *words)
    assert failed.exit_code == 2 and message in failed.stderr, failed.stderr
    assert not Path("x.vmfb").exists()


@pytest.mark.thorough
def test_weights_outside_become_a_part_of_the_program(adze: Adze, folder: Path) -> None:
    program = api.Program({"w": np.float32([1, 2, 3]), "n": np.uint8(7)}, outside=True)
    program.reads(ShapeDtype((3,)))(scaled)
    program.save("out.vmfb", keep_ir=True)
    stub = adze("extract", "out.vmfb", "-o", "plain.vmfb", "--c-stub", "plain.h")
    assert stub.exit_code == 1 and "adze transform --weights-inside" in stub.stderr
    assert not Path("plain.vmfb").exists() and not Path("plain.h").exists()
    done = adze("transform", "out.vmfb", "--weights-inside", "-o", "in.vmfb")
    assert done.exit_code == 0, done.stderr
    Path("out.safetensors").unlink()
    ran = adze("run", "in.vmfb", "--in", "[1, 1, 1]")
    assert ran.stdout == "result: f32[3]\n[ 7. 14. 21.]\n", ran.stderr
    again = adze("transform", "in.vmfb", "--weights-inside", "-o", "x.vmfb")
    assert again.exit_code != 0 and not Path("x.vmfb").exists()
    part = adze("transform", "out.vmfb", "--weights-inside", "--jvp", "-o", "x.vmfb")
    assert part.exit_code == 2 and "--weights-inside is for the whole program" in part.stderr


def scaled(state: dict[str, api.Array], x: api.Array) -> api.Array:
    return state["w"] * x * state["n"].astype("float32")
