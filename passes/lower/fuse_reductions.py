"""Reductions of large arrays, fused with what computes their operands and with each other: `forms/fusion.py`.

Input: lowered functions, before the bodies of loops are inlined. Output: the same program with fewer passes
over memory. What the conversion knew of complex constants is read from the IR again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import mlir
from ...dialects.types import COMPLEX64, COMPLEX128
from ..base import Pass
from ..ir.functions import functions
from .forms.fusion import fuse
from .forms.generics import repeated_constant
from .lowering import Lowering
from .plan import target_of


@dataclass(frozen=True)
class FuseReductions(Pass):
    """Let large reductions compute cheap operands themselves, and do those of one array in one op."""

    name = "fuse-reductions"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        lowering = Lowering(module.context, target_of(module))
        with module.context, mlir.ir.Location.unknown():
            lowering.module = module
            lowering.complex_numbers.update(_complex_constants(module))
            fuse(lowering, module)


def _complex_constants(module: mlir.ir.Module) -> Iterator[tuple[Any, np.generic]]:
    """The values that repeat one complex number, and that number: two real constants put together."""
    for function in functions(module).values():
        for block in function.regions[0].blocks:
            for child in block.operations:
                operation = child.operation
                if operation.name == "linalg.generic" and _is_complex(operation.results[0].type):
                    number = _complex_number(operation)
                    if number is not None:
                        yield operation.results[0], number


def _is_complex(type_: Any) -> bool:
    return isinstance(mlir.ir.RankedTensorType(type_).element_type, mlir.ir.ComplexType)


def _complex_number(operation: Any) -> np.generic | None:
    body = [child.operation for child in operation.regions[0].blocks[0].operations]
    if [step.name for step in body] != ["complex.create", "linalg.yield"] or len(operation.operands) != 3:
        return None
    parts = [repeated_constant(value) for value in list(operation.operands)[:2]]
    if any(part is None for part in parts):
        return None
    real, imaginary = parts
    dtype = COMPLEX128 if isinstance(real.type, mlir.ir.F64Type) else COMPLEX64
    return dtype.type(complex(real.value, imaginary.value))
