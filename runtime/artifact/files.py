"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from pathlib import Path

TEMPORARY_SUFFIX = ".adze-tmp"
_MINUTE, _HOUR = 60.0, 3600.0


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that other processes, and a crash, see the old one or the whole new one."""
    temporary = _temporary(path)
    try:
        with os.fdopen(_create(temporary), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_writable(path: Path) -> None:
    """Raise the OSError that writing `path` would meet now: rights, a read-only disk, a name too long."""
    temporary = _temporary(path)
    os.close(_create(temporary))
    temporary.unlink()
    with contextlib.suppress(FileNotFoundError):
        path.lstat()  # a name that is too long


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
    # a hash of the name, not the name: with what is added, a legal name could be too long
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]
    return path.with_name(f".{digest}.{os.getpid()}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")


def _create(path: Path) -> int:
    # opened by hand, since the modules for temporary files make them private
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
