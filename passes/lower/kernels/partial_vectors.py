"""Vectors of which only the first elements count: the ends of rows.

Input: an array, a place, and how many elements are there. Output: a vector, or the elements stored; nothing
beyond them is read or written.
Idea: a count that is known is a few powers of two, each a vector of its own, which every processor has. A
count that shows at run time is a mask.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....dialects import mlir
from ...ir.aliases import Type
from .builder import Array, Number, Place, broadcast, constant, index


def load_some(array: Array, width: int, count: Place, *places: Place) -> Number:
    """A vector whose first `count` elements are those of the last axis from the place on, the others zero."""
    if isinstance(count, Number):
        type_ = mlir.ir.VectorType.get([width], array.element)
        where = [index(place).value for place in places]
        mask, others = first_of(count, width).value, zeros(width, array.element).value
        return Number(mlir.vector.maskedload(type_, array.memref, where, mask, others))
    if count == width:
        return array.vector(width, *places)
    value = zeros(width, array.element).value
    for place, size in _pieces(count):
        piece = array.vector(size, *places[:-1], index(places[-1]) + place)
        value = mlir.vector.insert_strided_slice(piece.value, value, [place], [1])
    return Number(value)


def store_some(array: Array, vector: Number, count: Place, *places: Place) -> None:
    """Store the first `count` elements of a vector."""
    (width,) = mlir.ir.VectorType(vector.type).shape
    if isinstance(count, Number):
        where = [index(place).value for place in places]
        mlir.vector.maskedstore(array.memref, where, first_of(count, width).value, vector.value)
        return
    if count == width:
        array[places] = vector
        return
    for place, size in _pieces(count):
        type_ = mlir.ir.VectorType.get([size], vector.element)
        piece = mlir.vector.extract_strided_slice(type_, vector.value, [place], [size], [1])
        array[(*places[:-1], index(places[-1]) + place)] = Number(piece)


def first_of(count: Place, width: int) -> Number:
    """A vector of bits, the first `count` of which are set."""
    type_ = mlir.ir.VectorType.get([width], mlir.ir.IntegerType.get_signless(1))
    if isinstance(count, Number):
        return Number(mlir.vector.create_mask(type_, [count.value]))
    bits = ", ".join("true" if place < count else "false" for place in range(width))
    return Number(mlir.arith.constant(type_, mlir.ir.Attribute.parse(f"dense<[{bits}]> : {type_}")))


def zeros(width: int, element: Type) -> Number:
    """A vector of zeros."""
    return broadcast(constant(element, 0.0), mlir.ir.VectorType.get([width], element))


def _pieces(count: int) -> Iterator[tuple[int, int]]:
    """The powers of two that `count` consists of, each with its place."""
    place = 0
    while place < count:
        size = 1 << ((count - place).bit_length() - 1)
        yield place, size
        place += size
