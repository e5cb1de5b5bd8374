"""`examples/ci`, `action.yml` and the hooks: their steps are commands that adze has, and do what they say."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adze.cli.main import app

FOLDER = "examples/ci"


def commands(text: str) -> list[list[str]]:
    """The lines of a pipeline that call adze, as words."""
    lines = re.findall(r"(?:run:|entry:|-)\s+(adze .*)", text)
    return [shlex.split(re.sub(r"\$\{\{.*?\}\}", "X", line).partition(" > ")[0])[1:] for line in lines]


def files(checkout: Path) -> dict[str, str]:
    names = (f"{FOLDER}/.github/workflows/adze.yml", f"{FOLDER}/.gitlab-ci.yml", "action.yml")
    return {name: (checkout / name).read_text() for name in (*names, ".pre-commit-hooks.yaml")}


def test_each_step_is_a_command_with_options_that_it_has(checkout: Path) -> None:
    for name, text in files(checkout).items():
        found = commands(text)
        assert len(found) >= 2, name
        for words in found:
            page = CliRunner().invoke(app, [words[0], "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
            assert page.exit_code == 0, (name, words)
            for option in words[1:]:
                assert not option.startswith("--") or option in page.output, (name, words)


def test_inputs_of_the_action_are_those_that_its_steps_use(checkout: Path) -> None:
    text = (checkout / "action.yml").read_text()
    declared = set(re.findall(r"^  ([\w-]+):$", text.split("runs:")[0], re.MULTILINE))
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == declared


@pytest.mark.thorough
@pytest.mark.parametrize("file", [".github/workflows/adze.yml", ".gitlab-ci.yml"])
def test_steps_run_in_a_clean_folder(file: str, checkout: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(checkout / FOLDER, folder)
    adze = str(Path(sys.executable).with_name("adze"))
    environment = {"PATH": "/usr/bin:/bin", "ADZE_CACHE_DIR": str(tmp_path / "cache"), "CI": "true"}

    def step(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [adze, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
        )

    assert step("build").returncode == 0  # what the author commits is adze.lock
    shutil.rmtree(folder / "dist")
    shutil.rmtree(tmp_path / "cache")
    for words in commands((folder / file).read_text()):
        done = step(*words)
        assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (folder / "dist").iterdir()} == {"score.vmfb", "gradient.vmfb"}
    # and a change that was not locked ends the job, without a file of it
    model = folder / "model.py"
    model.write_text(model.read_text().replace("2.0]", "3.0]"))
    before = (folder / "dist" / "score.vmfb").read_bytes()
    done = step("build", "--locked", "--format", "github")
    assert done.returncode == 1
    assert "::error file=adze.toml,line=6,title=adze%3A score::it differs from adze.lock" in done.stdout
    assert (folder / "dist" / "score.vmfb").read_bytes() == before
