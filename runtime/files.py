"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

TEMPORARY_SUFFIX = ".adze-tmp"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that other processes, and a crash, see the old one or the whole new one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")
    try:
        # opened by hand, since the modules for temporary files make them private
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
