"""The kernel that sums products of two strided views: convolutions of every kind are such sums.

Input: two flat operands, and for each axis of the sum its size and its strides in both operands and in the
result; an axis without a stride in the result is summed over; what is applied to the sums before they are
stored, and its operands; how the result lies. Output: the flat result, with zeros around it if need be.
Idea: of an image the axes of positions and of window overlap, which strides express as they do all layouts,
strides, dilations and groups. Along one axis, `columns`, the right operand is loaded as vectors; a tile of
the result, some rows by some vectors of columns, stays in registers while the summed axes are scanned. The
left operand is one element for a whole vector or, if its stride along the columns is 1, a vector as well.
Rows and columns that are left have code of their own (Goto and van de Geijn 2008; Zhang, Franchetti and Low,
High performance zero-memory overhead direct convolutions, 2018), sums that differ in where they begin share
theirs. Each element is summed in the axes' order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import groupby
from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from ..tuning.array_layouts import Layout
from ..tuning.contraction_tiles import Axis, Contraction
from .builder import (
    Array,
    Number,
    Place,
    branches,
    broadcast,
    carried,
    choose,
    constant,
    index,
    loop,
    opaque,
    when,
)
from .copies import fill_around
from .epilogues import Epilogue
from .executable import Calls, Kernel, Result, workgroup_id
from .panels import transposed
from .partial_vectors import load_some, store_some
from .products import multiply_add

STRAIGHT: Final = 16  # so many summed steps, or fewer, need no loop
PRODUCTS: Final = 128  # vectors that a loop along summed axes multiplies in an iteration
PRODUCTS_OF_REST: Final = (
    32  # those of a tile of what is left beside many tiles, which has little of the work
)
MANY: Final = 3


def contract(
    kernels: Calls,
    left: Value,
    right: Value,
    out: Layout,
    parts: Sequence[Contraction],
    epilogue: Epilogue | None = None,
    beside: Sequence[Value] = (),
) -> Value:
    """The flat result, each of whose elements is written by one of `parts`, with the zeros around them.

    The operands are flat tensors of f32 or of f64 with static sizes; `beside` are those of the epilogue.
    """
    parts = tuple(parts)
    type_ = mlir.ir.RankedTensorType.get([out.size], mlir.ir.RankedTensorType(left.type).element_type)
    head = out.order[0]
    by_batch = out.ranges[head] == (0, out.shape[head])
    around = (out.shape[head] if by_batch else 1) if out.is_padded else 0

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        arrays = Array(given[0]), Array(given[1]), Array(written[0])
        others = tuple(Array(value) for value in given[2:])
        number, first = Number(workgroup_id()), 0
        groups = _alike(parts)
        for group in groups:
            code = _Contraction(*arrays, group[0], epilogue, others)
            if len(groups) == 1 and not around:
                code.run(number, group)
            else:
                with when((number - first).below(len(group) * group[0].workgroups)):
                    code.run(number - first, group)
            first += len(group) * group[0].workgroups
        if around:
            with when((number - first).below(around)):
                batch = number - first if by_batch else None
                has_rows = all(any(part.zeros) for part in parts)
                fill_around(arrays[2], out, parts[0].width, batch, has_rows=has_rows)

    count = sum(part.workgroups for part in parts) + around
    key = parts, epilogue, out if around else out.size
    kernel = Kernel("convolution", (Result(type_),), emit, key=key, workgroups=(count,))
    (result,) = kernels.call(kernel, [left, right, *beside])
    return result


def _alike(parts: Sequence[Contraction]) -> list[list[Contraction]]:
    """The parts in order; those in a row that differ only in where they begin are together."""

    def key(part: Contraction) -> Contraction:
        return replace(part, starts=(0, 0, 0), beside=(0,) * len(part.beside))

    return [list(group) for _, group in groupby(parts, key)]


def _chosen(number: Number, starts: Sequence[int]) -> Number:
    """The start with this number."""
    chosen = index(starts[-1])
    for k, start in enumerate(starts[:-1] if len(set(starts)) > 1 else ()):
        chosen = choose(number.equals(k), index(start), chosen)
    return chosen


@dataclass(frozen=True, slots=True)
class _Offsets:
    """Places in the left operand, the right one, the result, and the operands of the epilogue."""

    left: Number
    right: Number
    out: Number
    beside: tuple[Number, ...] = ()

    def opaque(self) -> _Offsets:
        """The same places of the operands, of which the compiler does not know how they were counted."""
        return replace(self, left=opaque(self.left), right=opaque(self.right))

    def moved(self, axis: Axis, count: Place) -> _Offsets:
        """The places `count` steps further along an axis."""

        def far(place: Number, stride: int) -> Number:
            if stride == 0 or (isinstance(count, int) and count == 0):
                return place
            if isinstance(count, int):
                return place + count * stride
            return place + (count if stride == 1 else count * stride)

        strides = axis.beside or (0,) * len(self.beside)
        beside = tuple(far(place, stride) for place, stride in zip(self.beside, strides, strict=True))
        return _Offsets(
            far(self.left, axis.left), far(self.right, axis.right), far(self.out, axis.out), beside
        )


@dataclass(frozen=True, slots=True)
class _Contraction:
    """The code of a workgroup."""

    left: Array
    right: Array
    out: Array
    cut: Contraction
    epilogue: Epilogue | None = None
    beside: tuple[Array, ...] = ()

    def run(self, number: Number, parts: Sequence[Contraction]) -> None:
        """All tiles of the workgroup with this number in `parts`, which are alike but for their starts."""
        count = self.cut.workgroups
        part, left = (number, number) if len(parts) == 1 else (number // count, number % count)
        beside = tuple(_chosen(part, starts) for starts in zip(*(each.beside for each in parts), strict=True))
        first, second, out = (
            _chosen(part, starts) for starts in zip(*(each.starts for each in parts), strict=True)
        )
        offsets = _Offsets(first, second, out, beside)
        for axis in reversed(self.cut.parallel):
            if axis.size > 1:
                is_last = axis is self.cut.parallel[0]
                offsets = offsets.moved(axis, left if is_last else left % axis.size)
                left = left // axis.size
        self._blocks(self.cut.blocked, offsets, [])

    def _blocks(self, axes: Sequence[Axis], offsets: _Offsets, places: Sequence[Number]) -> None:
        if not axes:
            self._columns(offsets, places)
            return
        with loop(0, axes[0].size) as place:
            self._blocks(axes[1:], offsets.moved(axes[0], place), [*places, place])

    def _columns(self, offsets: _Offsets, places: Sequence[Number]) -> None:
        cut = self.cut
        step = cut.width * cut.vectors
        between = replace(cut.columns.strided(cut.columns.size // step, step), right=cut.panel)
        if between.size == 1:
            self._inner(cut.inner, offsets, step, places)
        elif between.size:
            with loop(0, between.size) as place:
                self._inner(cut.inner, offsets.moved(between, place), step, places)
        if cut.columns.size % step:
            left = cut.columns.size % step
            self._inner(cut.inner, offsets.moved(between, between.size), left, places)

    def _inner(self, axes: Sequence[Axis], offsets: _Offsets, columns: int, places: Sequence[Number]) -> None:
        if not axes:
            self._rows(offsets, columns, places)
            return
        with loop(0, axes[0].size) as place:
            self._inner(axes[1:], offsets.moved(axes[0], place), columns, places)

    def _rows(self, offsets: _Offsets, columns: int, places: Sequence[Number]) -> None:
        rows, together = self.cut.rows, self.cut.tile_rows
        whole = rows.size // together
        tiles = rows.strided(whole, together)
        if whole == 1:
            self._tile(offsets, together, columns, places)
        elif whole:
            with loop(0, whole) as place:
                self._tile(offsets.moved(tiles, place), together, columns, places)
        if rows.size % together:
            is_rest = whole >= MANY
            self._tile(offsets.moved(tiles, whole), rows.size % together, columns, places, is_rest=is_rest)

    def _tile(
        self,
        offsets: _Offsets,
        rows: int,
        columns: int,
        places: Sequence[Number],
        *,
        is_rest: bool = False,
    ) -> None:
        """Begin a tile of the result, or add to it where an earlier block has begun it."""
        tile = _Tile(self, rows, columns, is_rest=is_rest)
        totals = [tile.zero] * (rows * len(tile.counts))
        if places:
            far = places[0]
            for place in places[1:]:
                far = far + place
            types: list[Type] = [tile.zero.type] * len(totals)
            totals = branches(far.equals(0), types, lambda: totals, lambda: tile.load(offsets))
        totals = self._sum(tile, self.cut.summed, offsets, totals)
        vectors = tile.vectors(totals)
        if self.epilogue is not None:
            vectors = self._applied(self.epilogue, tile, offsets, vectors, places)
        tile.store(offsets, vectors)

    def _applied(
        self,
        epilogue: Epilogue,
        tile: _Tile,
        offsets: _Offsets,
        vectors: list[Number],
        places: Sequence[Number],
    ) -> list[Number]:
        """The vectors with the epilogue applied, once the last block of the sum has been added."""
        if not places:
            return tile.applied(epilogue, offsets, vectors)
        types: list[Type] = [tile.zero.type] * len(vectors)
        blocks = zip(places, self.cut.blocked, strict=True)
        is_last = reduce(Number.__and__, (place.equals(axis.size - 1) for place, axis in blocks))
        return branches(is_last, types, lambda: tile.applied(epilogue, offsets, vectors), lambda: vectors)

    def _sum(
        self, tile: _Tile, axes: Sequence[Axis], offsets: _Offsets, totals: Sequence[Number]
    ) -> list[Number]:
        """`totals` and the sum along axes; the last ones, if they are short, without a loop."""
        steps = prod(axis.size for axis in axes)
        if steps <= (min(STRAIGHT, tile.steps) if tile.is_rest else STRAIGHT):
            return self._straight(tile, axes, offsets, list(totals))
        head, rest = axes[0], axes[1:]
        inside = prod(axis.size for axis in rest)
        unrolled = max(min(4, min(STRAIGHT, tile.steps) // inside), 1)
        whole = head.size // unrolled * unrolled

        def body(at: Number, *sums: Number) -> Sequence[Number]:
            here, following = offsets.moved(head, at), list(sums)
            if inside <= STRAIGHT:  # what is read in an iteration is counted from where it begins
                here = here.opaque()
            for step in range(unrolled):
                following = self._sum(tile, rest, here.moved(head, step), following)
            return following

        values = carried(0, whole, totals, body, unrolled)
        for step in range(whole, head.size):
            values = self._sum(tile, rest, offsets.moved(head, step), values)
        return values

    def _straight(
        self, tile: _Tile, axes: Sequence[Axis], offsets: _Offsets, totals: list[Number]
    ) -> list[Number]:
        if not axes:
            return tile.step(offsets, totals)
        for step in range(axes[0].size):
            totals = self._straight(tile, axes[1:], offsets.moved(axes[0], step), totals)
        return totals


class _Tile:
    """Some rows by some columns of the result, as vectors of one row after the other."""

    def __init__(self, code: _Contraction, rows: int, columns: int, *, is_rest: bool = False) -> None:
        self.code, self.rows, self.is_rest = code, rows, is_rest
        width = code.cut.width
        self.counts = [min(width, columns - at) for at in range(0, columns, width)]
        vector = mlir.ir.VectorType.get([width], code.out.element)
        self.zero = broadcast(constant(code.out.element, 0.0), vector)

    @property
    def steps(self) -> int:
        """How many summed steps an iteration has at most, where a loop does them."""
        most = PRODUCTS_OF_REST if self.is_rest else PRODUCTS
        return max(most // (self.rows * len(self.counts)), 1)

    def step(self, offsets: _Offsets, totals: Sequence[Number]) -> list[Number]:
        """`totals` and one product for each."""
        cut = self.code.cut
        seen: dict[tuple[str, int, int], Number] = {}

        def once(name: str, row: int, at: int, load: Callable[[], Number]) -> Number:
            key = (name, row, at)
            if key not in seen:
                seen[key] = load()
            return seen[key]

        following = []
        for row in range(self.rows):
            for number, count in enumerate(self.counts):
                at = number * cut.width
                own = (row * cut.rows.left, at * cut.columns.left)
                x = once("left", *own, lambda own=own, count=count: self._left(offsets, sum(own), count))  # type: ignore[misc]
                own = (row * cut.rows.right, at)
                y = once("right", *own, lambda own=own, count=count: self._right(offsets, sum(own), count))  # type: ignore[misc]
                following.append(multiply_add(x, y, totals[row * len(self.counts) + number]))
        return following

    def _left(self, offsets: _Offsets, further: int, count: int) -> Number:
        left, cut = self.code.left, self.code.cut
        if cut.columns.left:
            return load_some(left, cut.width, count, offsets.left + further)
        return broadcast(left[offsets.left + further], self.zero.type)

    def _right(self, offsets: _Offsets, further: int, count: int) -> Number:
        cut = self.code.cut
        present = cut.width if cut.is_packed else count
        return load_some(self.code.right, cut.width, present, offsets.right + further)

    def load(self, offsets: _Offsets) -> list[Number]:
        """The tile of the result as it is."""
        out, cut = self.code.out, self.code.cut
        if cut.columns.out == 1:
            return [
                load_some(out, cut.width, count, offsets.out + (row * cut.rows.out + number * cut.width))
                for row in range(self.rows)
                for number, count in enumerate(self.counts)
            ]
        vectors: dict[tuple[int, int], Number] = {}
        for number, count in enumerate(self.counts):
            for first in range(0, self.rows, cut.width):
                rows = min(cut.width, self.rows - first)
                columns = [
                    load_some(
                        out,
                        cut.width,
                        rows,
                        offsets.out + (first + (number * cut.width + c) * cut.columns.out),
                    )
                    if c < count
                    else self.zero
                    for c in range(cut.width)
                ]
                for row, vector in enumerate(transposed(columns)[:rows]):
                    vectors[first + row, number] = vector
        return [vectors[row, number] for row in range(self.rows) for number in range(len(self.counts))]

    def vectors(self, totals: Sequence[Number]) -> list[Number]:
        """The sums as vectors along which the result is dense: rows, or columns where these lie apart."""
        across, width = len(self.counts), self.code.cut.width
        if self.code.cut.columns.out == 1:
            return list(totals)
        vectors = []
        for number, count in enumerate(self.counts):
            for first in range(0, self.rows, width):
                rows = [totals[row * across + number] for row in range(first, min(first + width, self.rows))]
                square = transposed([*rows, *[self.zero] * (width - len(rows))])
                vectors += square[:count]
        return vectors

    def places(self) -> list[tuple[int, int, int]]:
        """For each of those vectors its first row, its first column, and how many elements it has."""
        width = self.code.cut.width
        if self.code.cut.columns.out == 1:
            return [
                (row, number * width, count)
                for row in range(self.rows)
                for number, count in enumerate(self.counts)
            ]
        return [
            (first, number * width + c, min(width, self.rows - first))
            for number, count in enumerate(self.counts)
            for first in range(0, self.rows, width)
            for c in range(count)
        ]

    def applied(self, epilogue: Epilogue, offsets: _Offsets, vectors: Sequence[Number]) -> list[Number]:
        """What the epilogue makes of the vectors; each vector of its operands is loaded once."""
        code, cut = self.code, self.code.cut
        dense = cut.columns if cut.columns.out == 1 else cut.rows
        seen: dict[tuple[int, int, int], Number] = {}

        def operand(number: int, row: int, column: int, count: int) -> Number:
            further = row * cut.rows.beside[number] + column * cut.columns.beside[number]
            key = (number, further, count)
            if key not in seen:
                array, place = code.beside[number], offsets.beside[number] + further
                if dense.beside[number] and dense.size > 1:
                    seen[key] = load_some(array, cut.width, count, place)
                else:
                    seen[key] = broadcast(array[place], self.zero.type)
            return seen[key]

        return [
            epilogue.applied(vector, lambda number, at=at: operand(number, *at))  # type: ignore[misc]
            for vector, at in zip(vectors, self.places(), strict=True)
        ]

    def store(self, offsets: _Offsets, vectors: Sequence[Number]) -> None:
        """Write the vectors."""
        cut = self.code.cut
        for vector, (row, column, count) in zip(vectors, self.places(), strict=True):
            further = row * cut.rows.out + column * cut.columns.out
            store_some(self.code.out, vector, count, offsets.out + further)
        before, behind = cut.zeros
        for row in range(self.rows if before or behind else 0):
            place = offsets.out + row * cut.rows.out
            store_some(self.code.out, self.zero, before, place - before)
            store_some(self.code.out, self.zero, behind, place + cut.columns.size)
