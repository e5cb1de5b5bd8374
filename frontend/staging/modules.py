"""Copies, texts and files of MLIR modules.

Input: a module between two passes. Output: another module, text, bytecode, or the numbered files that
ADZE_DUMP_DIR asks for.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from ...dialects import mlir
from ...dialects.errors import AdzeError
from ...passes.autodiff.deferred import complete
from ...runtime.artifact.files import write_atomically


def clone_module(module: Any) -> Any:
    """A copy of an MLIR module, in the same context."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return mlir.ir.Module.parse(buffer.getvalue(), module.context)


def module_text(module: Any, *, locations: bool = False) -> str:
    """A module as MLIR text."""
    return str(module.operation.get_asm(enable_debug_info=locations, large_elements_limit=None))


def bytecode(module: Any) -> bytes:
    """A module as MLIR bytecode."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def kept_ir(module: Any) -> bytes:
    """A module as an artifact keeps it: bytecode without locations, the same wherever it was traced."""
    from ...passes.registry import run_upstream  # all passes there are

    complete(module)
    copy = clone_module(module)
    run_upstream(copy, "builtin.module(strip-debuginfo)")
    return bytecode(copy)


class StageDumps:
    """Numbered files of one program in `folder`, as traced and after each pass (None: nothing is written).

    Each is MLIR, with the user's lines, that `adze opt` runs passes over again. A folder that cannot be
    written is an `AdzeError`: who sets ADZE_DUMP_DIR wants the files.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.count = 0

    def write(self, stage: str, module: Any) -> None:
        """Write the module as the next stage: `traced`, or the name of the pass that has just run."""
        if self.folder is None:
            return
        path = self.folder / f"{self.count:02}-{stage}.mlir"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, module_text(module, locations=True).encode())
        except OSError as error:
            raise AdzeError(
                f"cannot write {path}: {error.strerror or error}",
                hint="ADZE_DUMP_DIR asks for this file: unset it, or name a folder that can be written",
            ) from None
        self.count += 1
