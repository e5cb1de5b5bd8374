"""Text in, module out: adze IR, or what it was lowered to, read from a file or a pipe.

The text may come from anybody. It is parsed in a context of its own, and what MLIR says about a mistake
becomes one `IRTextError` with file, line and column.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ...dialects import mlir
from ...dialects.errors import AdzeError

_PLACE: Final = re.compile(r'"[^"]*":(\d+):(\d+)')


class IRTextError(AdzeError, ValueError):
    """A text is not MLIR."""


def parse_module(text: str, name: str = "<text>", file: Path | None = None) -> mlir.ir.Module:
    """The module that `text` writes; `name` is what errors call the text.

    With the `file` that holds the text, the ops know where in it they are: the bindings call a text "-".
    """
    context = mlir.new_context(is_light=True)
    try:
        if file is not None:
            return mlir.ir.Module.parseFile(str(file), context)
        return mlir.ir.Module.parse(text, context)
    except mlir.ir.MLIRError as error:
        first = error.error_diagnostics[0]
        place = _PLACE.search(str(first.location))
        where = f"{name}:{place[1]}:{place[2]}" if place else None
        raise IRTextError(f"{name} is not MLIR: {first.message}", where=where) from None


def holds_adze(module: mlir.ir.Module) -> bool:
    """Whether any op of the module is one of adze."""
    has_adze = False

    def look(operation: mlir.ir.Operation) -> mlir.ir.WalkResult:
        nonlocal has_adze
        has_adze = has_adze or operation.name.startswith("adze.")
        return mlir.ir.WalkResult.INTERRUPT if has_adze else mlir.ir.WalkResult.ADVANCE

    module.operation.walk(look)
    return has_adze
