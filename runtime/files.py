"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

TEMPORARY_SUFFIX = ".adze-tmp"


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


def _temporary(path: Path) -> Path:
    # a hash of the name, not the name: with what is added, a legal name could be too long
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]
    return path.with_name(f".{digest}.{os.getpid()}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")


def _create(path: Path) -> int:
    # opened by hand, since the modules for temporary files make them private
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
