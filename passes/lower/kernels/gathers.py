"""Vectors of the elements at computed places, by a processor's own gathers.

Input: an array, and the place of each element along each axis, as vectors. Output: a vector.
Idea: MLIR's `vector.gather` is not lowered in kernels of our own, but ops of LLVM's dialect are left as they
are. The places become one number each, that of the element in row-major order. Lanes beyond the last element
are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ....dialects import mlir
from .builder import Array, Number, broadcast, constant

BYTES: Final = {"f32": 4, "i32": 4, "f64": 8, "i64": 8}
"""The elements that processors gather."""

_VARIABLE: Final = -(2**31)  # an index of `llvm.getelementptr` that is an operand


def can_gather(array: Array) -> bool:
    """Whether the elements of an array lie in row-major order from its start, and are of a size for it."""
    type_ = array.type
    is_plain = type_.layout == mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get_identity(type_.rank))
    return is_plain and type_.rank > 0 and str(array.element) in BYTES


def gather(array: Array, width: int, count: int, places: Sequence[Number]) -> Number:
    """A vector whose first `count` elements are those at `places`, one vector or number along each axis."""
    ir, shape = mlir.ir, [array.size(axis) for axis in range(array.type.rank)]
    known = [n for n in shape if isinstance(n, int)]
    is_short = len(known) == len(shape) and prod(known) < 2**31
    bits = ir.IntegerType.get_signless(32 if is_short else 64)
    numbers = ir.VectorType.get([width], bits)
    linear: Number | None = None
    for place, n in zip(places, shape, strict=True):
        each = place if place.is_vector else broadcast(place, ir.VectorType.get([width], place.type))
        here = Number(mlir.arith.index_cast(numbers, each.value))
        if linear is not None:
            size = n if isinstance(n, int) else Number(mlir.arith.index_cast(bits, n.value))
            here = linear * size + here
        linear = here
    assert linear is not None
    pointer = ir.Type.parse("!llvm.ptr")
    address = mlir.memref.extract_aligned_pointer_as_index(array.memref)
    i64 = ir.IntegerType.get_signless(64)
    start = _op("llvm.inttoptr", pointer, [mlir.arith.index_cast(i64, address)])
    pointers = _op(
        "llvm.getelementptr",
        ir.Type.parse(f"vector<{width}x!llvm.ptr>"),
        [start, linear.value],
        rawConstantIndices=ir.DenseI32ArrayAttr.get([_VARIABLE]),
        elem_type=ir.TypeAttr.get(array.element),
    )
    lanes = ir.VectorType.get([width], ir.IntegerType.get_signless(1))
    mask = ir.DenseElementsAttr.get([ir.BoolAttr.get(lane < count) for lane in range(width)], type=lanes)
    result = ir.VectorType.get([width], array.element)
    return Number(
        _op(
            "llvm.intr.masked.gather",
            result,
            [pointers, mlir.arith.constant(lanes, mask), broadcast(constant(array.element, 0), result).value],
            alignment=ir.IntegerAttr.get(i64, BYTES[str(array.element)]),
        )
    )


def _op(
    name: str, result: mlir.ir.Type, operands: Sequence[mlir.ir.Value], **attributes: mlir.ir.Attribute
) -> mlir.ir.Value:
    return mlir.ir.Operation.create(name, results=[result], operands=operands, attributes=attributes).result
