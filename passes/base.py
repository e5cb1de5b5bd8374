"""What a pass is: a frozen dataclass whose fields are its options and whose docstring describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..dialects import mlir


@dataclass(frozen=True)
class Pass:
    """A named rewrite of a module, in place; `leaves_adze` says whether the result still is adze IR."""

    name: ClassVar[str]
    leaves_adze: ClassVar[bool] = True

    def run(self, module: mlir.ir.Module) -> None:
        """Rewrite `module`; raises `AdzeError` when it cannot."""
        raise NotImplementedError
