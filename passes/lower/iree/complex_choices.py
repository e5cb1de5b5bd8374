"""Choices between complex numbers, which Metal's kernels refuse.

Input: a lowered module for Metal. Output: the same, where a choice between two complex numbers is one between
their real and one between their imaginary parts.
Idea: IREE writes Metal's source from SPIR-V 1.3, in which a truth value cannot choose between vectors, and a
complex number is a vector of two. Vulkan's devices have SPIR-V 1.6.

Symptom: "failed to legalize operation 'arith.select'".
Seen in: IREE 3.13.
Smallest: `where(mask, x, y)` of c64[8] for Metal.
Goes when: `tests/gpu/test_complex_choices.py::test_iree_still_refuses_choices_of_complex_numbers` fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import TargetKind
from ...base import Pass
from ...ir.aliases import Operation
from ..plan import target_of

_CHOICE: Final = "arith.select"


@dataclass(frozen=True)
class ComplexChoices(Pass):
    """For Metal, choose between complex numbers part by part."""

    name = "complex-choices"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        if target_of(module).kind is not TargetKind.METAL:
            return False
        with module.context:
            found = list(_choices(module.operation))
            for choice in found:
                _choose_parts(choice)
        return bool(found)


def _choices(operation: Operation) -> Iterator[Operation]:
    """The choices between complex numbers within, also in kernels of our own."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name == _CHOICE and isinstance(inner.results[0].type, mlir.ir.ComplexType):
                    yield inner
                yield from _choices(inner)


def _choose_parts(choice: Operation) -> None:
    condition, yes, no = choice.operands
    (result,) = choice.results
    with mlir.ir.InsertionPoint(choice), choice.location:
        real, imaginary = (
            mlir.arith.select(condition, part(yes).result, part(no).result)
            for part in (mlir.complex.ReOp, mlir.complex.ImOp)
        )
        whole = mlir.complex.CreateOp(result.type, real, imaginary).result
        result.replace_all_uses_with(whole)
    choice.erase()
