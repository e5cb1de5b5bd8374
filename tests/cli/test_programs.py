"""`adze build` of several functions, of bundles and of an `adze.Program`; `adze run` of their functions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Adze

MODEL = """\
import adze
import numpy
from adze import ShapeDtype
from adze import numpy as np

def f(x):
    return np.sin(x).sum()

def g(x, y):
    return x * y

program = adze.Program({"total": numpy.zeros((), "float32")}, outside=True)

@program.updates(ShapeDtype(()))
def add(state, x):
    return {"total": state["total"] + x}, state["total"]

@program.reads(ShapeDtype((3,)))
def scaled(state, x):
    return np.sin(x).sum() * state["total"]

empty = adze.Program()
text = "no function"
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("model_of_programs.py").write_text(MODEL)
    return "model_of_programs.py"


def test_functions_and_derivatives_in_one_file(adze: Adze, model: str) -> None:
    files = f"{model}:f", f"{model}:g"
    built = adze(
        "build", *files, "--in", "x=f32[3]", "--in", "g:y=f32[3]", "--bundle", "batched=2", "-o", "fg.vmfb"
    )
    assert built.exit_code == 0, built.stderr
    assert built.stdout.splitlines()[:4] == [
        "f(x: f32[3]) -> (result: f32[])",
        "f.batched(x: f32[2,3]) -> (result: f32[2])",
        "g(x: f32[3], y: f32[3]) -> (result: f32[3])",
        "g.batched(x: f32[2,3], y: f32[2,3]) -> (result: f32[2,3])",
    ]
    ran = adze("run", "fg.vmfb", "--function", "g", "--in", "[1, 2, 3]", "--in", "[2, 2, 2]")
    assert ran.stdout == "result: f32[3]\n[2. 4. 6.]\n"
    unnamed = adze("run", "fg.vmfb", "--in", "[1, 2, 3]")
    assert unnamed.exit_code == 2
    assert "name one of f, f.batched, g, g.batched" in unnamed.stderr


@pytest.mark.thorough
def test_one_of_several_functions_is_verified_and_transformed(adze: Adze, model: str) -> None:
    specs = "--in", "x=f32[3]", "--in", "g:y=f32[3]"
    built = adze("build", f"{model}:f", f"{model}:g", *specs, "--keep-ir", "-o", "fg.vmfb")
    assert built.exit_code == 0, built.stderr
    verified = adze("verify", "fg.vmfb", "--function", "g", "--samples", "2")
    assert verified.exit_code == 0, verified.stderr
    assert verified.stdout.startswith("result: f32[3]: error ")
    derived = adze("transform", "fg.vmfb", "--function", "g", "--vjp", "-o", "v.vmfb")
    assert derived.exit_code == 0, derived.stderr
    assert derived.stdout.startswith("g_vjp(x: f32[3], y: f32[3], cotangents: f32[3]) -> (")
    for command in (("verify", "fg.vmfb"), ("transform", "fg.vmfb", "--vjp", "-o", "v.vmfb")):
        unnamed = adze(*command)
        assert unnamed.exit_code == 2
        assert "--function: the program has several functions, name one of f, g" in unnamed.stderr


def test_a_program_of_the_file(adze: Adze, model: str) -> None:
    built = adze("build", f"{model}:program", "-o", "add.vmfb")
    assert built.exit_code == 0, built.stderr
    shown = adze("inspect", "add.vmfb").stdout
    assert "state          total: f32[], outside" in shown
    assert "parameters     add.safetensors" in shown
    ran = adze("run", "add.vmfb", "--function", "add", "--in", "3")
    assert ran.stdout == "result: f32[]\n0.\n", ran.stderr
    assert (
        json.loads(adze("inspect", "add.vmfb", "--json").stdout)["manifest"]["parameters"]["scope"] == "model"
    )
    Path("add.safetensors").rename("moved.safetensors")
    missing = adze("run", "add.vmfb", "--function", "add", "--in", "3")
    assert missing.exit_code == 1 and "there is no file 'add.safetensors'" in missing.stderr
    ran = adze("run", "add.vmfb", "--function", "add", "--in", "3", "--parameters", "moved.safetensors")
    assert ran.exit_code == 0, ran.stderr


@pytest.mark.thorough
def test_a_program_keeps_its_ir(adze: Adze, model: str) -> None:
    """Compared with its source, compiled again whole and function by function, shown, and checked."""
    built = adze("build", f"{model}:program", "--keep-ir", "-o", "kept.vmfb")
    assert built.exit_code == 0, built.stderr
    same = adze("diff", "kept.vmfb", f"{model}:program", "--exit-code")
    assert same.exit_code == 0, same.output
    Path("new").mkdir()
    again = adze("transform", "kept.vmfb", "--keep-ir", "-o", "new/kept.vmfb")
    assert again.exit_code == 0, again.stderr
    for name in ("kept.vmfb", "kept.safetensors"):
        assert Path("new", name).read_bytes() == Path(name).read_bytes()
    derived = adze("transform", "kept.vmfb", "--function", "scaled", "--grad", "-o", "g.vmfb")
    assert derived.exit_code == 0, derived.stderr
    assert derived.stdout.startswith("scaled_grad(state['total']: f32[], x: f32[3]) -> (")
    ran = adze("run", "g.vmfb", "--in", "2", "--in", "[0, 0, 0]", "--json")
    assert json.loads(ran.stdout)["outputs"][0]["values"] == 0.0
    page = adze("report", "kept.vmfb", "--no-time", "-o", "r.html")
    assert page.exit_code == 0, page.stderr
    text = Path("r.html").read_text()
    assert all(f'<h3 class="mono">{name}</h3>' in text for name in ("add", "scaled"))
    assert "cost of scaled" in text and "state 0" in text


@pytest.mark.thorough
def test_the_derivatives_of_a_program_are_checked_by_its_state(adze: Adze, model: str) -> None:
    checked = adze("check", f"{model}:program", "--jobs", "1")
    assert checked.exit_code == 0, checked.stderr
    assert "add: reverse " in checked.stdout and "; scaled: reverse " in checked.stdout


def test_other_weights_are_an_error_unless_they_are_named(adze: Adze, model: str) -> None:
    assert adze("build", f"{model}:program", "-o", "add.vmfb").exit_code == 0
    weights = Path("add.safetensors")
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\x80\x3f")
    run = "run", "add.vmfb", "--function", "add", "--in", "3"
    for command in (run, ("verify", "add.vmfb", "--no-numbers")):
        refused = adze(*command)
        assert refused.exit_code == 1
        assert (
            "add.safetensors is not the file that was written with the program: its SHA-256" in refused.stderr
        )
    named = adze(*run, "--parameters", "add.safetensors")
    assert named.stdout == "result: f32[]\n1.\n", named.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("f", "--bundle", "vpj"),
            "--bundle: 'vpj' is none of grad, value_and_grad, vjp, jvp and batched=SIZE",
        ),
        (("f", "--bundle", "batched"), "--bundle: 'batched' is none of "),
        (("f", "--bundle", "vjp,vjp"), "--bundle: 'vjp,vjp' names one of them twice"),
        (("f", "g", "--in", "h:f32[3]"), "--in: 'h:f32[3]' is for 'h': the functions are f, g"),
        (("f", "f"), "f, f: functions of one file have different names"),
        (("f", "program"), "an adze.Program is built alone"),
        (("program", "--in", "f32[]"), "an adze.Program states the arguments of its functions"),
        (("program", "--grad"), "an adze.Program states the arguments of its functions"),
        (("text",), "'text' in model_of_programs.py is of type str, not a function"),
        (("f", "text"), "'text' in model_of_programs.py is of type str, not a function"),
    ],
)
def test_what_contradicts_itself_is_bad_usage(
    adze: Adze, model: str, arguments: tuple[str, ...], message: str
) -> None:
    names = [f"{model}:{word}" if word in ("f", "g", "program", "text") else word for word in arguments]
    failed = adze("build", *names, "-o", "x.vmfb")
    assert failed.exit_code == 2, failed.stderr
    assert message in failed.stderr
    assert not Path("x.vmfb").exists()


def test_an_empty_program_is_a_failure(adze: Adze, model: str) -> None:
    failed = adze("build", f"{model}:empty", "-o", "x.vmfb")
    assert failed.exit_code == 1
    assert failed.stderr.startswith("error: the program has no functions")
