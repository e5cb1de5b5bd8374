"""Arrays whose axes change places, in square blocks: what is transposed is transposed in registers.

Input: the bufferized code of a kernel. Output: the same, where generics that take the rows of one array as
the columns of another are loops over blocks of as many vectors as they have elements. Idea: every operand is
loaded and stored along its own last axis; those along the other one are exchanged within a block, the result
or the operands, whichever are fewer. LLVM would take or store such elements one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....runtime.targets import Target
from ..builder import Array, Number, Place, broadcast, loop
from ..linalg.vectors import transposed
from .vector_reductions import Reduced, elementwise_of, is_dense
from .walk import operations_named

NARROWEST: Final = 4  # elements of a row of a block, from which on blocks gain
MOST: Final = 8  # whose rows stay in registers; longer ones cross lines of the cache where rows of arrays do


def turn_in_blocks(module: mlir.ir.Module, target: Target) -> None:
    """Rewrite the generics with operands that lie along two axes."""
    for generic in operations_named(module, "linalg.generic"):
        found = elementwise_of(generic)
        blocks = None if found is None else _blocks_of(found, target)
        if blocks is not None:
            with mlir.ir.InsertionPoint(generic), generic.location:
                blocks.emit()
            generic.erase()


@dataclass(frozen=True)
class _Blocks:
    """A generic in square blocks along two loops, up to `width` wide, in vectors along the first one."""

    found: Reduced
    along: int
    across: int
    width: int

    @property
    def turned(self) -> list[int]:
        """The operands whose vectors run along the other loop."""
        axes = self.found.axes
        return [k for k, each in enumerate(axes) if each[-1:] == (self.across,) and self.along in each]

    def emit(self) -> None:
        """The loops over blocks, at the ambient insertion point."""
        self._nest({}, [k for k in range(len(self.found.sizes)) if k not in (self.along, self.across)])

    def _nest(self, at: Mapping[int, Place], outer: Sequence[int]) -> None:
        if outer:
            with loop(0, self.found.size(outer[0])) as i:
                self._nest({**at, outer[0]: i}, outer[1:])
            return
        for first, stop, high in self._parts(self.across):
            for start, end, wide in self._parts(self.along):
                width = min(high, wide)
                with loop(first, stop, width) as row, loop(start, end, width) as column:
                    self._block({**at, self.across: row, self.along: column}, width)

    def _parts(self, axis: int) -> list[tuple[int, int, int]]:
        """A loop in parts, of ever smaller blocks: where each part begins and ends, and their width."""
        parts, first, count = [], 0, self.found.sizes[axis] or 0
        for width in sorted({self.width, NARROWEST, 1}, reverse=True):
            stop = count - count % width
            if stop > first:
                parts.append((first, stop, width))
            first = stop
        return parts

    def _block(self, at: Mapping[int, Place], width: int) -> None:
        found, turned = self.found, self.turned
        yielded = list(found.operation.regions[0].blocks[0].operations)[-1].operands
        exchanged = {k: transposed(self._rows(k, at, width)) for k in turned if k < found.inputs}
        results = []
        for lane, here in enumerate(_each(self.across, at, width)):
            numbers = [
                exchanged[k][lane] if k in exchanged else found.taken(k, here, self.along, width)
                for k in range(found.inputs)
            ]
            (number,) = found.computed(numbers, here, self.along, width, yielded)
            vector = mlir.ir.VectorType.get([width], number.element)
            results.append(number if number.is_vector else broadcast(number, vector))
        side = self.along if found.inputs in turned else self.across
        rows = transposed(results) if found.inputs in turned else results
        target = Array(found.operation.operands[found.inputs])
        for here, row in zip(_each(side, at, width), rows, strict=True):
            target[tuple(here[a] for a in found.results)] = row

    def _rows(self, which: int, at: Mapping[int, Place], width: int) -> list[Number]:
        """The vectors of an operand that run across, for as many places along."""
        return [self.found.taken(which, here, self.across, width) for here in _each(self.along, at, width)]


def _each(axis: int, at: Mapping[int, Place], width: int) -> list[Mapping[int, Place]]:
    """The places of a block along one of its loops."""
    return [{**at, axis: at[axis] + lane if lane else at[axis]} for lane in range(width)]


def _blocks_of(found: Reduced, target: Target) -> _Blocks | None:
    """How to do a generic in blocks; None where its operands lie along one loop, or along more than two."""
    ours, inputs = found.results[-1:], found.axes[: found.inputs]
    others = {each[-1] for each in inputs if len(each) > 1 and each[-1] != ours[0] and ours[0] in each}
    if len(others) != 1:
        return None
    theirs = others.pop()
    width = _width(found, ours[0], theirs, target)
    if width < NARROWEST:
        return None
    ways = (_Blocks(found, ours[0], theirs, width), _Blocks(found, theirs, ours[0], width))
    possible = [way for way in ways if _is_possible(way)]
    return min(possible, key=lambda way: len(way.turned), default=None)


def _width(found: Reduced, ours: int, theirs: int, target: Target) -> int:
    """The elements of a vector, no more than both loops have; 0 where a size is unknown."""
    rows, columns = found.sizes[theirs], found.sizes[ours]
    if rows is None or columns is None:
        return 0
    widest = max(found.widest(ours), found.widest(theirs))
    most = min(rows, columns, MOST, target.vector_bits // (8 * widest))
    return 1 << (most.bit_length() - 1)


def _is_possible(way: _Blocks) -> bool:
    """Whether each operand is a vector along one loop, side by side in memory, or a number, and all of one
    size, so that a block of one is a block of the other."""
    found, turned = way.found, way.turned
    for which, each in enumerate(found.axes):
        value = found.operation.operands[which]
        last = way.across if which in turned else way.along
        if last in each and not (each[-1] == last and is_dense(value)):
            return False
    return len({found.bytes_of(which) for which in range(len(found.axes))}) == 1
