"""`adze build` of a project: what is built, what the lock says of it, and what is said where it fails."""

import json
import shutil
from pathlib import Path

import pytest

import adze
from adze.cli.project.lock import read_lock
from adze.cli.reporting import BadUsage

from .conftest import CONFIGURATION, FAILING, Build, run


@pytest.mark.thorough
def test_artifact_computes_what_its_function_does(project: Path) -> None:
    program = adze.load("out/predict.vmfb")
    assert program([[0, 0, 0], [1, 1, 1]]).numpy().tolist()[0] == [0.0, 0.0]


def test_lock_names_what_was_built_in_a_text_that_merges(project: Path) -> None:
    import hashlib

    lock = read_lock(project / "adze.lock")
    assert lock is not None
    entry = lock["predict"]
    content = (project / "out" / "predict.vmfb").read_bytes()
    assert (entry.sha256, entry.bytes) == (hashlib.sha256(content).hexdigest(), len(content))
    assert entry.ir_sha256 == adze.load("out/predict.vmfb").manifest.ir_sha256
    assert entry.targets == ("cpu:x86-64-v3",)
    assert entry.output == "out/predict.vmfb"
    assert str(project) not in (project / "adze.lock").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("<<<<<<< mine\n", "no TOML"),
        ("version = 2\n", "version is 2, and this adze reads 1"),
        ("version = 1\nother = 1\n", "there is no such key: other"),
        ('version = 1\n[artifact.a]\nentry = "x"\n', "artifact.a.bytes is missing"),
    ],
)
def test_damaged_lock_is_bad_usage(change: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "adze.lock").write_text(change)
    with pytest.raises(BadUsage, match=said):
        read_lock(tmp_path / "adze.lock")


def test_check_passes_while_nothing_differs(project: Path) -> None:
    result = run("build", "--check")
    assert result.exit_code == 0, result.output


def test_check_fails_where_the_file_is_not_that_of_the_lock(project: Path) -> None:
    lock = project / "adze.lock"
    lock.write_text(lock.read_text().replace('\nsha256 = "', '\nsha256 = "0'))
    result = run("build", "--check")
    assert result.exit_code == 1
    assert "predict: it differs from adze.lock in its bytes" in result.stderr
    lock.unlink()
    result = run("build", "--check")
    assert result.exit_code == 2
    assert "there is no" in result.stderr and "run adze build" in result.stderr


def test_check_traces_what_changed_and_writes_nothing(project: Path) -> None:
    before = (project / "out" / "predict.vmfb").read_bytes()
    (project / "helper_of_projects.py").write_text("SCALE = 5.0\n")
    result = run("build", "--check", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    (artifact,) = told["artifacts"]
    assert (told["ok"], artifact["state"]) == (False, "stale")
    (problem,) = artifact["problems"]
    assert "helper_of_projects.py changed; the program would differ" in problem["message"]
    assert (project / "out" / "predict.vmfb").read_bytes() == before


def test_other_text_of_the_same_program_is_not_stale(project: Path) -> None:
    helper = project / "helper_of_projects.py"
    helper.write_text("# a comment\nSCALE = 2.0\n")
    shutil.rmtree(project / "cache" / "projects")  # a fresh checkout has no record
    result = run("build", "--check")
    assert result.exit_code == 0, result.output


UNREAD = """
[artifact.unread]
entry = "model_of_projects.py:predict"
inputs = ["f32[2"]
"""


def test_one_build_with_a_failure_a_budget_and_the_lock(project: Path) -> None:
    """Several cases in one run of the workers: what fails leaves the others alone."""
    (project / "adze.toml").write_text(
        f"{CONFIGURATION}budgets = {{ max_bytes = 100, max_error = 1.0, max_kernels = 9 }}\n{FAILING}{UNREAD}"
    )
    lock = (project / "adze.lock").read_text()
    result = run("build", "--format", "github")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("::error file=adze.toml,line=1,title=adze%3A predict::max_bytes is 100 B")
    assert lines[1].startswith(
        "::error file=model_of_projects.py,line=16,title=adze%3A fail::ValueError: not"
    )
    table = (project / "adze.toml").read_text().splitlines().index("[artifact.unread]") + 1
    assert lines[2].startswith(
        f"::error file=adze.toml,line={table},title=adze%3A unread::inputs: cannot read"
    )
    names = ("predict", "fail", "unread")
    assert [line.split()[:2] for line in lines[3:]] == [[name, "FAILED"] for name in names]
    assert "Traceback" not in result.output
    assert (project / "adze.lock").read_text() == lock  # the program is the same, the other was not built
    # asked again, the budget is compared with what was measured, and nothing is built
    result = run("build", "predict", "--json")
    assert result.exit_code == 1
    (artifact,) = json.loads(result.stdout)["artifacts"]
    assert artifact["problems"][0]["message"].startswith("max_bytes is 100 B")
    assert 0 <= artifact["error"] < 1e-5
    assert artifact["kernels"] >= 1


@pytest.mark.thorough
def test_locked_build_writes_only_what_the_lock_says(project: Path) -> None:
    (project / "helper_of_projects.py").write_text("SCALE = 7.0\n")
    before = (project / "out" / "predict.vmfb").read_bytes()
    result = run("build", "--locked")
    assert result.exit_code == 1
    assert "it differs from adze.lock in the program (another IR)" in result.stderr
    assert (project / "out" / "predict.vmfb").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["build", "--check", "--locked"], "--check writes nothing"),
        (["build", "--grad"], "--grad is for one function"),
        (["build", "-o", "x.vmfb"], "--output is for one function"),
        (["build", "nothing"], "has no artifact 'nothing': it has predict"),
        (["build", "model_of_projects.py:predict"], "--output is missing"),
        (
            ["build", "model_of_projects.py:predict", "-o", "x.vmfb", "--check"],
            "--check is for the artifacts",
        ),
        (["build", "--format", "yaml"], "expected one of text, json, junit, github"),
        (["build", "--format", "junit", "--json"], "expected one of them"),
        (["build", "--project", "nowhere"], "there is no folder or file 'nowhere'"),
    ],
)
def test_options_that_do_not_go_together_are_bad_usage(words: list[str], said: str, project: Path) -> None:
    result = run(*words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output


def test_lock_of_an_artifact_that_the_project_has_not_is_stale(project: Path, build: Build) -> None:
    lock = project / "adze.lock"
    text = lock.read_text()
    lock.write_text(text + "\n" + text[text.index("[artifact") :].replace('"predict"', '"gone"', 1))
    outcomes = build(checks=True)
    assert [(o.name, o.state) for o in outcomes] == [("predict", "current"), ("gone", "stale")]
    build()
    assert lock.read_text() == text
