"""The text of MLIR bytecode that came from elsewhere.

Input: bytes. Output: text in MLIR's generic form, or a `BytecodeError`.

Idea: MLIR's reader of bytecode ends the process on some damaged files, so it runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

_TOOL: Final = "iree.compiler.tools.scripts.iree_opt"
_FLAGS: Final = ("--mlir-print-op-generic", "--allow-unregistered-dialect", "-")
_SECONDS: Final = 300


class BytecodeError(Exception):
    """MLIR cannot read the bytes; the message says why."""


def text_of_bytecode(content: bytes) -> str:
    """The module that `content` holds, in generic form; nothing of it is executed."""
    command = [sys.executable, "-m", _TOOL, *_FLAGS]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BytecodeError(f"the process that reads it failed: {error}") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        reasons = (line.partition("error: ")[2] for line in lines if "error: " in line)
        raise BytecodeError(next(reasons, "MLIR cannot read it"))
    try:
        return done.stdout.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BytecodeError(f"byte {error.start} of its text is not UTF-8") from None
