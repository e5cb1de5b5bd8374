"""Reductions whose results lie side by side, in tiles: vectors of results stay in registers for all steps.

Input: the bufferized code of a kernel. Output: the same, where generics that sum (or take extrema of) what
does not lie along the last axis of their result are loops over tiles: a few rows of the result by a few
vectors along that axis. Idea: an operand that runs along the result is loaded once for all rows of a tile,
and a result loaded and stored once for all steps. Each result combines its elements in the order of the
generic. LLVM would make sums along the steps, whose elements are apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from .....dialects import mlir
from .....runtime.targets import Target
from ....ir.aliases import Operation, Type, Value
from ..builder import Array, Number, Place, broadcast, carried, loop
from ..element_code import applied
from .walk import operations_named

NARROWEST: Final = 4  # results side by side from which on vectors of them gain
TILE: Final = 8  # registers: two multiplications a cycle, each of which takes four
ROWS: Final = 4  # of a tile with several vectors along the result

_ELEMENTWISE: Final = frozenset(
    {
        *("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.cmpf"),
        *("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.select"),
        *("arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.cmpi"),
        *("arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"),
        *("arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci"),
        *("arith.sitofp", "arith.uitofp"),
    }
)
"""What a vector does element by element."""


@dataclass(frozen=True, eq=False)
class _Sum:
    """A generic, the sizes of its loops, and the loops of each operand's axes."""

    operation: Operation
    sizes: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]
    steps: tuple[int, ...]

    @property
    def columns(self) -> int:
        """The loop along the last axis of the result."""
        return self.axes[-1][-1]

    @property
    def others(self) -> list[int]:
        """The loops over rows of the result."""
        return list(self.axes[-1][:-1])

    @property
    def inputs(self) -> int:
        """How many operands are only read."""
        return int(self.operation.attributes["operandSegmentSizes"][0])

    @property
    def widest(self) -> int:
        """The bytes of the largest element."""
        return max(_bytes(_element(v)) for v in self.operation.operands)


def keep_in_registers(module: mlir.ir.Module, target: Target) -> None:
    """Rewrite the reductions whose results are vectors."""
    for generic in operations_named(module, "linalg.generic"):
        found = _sum_of(generic)
        if found is not None:
            with mlir.ir.InsertionPoint(generic), generic.location:
                _emit(found, max(target.vector_bits // (8 * found.widest), 1))
            generic.erase()


def _sum_of(generic: Operation) -> _Sum | None:
    """The reduction that vectors of results can do; None where that is not so, or does not gain."""
    kinds = ["reduction" in str(kind) for kind in generic.attributes["iterator_types"]]
    if not kinds or not kinds[-1] or not all(map(_is_plain, generic.operands)):
        return None
    maps = mlir.ir.ArrayAttr(generic.attributes["indexing_maps"])
    axes = [loops for loops in (_loops_of(mlir.ir.AffineMapAttr(a).value) for a in maps) if loops is not None]
    steps = tuple(k for k, is_step in enumerate(kinds) if is_step)
    outputs = int(generic.attributes["operandSegmentSizes"][1])
    if len(axes) < len(maps) or not axes[-1] or len(kinds) != len(steps) + len(axes[-1]):
        return None
    columns = axes[-1][-1]
    if any(each != axes[-1] for each in axes[-outputs:]) or any(columns in each[:-1] for each in axes):
        return None  # elements of an operand that are apart
    operands = list(zip(generic.operands, axes, strict=True))
    if any(columns in each and not _is_dense(value) for value, each in operands):
        return None
    if not all(
        _is_elementwise(child.operation) for child in list(generic.regions[0].blocks[0].operations)[:-1]
    ):
        return None
    found: dict[int, int] = {}
    for value, each in operands:
        found.update(zip(each, mlir.ir.MemRefType(value.type).shape, strict=True))
    if found[columns] < NARROWEST or prod(found[k] for k in steps) < 2 or 0 in found.values():
        return None
    sizes = tuple(found[k] for k in range(len(kinds)))
    return _Sum(generic, sizes, tuple(axes), steps)


def _loops_of(map_: mlir.ir.AffineMap) -> tuple[int, ...] | None:
    """The loop along each axis of an operand; None where an axis has more than one, or a number."""
    if not all(isinstance(e, mlir.ir.AffineDimExpr) for e in map_.results):
        return None
    found = tuple(e.position for e in map_.results)
    return found if len(set(found)) == len(found) else None


def _is_plain(value: Value) -> bool:
    """Whether an operand is an array of static sizes, of elements of 32 or 64 bits."""
    if not isinstance(value.type, mlir.ir.MemRefType):
        return False
    type_ = mlir.ir.MemRefType(value.type)
    return type_.has_static_shape and _bytes(type_.element_type) in (4, 8)


def _is_dense(value: Value) -> bool:
    """Whether the elements of the last axis lie side by side."""
    strides, _ = mlir.ir.MemRefType(value.type).get_strides_and_offset()
    return bool(strides[-1] == 1)


def _element(value: Value) -> Type:
    return mlir.ir.MemRefType(value.type).element_type


def _bytes(element: Type) -> int:
    if isinstance(element, mlir.ir.IntegerType):
        return int(element.width) // 8
    return {"f32": 4, "f64": 8}.get(str(element), 0)


def _is_elementwise(operation: Operation) -> bool:
    return operation.name in _ELEMENTWISE and len(operation.results) == 1


# -- the tiles ---------------------------------------------------------------------------------------


def _emit(found: _Sum, width: int) -> None:
    """The loops over tiles, at the ambient insertion point."""
    others, columns = found.others, found.sizes[found.columns]
    rows = found.sizes[others[-1]] if others else 1
    vectors = -(-columns // width)
    tiles = -(-rows // (TILE if vectors == 1 else ROWS))
    high = -(-rows // tiles)
    low = tiles * high - rows  # how many tiles have a row less
    wide = width << (min(TILE // high, vectors).bit_length() - 1)
    of_rows = [(0, tiles - low, high), ((tiles - low) * high, low, high - 1)]

    def nest(at: Mapping[int, Place], outer: Sequence[int]) -> None:
        if outer:
            with loop(0, found.sizes[outer[0]]) as i:
                nest({**at, outer[0]: i}, outer[1:])
            return
        for first, count, size in of_rows:
            if count:
                with loop(first, first + count * size, size) as i:
                    down = [{**at, others[-1]: i + row} for row in range(size)] if others else [dict(at)]
                    _row_of_tiles(found, down, wide, width)

    nest({}, others[:-1])


def _row_of_tiles(found: _Sum, down: Sequence[Mapping[int, Place]], wide: int, width: int) -> None:
    """The tiles of some rows, each `wide`; what is left of the columns in vectors that are ever narrower."""
    columns = found.sizes[found.columns]
    whole = columns - columns % wide
    if whole:
        with loop(0, whole, wide) as j:
            _tile(found, down, [(j + part, width) for part in range(0, wide, width)])
    left: list[tuple[Place, int]] = []
    while whole < columns:
        part = min(width, 1 << ((columns - whole).bit_length() - 1))
        left.append((whole, part))
        whole += part
    together = max(TILE // len(down), 1)
    for first in range(0, len(left), together):
        _tile(found, down, left[first : first + together])


def _tile(found: _Sum, down: Sequence[Mapping[int, Place]], across: Sequence[tuple[Place, int]]) -> None:
    """A tile of some rows by vectors: its results, combined with the elements of all steps.

    `across` are the places and widths of the vectors.
    """
    arrays = [Array(value) for value in found.operation.operands]
    results = list(zip(arrays, found.axes, strict=True))[found.inputs :]
    places = [({**row, found.columns: column}, width) for row in down for column, width in across]

    def taken(which: int, place: Mapping[int, Place], width: int, known: dict[object, Number]) -> Number:
        """A vector of an operand, which all results share for which it is the same."""
        axes = found.axes[which]
        key = (which, width, *(id(place[a]) for a in axes))
        if key not in known:
            indices = tuple(place[a] for a in axes)
            if found.columns in axes:
                known[key] = arrays[which].vector(width, *indices)
            else:
                scalar = arrays[which][indices]
                known[key] = broadcast(scalar, mlir.ir.VectorType.get([width], scalar.type))
        return known[key]

    def combined(at: Mapping[int, Place], values: Sequence[Number]) -> list[Number]:
        known: dict[object, Number] = {}
        following: list[Number] = []
        for k, (place, width) in enumerate(places):
            here = {**place, **at}
            inputs = [taken(which, here, width, known) for which in range(found.inputs)]
            before = values[k * len(results) : (k + 1) * len(results)]
            following += _yielded(found.operation, [*inputs, *before])
        return following

    def nest(at: Mapping[int, Place], steps: Sequence[int], values: Sequence[Number]) -> Sequence[Number]:
        if not steps:
            return combined(at, values)
        return carried(
            0,
            found.sizes[steps[0]],
            values,
            lambda i, *inner: nest({**at, steps[0]: i}, steps[1:], inner),
        )

    initial = [
        array.vector(width, *(place[a] for a in axes)) for place, width in places for array, axes in results
    ]
    totals = iter(nest({}, found.steps, initial))
    for place, _ in places:
        for array, axes in results:
            array[tuple(place[a] for a in axes)] = next(totals)


def _yielded(generic: Operation, numbers: Sequence[Number]) -> list[Number]:
    """What the body of a generic yields for vectors."""
    block = generic.regions[0].blocks[0]
    values = dict(zip(block.arguments, numbers, strict=True))

    def number(value: Value) -> Number:
        return values[value] if value in values else Number(value)  # the same in all steps

    *inside, end = [child.operation for child in block.operations]
    for operation in inside:
        values[operation.results[0]] = applied(operation, [number(v) for v in operation.operands])
    results = list(end.operands)
    return [before.lift(number(v)) for before, v in zip(numbers[-len(results) :], results, strict=True)]
