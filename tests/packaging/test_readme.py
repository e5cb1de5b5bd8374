"""The README's first commands run as a user types them: in processes, with the `adze` that is installed.

All of its blocks run in `tests/docs/test_docs.py`, in one process.
"""

import doctest
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ..docs.test_docs import COMMAND, FENCE, FLAGS


def test_the_first_commands_print_what_the_readme_shows(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "ADZE_CACHE_DIR": str(tmp_path / "cache"),
    }
    section = (checkout / "README.md").read_text().split("\n## ")[2]
    assert section.startswith("From a function to a file")
    [(_, title, source), (_, _, console)] = FENCE.findall(section)
    Path(title).write_text(source)
    commands = COMMAND.findall(console)
    assert [shlex.split(command)[:2] for command, _ in commands] == [["adze", "build"], ["adze", "run"]]
    for command, expected in commands:
        done = subprocess.run(
            shlex.split(command), env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        shown = done.stdout + done.stderr
        assert doctest.OutputChecker().check_output(expected, shown, FLAGS), f"$ {command}\n{shown}"
