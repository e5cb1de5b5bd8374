"""How a sum over strided axes is cut for `kernels/contractions.py`: tiles, panels, order, workgroups.

Input: the axes of a sum, one per letter of what it means, and the target's registers.
Output: a `Plan`: which axis is loaded as vectors, which gives the rows of a tile, what is packed.
Idea: the cost of every choice is estimated by what a step of a tile multiplies and loads, times the tiles,
plus what is copied before; the cheapest one is taken. The numbers are measured (`docs/kernels.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from .texts import divisors, has_many_registers, lanes

DEPTH: Final = 1024  # summed steps of a block of a long sum
DEEP: Final = 2400  # up to so many steps, a panel of the right operand stays in the second cache
WORK_OF_GROUP: Final = 1 << 20  # multiplications that occupy a workgroup
GROUPS: Final = 32
NEAR: Final = 1 << 18  # bytes of a right operand that stay in the second cache
PLACES: Final = 64  # places that repay loading a larger one
LOAD: Final = 0.5  # what a load costs beside multiplications
LEAST: Final = 5.0  # what a step costs at least: the latency of an addition
COPIED: Final = 10.0  # what a copied vector costs
PERMUTED: Final = 35.0  # the same where squares are transposed
STORED: Final = 2.0  # what a shuffle or store costs where squares are transposed


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its size, and how far apart its neighbours are in the operands and in the result.

    `beside`: the same in each operand of what is applied to the sums (`kernels/epilogues.py`).
    """

    size: int
    left: int = 0
    right: int = 0
    out: int = 0
    beside: tuple[int, ...] = ()

    def strided(self, size: int, step: int) -> Axis:
        """`size` places along this axis, `step` of its own apart."""
        beside = tuple(stride * step for stride in self.beside)
        return Axis(size, self.left * step, self.right * step, self.out * step, beside)


@dataclass(frozen=True, slots=True)
class Contraction:
    """One sum, cut for the machine.

    Every combination of places along `parallel` is a workgroup; it scans `blocked`, leading parts of summed
    axes whose sums are added up in the result, then `inner`, then `columns` and `rows` tile by tile. A tile
    has `tile_rows` rows by `vectors` vectors of `width` elements. Columns have stride 1 in the right operand
    and `panel` elements between tiles there (of an operand that is packed, whose last panel is filled up).
    `starts`: the first element in the left operand, the right one and the result; `beside`: in each operand
    of what is applied to the sums. `zeros`: so many are written before and behind the columns, all of which
    one tile has then.
    """

    parallel: tuple[Axis, ...]
    blocked: tuple[Axis, ...]
    inner: tuple[Axis, ...]
    columns: Axis
    rows: Axis
    summed: tuple[Axis, ...]
    starts: tuple[int, int, int]
    width: int
    tile_rows: int
    vectors: int
    panel: int
    is_packed: bool
    beside: tuple[int, ...] = ()
    zeros: tuple[int, int] = (0, 0)

    @property
    def workgroups(self) -> int:
        """How many workgroups it takes."""
        return prod(axis.size for axis in self.parallel)


@dataclass(frozen=True, slots=True)
class Registers:
    """Elements of a vector, and how many vectors the processor holds."""

    width: int
    count: int

    def rows(self, vectors: int) -> int:
        """Rows of a tile of so many vectors that fit in beside a row of the right operand and an element.

        One row more, and sums go to memory in each step: half of the speed.
        """
        return max((self.count - vectors - 1) // vectors, 1)


def registers(target: Target, dtype: np.dtype) -> Registers:
    """The registers of a target."""
    return Registers(lanes(target, dtype), 32 if has_many_registers(target) else 16)


@dataclass(frozen=True, slots=True)
class Tiling:
    """Rows and vectors of a tile, and what the sum costs with it, in multiplications of vectors."""

    rows: int
    vectors: int
    cost: float


def best_tiling(
    registers: Registers, columns: Axis, rows: Axis, steps: int, others: int, is_stored_apart: bool
) -> Tiling:
    """The cheapest tile of a sum over `steps` for each of `others` pairs of rows and columns."""
    candidates = [
        tiling_of(registers, columns, rows, vectors, steps, others, is_stored_apart)
        for vectors in (1, 2, 3, 4)
        if vectors == 1 or (vectors - 1) * registers.width < columns.size
    ]
    return min(candidates, key=lambda tiling: tiling.cost)


def tiling_of(
    registers: Registers,
    columns: Axis,
    rows: Axis,
    vectors: int,
    steps: int,
    others: int,
    is_stored_apart: bool,
) -> Tiling:
    """The tile of so many vectors."""
    tiles = -(-rows.size // registers.rows(vectors))
    together = -(-rows.size // tiles)
    step = vectors * registers.width
    across = [vectors] * (columns.size // step)
    if columns.size % step:
        across.append(-(-(columns.size % step) // registers.width))
    down = [together] * (rows.size // together)
    if rows.size % together:
        down.append(rows.size % together)
    cost = 0.0
    for r in set(down):
        for v in set(across):
            lefts = r * v if columns.left else (r if rows.left else 1)
            rights = r * v if rows.right else v
            one = (max(r * v, LEAST) + LOAD * (lefts + rights)) * steps
            one += LEAST + (_stored(registers, r, v) if is_stored_apart else r * v)
            cost += one * down.count(r) * across.count(v)
    return Tiling(together, vectors, cost * others)


def _stored(registers: Registers, rows: int, vectors: int) -> float:
    """What storing a tile costs whose rows, not its columns, lie densely in the result."""
    width = registers.width
    squares = -(-rows // width) * vectors
    pieces = rows // width + (rows % width).bit_count()
    return STORED * (squares * width * (width.bit_length() - 1) + vectors * width * pieces)


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """The axes with neighbours made one where they lie so in both operands and in the result."""
    kept: list[Axis] = []
    for axis in axes:
        if axis.size == 1:
            continue
        if kept and _continues(kept[-1], axis):
            kept[-1] = replace(axis, size=kept[-1].size * axis.size)
        else:
            kept.append(axis)
    return kept


def _continues(outer: Axis, inner: Axis) -> bool:
    return outer == inner.strided(outer.size, inner.size)


def split(axis: Axis, parts: int) -> tuple[Axis, Axis]:
    """An axis as `parts` parts and what is in a part."""
    inside = axis.size // parts
    return axis.strided(parts, inside), replace(axis, size=inside)


def blocks_of(summed: Sequence[Axis]) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """Leading parts of summed axes, and the rest, of up to `DEPTH` steps as far as the sizes divide."""
    inside = list(summed)
    outside: list[Axis] = []
    if prod(axis.size for axis in inside) <= DEEP:
        return (), tuple(inside)
    while prod(axis.size for axis in inside) > DEPTH:
        rest = prod(axis.size for axis in inside[1:])
        if rest > DEPTH // 2:
            outside.append(inside.pop(0))
            continue
        parts = next(n for n in divisors(inside[0].size) if inside[0].size // n * rest <= DEPTH)
        outer, inner = split(inside[0], parts)
        outside.append(outer)
        inside[:1] = [inner] if inner.size > 1 else []
        break
    return tuple(outside), tuple(inside)


@dataclass(frozen=True, slots=True)
class Division:
    """How outer axes, columns and rows are divided between workgroups."""

    parallel: tuple[Axis, ...]
    inner: tuple[Axis, ...]
    columns: Axis
    rows: Axis


def divide(
    outer: Sequence[Axis], columns: Axis, rows: Axis, tile: tuple[int, int, int], work: int, right_bytes: int
) -> Division:
    """Workgroups enough for the threads, each of which uses what it loads of the right operand often.

    `tile`: its rows, its columns, and the distance in the right operand between neighbours of its columns.
    """
    tile_rows, step, panel = tile
    places = rows.size * prod(axis.size for axis in outer)
    wanted = max(min(work // WORK_OF_GROUP, GROUPS), 1)
    panels = columns.size // step if columns.size % step == 0 else 1
    parallel: list[Axis] = []

    def split_columns() -> None:
        nonlocal columns, wanted
        parts = _most(panels, wanted)
        if parts > 1:
            far = panels // parts * step
            outside = replace(columns.strided(parts, far), right=panels // parts * panel)
            columns = replace(columns, size=far)
            parallel.append(outside)
            wanted //= parts

    if right_bytes > NEAR:
        split_columns()
        wanted = max(min(wanted, places // PLACES), 1)
    inner = list(outer)
    while inner and wanted > 1:
        head = inner.pop(0)
        parts = _most(head.size, wanted)
        outside, inside = split(head, parts)
        if parts > 1:
            parallel.append(outside)
        wanted //= parts
        if inside.size > 1:
            inner.insert(0, inside)
            break
    if right_bytes <= NEAR:
        split_columns()
    if wanted > 1 and rows.size > 2 * tile_rows:
        parts = _most(rows.size, min(wanted, rows.size // tile_rows))
        if parts > 1:
            outside, rows = split(rows, parts)
            parallel.append(outside)
    return Division(tuple(parallel), tuple(axis for axis in inner if axis.size > 1), columns, rows)


def _most(size: int, wanted: int) -> int:
    """The largest divisor of `size` up to `wanted`."""
    return max((d for d in divisors(size) if d <= wanted), default=1)
