"""A program that the cache has is found by its trace: without lowering, and never a stale one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.staging import known_programs, lowered, lowering
from adze.frontend.staging.known_programs import compiled_program
from adze.frontend.staging.traced import Traced
from adze.runtime.compile import known
from adze.runtime.compile.cache import CompileCache

X = np.arange(4, dtype=np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty compile cache."""
    monkeypatch.setenv("ADZE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("ADZE_DUMP_DIR", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def lowerings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The symbols of the programs that were lowered; they are not compiled, but have bytes of their own."""
    seen: list[str] = []
    usual = lowering.lowered_module

    def noted(program: Any, target: Any, observer: Any = None) -> lowering.LoweredModule:
        seen.append(program.symbol)
        return usual(program, target, observer)

    monkeypatch.setattr(lowering, "lowered_module", noted)
    monkeypatch.setattr(
        lowered.Lowered, "_build", lambda self, text, *_: (text, {"flags": ["--flag"], "seconds": 1.5})
    )
    return seen


def score(x: Any) -> Any:
    return anp.tanh(x) * 3


def traced(function: Callable[..., Any] = score, x: Any = X) -> Traced:
    return adze.trace(function, x)


def known_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.known"))


def test_the_second_time_nothing_is_lowered(folder: Path, lowerings: list[str]) -> None:
    first = compiled_program(traced(), "cpu", None)
    second = compiled_program(traced(), "cpu", None)
    assert lowerings == ["score"]
    assert (first.report.record.hit, second.report.record.hit) == (False, True)
    assert second.report.record.explanation == "found"
    assert second.report.key == first.report.key
    assert second.report.compile_seconds == 1.5
    assert second.vmfb == first.vmfb
    assert second.manifest == first.manifest
    assert second.manifest.flags == ("--flag",)
    assert len(known_files(folder)) == 1


def test_sizes_that_are_known_later_are_found_too(folder: Path, lowerings: list[str]) -> None:
    spec = adze.ShapeDtype(("n", 3))
    programs = [compiled_program(traced(x=spec), "cpu", None) for _ in range(2)]
    assert programs[0].manifest == programs[1].manifest
    assert programs[0].manifest.work == programs[1].manifest.work == 192
    assert len(lowerings) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda: (traced(lambda x: anp.tanh(x) * 4), "cpu"),  # a constant
        lambda: (traced(x=X.astype(np.float64)), "cpu"),
        lambda: (traced(lambda y: score(y)), "cpu"),  # the name of an argument, which the manifest has
        lambda: (traced(lambda x: (score(x),)), "cpu"),  # the tree of the results
        lambda: (traced(), "cpu:x86-64-v2"),
    ],
)
def test_another_program_is_lowered(
    folder: Path, lowerings: list[str], change: Callable[[], tuple[Traced, str]]
) -> None:
    compiled_program(traced(), "cpu", None)
    other, target = change()
    assert not compiled_program(other, target, None).report.record.hit
    assert len(lowerings) == 2


def test_what_decides_the_lowering_besides_is_part_of_the_digest(
    folder: Path, lowerings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled_program(traced(), "cpu", None)
    monkeypatch.setenv("ADZE_LOOP_KERNELS", "off")
    compiled_program(traced(), "cpu", None)
    monkeypatch.setattr(known_programs, "PROCEDURE", "another")
    compiled_program(traced(), "cpu", None)
    monkeypatch.setattr(known_programs, "versions", lambda: {"iree_compiler": "4.0.0"})
    compiled_program(traced(), "cpu", None)
    monkeypatch.setattr(np, "__version__", "0.1")
    compiled_program(traced(), "cpu", None)
    assert len(lowerings) == 5
    compiled_program(traced(), "cpu", None)
    assert len(lowerings) == 5


def test_changed_code_is_another_program(
    folder: Path, lowerings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "passes.py"
    source.write_text("first")
    monkeypatch.setattr(known_programs, "_files", lambda: iter([(str(source), source.stat())]))
    monkeypatch.setattr(known_programs, "IMPORTED", source.stat().st_ctime + 1)
    for lowered_so_far, text in ((1, "first"), (2, "other text")):
        if text != source.read_text():
            source.write_text(text)
        for _ in range(2):
            known_programs._code_of_process.cache_clear()
            compiled_program(traced(), "cpu", None)
            assert len(lowerings) == lowered_so_far
    known_programs._code_of_process.cache_clear()


def test_code_that_changes_while_the_process_runs_is_not_noted(
    folder: Path, lowerings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs may be the text before the change, or that behind it."""
    source = tmp_path / "passes.py"
    source.write_text("first")
    monkeypatch.setattr(known_programs, "_files", lambda: iter([(str(source), source.stat())]))
    monkeypatch.setattr(known_programs, "IMPORTED", source.stat().st_ctime)
    os.utime(source, (1, 1))  # as a copy that keeps times does
    known_programs._code_of_process.cache_clear()
    for _ in range(2):
        compiled_program(traced(), "cpu", None)
    assert len(lowerings) == 2
    assert not known_files(folder)

    monkeypatch.setattr(known_programs, "IMPORTED", source.stat().st_ctime + 1)
    known_programs._code_of_process.cache_clear()
    assert known_programs._code_of_process() is not None
    source.write_text("changed behind the first look")
    compiled_program(traced(), "cpu", None)
    assert not known_files(folder)
    known_programs._code_of_process.cache_clear()


def test_the_files_are_those_that_lower_and_compile() -> None:
    names = [name for name, _ in known_programs._files()]
    assert len(names) == len(set(names)) > 300
    endings = (
        "passes/lower/convert.py",
        "runtime/compile/invocation.py",
        "dialects/op.py",
        "frontend/staging/lowered.py",
        "frontend/tracing/trace.py",
    )
    for ending in endings:
        assert any(Path(name).as_posix().endswith(ending) for name in names)


@pytest.mark.parametrize("damage", ["cut", "bits", "foreign", "empty"])
def test_a_damaged_file_is_replaced(folder: Path, lowerings: list[str], damage: str) -> None:
    compiled_program(traced(), "cpu", None)
    [path] = known_files(folder)
    sound = path.read_bytes()
    if damage == "foreign":  # whole, and of another program
        compiled_program(traced(lambda x: x + 1), "cpu", None)
        [other] = [each for each in known_files(folder) if each != path]
        path.write_bytes(other.read_bytes())
        lowerings.pop()
    else:
        middle = len(sound) // 2
        bits = sound[:middle] + bytes([sound[middle] ^ 1]) + sound[middle + 1 :]
        path.write_bytes({"cut": sound[:-1], "bits": bits, "empty": b""}[damage])
    program = compiled_program(traced(), "cpu", None)
    assert len(lowerings) == 2
    assert program.report.record.hit  # of the lowered program
    assert path.read_bytes() == sound


def test_a_program_whose_entry_is_gone_is_compiled_again(folder: Path, lowerings: list[str]) -> None:
    compiled_program(traced(), "cpu", None)
    [entry] = folder.glob("*/*.entry")
    content = entry.read_bytes()
    entry.write_bytes(content[:-1])
    assert not compiled_program(traced(), "cpu", None).report.record.hit
    assert entry.read_bytes() == content
    entry.unlink()
    assert not compiled_program(traced(), "cpu", None).report.record.hit
    assert len(lowerings) == 3


def test_programs_that_have_to_be_lowered_are_not_noted(
    folder: Path, lowerings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prints(x: Any) -> Any:
        adze.debug.print("x is {}", x)
        return x + 1

    for _ in range(2):
        compiled_program(traced(prints), "cpu", None)
    monkeypatch.setenv("ADZE_DUMP_DIR", str(tmp_path / "dumps"))
    compiled_program(traced(), "cpu", None)
    monkeypatch.delenv("ADZE_DUMP_DIR")
    monkeypatch.setenv("ADZE_CACHE", "off")
    compiled_program(traced(), "cpu", None)
    assert len(lowerings) == 4
    assert not known_files(folder)


def test_the_cache_forgets_what_it_deletes(folder: Path, lowerings: list[str]) -> None:
    store = CompileCache(folder, 10_000_000)
    compiled_program(traced(), "cpu", None)
    assert (store.stats().entries, len(store.entries())) == (1, 1)
    assert store.prune(lambda entry: True) == (0, 0)
    assert not known_files(folder)
    compiled_program(traced(), "cpu", None)
    assert len(known_files(folder)) == 1
    assert store.clear() == 1
    assert not list(folder.glob("*/*"))


def test_the_file_that_was_used_longest_ago_is_evicted(folder: Path, lowerings: list[str]) -> None:
    for factor in range(3):
        compiled_program(traced(lambda x, factor=factor: x * factor), "cpu", None)
    for path in folder.glob("*/*.known"):
        os.utime(path, (1, 1))
    total = sum(path.stat().st_size for path in folder.glob("*/*"))
    store = CompileCache(folder, total - 1)
    store._evict(keep=next(folder.glob("*/*.entry")))
    assert len(known_files(folder)) < 3
    assert len(list(folder.glob("*/*.entry"))) == 3


def test_a_disk_that_takes_nothing_is_no_error(
    folder: Path, lowerings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(known, "write_atomically", refuse)
    for _ in range(2):
        compiled_program(traced(), "cpu", None)
    assert len(lowerings) == 2
    assert not known_files(folder)


def test_a_new_process_calls_a_known_program_without_any_lowering(folder: Path) -> None:
    script = """
import sys
import numpy as np
import adze
f = adze.jit(adze.value_and_grad(lambda w, x: ((x * w) ** 2).sum()))
value, slope = f(np.float32(2), np.arange(4, dtype=np.float32))
print(float(value), float(slope))
print([name for name in ("adze.passes.pipeline", "iree.compiler.api") if name in sys.modules])
"""
    environment = {**os.environ, "ADZE_CACHE_DIR": str(folder)}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for _ in range(2)
    ]
    assert outputs[0] == ["56.0 56.0", "['adze.passes.pipeline', 'iree.compiler.api']"]
    assert outputs[1] == ["56.0 56.0", "[]"]
