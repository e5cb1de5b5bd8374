"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path
from typing import BinaryIO

TEMPORARY_SUFFIX = ".adze-tmp"
_MINUTE, _HOUR = 60.0, 3600.0


def write_atomically(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file so that other processes, and a crash, see the old one or the whole new one.

    Where the system has files without a name, the content is in one until it is whole, so that a process
    that is killed leaves nothing behind. Elsewhere a temporary may stay; the next write of the file removes
    it. The `mode` is that of `os.open`, from which the system takes what its mask forbids.
    """
    temporary = _temporary(path)
    try:
        if not _written_without_name(temporary, content, mode):
            with os.fdopen(_create(temporary, mode), "wb") as file:
                _fill(file, content)
        temporary.replace(path)
    except OSError as error:  # of a file without a name, or of the temporary one
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _remove_left_behind(path)


def check_writable(path: Path) -> None:
    """Raise the OSError that writing `path` would meet now: rights, a read-only disk, a name too long."""
    handle = _open_without_name(path.parent)
    if handle is None:
        temporary = _temporary(path)
        handle = _create(temporary)
        temporary.unlink()
    os.close(handle)
    with contextlib.suppress(FileNotFoundError):
        path.lstat()  # a name that is too long


def _written_without_name(temporary: Path, content: bytes, mode: int) -> bool:
    """Whether the content is in the new file `temporary`, which had no name before it was whole."""
    handle = _open_without_name(temporary.parent, mode)
    if handle is None:
        return False
    with os.fdopen(handle, "wb") as file:
        _fill(file, content)
        try:  # with a folder's handle, which an absolute path ignores, Python follows the link to the file
            os.link(f"/proc/self/fd/{handle}", temporary, src_dir_fd=handle, follow_symlinks=True)
        except OSError:  # no /proc
            return False
    return True


def _open_without_name(folder: Path, mode: int = 0o666) -> int | None:
    """A new file in `folder` without a name; None where there are none, or where the folder takes no file."""
    flag = getattr(os, "O_TMPFILE", None)
    try:
        return None if flag is None else os.open(folder, flag | os.O_WRONLY, mode)
    except OSError:
        return None


def _fill(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def _remove_left_behind(path: Path) -> None:
    """Remove what dead processes left of `path` while they wrote it."""
    with contextlib.suppress(OSError):
        for temporary in path.parent.glob(f".{_digest(path)}.*{TEMPORARY_SUFFIX}"):
            with contextlib.suppress(OSError):
                if is_left_behind(temporary):
                    temporary.unlink()


def is_left_behind(temporary: Path) -> bool:
    """Whether nobody is writing this temporary file any more: its process is gone, or must be.

    A process that is not here may be on another machine, or in another container, that shares the folder:
    only after a minute is it taken for dead.
    """
    age = time.time() - temporary.stat().st_mtime
    return age > _HOUR or (age > _MINUTE and not _is_alive(temporary))


def _is_alive(temporary: Path) -> bool:
    writer = temporary.name.split(".")[2]
    try:
        os.kill(int(writer), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _temporary(path: Path) -> Path:
    return path.with_name(f".{_digest(path)}.{os.getpid()}.{os.urandom(8).hex()}{TEMPORARY_SUFFIX}")


def _digest(path: Path) -> str:
    # a hash of the name, not the name: with what is added, a legal name could be too long
    return hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]


def _create(path: Path, mode: int = 0o666) -> int:
    # opened by hand, since the modules for temporary files make them private
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
