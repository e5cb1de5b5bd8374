"""Whether the compiler can write its temporary files: where it cannot, it ends the process.

Output: nothing, or the `CompileError` that says what is wrong with the folder that LLVM chooses. It takes the
first of four environment variables that is set, whatever it says, where Python takes the first folder that it
can write to.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path
from typing import Final

from ..errors import CompileError

_VARIABLES: Final = ("TMPDIR", "TMP", "TEMP", "TEMPDIR")
_DEFAULT: Final = "/tmp"
_REFUSED: Final = re.compile("%")
"""What LLVM replaces by digits in the name of a new file."""
_REFUSED_BY_SHELL: Final = re.compile(r"[%\s'\"\\$`;&|<>()*?\[]")
_LEAST_SPACE: Final = 1 << 22
"""Bytes that are asked for before a compile begins: more than what small programs need."""
_SPACE_OF_KERNELS: Final = 16
"""Bytes of temporary files that are asked for for a byte of kernels in LLVM's dialect: sorts and layers write
three times their bytecode at once, as object and as linked code, loops that LLVM unrolls more."""
_SPACE_OF_MODULE: Final = 4
"""Bytes of a file in memory, which holds what the compiler returns, for a byte of the module: constants are
there twice while a program is divided into kernels."""


class TemporaryFilesError(CompileError):
    """The compiler has nowhere to write: no other form of a program compiles then."""


def check_temporary_files(kernels: int = 0, *, is_linked: bool = False) -> None:
    """Raise the `CompileError` for temporary files that nobody can write, as on a disk without space.

    `kernels` are the bytes of a program whose kernels are functions of LLVM's dialect, once there is one. A
    program `is_linked` where its kernels are for a CPU: IREE writes the names of the files into a command of
    the shell as they are.
    """
    needed = max(_LEAST_SPACE, _SPACE_OF_KERNELS * kernels)
    folder = Path(next((os.environ[name] for name in _VARIABLES if name in os.environ), _DEFAULT))
    refused = (_REFUSED_BY_SHELL if is_linked else _REFUSED).search(str(folder))
    if refused:
        raise TemporaryFilesError(
            f"the compiler writes temporary files to {str(folder)!r}, and IREE cannot take the "
            f"{refused[0]!r} in this name",
            hint=f"set TMPDIR to another folder, such as {_DEFAULT}",
        )
    if not folder.is_dir():
        raise _error(f"there is no folder {folder}", "set TMPDIR to a folder that exists")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _error(
            f"this process cannot write to the folder {folder}", "set TMPDIR to a folder that it can write to"
        )
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise _error(
                f"there are {free} bytes left on the disk of {folder}, of up to {needed} that are needed",
                "remove files there, or set TMPDIR to a folder on another disk",
            )
    _check_limit(needed)


def check_files_in_memory(module: int) -> None:
    """Raise the `CompileError` for a module of so many bytes that a file in memory cannot hold.

    IREE's compiler writes what it returns to files in memory, to which `ulimit -f` applies too.
    """
    _check_limit(_SPACE_OF_MODULE * module)


def _check_limit(needed: int) -> None:
    most = _most_bytes_of_a_file()
    if most is not None and most < needed:
        raise _error(
            f"this process cannot write files of more than {most} bytes, of up to {needed} that are needed",
            "raise the limit (ulimit -f)",
        )


def _error(problem: str, hint: str) -> CompileError:
    return TemporaryFilesError(f"{problem}, where the compiler writes temporary files", hint=hint)


def _most_bytes_of_a_file() -> int | None:
    """The limit of this process to the size of a file; None for none."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if limit == resource.RLIM_INFINITY else limit
