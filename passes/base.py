"""What a pass is: a frozen dataclass whose fields are its options and whose docstring describes it."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from ..dialects import mlir
from ..dialects.dataclass import dataclass
from ..dialects.op import DIALECT, Op


@dataclass(frozen=True)
class Pass:
    """A named rewrite of a module, in place; `leaves_adze` says whether the result still is adze IR.

    `needs` are names of ops: a pipeline leaves the pass out where a module's functions have none of them, if
    any are stated.
    """

    name: ClassVar[str]
    leaves_adze: ClassVar[bool] = True
    needs: ClassVar[Collection[str]] = ()

    def run(self, module: mlir.ir.Module) -> bool | None:
        """Rewrite `module`, or raise `AdzeError`. False says that no op was changed, so none is verified."""
        raise NotImplementedError


def names_of(*ops: type[Op]) -> frozenset[str]:
    """The names of ops of adze in a module, for what a pass `needs`."""
    return frozenset(f"{DIALECT}.{op.name}" for op in ops)
