"""What the README and the pages of docs/ show is what happens: their files are written, their commands and
Python are run.

`python title="f.py"` is a file, the lines of a `console` block that begin with `$ ` are commands with their
output below, a `pycon` block is a doctest, a `python` block is run. The Python of one page shares its names,
as a reader's session does.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adze.cli.main import app
from adze.cli.project import workers

from ..evaluation import evaluate_jitted

DOCS = Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://)([\w./-]+\.\w+)(?:#[^)]*)?\)")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
README = "../README.md"
PAGES = [README, *sorted(page.name for page in DOCS.glob("*.md"))]
# Shown and not run here: text of MLIR or of errors, diffs (tests/dialects/test_add_an_op.py), shell steps.
NOT_RUN = {"text", "mlir", "diff", "sh", "yaml"}
# What these pages jit is evaluated in `make test`: their subject is the traced program (tests/evaluation.py).
EVALUATED = {
    f"{name}.md"
    for name in ("coming_from_jax", "control_flow", "differentiation", "dtypes", "linear_algebra", "random")
}
# Commands that no test of a page runs: the tests themselves are run by them.
NEVER = {README: ("make demo", "make test")}
# Commands that `make test` leaves out: tests/cli/ runs them on smaller programs, no later block needs them.
ONLY_THOROUGH = {
    README: ("adze check",),
    "c.md": ("adze build model.py:predict --in 'f32[n,3]' -t cpu:generic", "adze extract all.vmfb"),
    "pipelines.md": ("adze check", "adze build --force", "adze build --check --format github"),
    "programs.md": (
        *("adze targets --for", "adze build train.py:program --keep-ir", "adze transform train.vmfb"),
        "adze check train.py:program",
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_shows_is_what_happens(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thorough: bool
) -> None:
    if name in EVALUATED and not thorough:
        evaluate_jitted(monkeypatch)
    monkeypatch.setattr(workers, "default_jobs", lambda: 1)  # each starts an interpreter of its own
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    loaded = set(sys.modules)
    try:
        left_out = () if thorough else ONLY_THOROUGH.get(name, ())
        run_page(name, tmp_path, (*NEVER.get(name, ()), *left_out))
    finally:  # the modules that the page wrote
        for module in set(sys.modules) - loaded:
            if str(tmp_path) in (getattr(sys.modules[module], "__file__", None) or ""):
                del sys.modules[module]


def run_page(name: str, tmp_path: Path, left_out: tuple[str, ...]) -> None:
    """Run the blocks of a page in their order, without the commands that begin with what is left out."""
    page = (DOCS / name).read_text()
    assert all(f"$ {start}" in page for start in left_out), f"{name} has other commands now"
    names: dict[str, Any] = {}
    for language, title, text in FENCE.findall(page):
        if title:
            Path(title).write_text(text)
        elif language == "pycon":
            run_session(name, text, names)
        elif language == "python":
            exec(compile(text, name, "exec"), names)
        elif language == "console":
            run_commands(text, tmp_path, left_out)
        else:
            assert language in NOT_RUN, f"{name} has a block of {language!r} that no test runs"


def run_session(name: str, text: str, names: dict[str, Any]) -> None:
    """Run a doctest that keeps its names for the next one of the page."""
    parsed = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
    output: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(
        parsed, out=output.append, clear_globs=False
    )
    names.update(parsed.globs)
    assert result.failed == 0, "".join(output)


def run_commands(text: str, folder: Path, left_out: tuple[str, ...]) -> None:
    """Run the commands of a console block and compare what they print: those of adze in this process.

    The README's first ones run in processes too (tests/packaging/test_readme.py).
    """
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "ADZE_CACHE_DIR": str(folder / "cache"),
        "COLUMNS": "80",
    }
    for command, expected in COMMAND.findall(text):
        if command.startswith(left_out):
            continue
        words = shlex.split(command.replace("\\\n", " "))
        while "=" in words[0]:
            key, _, value = words.pop(0).partition("=")
            environment[key] = value
        shown = run_here(words[1:], environment) if words[0] == "adze" else run_there(words, environment)
        assert doctest.OutputChecker().check_output(expected, shown, FLAGS), f"$ {command}\n{shown}"


def run_here(words: list[str], environment: dict[str, str]) -> str:
    """What a command of adze prints."""
    result = CliRunner().invoke(app, words, env=environment)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout + result.stderr


def run_there(words: list[str], environment: dict[str, str]) -> str:
    """What any other program prints."""
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_somewhere(name: str) -> None:
    for target in LINK.findall((DOCS / name).read_text()):
        assert ((DOCS / name).parent / target).exists(), f"{name} links to {target}"
