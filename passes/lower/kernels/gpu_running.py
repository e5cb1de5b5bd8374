"""The kernels of NVIDIA's GPUs that compute running values: sums, products and extrema along an axis.

Input: an array `[before, size, behind]` and how its elements are combined. Output: the running values.
Idea: rows that are too long for one workgroup are cut into parts (`tuning/gpu_rows.py`). A first kernel
reduces each part to its total; the second begins each part with the totals of those before it. Where a
workgroup shares a row, its threads combine a few elements each, and then find what the threads before them
have by doubling distances in the workgroup's memory (Hillis and Steele, Data parallel algorithms, 1986).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from ..tuning.gpu_rows import ELEMENTS, Division
from .builder import Array, Number, Place, carried, choose, index, of_workgroup, when
from .executable import Kernel, Kernels, Result, barrier, thread_id, workgroup_id


@dataclass(frozen=True, slots=True)
class Running:
    """How elements are combined, in which direction; equal names have equal rules.

    `load` makes of an element what is combined, and `store` an element of that. Combining with `neutral()`
    changes nothing.
    """

    name: str
    combine: Callable[[Value, Value], Value]
    load: Callable[[Value], Value]
    store: Callable[[Value], Value]
    neutral: Callable[[], Value]
    reverse: bool


def running_values(kernels: Kernels, x: Value, how: Running, division: Division, total: Type) -> Value:
    """The running values of `x`, of static sizes; `total` is the type of what is combined."""
    tensor = mlir.ir.RankedTensorType(x.type)
    before, size, behind = tensor.shape
    key = (how.name, how.reverse, division)
    count = before * division.parts * (1 if division.is_shared else behind)
    groups = count if division.is_shared else -(-count // division.threads)
    totals: tuple[Value, ...] = ()
    if division.parts > 1:
        kept = Result(mlir.ir.RankedTensorType.get([before, division.parts, behind], total))

        def emit_totals(operands: Sequence[Value], written: Sequence[Value]) -> None:
            _Part(how, division, size, Array(operands[0]), Array(written[0])).total()

        first = Kernel("totals", (kept,), emit_totals, key, (groups,), threads=division.threads)
        totals = kernels.call(first, [x])

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        earlier = Array(operands[1]) if totals else None
        _Part(how, division, size, Array(operands[0]), Array(written[0]), earlier).run()

    second = Kernel("running", (Result(x.type),), emit, key, (groups,), threads=division.threads)
    return kernels.call(second, [x, *totals])[0]


@dataclass(frozen=True, slots=True)
class _Part:
    """The code of a thread, whose part of a row it has alone or shares with its workgroup."""

    how: Running
    division: Division
    size: int
    source: Array
    target: Array
    totals: Array | None = None

    def run(self) -> None:
        """The running values of the part."""
        self._placed(self._run_shared if self.division.is_shared else self._run_alone)

    def total(self) -> None:
        """What all elements of the part are together."""
        self._placed(self._total_shared if self.division.is_shared else self._total_alone)

    def _placed(self, body: Callable[[Number, Number, Number], None]) -> None:
        """`body` with the place of the part: before the axis, along it, and behind it."""
        number, parts, behind = Number(workgroup_id()), self.division.parts, self.source.size(2)
        if self.division.is_shared:
            body(number // parts, number % parts, index(0))
            return
        number = number * self.division.threads + Number(thread_id())
        assert isinstance(behind, int)
        count = prod((self.source.type.shape[0], parts, behind))
        with when(number < count):
            rest = number // behind
            body(rest // parts, rest % parts, number % behind)

    # -- a thread that has a part alone --

    def _run_alone(self, row: Number, part: Number, column: Number) -> None:
        def step(at: Number, value: Number) -> Sequence[Number]:
            value = self.combined(value, self._element(row, at, column))
            self._write(row, at, column, value)
            return [value]

        carried(*self._range(part), [self._before(row, part, column)], step)

    def _total_alone(self, row: Number, part: Number, column: Number) -> None:
        def step(at: Number, value: Number) -> Sequence[Number]:
            return [self.combined(value, self._element(row, at, column))]

        self.target[row, part, column] = carried(*self._range(part), [self.neutral()], step)[0]

    # -- threads that share a part --

    def _run_shared(self, row: Number, part: Number, column: Number) -> None:
        own, end = Number(thread_id()), self._range(part)[1]
        exchange = _Exchange.of(self, own)

        def tile(start: Number, value: Number) -> Sequence[Number]:
            first = start + own * ELEMENTS
            places = [first + k for k in range(ELEMENTS)]
            values = [self._element_until(row, place, column, end) for place in places]
            for k in range(1, ELEMENTS):
                values[k] = self.combined(values[k - 1], values[k])
            upto, whole = exchange.before(values[-1])
            upto = self.combined(value, upto)
            for place, each in zip(places, values, strict=True):
                with when(place < end):
                    self._write(row, place, column, self.combined(upto, each))
            return [self.combined(value, whole)]

        step = self.division.threads * ELEMENTS
        carried(*self._range(part), [self._before(row, part, column)], tile, step)

    def _total_shared(self, row: Number, part: Number, column: Number) -> None:
        own, (start, end) = Number(thread_id()), self._range(part)
        exchange = _Exchange.of(self, own)

        def step(at: Number, value: Number) -> Sequence[Number]:
            return [self.combined(value, self._element(row, at, column))]

        mine = carried(start + own, end, [self.neutral()], step, self.division.threads)[0]
        whole = exchange.before(mine)[1]
        with when(own.equals(0)):
            self.target[row, part, column] = whole

    # -- places and elements --

    def _range(self, part: Number) -> tuple[Number, Number]:
        start = part * self.division.length
        return start, (start + self.division.length).least(self.size)

    def _before(self, row: Number, part: Number, column: Number) -> Number:
        """What the parts before this one are together."""
        totals = self.totals
        if totals is None:
            return self.neutral()

        def step(at: Number, value: Number) -> Sequence[Number]:
            return [self.combined(value, totals[row, at, column])]

        return carried(0, part, [self.neutral()], step)[0]

    def _along(self, at: Number) -> Place:
        return self.size - 1 - at if self.how.reverse else at

    def _element(self, row: Number, at: Number, column: Number) -> Number:
        return Number(self.how.load(self.source[row, self._along(at), column].value))

    def _element_until(self, row: Number, at: Number, column: Number, end: Number) -> Number:
        """The element at a place before `end`; behind it, what changes nothing."""
        element = self._element(row, at.least(self.size - 1), column)
        return choose(at < end, element, self.neutral())

    def _write(self, row: Number, at: Number, column: Number, value: Number) -> None:
        self.target[row, self._along(at), column] = Number(self.how.store(value.value))

    def combined(self, earlier: Number, here: Number) -> Number:
        return Number(self.how.combine(earlier.value, here.value))

    def neutral(self) -> Number:
        return Number(self.how.neutral())


@dataclass(frozen=True, slots=True)
class _Exchange:
    """Memory of the workgroup by which its threads see each other's values.

    Two arrays of twice as many places as there are threads: each step reads one and writes the other. Before
    the first thread's place lies what changes nothing.
    """

    part: _Part
    own: Number
    arrays: tuple[Array, Array]

    @staticmethod
    def of(part: _Part, own: Number) -> _Exchange:
        threads = part.division.threads
        neutral = part.neutral()
        arrays = (of_workgroup(2 * threads, neutral.type), of_workgroup(2 * threads, neutral.type))
        for array in arrays:
            array[own] = neutral
        return _Exchange(part, own, arrays)

    def before(self, mine: Number) -> tuple[Number, Number]:
        """What the values of the threads before this one are together, and those of all threads."""
        threads = self.part.division.threads
        here, there = self.arrays
        here[self.own + threads] = mine
        barrier()
        distance = 1
        while distance < threads:
            mine = self.part.combined(here[self.own + (threads - distance)], mine)
            there[self.own + threads] = mine
            barrier()
            here, there = there, here
            distance *= 2
        found = here[self.own + (threads - 1)], here[2 * threads - 1]
        barrier()
        return found
