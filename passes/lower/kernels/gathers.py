"""Vectors of the elements at computed places, by a processor's own gathers or by loads.

Input: an array, and the place of each element along each axis, as vectors. Output: a vector.
Idea: the places become one number each, that of the element in row-major order, as vectors. Elements whose
places differ by a constant are loaded by the same numbers. MLIR's `vector.gather` is not lowered in kernels
of our own, but ops of LLVM's dialect are left as they are. Lanes beyond the last element are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ....dialects import mlir
from .builder import Array, Number, broadcast, constant
from .strided_vectors import gathered

BYTES: Final = {"f32": 4, "i32": 4, "f64": 8, "i64": 8}
"""The elements that processors gather."""

_VARIABLE: Final = -(2**31)  # an index of `llvm.getelementptr` that is an operand


def can_gather(array: Array) -> bool:
    """Whether the elements of an array are of a size for gathers, and lie in row-major order."""
    return is_row_major(array) and str(array.element) in BYTES


def is_row_major(array: Array) -> bool:
    """Whether the elements of an array lie in row-major order from its start."""
    type_ = array.type
    is_plain = type_.layout == mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get_identity(type_.rank))
    return is_plain and type_.rank > 0


def linear_places(array: Array, width: int, places: Sequence[Number]) -> Number:
    """The places of elements in row-major order, as integers, by one vector or number along each axis."""
    ir, shape = mlir.ir, [array.size(axis) for axis in range(array.type.rank)]
    bits = ir.IntegerType.get_signless(32 if has_short_places(array) else 64)
    numbers = ir.VectorType.get([width], bits)
    linear: Number | None = None
    for place, n in zip(places, shape, strict=True):
        each = place if place.is_vector else broadcast(place, ir.VectorType.get([width], place.type))
        here = _resized(each, numbers)
        if linear is not None:
            size = n if isinstance(n, int) else Number(mlir.arith.index_cast(bits, n.value))
            here = linear * size + here
        linear = here
    assert linear is not None
    return linear


def has_short_places(array: Array) -> bool:
    """Whether 32 bits hold the place of every element."""
    known = [n for axis in range(array.type.rank) if isinstance(n := array.size(axis), int)]
    return len(known) == array.type.rank and prod(known) < 2**31


def _resized(vector: Number, type_: mlir.ir.Type) -> Number:
    """A vector of indices or signed integers as one of integers of another size."""
    if isinstance(vector.element, mlir.ir.IndexType):
        return Number(mlir.arith.index_cast(type_, vector.value))
    have, wanted = vector.element.width, mlir.ir.VectorType(type_).element_type.width
    if have == wanted:
        return vector
    return Number((mlir.arith.extsi if have < wanted else mlir.arith.trunci)(type_, vector.value))


def lanes_of(linear: Number, count: int, *, may_be_negative: bool) -> list[Number]:
    """The first `count` numbers of a vector of places, as indices."""
    each = (mlir.vector.extract(linear.value, dynamic_position=[], static_position=[n]) for n in range(count))
    cast = mlir.arith.index_cast if may_be_negative else mlir.arith.index_castui
    return [Number(cast(mlir.ir.IndexType.get(), number)) for number in each]


def load_each(array: Array, width: int, lanes: Sequence[Number], further: int) -> Number:
    """A vector of the elements at places in row-major order, each so many elements further on, and zeros."""
    places = [(lane + further if further else lane,) for lane in lanes]
    return gathered(array if array.type.rank == 1 else _in_row(array), width, places)


def _in_row(array: Array) -> Array:
    """An array of known sizes as one of a single axis.

    Loads of `memref.collapse_shape` would become loads of the array, at places that are divided by its sizes.
    """
    ir = mlir.ir
    count = prod(array.type.shape)
    type_ = ir.MemRefType.get([count], array.element, memory_space=array.type.memory_space)
    known = {"static_offsets": [0], "static_sizes": [count], "static_strides": [1]}
    attributes = {name: ir.DenseI64ArrayAttr.get(numbers) for name, numbers in known.items()}
    segments = ir.DenseI32ArrayAttr.get([1, 0, 0, 0])
    cast = _op("memref.reinterpret_cast", type_, [array.memref], operandSegmentSizes=segments, **attributes)
    return Array(cast)


def gather(array: Array, width: int, count: int, places: Sequence[Number]) -> Number:
    """A vector whose first `count` elements are those at `places`, one vector or number along each axis."""
    ir = mlir.ir
    linear = linear_places(array, width, places)
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
