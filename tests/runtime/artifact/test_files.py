"""Files are whole or not there, whoever ends the process that writes them, and nothing of them stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from adze.runtime.artifact import files
from adze.runtime.artifact.files import check_writable, write_atomically


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("has_unnamed", [True, False])
def test_a_file_is_written_whole(has_unnamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if not has_unnamed:
        monkeypatch.setattr(files, "_open_without_name", lambda folder, mode=0: None)
    for path in (tmp_path / "a", Path("a"), tmp_path / ("n" * 255)):
        for content in (b"first", b"", b"second"):
            check_writable(path)
            write_atomically(path, content)
            assert path.read_bytes() == content
    assert left(tmp_path) == ["a", "n" * 255]
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize("has_unnamed", [True, False])
def test_a_full_disk_leaves_the_old_file(
    has_unnamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_unnamed:
        monkeypatch.setattr(files, "_open_without_name", lambda folder, mode=0: None)
    path = tmp_path / "a"
    write_atomically(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and left(tmp_path) == ["a"]


def test_without_proc_a_file_is_written_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_proc(*arguments: object, **settings: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("os.link", no_proc)
    write_atomically(tmp_path / "a", b"content")
    assert (tmp_path / "a").read_bytes() == b"content" and left(tmp_path) == ["a"]


def test_places_that_take_no_file_are_told(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "a", tmp_path / ("n" * 256), Path("/proc/a")):
        for write in (check_writable, lambda path: write_atomically(path, b"")):
            with pytest.raises(OSError):
                write(path)
    assert left(tmp_path) == []


WRITES = """
import os, signal, sys
from pathlib import Path
from adze.runtime.artifact.files import write_atomically
signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent may ignore it
fsync = os.fsync
def die(handle):
    fsync(handle)
    os.kill(os.getpid(), int(sys.argv[2]))
os.fsync = die
write_atomically(Path(sys.argv[1]), b"new" * 100_000)
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system has no files without a name")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_killed_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    command = [sys.executable, "-c", WRITES, str(path), str(int(number))]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode != 0
    assert path.read_bytes() == b"old" and left(tmp_path) == ["a"]


def test_what_a_dead_process_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    path, dead = tmp_path / "a", 2**22 + 1  # a number that no process has
    old = tmp_path / files._temporary(path).name.replace(f".{os.getpid()}.", f".{dead}.")
    mine, other = files._temporary(path), files._temporary(tmp_path / "b")
    for temporary in (old, mine, other):
        temporary.write_bytes(b"half")
        os.utime(temporary, (0, 0) if temporary != mine else None)
    write_atomically(path, b"whole")
    assert left(tmp_path) == sorted(["a", mine.name, other.name])
