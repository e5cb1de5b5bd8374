"""The worked diff of `docs/add_an_op.md`: applied to a copy of the tree, the new op passes its checks."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDERS = ("dialects", "passes", "runtime", "frontend", "tests/dialects/ops")
FILES = (
    *(
        "tests/op_cases.py",
        "tests/support.py",
        "tests/selection.py",
        "tests/conftest.py",
        "tests/__init__.py",
        "tests/dialects/__init__.py",
    ),
    "pyproject.toml",
)
BLOCK = re.compile(
    r"```diff\n--- (?P<path>\S+)\n(?P<old>.*?)\n\+\+\+ (?P<how>before|instead)\n(?P<new>.*?)```", re.S
)
# The copy must win over the installed package, whose editable finder is asked before `sys.path`.
RUN = """
import runpy, sys
sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in type(f).__module__.lower()]
sys.path.insert(0, "site")
import adze.dialects
assert "site" in adze.dialects.__file__, adze.dialects.__file__
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def apply(tree: Path, path: str, old: str, how: str, new: str) -> None:
    """Make one change; the old lines must stand in the file exactly once."""
    file = tree / path
    lines = "".join(f"{line[1:]}\n" for line in old.split("\n"))
    added = "".join(f"{line[1:]}\n" for line in new.rstrip("\n").split("\n"))
    text = file.read_text(encoding="utf-8")
    assert text.count(lines) == 1, f"docs/add_an_op.md: these lines of {path} have changed:\n{lines}"
    file.write_text(text.replace(lines, added + lines if how == "before" else added), encoding="utf-8")


@pytest.fixture
def tree(checkout: Path, tmp_path: Path) -> Path:
    """A copy of the sources, importable as `adze` from its folder `site`."""
    for folder in FOLDERS:
        shutil.copytree(checkout / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        shutil.copy(checkout / file, tmp_path / file)
    package = tmp_path / "site" / "adze"
    shutil.copytree(checkout / "frontend" / "api", package)
    for folder in ("dialects", "passes", "runtime", "frontend"):
        (package / folder).symlink_to(tmp_path / folder)
    return tmp_path


def run(tree: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUN, *command],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.thorough
def test_the_worked_diff_adds_an_op_that_passes_its_checks(checkout: Path, tree: Path) -> None:
    page = (checkout / "docs" / "add_an_op.md").read_text(encoding="utf-8")
    changes = [match.group("path", "old", "how", "new") for match in BLOCK.finditer(page)]
    assert len(changes) == page.count("```diff")
    for change in changes:
        apply(tree, *change)
    commands = re.findall(r"```sh\npython -m (.*)\n```", page)
    assert [c.split()[0] for c in commands] == ["adze.dialects.generate", "pytest"]
    assert "wrote builder.py" in run(tree, *commands[0].split())
    assert "def log10(self, x: V) -> V:" in (tree / "dialects" / "generated" / "builder.py").read_text(
        encoding="utf-8"
    )
    assert "### log10" in (tree / "docs" / "ops.md").read_text(encoding="utf-8")
    assert " passed" in run(tree, *commands[1].split(), "-q")
