"""Generics of a kernel's bufferized code that vectors can do, reductions above all, and their vectors' code.

Input: a `linalg.generic` on buffers. Output: `Reduced`, which says along which loop each operand's axes go;
and what its body yields where loops stand at a place. Idea: every operand takes each of its axes along one
loop, so that it is a vector along one of them and a number along the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Operation, Type, Value
from ..builder import Array, Number, Place, index
from ..element_code import applied
from ..reduction_programs import COMBINING

_WIDE: Final = (4, 8)
_ANY: Final = (1, 2, 4, 8)
FIRST: Final = -1  # an axis of an operand of which all elements of the generic take the first
INDEX: Final = "linalg.index"


@dataclass(frozen=True, eq=False)
class Reduced:
    """A generic, the sizes of its loops, and the loop of each operand's axes, `FIRST` for one that stands.

    A size that shows at the call is None here.
    """

    operation: Operation
    sizes: tuple[int | None, ...]
    axes: tuple[tuple[int, ...], ...]
    steps: tuple[int, ...]

    @property
    def results(self) -> tuple[int, ...]:
        """The loops along the axes of the results."""
        return self.axes[-1]

    @property
    def inputs(self) -> int:
        """How many operands are only read."""
        return int(self.operation.attributes["operandSegmentSizes"][0])

    def size(self, loop: int) -> Place:
        """How many iterations a loop has; for one of unknown size code that finds out."""
        known = self.sizes[loop]
        if known is not None:
            return known
        which = next(k for k, each in enumerate(self.axes) if loop in each)
        return Array(self.operation.operands[which]).size(self.axes[which].index(loop))

    def is_long(self, loop: int, least: int) -> bool:
        """Whether a loop has so many iterations; one of unknown size is taken to have them."""
        size = self.sizes[loop]
        return size is None or size >= least

    def widest(self, along: int) -> int:
        """The bytes of the largest number of which vectors along a loop have several."""
        block = self.operation.regions[0].blocks[0]
        pairs = zip(block.arguments, self.axes, strict=True)
        several = {argument for argument, axes in pairs if along in axes}
        for child in list(block.operations)[:-1]:
            operation = child.operation
            is_place = operation.name == INDEX and int(operation.attributes["dim"]) == along
            if is_place or any(operand in several for operand in operation.operands):
                several.update(operation.results)
        return max(_bytes(value.type) for value in several)

    def bytes_of(self, which: int) -> int:
        """The bytes of an element of an operand."""
        return _bytes(_element(self.operation.operands[which]))

    def runs_along(self, loop: int) -> bool:
        """Whether each operand that has axes along a loop has them side by side in memory."""
        pairs = zip(self.operation.operands, self.axes, strict=True)
        return all(loop not in each[:-1] and (loop not in each or is_dense(v)) for v, each in pairs)

    def taken(self, which: int, at: Mapping[int, Place], along: int, width: int) -> Number:
        """An operand where the loops are `at` their places: `width` elements along a loop, or a number for
        all of them."""
        array = Array(self.operation.operands[which])
        indices = tuple(0 if a == FIRST else at[a] for a in self.axes[which])
        return array.vector(width, *indices) if along in self.axes[which] else array[indices]

    def computed(
        self,
        numbers: Sequence[Number],
        at: Mapping[int, Place],
        along: int,
        width: int,
        wanted: Sequence[Value],
    ) -> list[Number]:
        """Values of the body, for `numbers` in the place of its first arguments and as many places along a
        loop as a vector has elements."""
        block = self.operation.regions[0].blocks[0]
        values = dict(zip(block.arguments, numbers, strict=False))

        def number(value: Value) -> Number:
            return values[value] if value in values else Number(value)  # the same in all steps

        for child in list(block.operations)[:-1]:
            operation = child.operation
            if any(v in block.arguments and v not in values for v in operation.operands):
                continue  # the combination, of which only an operand is wanted
            if operation.name == INDEX:
                axis = int(operation.attributes["dim"])
                here = index(at[axis])
                values[operation.results[0]] = _from(here, width) if axis == along else here
            else:
                values[operation.results[0]] = applied(operation, [number(v) for v in operation.operands])
        return [number(v) for v in wanted]


def reduction_of(generic: Operation) -> Reduced | None:
    """The generic, if it reduces arrays and vectors can compute what it computes."""
    found = _with_axes(generic, _ANY)
    if found is None or not found.steps:
        return None
    outputs = int(generic.attributes["operandSegmentSizes"][1])
    if outputs == 1 and _has_index(generic):
        return None  # a mask, perhaps: `masked_steps.py` leaves out the steps that do not matter
    return None if all(found.sizes[k] == 1 for k in found.steps) else found


def elementwise_of(generic: Operation) -> Reduced | None:
    """The generic, if it computes one array of wide numbers element by element, and vectors can."""
    found = _with_axes(generic, _WIDE)
    if found is None or found.steps or _has_index(generic):
        return None
    return found if int(generic.attributes["operandSegmentSizes"][1]) == 1 else None


def _with_axes(generic: Operation, bytes_: Sequence[int]) -> Reduced | None:
    """The generic and the loops of its axes, if its arrays have elements of so many bytes each, and no other
    element is needed, and vectors can compute it."""
    kinds = ["reduction" in str(kind) for kind in generic.attributes["iterator_types"]]
    if not all(_is_array(operand, bytes_) for operand in generic.operands):
        return None
    maps = mlir.ir.ArrayAttr(generic.attributes["indexing_maps"])
    axes = [loops for loops in (_loops_of(mlir.ir.AffineMapAttr(a).value) for a in maps) if loops is not None]
    steps = tuple(k for k, is_step in enumerate(kinds) if is_step)
    outputs = int(generic.attributes["operandSegmentSizes"][1])
    if len(axes) < len(maps) or FIRST in axes[-1] or len(kinds) != len(steps) + len(axes[-1]):
        return None
    if any(each != axes[-1] for each in axes[-outputs:]):
        return None
    if not all(
        _is_elementwise(child.operation) for child in list(generic.regions[0].blocks[0].operations)[:-1]
    ):
        return None
    found: dict[int, int] = {}
    for value, each in zip(generic.operands, axes, strict=True):
        for loop, size in zip(each, mlir.ir.MemRefType(value.type).shape, strict=True):
            found[loop] = max(size, found.get(loop, size))  # known, where one operand knows it
    found.pop(FIRST, None)
    if 0 in found.values():
        return None
    sizes = (found[k] for k in range(len(kinds)))
    return Reduced(generic, tuple(n if n >= 0 else None for n in sizes), tuple(axes), steps)


def _has_index(generic: Operation) -> bool:
    return any(child.operation.name == INDEX for child in generic.regions[0].blocks[0].operations)


def _loops_of(map_: mlir.ir.AffineMap) -> tuple[int, ...] | None:
    """The loop along each axis of an operand, `FIRST` where it is 0; None where an axis has several."""
    found = []
    for each in map_.results:
        is_first = isinstance(each, mlir.ir.AffineConstantExpr) and each.value == 0
        if not is_first and not isinstance(each, mlir.ir.AffineDimExpr):
            return None
        found.append(FIRST if is_first else each.position)
    loops = [each for each in found if each != FIRST]
    return tuple(found) if len(set(loops)) == len(loops) else None


def _is_array(value: Value, bytes_: Sequence[int]) -> bool:
    """Whether an operand is an array of elements of so many bytes."""
    is_memref = isinstance(value.type, mlir.ir.MemRefType)
    return is_memref and _bytes(mlir.ir.MemRefType(value.type).element_type) in bytes_


def may_be_reordered(operation: Operation) -> bool:
    """Whether an op combines numbers, and may do so in any order."""
    if operation.name in ("arith.addf", "arith.mulf"):
        return "reassoc" in str(operation.attributes["fastmath"])
    return operation.name in COMBINING


def is_dense(value: Value) -> bool:
    """Whether the elements of the last axis lie side by side."""
    strides, _ = mlir.ir.MemRefType(value.type).get_strides_and_offset()
    return bool(strides[-1] == 1)


def _element(value: Value) -> Type:
    return mlir.ir.MemRefType(value.type).element_type


def _bytes(element: Type) -> int:
    """The bytes of an element in memory, where a bool has one; 0 where vectors have no arithmetic for it."""
    if isinstance(element, mlir.ir.IntegerType):
        return max(int(element.width) // 8, 1)
    return {"f16": 2, "f32": 4, "f64": 8}.get(str(element), 0)


def _is_elementwise(operation: Operation) -> bool:
    """Whether a vector does it element by element: arithmetic, and the place of an element."""
    return operation.name.startswith(("arith.", "math.")) or operation.name == INDEX


def _from(place: Number, width: int) -> Number:
    """A place and those behind it."""
    type_ = mlir.ir.VectorType.get([width], place.type)
    count = mlir.ir.DenseElementsAttr.get(np.arange(width, dtype=np.int64), type=type_)
    return Number(mlir.arith.constant(type_, count)) + place


def whole_and_rest(count: Place, size: int) -> list[tuple[Place, Place, int]]:
    """Results in tiles of one size, and those that are left one by one, as `parts_of` has them."""
    whole = count - count % size
    return [(0, whole, size), (whole, count, 1)]


def parts_of(count: Place, most: int) -> list[tuple[Place, Place, int]]:
    """Results in tiles of up to `most`: where those of one size begin and end, and the size.

    Of a known count the tiles are as equal as may be; else they are as large as may be, then of one.
    """
    if not isinstance(count, int):
        return whole_and_rest(count, most)
    tiles = -(-count // most)
    high = -(-count // tiles)
    low = tiles * high - count  # how many tiles have a result less
    middle = (tiles - low) * high
    parts: list[tuple[Place, Place, int]] = [(0, middle, high), (middle, count, high - 1)]
    return parts if low else parts[:1]
