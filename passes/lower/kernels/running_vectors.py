"""The kernel of CPUs that computes running values: sums, products and extrema along an axis.

Input: an array `[before, size, behind]`, as rows of `size * behind` elements, and how elements are combined.
Output: the running values.
Idea: where many elements lie behind the axis, each vector of them keeps its own running values. Where few do,
a vector holds several steps along the axis: they are combined over distances that double (Hillis and Steele,
Data parallel algorithms, 1986), then with what the vectors before come to, so that one op waits for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Value
from .builder import Array, Number, Place, broadcast, carried, choose, constant, index, when
from .executable import Kernel, Kernels, Result, Size, workgroup_id
from .partial_vectors import first_of, load_some, store_some

TOGETHER: Final = 4
"""Vectors side by side, so that sums need not wait for each other."""


@dataclass(frozen=True, slots=True)
class Running:
    """How elements are combined, in which direction; equal names have equal rules.

    `combine` takes scalars and vectors; with `neutral` it changes nothing. `lanes`: elements of a vector.
    """

    name: str
    combine: Callable[[Number, Number], Number]
    neutral: float
    reverse: bool
    lanes: int


def running_values(
    kernels: Kernels, rows: Value, sizes: tuple[Size, Size], behind: int, how: Running
) -> Value:
    """The running values of `rows`, a tensor `[before, size * behind]` of `sizes`; `behind` is 1 or more."""
    tensor = mlir.ir.RankedTensorType(rows.type)
    dynamic = tuple(n for n in sizes if not isinstance(n, int))
    panels = max(behind // (how.lanes * TOGETHER), 1)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        row = _Row(how, behind, Array(operands[0]), Array(written[0]), Number(workgroup_id(0)))
        if behind < how.lanes:
            row.run_by_steps()
        else:
            row.run_by_columns(Number(workgroup_id(1)), panels)

    key = (how.name, how.reverse, how.lanes, behind)
    kernel = Kernel("running", (Result(tensor, dynamic),), emit, key, workgroups=(sizes[0], panels))
    return kernels.call(kernel, [rows], sizes=lambda _: sizes)[0]


@dataclass(frozen=True, slots=True)
class _Row:
    """The code of a workgroup, which has one row."""

    how: Running
    behind: int
    source: Array
    target: Array
    row: Number

    @property
    def _length(self) -> Place:
        """Elements of the row."""
        return self.source.size(1)

    # -- many elements behind the axis: vectors of them --

    def run_by_columns(self, panel: Number, panels: int) -> None:
        """A panel of vectors side by side; the last one has the vectors that are left, too."""
        width = self.how.lanes * TOGETHER
        left = self.behind - (panels - 1) * width
        if left == width:
            self._run_panel(panel * width, TOGETHER)
            return
        last = panels - 1
        if last:
            with when(panel < last):
                self._run_panel(panel * width, TOGETHER)
        with when(panel.equals(last)):
            self._run_panel(index(last * width), -(-left // self.how.lanes))

    def _run_panel(self, first: Number, count: int) -> None:
        """Vectors from a column on; the last ones may overlap, and write the same twice."""
        lanes, behind = self.how.lanes, self.behind
        columns = [(first + lanes * k).least(behind - lanes) for k in range(count)]

        def step(at: Number, *values: Number) -> Sequence[Number]:
            start = self._from_end(at, behind) if self.how.reverse else at
            places = [start + column for column in columns]
            here = [self.source.vector(lanes, self.row, place) for place in places]
            found = [self.how.combine(value, each) for value, each in zip(values, here, strict=True)]
            for place, value in zip(places, found, strict=True):
                self.target[self.row, place] = value
            return found

        carried(0, self._length, [self._neutral(lanes)] * count, step, behind)

    # -- few elements behind the axis: vectors of several steps --

    def run_by_steps(self) -> None:
        """Whole vectors, then what is left of the row."""
        steps = 1
        while 2 * steps * self.behind <= self.how.lanes:
            steps *= 2
        width = steps * self.behind
        length = self._length
        whole = length // width * width

        def step(at: Number, value: Number) -> Sequence[Number]:
            start = self._from_end(at, width) if self.how.reverse else at
            found, value = self._combined(self.source.vector(width, self.row, start), value, steps)
            self.target[self.row, start] = found
            return [value]

        (value,) = carried(0, whole, [self._neutral(width)], step, width)
        left = length - whole
        if isinstance(left, int) and left == 0:
            return
        start = index(0) if self.how.reverse else index(whole)
        here = load_some(self.source, width, left, self.row, start)
        here = choose(first_of(left, width), here, self._neutral(width))
        found, _ = self._combined(here, value, steps)
        store_some(self.target, found, left, self.row, start)

    def _combined(self, here: Number, value: Number, steps: int) -> tuple[Number, Number]:
        """Running values of some steps behind `value`, which lies in each step of a vector, and those of the
        last step, in each step of a vector."""
        width, behind = steps * self.behind, self.behind
        neutral, distance = self._neutral(width), 1
        while distance < steps:
            reach = distance * behind
            if self.how.reverse:
                order = [*range(reach, width), *range(width, width + reach)]
            else:
                order = [*range(width, width + reach), *range(width - reach)]
            here = self.how.combine(_shuffled(here, neutral, order), here)
            distance *= 2
        last = 0 if self.how.reverse else width - behind
        whole = _shuffled(here, here, [last + k for k in range(behind)] * steps) if steps > 1 else here
        return self.how.combine(value, here), self.how.combine(value, whole)

    # -- places and elements --

    def _from_end(self, at: Number, width: int) -> Number:
        """Where `width` elements begin that are as far from the end as `at` is from the start."""
        return index(self._length) - at - width

    def _neutral(self, width: int) -> Number:
        element = self.source.element
        return broadcast(constant(element, self.how.neutral), mlir.ir.VectorType.get([width], element))


def _shuffled(first: Number, second: Number, order: Sequence[int]) -> Number:
    """The elements of two vectors, in one order."""
    return Number(mlir.vector.shuffle(first.value, second.value, list(order)))
