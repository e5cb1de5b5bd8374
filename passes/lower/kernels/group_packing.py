"""Factors of products in groups, packed: panels of the right operand, and rows of the left one.

Input: a left operand `[b, m, k]` or `[b, k, m]`, a right one `[b, k, n]` or `[b, n, k]`. Output: panels
`[b, p, g, 32]` of 32 columns, rows `[b, m', g]`; an element is a group of four bytes, of what are neighbours
along `k`. What is beyond the ends is zero.
Idea: blocks of 16 by 16 groups are interleaved, or transposed, in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from ..tuning.group_tiles import GroupTiles
from .builder import Array, Number, Place, ceil_divided, choose, index, loop, when
from .executable import Kernel, Kernels, Size, Sizes, tensor_sizes, workgroup_id
from .grouped_vectors import GROUP_BYTES, PANEL
from .matrix_tiles import ROWS
from .panels import transposed
from .partial_vectors import load_some, zeros
from .products import place_of, result_of, size_of

GROUPS: Final = 16  # of a row of a tile, and columns of a tile of sums
FLIPPED: Final = 0x80808080  # the upper bits of a group's bytes
PANELS_ABREAST: Final = 8  # that are packed at once, where rows run across them


def pack_panels(
    kernels: Kernels, right: Value, tiles: GroupTiles, *, along_k: bool, shape: Sizes = tensor_sizes
) -> Value:
    """The right operand `[b, k, n]`, or `[b, n, k]` if `along_k`, as panels `[b, p, g, 32]` of groups."""
    batches, columns, steps = _sizes(right, along_k, shape)
    panels = ceil_divided(place_of(columns), PANEL)
    sizes = [batches, size_of(panels), size_of(_groups(place_of(steps), tiles.group)), PANEL]
    workgroups = panels if along_k else ceil_divided(panels, PANELS_ABREAST)
    return _packed(kernels, right, sizes, workgroups, PanelPacking, (along_k, tiles), shape)


def packed_panels(right: np.ndarray, tiles: GroupTiles, *, along_k: bool) -> np.ndarray:
    """What `pack_panels` makes of a right operand that is known."""
    columns = np.swapaxes(right, 1, 2) if along_k else right
    batches, k, n = columns.shape
    group = tiles.group
    panels, groups = -(-n // PANEL), -(-k // (GROUPS * group)) * GROUPS
    bits = f"{'i' if tiles.is_signed else 'u'}{right.dtype.itemsize}"
    whole = np.zeros((batches, groups * group, panels * PANEL), f"{bits[0]}{GROUP_BYTES // group}")
    whole[:, :k, :n] = columns.view(bits)  # which is widened
    divided = whole.reshape(batches, groups, group, panels, PANEL).transpose(0, 3, 1, 4, 2)
    packed = np.ascontiguousarray(divided).view(np.uint32)[..., 0]
    return (packed ^ np.uint32(FLIPPED) if tiles.has_flipped_panels else packed).view(np.int32)


def pack_rows(
    kernels: Kernels, left: Value, tiles: GroupTiles, *, along_k: bool, shape: Sizes = tensor_sizes
) -> Value:
    """The left operand `[b, k, m]`, or `[b, m, k]` if `along_k`, as rows `[b, m', g]` of groups."""
    batches, rows, steps = _sizes(left, along_k, shape)
    strip = ROWS if isinstance(rows, int) else 2 * ROWS
    strips = ceil_divided(place_of(rows), strip)
    sizes = [batches, size_of(strips * strip), size_of(_groups(place_of(steps), tiles.group))]
    return _packed(kernels, left, sizes, strips, _RowPacking, (along_k, tiles), shape)


def _sizes(operand: Value, along_k: bool, shape: Sizes) -> tuple[Size, Size, Size]:
    """How many matrices, rows or columns, and steps along `k` an operand has."""
    batches, *axes = shape(operand)
    steps, lines = reversed(axes) if along_k else axes
    return batches, lines, steps


def _groups(steps: Place, group: int) -> Place:
    """The groups of whole tiles that hold so many steps."""
    return ceil_divided(steps, GROUPS * group) * GROUPS


def _packed(
    kernels: Kernels,
    operand: Value,
    sizes: Sequence[Size],
    workgroups: Place,
    packing: Callable[..., _Packing],
    options: tuple[bool, GroupTiles],
    shape: Sizes,
) -> Value:
    kernel = Kernel(
        "pack_groups",
        (result_of(sizes, mlir.ir.IntegerType.get_signless(32)),),
        lambda given, written: packing(Array(given[0]), Array(written[0]), *options).run(),
        key=(packing, options),
        workgroups=(size_of(workgroups), sizes[0]),
        has_bits=True,  # vectors of bfloat16 become scalar code
    )
    (packed,) = kernels.call(kernel, [operand], sizes=shape)
    return packed


@dataclass(frozen=True, slots=True)
class _Packing:
    """The code of one workgroup: some lines of a batch: rows of the left operand, columns of the right."""

    source: Array
    packed: Array
    along_k: bool
    tiles: GroupTiles

    def run(self) -> None:
        """Blocks of 16 groups of 16 lines, the last one with the steps along `k` that are left."""
        batch, strip = Number(workgroup_id(1)), Number(workgroup_id(0))
        depth = GROUPS * self.tiles.group
        steps = self.source.size(2 if self.along_k else 1)
        whole = steps // depth
        if not isinstance(whole, int) or whole:
            with loop(0, whole) as block:
                self.store(batch, strip, block * GROUPS, block * depth, depth)
        rest = steps - whole * depth
        if isinstance(rest, Number):
            with when(rest > 0):
                self.store(batch, strip, index(whole) * GROUPS, index(whole) * depth, rest)
        elif rest:
            self.store(batch, strip, index(whole * GROUPS), index(whole * depth), rest)

    def store(self, batch: Number, strip: Number, group: Number, first: Number, depth: Place) -> None:
        """Pack what is there of a block of all lines of the workgroup: `depth` steps along `k`."""
        raise NotImplementedError

    def by_group(self, batch: Number, line: Number, first: Number, depth: Place) -> list[Number]:
        """A block as a vector of 16 lines for each group."""
        if self.along_k:
            return transposed(list(self._lines(batch, line, first, depth)))
        return list(self._steps(batch, line, first, depth))

    def by_line(self, batch: Number, line: Number, first: Number, depth: Place) -> list[Number]:
        """A block as a vector of 16 groups for each line."""
        if self.along_k:
            return list(self._lines(batch, line, first, depth))
        return transposed(list(self._steps(batch, line, first, depth)))

    def _steps(self, batch: Number, line: Number, first: Number, depth: Place) -> Iterator[Number]:
        count = self._count(line)
        group = self.tiles.group
        for start in range(0, GROUPS * group, group):
            rows = [
                self._vector(GROUPS, count, depth, step, batch, first + step, line)
                for step in range(start, start + group)
            ]
            yield _as_groups(_interleaved(rows))

    def _lines(self, batch: Number, line: Number, first: Number, depth: Place) -> Iterator[Number]:
        count, width = self._count(line), GROUPS * self.tiles.group
        for at in range(GROUPS):
            yield _as_groups(self._vector(width, depth, count, at, batch, line + at, first))

    def _count(self, line: Number) -> Place:
        """How many of 16 lines are there."""
        lines = self.source.size(1 if self.along_k else 2)
        if isinstance(lines, int) and lines % self.packed_lines == 0:
            return GROUPS
        return (index(lines) - line).most(0).least(GROUPS)

    @property
    def packed_lines(self) -> int:
        """The lines of a workgroup."""
        raise NotImplementedError

    def _vector(self, width: int, count: Place, outer: Place, at: int, *places: Place) -> Number:
        """The first `count` elements of a row, of which there are `outer`; zeros if it is not one of them."""
        if isinstance(outer, int):
            if at >= outer:
                return self._widened(zeros(width, self.source.element))
            return self._widened(load_some(self.source, width, count, *places))
        return self._widened(load_some(self.source, width, choose(outer > at, index(count), 0), *places))

    def _widened(self, vector: Number) -> Number:
        """Integers as wide as a group has place for."""
        bits = 8 * GROUP_BYTES // self.tiles.group
        if bits == self.source.element.width:
            return vector
        shape = mlir.ir.VectorType(vector.type).shape
        type_ = mlir.ir.VectorType.get(shape, mlir.ir.IntegerType.get_signless(bits))
        extend = mlir.arith.extsi if self.tiles.is_signed else mlir.arith.extui
        return Number(extend(type_, vector.value))


@dataclass(frozen=True, slots=True)
class PanelPacking(_Packing):
    """Panels of 32 columns of the right operand: one, or as many as rows run across at once."""

    def store(self, batch: Number, strip: Number, group: Number, first: Number, depth: Place) -> None:
        """Rows of the panels: a group of each column."""
        abreast = 1 if self.along_k else PANELS_ABREAST
        start = strip * abreast
        with loop(start, (start + abreast).least(self.packed.size(1))) as panel:
            self.pack(batch, panel, first, depth, (batch, panel, group))

    def pack(self, batch: Number, panel: Number, first: Number, depth: Place, to: Sequence[Place]) -> None:
        """Pack `depth` steps of a panel, from a step on; `to`: where the first group belongs."""
        for half in (0, GROUPS):
            vectors = self.by_group(batch, panel * PANEL + half, first, depth)
            if self.tiles.has_flipped_panels:
                vectors = [vector ^ FLIPPED for vector in vectors]
            for at, vector in enumerate(vectors):
                self.packed[(*to[:-1], index(to[-1]) + at, half)] = vector

    @property
    def packed_lines(self) -> int:
        """The columns of a panel."""
        return PANEL


@dataclass(frozen=True, slots=True)
class _RowPacking(_Packing):
    """Some rows of the left operand: 16, or 32 where it shows at the call how many it has."""

    def store(self, batch: Number, strip: Number, group: Number, first: Number, depth: Place) -> None:
        """Each row, from a group on."""
        for half in range(0, self.packed_lines, ROWS):
            row = strip * self.packed_lines + half
            for at, vector in enumerate(self.by_line(batch, row, first, depth)):
                self.packed[batch, row + at, group] = vector

    @property
    def packed_lines(self) -> int:
        """The rows of a strip."""
        return ROWS if isinstance(self.packed.size(1), int) else 2 * ROWS


def _interleaved(rows: Sequence[Number]) -> Number:
    """The elements of two or four vectors in turn."""
    if len(rows) == 4:
        return _interleaved([_interleaved(rows[0::2]), _interleaved(rows[1::2])])
    (width,) = mlir.ir.VectorType(rows[0].type).shape
    mask = [place for at in range(width) for place in (at, width + at)]
    return Number(mlir.vector.shuffle(rows[0].value, rows[1].value, mask))


def _as_groups(vector: Number) -> Number:
    """A vector of 64 bytes as one of 16 groups."""
    type_: Type = mlir.ir.VectorType.get([GROUPS], mlir.ir.IntegerType.get_signless(32))
    return Number(mlir.vector.bitcast(type_, vector.value))
