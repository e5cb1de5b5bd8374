"""The compile cache: hits, explained misses, bad entries, its bound, other processes, a full disk."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adze.runtime.compile.cache import CacheKey, CacheRecord, CompileCache, cache_key
from adze.runtime.compile.compiler import CompileOptions
from adze.runtime.settings import read_settings
from adze.runtime.targets import parse_target

KEY = CacheKey("aa", "cpu", "machine one", ("--flag=1", "--other"), (("iree_compiler", "3.13.0"),))


class Counted:
    """Stands for a compile: says how often it ran."""

    def __init__(self, payload: bytes = b"program") -> None:
        self.calls = 0
        self.payload = payload

    def __call__(self) -> tuple[bytes, dict[str, Any]]:
        self.calls += 1
        return self.payload, {"seconds": 0.5}


@pytest.fixture
def cache(tmp_path: Path) -> CompileCache:
    return CompileCache(tmp_path / "cache", 10_000_000)


def entry_file(cache: CompileCache) -> Path:
    [path] = cache.folder.glob("*/*.entry")
    return path


def test_the_second_time_nothing_is_compiled(cache: CompileCache) -> None:
    compile_it = Counted()
    first, made = cache.get_or_compile(KEY, compile_it)
    second, result = cache.get_or_compile(KEY, compile_it)
    assert compile_it.calls == 1
    assert (made.hit, made.explanation) == (False, "the cache has no entry to compare with")
    assert (result.hit, result.explanation, result.warnings) == (True, "found", ())
    assert first == second
    assert second.payload == b"program"
    assert second.metadata == {"seconds": 0.5}


def test_threads_that_want_one_program_compile_it_once(cache: CompileCache) -> None:
    started, counted = threading.Event(), Counted()

    def slow() -> tuple[bytes, dict[str, Any]]:
        started.set()
        time.sleep(0.05)
        return counted()

    def late() -> CacheRecord:
        started.wait()
        return cache.get_or_compile(KEY, counted)[1]

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(cache.get_or_compile, KEY, slow)
        others = [pool.submit(late) for _ in range(3)]
    assert counted.calls == 1
    assert not first.result()[1].hit
    assert all(other.result().hit for other in others)


@pytest.mark.parametrize(
    ("change", "explanation"),
    [
        ({"ir_sha256": "bb"}, "the nearest entry differs in the program"),
        ({"target": "cuda"}, "the nearest entry differs in the target (cpu there, cuda here)"),
        (
            {"machine": "machine two"},
            "the nearest entry differs in the machine (machine one there, machine two here)",
        ),
        (
            {"flags": ("--flag=2", "--other")},
            "the nearest entry differs in the flags (--flag=1 there, --flag=2 here)",
        ),
        (
            {"versions": (("iree_compiler", "3.14.0"),)},
            "the nearest entry differs in the versions (['iree_compiler', '3.13.0'] there, "
            "['iree_compiler', '3.14.0'] here)",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_miss_says_what_differs(cache: CompileCache, change: dict[str, Any], explanation: str) -> None:
    cache.put(KEY, b"program", {})
    cache.put(CacheKey("zz", "vulkan", "other", (), ()), b"far away", {})
    compile_it = Counted(b"another")
    entry, record = cache.get_or_compile(replace(KEY, **change), compile_it)
    assert compile_it.calls == 1
    assert record.explanation == explanation
    assert entry.payload == b"another"


def flipped(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: content + b"more",
        lambda content: flipped(content, 0),
        lambda content: flipped(content, 12),
        lambda content: flipped(content, len(content) - 40),
        lambda content: b"\0" * len(content),
        lambda content: b"something else entirely",
    ],
    ids=["empty", "half", "short", "long", "magic", "header", "payload", "zeros", "foreign"],
)
def test_a_bad_entry_is_replaced(cache: CompileCache, damage: Any) -> None:
    compile_it = Counted()
    cache.get_or_compile(KEY, compile_it)
    path = entry_file(cache)
    path.write_bytes(damage(path.read_bytes()))
    entry, record = cache.get_or_compile(KEY, compile_it)
    assert entry.payload == b"program"
    assert (record.hit, record.explanation) == (False, "the entry was damaged or foreign, and is replaced")
    assert cache.get_or_compile(KEY, compile_it)[1].hit
    assert compile_it.calls == 2


def test_an_entry_of_another_key_is_not_believed(cache: CompileCache) -> None:
    other = replace(KEY, ir_sha256="bb")
    cache.put(other, b"other program", {})
    path = cache.folder / KEY.digest[:2] / f"{KEY.digest}.entry"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(entry_file(cache).read_bytes())
    assert cache.get(KEY) is None
    assert cache.get(other) is not None


def test_foreign_files_are_left_alone(cache: CompileCache) -> None:
    cache.put(KEY, b"program", {})
    note = cache.folder / "note.txt"
    note.write_text("mine")
    (cache.folder / "aa").mkdir(exist_ok=True)
    (cache.folder / "aa" / "mine.txt").write_text("mine")
    assert cache.clear() == 1
    assert note.exists()
    assert (cache.folder / "aa" / "mine.txt").exists()
    assert cache.stats().entries == 0


def test_the_entries_used_longest_ago_leave_first(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 10_000)
    keys = [replace(KEY, ir_sha256=f"{number}") for number in range(8)]
    for age, key in enumerate(keys):
        cache.put(key, b"x" * 1000, {})
        path = tmp_path / key.digest[:2] / f"{key.digest}.entry"
        os.utime(path, (1000 + age, 1000 + age))
    assert cache.get(keys[0]) is not None  # used now: no longer the oldest
    for number in range(8, 11):
        cache.put(replace(KEY, ir_sha256=f"{number}"), b"x" * 1000, {})
    stats = cache.stats()
    assert stats.bytes <= 10_000
    assert cache.get(keys[0]) is not None
    assert cache.get(keys[1]) is None
    assert cache.get(keys[7]) is not None


def test_many_small_entries_stay_near_the_bound(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 200_000)
    for number in range(600):
        assert cache.put(replace(KEY, ir_sha256=f"{number}"), b"x", {}) is None
    stats = cache.stats()
    assert stats.bytes <= 1.1 * cache.max_bytes
    assert stats.entries > 200


def test_a_miss_reads_no_other_entry(cache: CompileCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, b"program", {})
    key = replace(KEY, ir_sha256="bb")
    with monkeypatch.context() as patched:
        patched.setattr(CompileCache, "_entries", lambda self: pytest.fail("the cache was read"))
        _, record = cache.get_or_compile(key, Counted())
    assert record.explanation == "the nearest entry differs in the program"


def test_a_program_larger_than_the_cache_does_not_stay(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 500)
    entry, record = cache.get_or_compile(KEY, Counted(b"x" * 1000))
    assert len(entry.payload) == 1000
    assert record.warnings == ()
    assert cache.stats().entries == 0


def test_the_cache_can_be_switched_off(tmp_path: Path) -> None:
    settings = read_settings({"ADZE_CACHE": "off", "ADZE_CACHE_DIR": str(tmp_path / "cache")})
    cache = CompileCache.from_settings(settings)
    compile_it = Counted()
    for _ in range(2):
        _, record = cache.get_or_compile(KEY, compile_it)
        assert (record.hit, record.explanation) == (False, "the cache is off")
    assert compile_it.calls == 2
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = CompileCache(tmp_path / "file" / "cache", 1000)
    entry, record = cache.get_or_compile(KEY, Counted())
    assert entry.payload == b"program"
    [warning] = record.warnings
    assert warning == f"the compiled program was not cached in {cache.folder}: Not a directory"


def test_a_full_disk_is_a_warning_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    """The limit on file sizes stands for the full disk: writing stops in the middle of the file."""
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from adze.runtime.compile.cache import CacheKey, CompileCache\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))\n"
        "cache = CompileCache(Path(sys.argv[1]), 10**6)\n"
        "key = CacheKey('aa', 'cpu', '', (), ())\n"
        "entry, record = cache.get_or_compile(key, lambda: (b'x' * 10000, {}))\n"
        "print(len(entry.payload), *record.warnings)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == (
        f"10000 the compiled program was not cached in {tmp_path}: File too large"
    ), done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.thorough
def test_many_processes_share_one_folder(tmp_path: Path) -> None:
    """Four at once write, read and evict the same entries: every read is whole or a miss."""
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from adze.runtime.compile.cache import CacheKey, CompileCache\n"
        "cache = CompileCache(Path(sys.argv[1]), 12_000)\n"
        "for turn in range(60):\n"
        "    name = str((turn * int(sys.argv[2])) % 16)\n"
        "    key = CacheKey(name, 'cpu', '', (), ())\n"
        "    entry, record = cache.get_or_compile(key, lambda: (name.encode() * 1000, {'name': name}))\n"
        "    assert entry.payload == name.encode() * 1000 and entry.metadata == {'name': name}\n"
        "    assert record.warnings == (), record\n"
        "print('sound')\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), step],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for step in ("1", "3", "5", "7")
    ]
    for process in running:
        out, errors = process.communicate(timeout=60)
        assert out.strip() == "sound", errors
    assert CompileCache(tmp_path, 12_000).stats().bytes <= 12_000 + 4 * 3000
    assert list(tmp_path.glob("*/.*")) == []


def test_the_key_holds_program_target_machine_and_flags() -> None:
    options = CompileOptions()
    host = cache_key(b"module", parse_target("cpu"), options)
    assert host.machine != ""
    assert cache_key(b"module", parse_target("cpu"), options) == host
    for other in (
        cache_key(b"module 2", parse_target("cpu"), options),
        cache_key(b"module", parse_target("cpu:x86-64-v3"), options),
        cache_key(b"module", parse_target("cpu"), CompileOptions(data_tiling=True)),
        replace(host, machine="another machine"),
    ):
        assert other.digest != host.digest


def test_what_killed_processes_left_is_deleted_by_the_next_large_write(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 10**5)
    folder = tmp_path / "ab"
    folder.mkdir()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()

    def left(pid: int, age: float) -> Path:
        path = folder / f".name.{pid}.{age}.adze-tmp"
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
        return path

    gone = [left(dead.pid, 100), left(os.getpid(), 4000)]
    kept = [left(dead.pid, 10), left(os.getpid(), 100)]
    key = cache_key(b"module {}", parse_target("cpu:x86-64-v3"), CompileOptions())
    assert cache.put(key, b"payload", {}) is None
    assert not any(path.exists() for path in gone)
    assert all(path.exists() for path in kept)
    cache.clear()
    assert not any(path.exists() for path in kept)
