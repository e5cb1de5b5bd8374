"""Faults of IREE that are fenced in: each test fails once IREE is right, and then its fence can go.

What only some programs show is watched over elsewhere. The files of `passes/lower/iree/` and of
`runtime/compile/faults/` say what their symptom is and which test says when they can go: this is checked.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze.passes.lower.forms import bodies, indexing, movement
from adze.runtime.compile.compiler import compile_bytecode
from adze.runtime.execute.program import Executable

from ..forms.test_loops import X, copies, stacked

FOLDERS = ("passes/lower/iree", "runtime/compile/faults")
ENTRIES = ("Symptom", "Seen in", "Smallest", "Goes when")
CHECKOUT = Path(__file__).resolve().parents[4]
FENCES = sorted(
    path.relative_to(CHECKOUT).as_posix()
    for folder in FOLDERS
    for path in (CHECKOUT / folder).glob("*.py")
    if path.name != "__init__.py"
)


def entries(fence: str) -> dict[str, str]:
    """The entries of a fence's docstring: what follows `Symptom:` and its like, up to the next one."""
    text = ast.get_docstring(ast.parse((CHECKOUT / fence).read_text())) or ""
    names = "|".join(ENTRIES)
    found = re.findall(rf"^({names}): (.*?)(?=^(?:{names}): |\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: " ".join(entry.split()) for name, entry in found}


@pytest.mark.parametrize("fence", FENCES)
def test_a_fence_says_what_it_is_for(fence: str) -> None:
    assert tuple(entries(fence)) == ENTRIES
    assert re.fullmatch(r"IREE \d+\.\d+\.", entries(fence)["Seen in"])


@pytest.mark.parametrize("fence", FENCES)
def test_the_tests_that_say_when_a_fence_goes_exist(fence: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", entries(fence)["Goes when"])
    assert named
    for file, name in named:
        functions = ast.walk(ast.parse((CHECKOUT / file).read_text()))
        assert name in {node.name for node in functions if isinstance(node, ast.FunctionDef)}, (file, name)


def test_the_notes_list_the_fences() -> None:
    notes = (CHECKOUT / "docs" / "iree_notes.md").read_text()
    table = notes.split("| fence | symptom | seen in | goes when |\n|---|---|---|---|\n")[1].split("\n\n")[0]
    rows = [row(fence) for fence in FENCES]
    assert table.splitlines() == rows, "write this into docs/iree_notes.md:\n" + "\n".join(rows)


def row(fence: str) -> str:
    """The line of a fence in the table of the notes."""
    found = entries(fence)
    return f"| `{fence}` | {found['Symptom']} | {found['Seen in']} | {found['Goes when']} |"


# -- IREE, without the fence ---------------------------------------------------------------------------------


def aligned(shape: tuple[int, ...]) -> Any:
    """Ones that IREE takes as they are, without a copy."""
    memory = np.ones(int(np.prod(shape)) * 4 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    array = memory[start : start + int(np.prod(shape)) * 4].view(np.float32).reshape(shape)
    array[...] = 1
    return array


def test_arguments_are_still_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    for form in (indexing, movement):
        monkeypatch.setattr(form, "owned", lambda ctx, x, dtype: x)

    def updated(x: Any, part: Any) -> Any:
        return lax.dynamic_update_slice(x, part, (1, 0)), x

    x, part = aligned((4, 4)), np.full((1, 4), 7, np.float32)
    lowered = adze.trace(updated, x, part).lower()
    vmfb = compile_bytecode(lowered.bytecode(), lowered.target, lowered.options()).vmfb
    _, old = Executable(vmfb, "local-sync").call("updated", [x, part])
    assert not (np.asarray(old.numpy()) == 1).all() or not (x == 1).all()


def test_carried_values_are_still_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    fenced = copies(stacked, X)
    monkeypatch.setattr(bodies, "resident", lambda value, sizes: value)
    assert sum(copies(stacked, X)) > sum(fenced)
