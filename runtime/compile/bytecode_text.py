"""The text of MLIR bytecode that came from elsewhere.

Input: bytes. Output: text in MLIR's generic form, or a `BytecodeError`.

Idea: MLIR's reader of bytecode ends the process on some damaged files, allocates what they declare, and
prints a type as often as it is used, so it runs in a process of its own with limits on memory and text.
Windows has no such limits.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import IO, Final

_TOOL: Final = "iree.compiler.tools.scripts.iree_opt.__main__"
_FLAGS: Final = ("--mlir-print-op-generic", "--allow-unregistered-dialect", "-")
_SECONDS: Final = 300
# Its arguments are the two limits, and what the tool takes. The processes that it starts have them too.
_LIMITED: Final = f"""
import sys
memory, text = map(int, sys.argv[1:3])
try:
    import resource
except ImportError:
    pass
else:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, text)):
        most = resource.getrlimit(kind)[1]
        limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(kind, (limit, limit))
from {_TOOL} import main
sys.exit(main(sys.argv[3:]))
"""
_OUT_OF_MEMORY: Final = ("out of memory", "bad_alloc", "SmallVector unable to grow", "MemoryError")
_TOO_LONG: Final = ("File too large", "IO failure on output stream")


class BytecodeError(Exception):
    """MLIR cannot read the bytes; the message says why."""


def most_memory(size: int) -> int:
    """How many bytes of memory the process may have that reads `size` bytes."""
    return 2 * 2**30 + 64 * size


def most_text(size: int) -> int:
    """How many bytes of text it may write."""
    return 2**24 + 64 * size


def text_of_bytecode(content: bytes) -> str:
    """The module that `content` holds, in generic form; nothing of it is executed."""
    memory, text = most_memory(len(content)), most_text(len(content))
    command = [sys.executable, "-c", _LIMITED, str(memory), str(text), *_FLAGS]
    with tempfile.TemporaryFile() as output:
        try:
            done = subprocess.run(
                command, input=content, stdout=output, stderr=subprocess.PIPE, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise BytecodeError(f"the process that reads it was not done in {_SECONDS} seconds") from None
        except OSError as error:
            raise BytecodeError(f"the process that reads it failed: {error}") from None
        if done.returncode:
            raise BytecodeError(_reason(done.stderr.decode("utf-8", "replace"), output, memory, text))
        output.seek(0)
        try:
            return output.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise BytecodeError(f"byte {error.start} of its text is not UTF-8") from None


def _reason(messages: str, output: IO[bytes], memory: int, text: int) -> str:
    """What the process that failed says."""
    if output.seek(0, 2) >= text or any(sign in messages for sign in _TOO_LONG):
        return f"its text would be longer than {text // 2**20} MiB"
    if any(sign in messages for sign in _OUT_OF_MEMORY):
        return (
            f"reading it needs more than {memory / 2**30:.1f} GiB of memory, the limit for a file of its "
            "size: it declares more than it holds"
        )
    reasons = (line.partition("error: ")[2] for line in messages.splitlines() if "error: " in line)
    return next(reasons, "MLIR cannot read it")
