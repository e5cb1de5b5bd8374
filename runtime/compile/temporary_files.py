"""Whether the compiler can write its temporary files: where it cannot, it ends the process.

Output: nothing, or the `CompileError` that says what is wrong with the folder that LLVM chooses. It takes the
first of four environment variables that is set, whatever it says, where Python takes the first folder that it
can write to.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Final

from ..errors import CompileError

_VARIABLES: Final = ("TMPDIR", "TMP", "TEMP", "TEMPDIR")
_DEFAULT: Final = "/tmp"
_LEAST_SPACE: Final = 1 << 22
"""Bytes of temporary files that compiles write at once: 40 KB for 12 layers, 370 KB for 25 sorts. How many
a program needs is not known before, and who writes more than there is place for ends the process."""


def check_temporary_files() -> None:
    """Raise the `CompileError` for temporary files that nobody can write, as on a disk without space."""
    folder = Path(next((os.environ[name] for name in _VARIABLES if name in os.environ), _DEFAULT))
    if not folder.is_dir():
        raise _error(f"there is no folder {folder}", "set TMPDIR to a folder that exists")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _error(
            f"this process cannot write to the folder {folder}", "set TMPDIR to a folder that it can write to"
        )
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(folder).free
        if free < _LEAST_SPACE:
            raise _error(
                f"there are {free} bytes left on the disk of {folder}",
                "remove files there, or set TMPDIR to a folder on another disk",
            )
    most = _most_bytes_of_a_file()
    if most is not None and most < _LEAST_SPACE:
        raise _error(
            f"this process cannot write files of more than {most} bytes, as to {folder}",
            "raise the limit (ulimit -f)",
        )


def _error(problem: str, hint: str) -> CompileError:
    return CompileError(f"{problem}, where the compiler writes temporary files", hint=hint)


def _most_bytes_of_a_file() -> int | None:
    """The limit of this process to the size of a file; None for none."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if limit == resource.RLIM_INFINITY else limit
