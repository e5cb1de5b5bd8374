"""What computes the operand of a reduction, as far as its form depends on that.

Input: a value of linalg on tensors. Output: whether it is stored, computed, cheap, widened, or of complex
numbers.
"""

from __future__ import annotations

from typing import Final

from ....dialects import mlir
from ..builder import Value
from ..kernels.executable import DISPATCH
from ..kernels.reduction_programs import BITS
from ..kernels.reduction_reader import OF_VECTORS
from ..kernels.tensor_sizes import GENERIC, kinds_of

CHEAP: Final = 24  # operations of an element that one workgroup does for a whole vector
KNOWN: Final = OF_VECTORS | {"arith.constant"}
MADE: Final = ("arith.constant", "linalg.fill", "tensor.empty", "tensor.from_elements")
STORED: Final = (DISPATCH, "iree_tensor_ext.compute_barrier.start", "tensor.insert_slice")
"""Ops whose results are arrays in memory: of kernels of our own, behind a barrier, put together by copies."""
RESHAPES: Final = ("tensor.collapse_shape", "tensor.expand_shape")


def is_of_complex(x: Value) -> bool:
    """Whether `x` is complex, or will be computed of complex numbers in the kernel that takes it."""
    waiting, seen = [x], set[object]()
    while waiting:
        value = waiting.pop()
        if "complex" in str(value.type):
            return True
        if isinstance(value.owner, mlir.ir.Block):
            continue
        owner = value.owner.operation
        if owner not in seen:
            seen.add(owner)
            if owner.name in RESHAPES or (owner.name == GENERIC and "reduction" not in kinds_of(owner)):
                waiting += owner.operands
    return False


def is_cheap(x: Value, *, takes_reduced: bool) -> bool:
    """Whether few operations compute an element of `x` from arrays, of which kernels of rows know all.

    `takes_reduced`: a kernel may reduce what it needs by itself first.
    """
    pending, seen, operations = [x], list[Value](), 0
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.append(value)
        if not isinstance(value.type, mlir.ir.RankedTensorType) or str(value.type.element_type) not in BITS:
            return False
        if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name in (*STORED, *MADE):
            continue
        owner = value.owner.operation
        if owner.name == GENERIC and takes_reduced and "reduction" in kinds_of(owner):
            continue
        if owner.name == GENERIC:
            body = [each.operation.name for each in owner.regions[0].blocks[0].operations][:-1]
            operations += len(body)
            if operations > CHEAP or "reduction" in kinds_of(owner) or not KNOWN.issuperset(body):
                return False
        elif owner.name not in RESHAPES:
            return False
        pending += owner.operands
    return True


def is_computed(x: Value) -> bool:
    return not isinstance(x.owner, mlir.ir.Block) and x.owner.operation.name in (GENERIC, *RESHAPES)


def is_widened(x: Value) -> bool:
    """Whether a generic computes integers from narrower ones."""
    while not isinstance(x.owner, mlir.ir.Block) and x.owner.operation.name in RESHAPES:
        x = x.owner.operation.operands[0]
    if isinstance(x.owner, mlir.ir.Block) or x.owner.operation.name != "linalg.generic":
        return False
    widths = [_integer_width(v) for v in (x, *list(x.owner.operation.operands)[:-1])]
    return widths[0] > 0 and any(0 < width < widths[0] for width in widths[1:])


def _integer_width(x: Value) -> int:
    """The bits of integer elements, 0 for others."""
    element = x.type.element_type if isinstance(x.type, mlir.ir.RankedTensorType) else None
    return int(element.width) if isinstance(element, mlir.ir.IntegerType) else 0


def is_stored(x: Value) -> bool:
    """Whether `x`, or what it is a reshape of, is an argument or the result of a kernel of our own."""
    owner = x.owner
    while not isinstance(owner, mlir.ir.Block):
        if owner.operation.name not in RESHAPES:
            return bool(owner.operation.name == DISPATCH)
        owner = owner.operation.operands[0].owner
    return True
