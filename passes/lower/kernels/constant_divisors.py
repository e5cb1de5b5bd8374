"""The pass `divide-by-constants`: kernels divide by constants with two multiplications.

Input: a program in IREE's phase `flow`. Output: the same program, where a kernel that divides floats by a
constant multiplies by its reciprocal, of which it has two parts (`../reciprocals.py`). The quotients are the
same; a processor divides one vector while it multiplies ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target, TargetKind
from ...base import Pass
from ...ir.aliases import Operation, Type, Value
from ...ir.functions import EXECUTABLE
from ..plan import target_of
from ..reciprocals import reciprocal
from .loops.walk import operations_named
from .tensor_sizes import GENERIC, kinds_of

EXECUTABLES: Final = ("flow.executable", EXECUTABLE)
DIGITS: Final = {"f32": 24, "f64": 53}


@dataclass(frozen=True)
class DivideByConstants(Pass):
    """Let the kernels of IREE's phase `flow` divide by constants with two multiplications."""

    name = "divide-by-constants"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a division was replaced."""
        if not _multiplies_and_adds(target_of(module)):
            return False
        with module.context, mlir.ir.Location.unknown():
            mlir.load_dialects(module.context)
            return any([_replace(division) for division in list(_divisions(module))])


def _multiplies_and_adds(target: Target) -> bool:
    """Whether a processor rounds `x * y + z` once; otherwise a function would be called for it."""
    has_instruction = target.architecture in ("aarch64", "riscv64") or "fma" in target.required_features
    return target.kind is TargetKind.CPU and has_instruction


def _divisions(module: mlir.ir.Module) -> Iterator[Operation]:
    for executable in module.body.operations:
        if executable.operation.name in EXECUTABLES:
            divisions = operations_named(executable, "arith.divf")
            yield from (d for d in divisions if _number(d.operands[1]) is not None and _is_of_each_element(d))


def _is_of_each_element(division: Operation) -> bool:
    """Whether a division is done for each element of a generic: one for each row is done once there, and two
    multiplications would not be (centred rows, transposed: 37 -> 62 us)."""
    generic = division.parent
    if generic.name != GENERIC:
        return True
    block, loops = generic.regions[0].blocks[0], len(kinds_of(generic))
    arguments = dict(zip(block.arguments, generic.attributes["indexing_maps"], strict=True))
    left, seen = [division.operands[0]], set[Value]()
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in arguments:
            used = mlir.ir.AffineMapAttr(arguments[value]).value.results
            if len({str(place) for place in used}) == loops:
                return True
        elif not isinstance(value.owner, mlir.ir.Block):
            left += value.owner.operation.operands
    return False


def _replace(division: Operation) -> bool:
    """Replace a division by multiplications, if its divisor is a constant that has two parts."""
    dividend, divisor = division.operands
    number = _number(divisor)
    parts = reciprocal(number, DIGITS[str(_element(divisor.type))]) if number is not None else None
    if parts is None:
        return False
    with mlir.ir.InsertionPoint.after(divisor.owner.operation), divisor.owner.operation.location:
        high, low = (_constant(divisor.type, part) for part in parts)
    with mlir.ir.InsertionPoint(division), division.location:
        quotient = mlir.math.fma(dividend, high, mlir.arith.mulf(dividend, low))
    division.results[0].replace_all_uses_with(quotient)
    division.erase()
    return True


def _number(value: Value) -> float | None:
    """The float that a value is, or each element of a vector; None where it is not known."""
    is_constant = (
        not isinstance(value.owner, mlir.ir.Block) and value.owner.operation.name == "arith.constant"
    )
    if not is_constant or str(_element(value.type)) not in DIGITS:
        return None
    attribute = value.owner.operation.attributes["value"]
    if isinstance(value.type, mlir.ir.VectorType):
        elements = mlir.ir.DenseElementsAttr(attribute)
        if not elements.is_splat:
            return None
        attribute = elements.get_splat_value()
    return float(mlir.ir.FloatAttr(attribute).value)


def _constant(type_: Type, number: float) -> Value:
    attribute = mlir.ir.FloatAttr.get(_element(type_), number)
    if isinstance(type_, mlir.ir.VectorType):
        attribute = mlir.ir.DenseElementsAttr.get_splat(type_, attribute)
    return mlir.arith.constant(type_, attribute)


def _element(type_: Type) -> Type:
    """The type of a number or of the elements of a vector."""
    return type_.element_type if isinstance(type_, mlir.ir.VectorType) else type_
