"""Reductions along memory, in tiles: vectors of elements are combined, for a few results at a time.

Input: the bufferized code of a kernel. Output: the same, where generics that reduce the last axis of their
operands (products of matrices with vectors, sums and extrema of rows) are loops over a few results and
vectors of steps. Idea: each result has accumulators of its own, so that one addition does not wait for
another, and an operand that all results share is loaded once for them. Rows of one short vector each are
transposed: as many of them become one vector of results. Only combinations that may be done in any order: of
integers, extrema, and sums and products of floats that say `reassoc`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from .....dialects import mlir
from .....runtime.targets import Target
from ....ir.aliases import Operation, Value
from ..builder import Array, Number, Place, broadcast, carried, constant, loop
from ..element_code import applied
from ..reduction_programs import COMBINING
from .vector_reductions import Reduced, is_dense, may_be_reordered, parts_of, reduction_of, whole_and_rest
from .walk import operations_named

NARROWEST: Final = 4  # steps side by side from which on vectors of them gain
RESULTS: Final = 4  # at a time
MOST_TRANSPOSED: Final = 8  # elements of rows that are combined together, as many rows
ACCUMULATORS: Final = 8  # of all results of a tile: two additions a cycle, each of which takes four


def sum_in_vectors(module: mlir.ir.Module, target: Target) -> None:
    """Rewrite the reductions whose last loop runs along memory."""
    for generic in operations_named(module, "linalg.generic"):
        found = reduction_of(generic)
        if found is None or not _gains(found):
            continue
        widest = max(target.vector_bits // (8 * found.widest(found.steps[-1])), 1)
        steps = found.sizes[found.steps[-1]]
        width = widest if steps is None else min(widest, 1 << (steps.bit_length() - 1))
        with mlir.ir.InsertionPoint(generic), generic.location:
            _emit(found, width)
        generic.erase()


def _gains(found: Reduced) -> bool:
    along = found.steps[-1]
    runs = any(along in each for each in found.axes) and found.runs_along(along)
    return runs and found.is_long(along, NARROWEST) and _combination(found) is not None


def _combination(found: Reduced) -> tuple[Operation, Value] | None:
    """The op that combines the result with an element, and the element; None where the order matters."""
    block = found.operation.regions[0].blocks[0]
    end = list(block.operations)[-1]
    total = block.arguments[len(block.arguments) - 1]
    if len(found.axes) != found.inputs + 1 or isinstance(end.operands[0].owner, mlir.ir.Block):
        return None
    operation = end.operands[0].owner.operation
    others = [v for v in operation.operands if v != total]
    if not may_be_reordered(operation) or len(others) != 1 or sum(1 for _ in total.uses) != 1:
        return None
    return operation, others[0]


def _emit(found: Reduced, width: int) -> None:
    """The loops over tiles of results, at the ambient insertion point."""
    *outer, last = found.results or (None,)
    is_transposed = _is_transposed(found, width)

    def nest(at: Mapping[int, Place], loops: Sequence[int]) -> None:
        if loops:
            with loop(0, found.size(loops[0])) as i:
                nest({**at, loops[0]: i}, loops[1:])
        elif last is None:
            _Tile(found, [at], width).emit()
        else:
            count = found.size(last)
            for first, stop, size in (
                whole_and_rest(count, width) if is_transposed else parts_of(count, RESULTS)
            ):
                with loop(first, stop, size) as i:
                    _Tile(found, [{**at, last: i + row} for row in range(size)], width).emit()

    nest({}, outer)


def _is_transposed(found: Reduced, width: int) -> bool:
    """Whether as many results as a row has elements, each a vector, are combined to a vector of results."""
    result = found.operation.operands[found.inputs]
    sizes = [found.sizes[loop] for loop in (found.results[-1:] or found.steps)]
    is_long = all(size is None or size >= width for size in sizes)
    return (
        bool(found.results)
        and found.sizes[found.steps[-1]] == width <= MOST_TRANSPOSED
        and is_long
        and is_dense(result)
    )


class _Tile:
    """A few results: `places` says where the loops over results are for each."""

    def __init__(self, found: Reduced, places: Sequence[Mapping[int, Place]], width: int) -> None:
        combination = _combination(found)
        assert combination is not None
        self.found = found
        self.places = places
        self.width = width
        self.along = found.steps[-1]
        self.combination, self.element = combination
        self.count = steps = found.size(self.along)
        self.vectors = max(ACCUMULATORS // len(places), 1)
        if isinstance(steps, int):
            self.vectors = min(self.vectors, steps // width)
        self.whole = steps - steps % (self.vectors * width)
        # What needs no step is loaded once.
        self.fixed = {
            (row, which): found.taken(which, place, self.along, width)
            for row, place in enumerate(places)
            for which in range(found.inputs)
            if not set(found.steps) & set(found.axes[which])
        }

    def emit(self) -> None:
        """Load each result, combine it with all of its elements and store it."""
        element = self.element.type
        identity = constant(element, COMBINING[self.combination.name].identity(element))
        vector = broadcast(identity, mlir.ir.VectorType.get([self.width], element))
        accumulators = [vector] * (len(self.places) * self.vectors)
        rest = [identity] * len(self.places) if self._has_rest() else []
        values = self._outer({}, self.found.steps[:-1], [*accumulators, *rest])
        result = Array(self.found.operation.operands[self.found.inputs])
        if len(self.places) == self.width and _is_transposed(self.found, self.width):
            first = tuple(self.places[0][a] for a in self.found.results)
            result[first] = self._combined(result.vector(self.width, *first), self._transposed(values))
            return
        for row, place in enumerate(self.places):
            total = values[row * self.vectors]
            for other in values[row * self.vectors + 1 : (row + 1) * self.vectors]:
                total = self._combined(total, other)
            total = self._of_vector(total)
            if rest:
                total = self._combined(total, values[len(accumulators) + row])
            at = tuple(place[a] for a in self.found.results)
            result[at] = self._combined(result[at], total)

    def _outer(self, at: Mapping[int, Place], steps: Sequence[int], values: Sequence[Number]) -> list[Number]:
        if not steps:
            return self._along_memory(at, values)
        size = self.found.size(steps[0])
        return carried(0, size, values, lambda i, *inner: self._outer({**at, steps[0]: i}, steps[1:], inner))

    def _along_memory(self, at: Mapping[int, Place], values: Sequence[Number]) -> list[Number]:
        count = len(self.places) * self.vectors
        wide = self.vectors * self.width

        def together(i: Number, *accumulators: Number) -> list[Number]:
            places: list[Place] = [i + part * self.width for part in range(self.vectors)]
            elements = [self._elements(at, place, self.width) for place in places]
            return [
                self._combined(total, elements[k % self.vectors][k // self.vectors])
                for k, total in enumerate(accumulators)
            ]

        following = carried(0, self.whole, values[:count], together, wide)
        rest, place = list(values[count:]), self.whole
        if not isinstance(place, int) or not isinstance(self.count, int):
            return [*following, *carried(place, self.count, rest, partial(self._one, at))]
        while place < self.count:
            left = self.count - place
            width = min(self.width, 1 << (left.bit_length() - 1))
            for row, element in enumerate(self._elements(at, place, width)):
                if width == self.width:
                    following[row * self.vectors] = self._combined(following[row * self.vectors], element)
                else:
                    rest[row] = self._combined(rest[row], self._of_vector(element))
            place += width
        return [*following, *rest]

    def _has_rest(self) -> bool:
        """Whether there are steps behind the last whole vectors."""
        return not isinstance(self.count, int) or self.whole != self.count

    def _one(self, at: Mapping[int, Place], place: Number, *totals: Number) -> list[Number]:
        """One step."""
        elements = map(self._of_vector, self._elements(at, place, 1))
        return [self._combined(total, each) for total, each in zip(totals, elements, strict=True)]

    def _elements(self, at: Mapping[int, Place], place: Place, width: int) -> list[Number]:
        """A vector of elements of each result."""
        known: dict[object, Number] = {}
        elements = []
        for row, fixed in enumerate(self.places):
            here = {**fixed, **at, self.along: place}
            numbers = []
            for which in range(self.found.inputs):
                key = (which, *(id(here.get(a)) for a in self.found.axes[which]))
                if (row, which) in self.fixed and width == self.width:
                    known[key] = self.fixed[row, which]
                elif key not in known:
                    known[key] = self.found.taken(which, here, self.along, width)
                numbers.append(known[key])
            (number,) = self.found.computed(numbers, here, self.along, width, [self.element])
            type_ = mlir.ir.VectorType.get([width], self.element.type)
            elements.append(number if number.is_vector else broadcast(number, type_))
        return elements

    def _combined(self, left: Number, right: Number) -> Number:
        return applied(self.combination, [left, right])

    def _transposed(self, vectors: Sequence[Number]) -> Number:
        """The elements of each vector combined, as many vectors as each has elements: of two vectors those at
        even places with those at odd ones, until one vector is left."""
        while len(vectors) > 1:
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self._combined(*(_every_second(a, b, first) for first in (0, 1))) for a, b in pairs]
        return vectors[0]

    def _of_vector(self, vector: Number) -> Number:
        """The elements of a vector, combined."""
        if mlir.ir.VectorType(vector.type).shape == [1]:
            return Number(mlir.vector.extract(vector.value, [], [0]))
        kind = getattr(mlir.vector.CombiningKind, COMBINING[self.combination.name].kind)
        fast = mlir.ir.Attribute.parse("#arith.fastmath<reassoc>") if vector.is_float else None
        return Number(mlir.vector.reduction(vector.element, kind, vector.value, fastmath=fast))


def _every_second(a: Number, b: Number, first: int) -> Number:
    """Every second element of two vectors, from the first or the second on."""
    width = mlir.ir.VectorType(a.type).shape[0]
    return Number(mlir.vector.shuffle(a.value, b.value, list(range(first, 2 * width, 2))))
