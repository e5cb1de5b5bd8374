"""Saving and loading: a program is one file, read back without the compiler."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@adze.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    weight: Any
    step: Any


def update(state: State, batch: dict[str, Any], rate: Any) -> Any:
    """One step that takes and returns every kind of tree."""
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


@pytest.mark.parametrize("copied", [pickle.dumps, copy.deepcopy])
def test_a_loaded_program_is_not_copied(saved: Path, copied: Any) -> None:
    program = adze.load(saved)
    assert copy.copy(program) is program
    with pytest.raises(TypeError, match="it cannot be pickled or copied") as caught:
        copied(program)
    assert isinstance(caught.value, adze.AdzeError)
    assert caught.value.hint == "pass the path of its file on, and load it there"


@pytest.mark.parametrize(
    ("path", "hint"), [(None, None), (3, None), (b"program.vmfb", "write the bytes to a file first")]
)
def test_what_is_no_path_is_not_loaded(path: Any, hint: str | None) -> None:
    with pytest.raises(
        adze.AdzeError, match=f"expects the path of a .vmfb file, got {type(path).__name__}"
    ) as e:
        adze.load(path)
    assert e.value.hint == hint


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


def affine(x: Any, params: Any, /, scale: Any, *, shift: Any = 0.0) -> Any:
    return (x * params["w"] + shift) * scale


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    v = ShapeDtype((2, 3))
    compiled = adze.trace(affine, v, {"w": v}, ShapeDtype(()), shift=ShapeDtype(())).lower().compile()
    return compiled.save(tmp_path_factory.mktemp("artifacts") / "affine.vmfb")


def test_arguments_are_taken_by_name_and_as_lists(named: Path) -> None:
    program = adze.load(named)
    expected = (X * 2 + 1) * 3
    w = np.full((2, 3), 2, np.float32)
    for result in (
        program(X, {"w": w}, 3.0, shift=1.0),
        program(X, {"w": w}, shift=1, scale=3),
        program(X.tolist(), {"w": w.tolist()}, 3, shift=1.0),
        program(((0, 1, 2), [3, 4, 5]), {"w": [[2] * 3] * 2}, np.float32(3), shift=np.float32(1)),
    ):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("args", "kwargs", "problem"),
    [
        ((X, {"w": X}, 1.0), {}, "lacks argument 'shift'"),
        ((X, {"w": X}), {"shift": 1.0}, "lacks argument 'scale'"),
        ((X,), {"shift": 1.0, "scale": 1.0}, "lacks argument number 1"),
        (
            (X, {"w": X}, 1.0),
            {"shift": 1.0, "scale": 2.0},
            "got argument 'scale' twice: by position and by name",
        ),
        ((X, {"w": X}), {"shift": 1.0, "scales": 2.0}, "has no argument 'scales': it has scale, shift"),
        ((X, {"w": X}), {"shift": 1.0, "x": X}, "has no argument 'x': it has scale, shift"),
        ((X, {"w": X}, 1.0, 1.0), {}, "takes 3 positional arguments, got 4"),
        (
            (X, {"v": X}, 1.0),
            {"shift": 1.0},
            "takes arguments (*, {'w': *}, *, shift=*), got (*, {'v': *}, *, shift=*)",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_named(named: Path, args: Any, kwargs: Any, problem: str) -> None:
    with pytest.raises(adze.AdzeError) as caught:
        adze.load(named)(*args, **kwargs)
    assert caught.value.message == f"affine() {problem}"
    assert caught.value.where is not None and __file__ in caught.value.where


@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        ([[1, 2, 3], [4, 5]], "a list for an argument is no full box of numbers"),
        ([[1, 2, 3], 4], "a list for an argument is no full box of numbers"),
        ([[1, 2, "3"], [4, 5, 6]], "expected an array or a number, got str: '3'"),
        ([[1, 2, None], [4, 5, 6]], "expected an array or a number, got NoneType: 'None'"),
        ([[1, 2, 3j], [4, 5, 6]], "an argument of dtype float32 was given the Python complex 3j"),
        ([[1, 2, np.float64(3)], [4, 5, 6]], "a list for an argument of dtype float32 holds an array of"),
        ([[1, 2], [4, 5]], "affine(): argument 'x' has size 2 along axis 1: expected 3, f32[2,3]"),
    ],
)
def test_lists_that_are_no_numbers_of_the_dtype_are_refused(named: Path, listed: Any, problem: str) -> None:
    with pytest.raises(adze.AdzeError) as caught:
        adze.load(named)(listed, {"w": X}, 1.0, shift=0.0)
    assert caught.value.message.startswith(problem)


def test_what_a_program_gives_is_taken_back(saved: Path) -> None:
    """Dataclasses come back as dicts, which the next step takes: whoever loads it need not have the class."""
    program = adze.load(saved)
    state, _ = program({"weight": X, "step": 0}, {"g": X}, 0.5)
    state, _ = program(state, {"g": X}, 0.5)
    assert np.array_equal(state["weight"], X * 0) and state["step"].item() == 2


def test_static_arguments_are_no_arguments_of_the_program(tmp_path: Path) -> None:
    function = adze.jit(lambda mode, x, y: x - y if mode == "sub" else x + y, static_argnums=0)
    program = adze.load(function.trace("sub", X, X).lower().compile().save(tmp_path / "s.vmfb"))
    np.testing.assert_array_equal(program(y=X, x=X + 1), np.ones((2, 3)))
    with pytest.raises(adze.AdzeError, match="has no argument 'mode': it has x, y"):
        program(X, X, mode="sub")
