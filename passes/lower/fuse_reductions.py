"""Reductions of large arrays, fused with what computes their operands and with each other.

Input: lowered functions, before the bodies of loops are inlined. Output: the same program with fewer passes
over memory (`forms/reduction_fusion.py`). What the conversion knew of complex constants is read from the IR.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ...dialects.types import COMPLEX64, COMPLEX128
from ..base import Pass
from ..ir.aliases import Operation, Type, Value
from ..ir.functions import functions
from .builder import LinalgBuilder
from .forms.generics import splat_constant
from .forms.reduction_fusion import fuse_reductions
from .plan import target_of


@dataclass(frozen=True)
class FuseReductions(Pass):
    """Let large reductions compute cheap operands themselves, and do those of one array in one op."""

    name = "fuse-reductions"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        target = target_of(module)
        builder = LinalgBuilder(module.context, target.kind)
        with module.context, mlir.ir.Location.unknown():
            builder.complex_numbers.update(_complex_constants(module))
            fuse_reductions(builder, target, module)


def _complex_constants(module: mlir.ir.Module) -> Iterator[tuple[Value, np.generic]]:
    """The values that repeat one complex number, and that number: two real constants put together."""
    is_complex = functools.cache(_is_complex)
    for function in functions(module).values():
        for block in function.regions[0].blocks:
            for child in block.operations:
                operation = child.operation
                if operation.name == "linalg.generic" and is_complex(operation.results[0].type):
                    number = _complex_number(operation)
                    if number is not None:
                        yield operation.results[0], number


def _is_complex(type_: Type) -> bool:
    return isinstance(mlir.ir.RankedTensorType(type_).element_type, mlir.ir.ComplexType)


def _complex_number(operation: Operation) -> np.generic | None:
    body = [child.operation for child in operation.regions[0].blocks[0].operations]
    if [step.name for step in body] != ["complex.create", "linalg.yield"] or len(operation.operands) != 3:
        return None
    real, imaginary = (splat_constant(value) for value in list(operation.operands)[:2])
    if real is None or imaginary is None:
        return None
    dtype = COMPLEX128 if isinstance(real.type, mlir.ir.F64Type) else COMPLEX64
    return dtype.type(complex(real.value, imaginary.value))
