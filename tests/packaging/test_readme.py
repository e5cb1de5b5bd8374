"""What the README shows is what happens: its files are written, its commands and its Python are run.

A fenced block marked `python title="model.py"` is a file. In a `console` block a line that begins with
`$ ` is a command and the lines after it are its output, where `...` stands for anything; a `pycon` block is
a doctest.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def blocks(checkout: Path) -> list[tuple[str, str, str]]:
    return FENCE.findall((checkout / "README.md").read_text())


def test_examples_print_what_the_readme_shows(
    blocks: list[tuple[str, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "ADZE_CACHE_DIR": str(tmp_path / "cache"),
    }
    checker = doctest.OutputChecker()
    checked = 0
    for language, title, text in blocks:
        if title:
            Path(title).write_text(text)
        if language != "console":
            continue
        for command, expected in COMMAND.findall(text):
            if command.startswith("make "):
                continue
            done = subprocess.run(
                shlex.split(command.replace("\\\n", " ")),
                env=environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
            shown = done.stdout + done.stderr
            assert checker.check_output(expected, shown, FLAGS), f"$ {command}\n{shown}\nexpected\n{expected}"
            checked += 1
    assert checked >= 3


def test_python_sessions_of_the_readme_are_true(blocks: list[tuple[str, str, str]]) -> None:
    sessions = [text for language, _, text in blocks if language == "pycon"]
    assert sessions
    for text in sessions:
        parsed = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)
        runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
        output: list[str] = []
        assert runner.run(parsed, out=output.append).failed == 0, "".join(output)
