"""Saving and loading: a program is one file, read back without the compiler."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@dataclasses.dataclass
class State:
    weight: Any
    step: Any


def update(state: State, batch: dict[str, Any], rate: Any) -> Any:
    """One step that takes and gives every kind of tree."""
    weight = state.weight - batch["g"] * rate
    return State(weight, state.step + 1), (weight.sum(), [batch["g"], None])


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiled = adze.jit(update).trace(State(X, 0), {"g": X}, 0.5).lower().compile()
    return compiled.save(tmp_path_factory.mktemp("artifacts") / "update.vmfb")


def test_a_saved_program_takes_and_gives_its_trees(saved: Path) -> None:
    program = adze.load(saved)
    state, (total, rest) = program(State(X, 0), {"g": X}, 0.5)
    assert np.array_equal(state["weight"], X * 0.5) and state["step"].item() == 1
    assert total.item() == X.sum() * 0.5 and np.array_equal(rest[0], X) and rest[1] is None


def test_loading_needs_no_compiler(saved: Path) -> None:
    code = (
        "import sys, numpy, adze\n"
        f"program = adze.load({str(saved)!r})\n"
        "assert program.device in ('local-sync', 'local-task')\n"
        "assert not [m for m in sys.modules if m.startswith('iree.compiler')], 'the compiler was loaded'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_loaded_program_describes_itself(saved: Path) -> None:
    program = adze.load(saved)
    assert repr(program).startswith("<update(state.weight: f32[2,3], state.step: i64[], batch['g']: f32[2,3]")
    assert program.manifest.functions[0].signature.outputs[0].name == "result[0].weight"


def test_a_wrong_tree_is_refused(saved: Path) -> None:
    program = adze.load(saved)
    with pytest.raises(adze.AdzeError) as caught:
        program(State(X, 0), {"h": X}, 0.5)
    assert str(caught.value).startswith(
        "update() takes arguments (State(weight=*, step=*), {'g': *}, *), "
        "got (State(weight=*, step=*), {'h': *}, *)\n"
        f"  at {__file__}:"
    )


def test_dynamic_sizes_survive(tmp_path: Path) -> None:
    path = (
        adze.trace(lambda x: x.sum(axis=0), ShapeDtype(("n", 3))).lower().compile().save(tmp_path / "s.vmfb")
    )
    program = adze.load(path)
    assert repr(program).startswith("<lambda(x: f32[n,3])")
    for n in (0, 2, 5):
        assert np.array_equal(program(np.ones((n, 3), np.float32)), [n] * 3)


def test_a_damaged_file_is_a_message_and_no_crash(saved: Path, tmp_path: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 1
    damaged = tmp_path / "damaged.vmfb"
    damaged.write_bytes(content)
    truncated = tmp_path / "truncated.vmfb"
    truncated.write_bytes(content[: len(content) // 3])
    for path in (damaged, truncated):
        with pytest.raises(adze.AdzeError, match=path.name):
            adze.load(path)


def test_saving_is_whole_or_not_at_all(saved: Path, tmp_path: Path) -> None:
    compiled = adze.trace(lambda x: x + 1, X).lower().compile()
    with pytest.raises(adze.AdzeError):
        compiled.save(tmp_path / "no" / "such" / "folder.vmfb")
    target = tmp_path / "f.vmfb"
    target.write_bytes(b"old")
    compiled.save(target)
    assert np.array_equal(adze.load(target)(X), X + 1)
    assert [p.name for p in tmp_path.iterdir()] == ["f.vmfb"]
