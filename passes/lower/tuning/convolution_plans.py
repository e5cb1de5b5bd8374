"""Which of a convolution's axes is loaded as vectors, which one makes rows, and what is copied before.

Input: the letters of a convolution's sum and how each moves in the image, the weights and the result.
Output: a `Plan` of copies and of `Contraction`s, or None where the linalg form is as good.
Idea: vectors lie along the features (of weights that are packed into panels), along an axis of the image
itself if there are few features, or along the groups of a depthwise convolution. Each possibility, with the
image as it lies or with other axes last, has a cost (`contraction_tiles.py`); the cheapest one is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from math import prod
from typing import Final, NamedTuple

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import FLOAT32, FLOAT64
from ....runtime.targets import Target
from ..kernels.copies import Copy, CopyAxis, whole
from .array_layouts import Layout, dense_strides
from .configuration import has_kernels
from .contraction_tiles import (
    COPIED,
    DEPTH,
    PERMUTED,
    Axis,
    Contraction,
    Registers,
    Tiling,
    best_tiling,
    blocks_of,
    divide,
    merged,
    registers,
    tiling_of,
)
from .convolution_problems import Letter, Place, Problem
from .product_tiles import ARCHITECTURES

WORK: Final = 1 << 16  # multiplications that repay a kernel
IMAGES: Final = 8  # images of a call, where that shows only then
DIRECT: Final = 1.1  # what a step costs with weights that are not packed
FEW: Final = 8  # so many input features or more are loaded from as many pages
FAR: Final = 1.25  # what that costs
PART: Final = 300.0  # what a sum for an edge costs beside its products
AROUND: Final = 2.0  # what it costs to store some of the zeros around a result
APART: Final = 0.93  # sums for the edges are taken if they cost less than this part
PAGE: Final = 4096  # bytes: rows that lie further apart need a page each
ALIGNED: Final = 2048  # bytes between vectors that compete for places in the cache


@dataclass(frozen=True, slots=True)
class Plan:
    """Copies of the operands, the parts of the sum, and a copy of its result; None for no copy.

    `seen`: how the image lies of which the sum is. `has_edges`: the image's edges are parts of their own.
    """

    image_copy: Copy | None
    weights_copy: Copy | None
    parts: tuple[Contraction, ...]
    out_copy: Copy | None
    is_swapped: bool
    seen: Layout
    has_edges: bool
    cost: float = field(compare=False)


def cheapest_plan(
    target: Target, problems: Sequence[Problem], dtype: np.dtype, *, has_constant_weights: bool
) -> Plan | None:
    """The plan of the first problem, unless another way to sum the same is much cheaper."""
    plain, *others = [
        plan_convolution(target, problem, dtype, has_constant_weights=has_constant_weights)
        for problem in problems
    ]
    best = min((plan for plan in others if plan is not None), key=lambda plan: plan.cost, default=None)
    if plain is None or best is None or best.cost > APART * plain.cost:
        return plain
    return best


def plan_convolution(
    target: Target, problem: Problem, dtype: np.dtype, *, has_constant_weights: bool
) -> Plan | None:
    """The cheapest plan."""
    if not has_kernels(target) or target.architecture not in ARCHITECTURES or dtype not in (FLOAT32, FLOAT64):
        return None
    least = WORK // IMAGES if problem.is_of_each else WORK
    if problem.work < least or any(high <= low for low, high in problem.ranges):
        return None
    return _cheapest(problem, registers(target, dtype), dtype.itemsize, has_constant_weights)


@lru_cache(maxsize=256)
def _cheapest(
    problem: Problem, registers: Registers, itemsize: int, has_constant_weights: bool
) -> Plan | None:
    """The cheapest of all plans, remembered: the blocks of a net have convolutions in common."""
    attempts = (
        Attempt(problem, registers, itemsize, has_constant_weights, *choice).plan()
        for choice in choices(problem)
    )
    return min((p for p in attempts if p is not None), key=lambda plan: plan.cost, default=None)


class Choice(NamedTuple):
    """Columns, rows, the orders of image and result, whether weights are packed, and are the left operand.

    `are_phases_apart`: each phase of a dilated image writes an array of its own; these are joined.
    """

    columns: str
    rows: str
    image_order: tuple[int, ...]
    out_order: tuple[int, ...]
    is_packed: bool
    is_swapped: bool
    are_phases_apart: bool = False


def choices(problem: Problem) -> Iterator[Choice]:
    """What may be chosen; not every choice has a plan."""
    letters = {letter.name: letter for letter in problem.largest}
    outs = [name for name, letter in letters.items() if letter.out is not None and letter.size > 1]
    for columns in outs or ["f"]:
        letter = letters[columns]
        assert letter.out is not None
        rows = [name for name in outs if name != columns] or ["n" if columns != "n" else "f"]
        orders = _orders(len(problem.image), letter.image or letters["c"].image)
        orders = list(dict.fromkeys([problem.seen.order, *orders]))
        results = _orders(len(problem.out), letter.out)
        if problem.written is not None:
            results = [problem.written.order]
        for row in rows:
            for result in results:
                if letter.weights is None:
                    yield Choice(columns, row, orders[0], result, False, True)
                    if problem.are_phases_alike and problem.written is None:
                        for order in orders:
                            yield Choice(columns, row, order, result, False, True, True)
                    continue
                for order in orders:
                    for is_packed in (True, False):
                        yield Choice(columns, row, order, result, is_packed, False)


def _orders(rank: int, place: Place | None) -> list[tuple[int, ...]]:
    """The order of axes as they are, and the one with an axis last."""
    plain = tuple(range(rank))
    if place is None or place[0] == rank - 1:
        return [plain]
    return [plain, (*(a for a in plain if a != place[0]), place[0])]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One choice, and the plan that follows from it if there is one."""

    problem: Problem
    registers: Registers
    itemsize: int
    has_constant_weights: bool
    columns: str
    rows: str
    image_order: tuple[int, ...]
    out_order: tuple[int, ...]
    is_packed: bool
    is_swapped: bool
    are_phases_apart: bool = False

    def plan(self) -> Plan | None:
        """The plan, None where the columns do not lie as the kernel needs them."""
        problem, plain = self.problem, tuple(range(len(self.problem.image)))
        is_copied = not problem.seen.covers(problem.ranges) or self.image_order != problem.seen.order
        seen = Layout(problem.image, self.image_order, problem.ranges) if is_copied else problem.seen
        image_strides, lows = seen.strides, [low for low, _ in seen.ranges]
        out_strides = dense_strides(self._phase_shape(), self.out_order)
        if problem.written is not None:
            out_strides = problem.written.strides
        first = {letter.name: letter for letter in problem.largest}
        ordered = self._summed_order(first, image_strides)
        column = first[self.columns]
        axis = self._axis(column, image_strides, dense_strides(problem.weights, plain), out_strides)
        if axis.left not in (0, 1) or (axis.right != 1 and not self.is_packed):
            return None
        others = {
            name: self._axis(letter, image_strides, dense_strides(problem.weights, plain), out_strides)
            for name, letter in first.items()
        }
        steps = prod(first[name].size for name in ordered)
        rest = prod(
            letter.size
            for name, letter in first.items()
            if letter.out is not None and name not in (self.columns, self.rows)
        )
        row = others[self.rows]
        is_apart = axis.out != 1
        if is_apart and row.out != 1:
            return None
        out_copy = self._out_copy(out_strides)
        if problem.beside and (out_copy is not None or not set((row if is_apart else axis).beside) <= {0, 1}):
            return None  # vectors of the operands beside do not lie as those of the sums
        tiling = best_tiling(self.registers, axis, row, steps, rest * len(problem.sums), is_apart)
        weights_copy: Copy | None = None
        weight_axes: dict[str, int] = {}
        panel = tiling.vectors * self.registers.width
        if self.is_packed:
            weights_copy, weight_axes = self._packing(first, ordered, panel)
        image_copy = self._image_copy() if is_copied else None
        cuts = [(self.rows, tiling)] * len(problem.sums)
        if problem.has_edges:
            strides = image_strides, dense_strides(problem.weights, plain), out_strides
            cuts = [self._cut(letters, tiling.vectors, strides, is_apart) for letters in problem.sums]
            tiling = replace(tiling, cost=sum(PART + cut.cost for _, cut in cuts))
        parts = tuple(
            self._part(number, ordered, *cut, image_strides, lows, weight_axes, out_strides)
            for number, cut in enumerate(cuts)
        )
        cost = self._cost(tiling, axis, row, others, (image_copy, weights_copy, out_copy), steps)
        return Plan(image_copy, weights_copy, parts, out_copy, self.is_swapped, seen, problem.has_edges, cost)

    def _cut(
        self,
        letters: Sequence[Letter],
        vectors: int,
        strides: tuple[Sequence[int], Sequence[int], Sequence[int]],
        is_apart: bool,
    ) -> tuple[str, Tiling]:
        """The rows and the tiling of the sum of one edge, whose sizes are its own."""
        axes = {letter.name: self._axis(letter, *strides) for letter in letters}
        outs = [letter for letter in letters if letter.out is not None and letter.name != self.columns]
        steps = prod(letter.size for letter in letters if letter.out is None)
        places = prod(letter.size for letter in outs)
        names = [self.rows] if is_apart else [letter.name for letter in outs]
        tilings = {
            name: tiling_of(
                self.registers,
                axes[self.columns],
                axes[name],
                vectors,
                steps,
                places // axes[name].size,
                is_apart,
            )
            for name in names
        }
        best = min(names, key=lambda name: tilings[name].cost)
        return best, tilings[best]

    def _cost(
        self,
        tiling: Tiling,
        column: Axis,
        row: Axis,
        others: dict[str, Axis],
        copies: tuple[Copy | None, Copy | None, Copy | None],
        steps: int,
    ) -> float:
        width, (image_copy, weights_copy, out_copy) = self.registers.width, copies
        cost = tiling.cost
        if image_copy is not None:
            is_in_order = self.image_order == self.problem.seen.order
            cost += image_copy.size / width * (COPIED if is_in_order else PERMUTED)
        if out_copy is not None:
            cost += prod(self.problem.out) / width * PERMUTED
        if self.problem.written is not None:
            cost += AROUND * self.problem.written.runs_around(width)
        if weights_copy is not None and not self.has_constant_weights:
            cost += weights_copy.size / width * (COPIED if column.right == 1 else PERMUTED)
        if not self.is_packed and not self.is_swapped:
            apart = max(axis.right for axis in others.values()) * self.itemsize
            cost *= DIRECT * (1.2 if apart % ALIGNED == 0 and steps > 64 else 1.0)
        nearest = min(
            (
                others[name].left
                for name in others
                if name != self.columns and others[name].size > 1 and others[name].out and others[name].left
            ),
            default=1,
        )
        if row.left > nearest and column.left == 0:
            cost *= 1.05 if row.left * self.itemsize < PAGE else 1.2
        if (
            others["c"].left > 1
            and others["c"].size >= FEW
            and row is not others["n"]
            and not self.is_swapped
        ):
            cost *= FAR
        if column.out != 1 and steps > DEPTH:
            cost *= 1.2  # the sums of each block are transposed
        return cost

    def _summed_order(self, letters: dict[str, Letter], image_strides: Sequence[int]) -> list[str]:
        """The summed letters, those first that move far in the image."""

        def far(letter: Letter) -> int:
            assert letter.image is not None
            return image_strides[letter.image[0]] * letter.image[1]

        summed = [letter for letter in letters.values() if letter.out is None]
        return [letter.name for letter in sorted(summed, key=far, reverse=True)]

    def _axis(self, letter: Letter, image: Sequence[int], weights: Sequence[int], out: Sequence[int]) -> Axis:
        def stride(place: Place | None, strides: Sequence[int]) -> int:
            return 0 if place is None else strides[place[0]] * place[1]

        left, right = stride(letter.image, image), stride(letter.weights, weights)
        if self.is_swapped:
            left, right = right, left
        written = letter.out
        if written is not None and letter.name.startswith("p") and self.are_phases_apart:
            written = (written[0], 1)
        beside = tuple(stride(written, strides) for strides in self.problem.beside)
        return Axis(letter.size, left, right, stride(written, out), beside)

    def _phase_shape(self) -> list[int]:
        """The shape that a phase writes: the result's, or its own."""
        spreads = self.problem.spreads if self.are_phases_apart else {}
        return [n // spreads.get(a, 1) for a, n in enumerate(self.problem.out)]

    def _out_copy(self, strides: Sequence[int]) -> Copy | None:
        """From the result as it is written to the result."""
        shape, plain = self._phase_shape(), tuple(range(len(self.problem.out)))
        if self.problem.written is not None or (self.out_order == plain and not self.are_phases_apart):
            return None
        far, between = prod(self.problem.out), {}
        for a, spread in self.problem.spreads.items():  # the last axis of the window changes first
            far //= spread if self.are_phases_apart else 1
            between[a] = far
        axes = []
        for a in plain:
            axes.append(whole(shape[a], strides[a]))
            if self.problem.out[a] > shape[a]:
                axes.append(whole(self.problem.out[a] // shape[a], between[a]))
        return Copy(tuple(axes), 0, self.registers.width)

    def _image_copy(self) -> Copy:
        problem, strides = self.problem, self.problem.seen.strides
        axes, start = [], problem.seen.start
        for a in self.image_order:
            (low, high), n = problem.ranges[a], problem.image[a]
            first, last = max(low, 0), min(high, n)
            axes.append(CopyAxis(high - low, strides[a], min(max(-low, 0), high - low), max(last - first, 0)))
            start += min(first, n - 1) * strides[a]
        return Copy(tuple(axes), start, self.registers.width)

    def _packing(
        self, letters: dict[str, Letter], ordered: Sequence[str], panel: int
    ) -> tuple[Copy, dict[str, int]]:
        """Panels of the weights, and the stride of each letter in them: of all taps, not of one phase's."""
        shape = self.problem.weights
        strides = dense_strides(shape, tuple(range(len(shape))))
        column = letters[self.columns]
        assert column.weights is not None
        beside = [n for n in ("g", "f") if n != self.columns]
        sizes = {name: letters[name].size for name in (*beside, "c")}
        steps = {}
        for name in (*beside, *ordered):
            place = letters[name].weights
            assert place is not None
            if name.startswith("w"):
                sizes[name], steps[name] = shape[place[0]], strides[place[0]]
            else:
                steps[name] = strides[place[0]] * place[1]
        step = strides[column.weights[0]] * column.weights[1]
        panels = -(-column.size // panel)
        axes = [whole(panels, step * panel)]
        axes += [whole(sizes[name], steps[name]) for name in (*beside, *ordered)]
        axes.append(whole(panel, step))
        far = dense_strides([axis.size for axis in axes], tuple(range(len(axes))))
        tail = column.size % panel or None
        copy = Copy(tuple(axes), 0, self.registers.width, tail)
        return copy, {"panel": far[0], **dict(zip((*beside, *ordered), far[1:-1], strict=True))}

    def _part(
        self,
        number: int,
        ordered: Sequence[str],
        row_name: str,
        tiling: Tiling,
        image_strides: Sequence[int],
        lows: Sequence[int],
        packed: dict[str, int],
        out_strides: Sequence[int],
    ) -> Contraction:
        width, letters = self.registers.width, self.problem.sums[number]
        axes, (image_start, weights_start, out_start), beside = self._placed(
            letters, image_strides, lows, packed, out_strides
        )
        if self.are_phases_apart:
            out_start = number * prod(self._phase_shape())
        summed = [axes[name] for name in ordered]
        if any(axis.size == 0 for axis in summed):
            summed, image_start, weights_start = [Axis(0)], 0, 0
        blocked, inside = blocks_of(merged(summed))
        outer = merged(
            sorted(
                (a for name, a in axes.items() if a.out and name not in (self.columns, row_name)),
                key=lambda a: a.out,
                reverse=True,
            )
        )
        work = prod(letter.size for letter in letters)
        rows, columns = axes[row_name], axes[self.columns]
        step = tiling.vectors * width
        panel = packed["panel"] if packed else step
        used = columns.size * prod(axis.size for axis in summed) * self.itemsize
        cut = divide(outer, columns, rows, (tiling.rows, step, panel), work, used)
        starts = (image_start, weights_start, out_start)
        if self.is_swapped:
            starts = (weights_start, image_start, out_start)
        return Contraction(
            parallel=cut.parallel,
            blocked=blocked,
            inner=cut.inner,
            columns=cut.columns,
            rows=cut.rows,
            summed=inside,
            starts=starts,
            width=width,
            tile_rows=tiling.rows,
            vectors=tiling.vectors,
            panel=panel,
            is_packed=bool(packed),
            beside=beside,
            zeros=self._zeros(letters, cut.columns, step),
        )

    def _zeros(self, letters: Sequence[Letter], columns: Axis, step: int) -> tuple[int, int]:
        """The zeros around each row of the result, if its tiles can store them, a vector each."""
        written = self.problem.written
        (column,) = (letter for letter in letters if letter.name == self.columns)
        if written is None or column.out is None or columns.out != 1:
            return 0, 0
        around = written.around_rows
        is_row = column.out[0] == written.order[-1] and columns.size == written.shape[column.out[0]]
        is_short = columns.size <= step and max(around) <= self.registers.width
        return around if is_row and is_short else (0, 0)

    def _placed(
        self,
        letters: Sequence[Letter],
        image_strides: Sequence[int],
        lows: Sequence[int],
        packed: dict[str, int],
        out_strides: Sequence[int],
    ) -> tuple[dict[str, Axis], tuple[int, int, int], tuple[int, ...]]:
        """The axes of a sum by their letters, and where it starts in image, weights, result and beside."""
        weight_strides = dense_strides(self.problem.weights, tuple(range(len(self.problem.weights))))
        axes, image_start, weights_start = {}, 0, 0
        out_start = 0 if self.problem.written is None else self.problem.written.start
        beside = list(self.problem.beside_starts or (0,) * len(self.problem.beside))
        for letter in letters:
            axis = self._axis(letter, image_strides, weight_strides, out_strides)
            step = 0 if letter.weights is None else weight_strides[letter.weights[0]]
            if packed and letter.weights is not None:
                step = 1 if letter.name == self.columns else packed[letter.name]
                axis = replace(axis, right=step * (letter.weights[1] if letter.name.startswith("w") else 1))
            axes[letter.name] = axis
            weights_start += letter.weights_start * step
            if letter.name.startswith("p"):
                assert letter.image is not None and letter.out is not None
                at = letter.image[0]
                image_start += (letter.image_start - lows[at]) * image_strides[at]
                if not self.are_phases_apart:
                    out_start += letter.out_start * out_strides[letter.out[0]]
                for number, strides in enumerate(self.problem.beside):
                    beside[number] += letter.out_start * strides[letter.out[0]]
        return axes, (image_start, weights_start, out_start), tuple(beside)
