"""Runs the RUN lines of one `.mlir` file in this process: lit's lines, without a process for each.

Input: a file whose RUN lines are `[not] adze ... %s ... [2>&1] | filecheck %s`. Output: None, or an
AssertionError that says what did not match. Idea: to start Python, the compiler and a shell takes a hundred
times as long as the pass does, and both the command and filecheck are Python functions.
"""

from __future__ import annotations

import contextlib
import io
import shlex
from dataclasses import dataclass
from pathlib import Path

from filecheck.main import main as filecheck
from typer.testing import CliRunner

from adze.cli.main import app

ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1"}
RUN = "// RUN: "


@dataclass(frozen=True)
class Run:
    """One RUN line: the arguments of `adze`, those of `filecheck`, and what the line says of the first."""

    command: tuple[str, ...]
    check: tuple[str, ...]
    fails: bool
    with_errors: bool


def runs_of(path: Path) -> list[Run]:
    """The RUN lines of a file."""
    lines = path.read_text().splitlines()
    return [parse(line.removeprefix(RUN), path) for line in lines if line.startswith(RUN)]


def parse(line: str, path: Path) -> Run:
    """One RUN line; a line of another form is for lit alone."""
    lexer = shlex.shlex(line.replace("2>&1", "--with-errors"), posix=True, punctuation_chars="|<>&;")
    lexer.whitespace_split = True
    words = [word.replace("%s", str(path)) for word in lexer]
    assert words.count("|") == 1, f"{path.name}: not '[not] adze ... | filecheck ...': {line}"
    bar = words.index("|")
    command, check = words[:bar], words[bar + 1 :]
    fails = command[0] == "not"
    command = command[fails:]
    with_errors = command[-1] == "--with-errors"
    command = command[: len(command) - with_errors]
    assert command[0] == "adze" and check[0] == "filecheck", f"{path.name}: {line}"
    assert not set("|<>&;") & set(words[:bar] + check), f"{path.name}: {line}"
    return Run(tuple(command[1:]), tuple(check), fails, with_errors)


def check_file(path: Path, scratch: Path) -> None:
    """Run each RUN line of `path`; `scratch` is a folder for the output of the command."""
    for number, run in enumerate(runs_of(path)):
        result = CliRunner().invoke(app, list(run.command), env=ENVIRONMENT)
        assert (result.exit_code != 0) == run.fails, f"exit code {result.exit_code}\n{result.output}"
        output = scratch / f"{number}.txt"
        output.write_text(result.output if run.with_errors else result.stdout)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = _exit_code([*run.check, f"--input-file={output}"])
        assert code == 0, said.getvalue()


def _exit_code(arguments: list[str]) -> int:
    try:
        filecheck(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0
