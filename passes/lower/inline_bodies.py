"""The bodies of loops and branches, put in place of the calls that the conversion left in them.

Input: lowered functions whose loops and branches call private functions. Output: the same without those. The
shared scalar functions stay, to be inlined by IREE, which does so first of all.
"""

from __future__ import annotations

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ..base import Pass
from ..ir.functions import functions, is_private
from .scalars import NO_INLINE


@dataclass(frozen=True)
class InlineBodies(Pass):
    """Inline the bodies of lowered loops and branches; the shared scalar functions stay."""

    name = "inline-bodies"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether there were bodies to inline."""
        has_bodies = any(is_private(f) and NO_INLINE not in f.attributes for f in functions(module).values())
        if has_bodies:
            with module.context:
                tidy = "builtin.module(inline{default-pipeline=},symbol-dce)"
                manager = mlir.passmanager.PassManager.parse(tidy)
                manager.enable_verifier(False)  # half the time of lowering, and IREE verifies what it reads
                manager.run(module.operation)
        for function in functions(module).values():
            if NO_INLINE in function.attributes:
                del function.attributes[NO_INLINE]
        return has_bodies
