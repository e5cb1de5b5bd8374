"""The pass `element-kernels`: kernels whose elements are taken from elsewhere, or counted at the call, become
loops of our own.

Input: a program in IREE's phase `flow`. Output: the same program; a kernel that takes elements at places that
it computes, or at equal distances (`element_reader.py`), is an executable of our own. So is one whose loops
show at the call.
Idea: IREE reads such elements one by one. Reversed ones and every second to fourth lie close together: they
are loaded as vectors and shuffled. Places that are read, such as those of a gather, are computed as vectors.
Loops whose length it does not know take IREE's code three times as long on AVX2, and it converts places to
floats one by one there.
"""

from __future__ import annotations

import functools

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from ...base import Pass
from ...ir.aliases import Value
from ..tuning.row_tiles import element_loops, is_in_pieces
from .element_code import WIDENING, Code
from .element_pieces import Pieces
from .element_reader import read_elements
from .reduced_rows import Rows
from .reduction_programs import BITS, EXTRACT, ReductionProgram, Step
from .written_kernels import WrittenKernel, write_kernels


@dataclass(frozen=True)
class ElementKernels(Pass):
    """Write kernels of IREE's phase `flow` that take elements from elsewhere, or count them at the call."""

    name = "element-kernels"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was written."""
        return write_kernels(module, read_elements, _code)


def _code(target: Target, program: ReductionProgram) -> WrittenKernel | None:
    """The code of a program, None where IREE's is as good."""
    loops = element_loops(target, program.known_sizes, _bits(program), program.operations)
    if loops is None:
        return None
    code = Pieces if is_in_pieces(program.known_sizes) else Rows
    return functools.partial(code, program, loops)


def _bits(program: ReductionProgram) -> int:
    """The bits of the widest number that differs along a row and is computed or stored."""
    code = Code(program, (), 1)
    types = [mlir.ir.RankedTensorType(program.arguments[n]).element_type for _, n in program.stores]
    for step in program.steps:
        types += [value.type for value in _varying(code, step)]
    return max(BITS[str(type_)] for type_ in types)


def _varying(code: Code, step: Step) -> list[Value]:
    """The values of a step that differ along a row, without the places that are sums of multiples."""
    needs = code.needs(step)
    left, found = [step.result], []
    while left:
        value = left.pop()
        if value in found or code.last not in needs.get(value, ()):
            continue
        if code.affine(step, value) is not None and value != step.result:
            continue
        owner = value.owner
        if isinstance(owner, mlir.ir.Block):
            found.append(value)
            continue
        operands = list(owner.operation.operands)
        left += operands[1:] if owner.operation.name == EXTRACT else operands
        if not _is_place(value):
            found.append(value)
    return found


def _is_place(value: Value) -> bool:
    """Whether a value is a number of 32 bits as a place, which vectors of places hold as it was."""
    operation = value.owner.operation
    if operation.name not in WIDENING:
        return False
    source = operation.operands[0]
    is_last = isinstance(value.type, mlir.ir.IndexType)
    if not is_last and any(use.owner.operation.name not in WIDENING for use in value.uses):
        return False
    return str(source.type) == "i32" or (not isinstance(source.owner, mlir.ir.Block) and _is_place(source))
