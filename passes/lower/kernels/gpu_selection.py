"""The kernels of NVIDIA's GPUs that find the first elements of rows in an order: arguments of extrema, top_k.

Input: an array `[before, size, behind]`, and how an element becomes a signed integer (`key`). Output: for
each row the places of the elements of the greatest keys, in falling order; of equal keys the first place.
Idea: each search is one scan over the row for the greatest key below the last one found. A workgroup shares a
row, or each thread has one. Parts of rows that are too long for one workgroup are searched apart, and what is
found there once more (`tuning/gpu_rows.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from ..tuning.gpu_rows import Division, in_one_part
from .builder import Array, Number, carried, choose, constant, index, of_workgroup, when
from .executable import Kernel, Kernels, Result, barrier, thread_id, workgroup_id

NONE: Final = (1 << 31) - 1  # the place of no element


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for: the `count` greatest keys, of the integer type `key_type`.

    Equal names have equal keys.
    """

    name: str
    key: Callable[[Value], Value]
    key_type: Type
    count: int = 1


def first_places(kernels: Kernels, x: Value, how: Search, division: Division, place: Type) -> Value:
    """The places `[before, count, behind]` of what is found, of the integer type `place`."""
    return _searched(kernels, x, how, division, place, has_values=False)[0]


def first_elements(kernels: Kernels, x: Value, how: Search, division: Division) -> tuple[Value, Value]:
    """The elements that are found, and their places of 32 bits."""
    places, values = _searched(kernels, x, how, division, _i32(), has_values=True)
    return values, places


def _searched(
    kernels: Kernels, x: Value, how: Search, division: Division, place: Type, *, has_values: bool
) -> tuple[Value, ...]:
    before, _, behind = mlir.ir.RankedTensorType(x.type).shape
    found: tuple[Value, ...] = ()
    if division.parts > 1:
        kept = mlir.ir.RankedTensorType.get([before, division.parts * how.count, behind], _i32())
        found = (_call(kernels, "search", [x], how, division, [kept])[0],)
        division = in_one_part(kept.shape[1], is_shared=division.is_shared)
    shape = [before, how.count, behind]
    element = mlir.ir.RankedTensorType(x.type).element_type
    types = [mlir.ir.RankedTensorType.get(shape, each) for each in (place, element)[: 1 + has_values]]
    return _call(kernels, "select_first", [x, *found], how, division, types)


def _call(
    kernels: Kernels,
    name: str,
    operands: Sequence[Value],
    how: Search,
    division: Division,
    types: Sequence[Type],
) -> tuple[Value, ...]:
    before, size, behind = mlir.ir.RankedTensorType(operands[-1].type).shape
    count = before * division.parts * (1 if division.is_shared else behind)
    groups = count if division.is_shared else -(-count // division.threads)

    def emit(memrefs: Sequence[Value], written: Sequence[Value]) -> None:
        source, *found = map(Array, memrefs)
        _Selection(how, division, size, source, [Array(w) for w in written], *found).run(count)

    key = (how.name, how.count, division)
    kernel = Kernel(
        name, tuple(map(Result, types)), emit, key=key, workgroups=(groups,), threads=division.threads
    )
    return kernels.call(kernel, operands)


@dataclass(frozen=True, slots=True)
class _Found:
    """A key and the place (i32) of its element."""

    key: Number
    place: Number

    def comes_before(self, other: _Found) -> Number:
        """Whether this one is found first."""
        return (self.key > other.key) | (self.key.equals(other.key) & (self.place < other.place))

    def better(self, other: _Found, allowed: Number | None = None) -> _Found:
        """The first one of the two; `other` only where it is allowed."""
        wins = other.comes_before(self)
        wins = wins if allowed is None else wins & allowed
        return _Found(choose(wins, other.key, self.key), choose(wins, other.place, self.place))

    @property
    def numbers(self) -> list[Number]:
        return [self.key, self.place]


@dataclass(frozen=True, slots=True)
class _Selection:
    """The code of a thread; `size` entries of a row are searched, which are those `found` before, if any."""

    how: Search
    division: Division
    size: int
    source: Array
    targets: Sequence[Array]
    found: Array | None = None

    def run(self, count: int) -> None:
        """Search the part of a row that the thread has, or its workgroup, of `count` parts of all rows."""
        number, parts = Number(workgroup_id()), self.division.parts
        if self.division.is_shared:
            self._run_shared(number // parts, number % parts)
            return
        behind = self.source.type.shape[2]
        number = number * self.division.threads + Number(thread_id())
        with when(number < count):
            rest = number // behind
            self._run_alone(rest // parts, rest % parts, number % behind)

    def _run_alone(self, row: Number, part: Number, column: Number) -> None:
        """The first element of all: a thread that is alone searches for no more."""
        start, end = self._range(part)
        best = _Found(*carried(start, end, self._none().numbers, self._step(row, column)))
        self._write(row, part, column, best.place)

    def _run_shared(self, row: Number, part: Number) -> None:
        own, (start, end), threads = Number(thread_id()), self._range(part), self.division.threads
        column = index(0)
        keys, places = of_workgroup(threads, self.how.key_type), of_workgroup(threads, _i32())

        def search(step: Number, *last: Number) -> Sequence[Number]:
            above = _Found(*last) if self.how.count > 1 else None
            mine = carried(start + own, end, self._none().numbers, self._step(row, column, above), threads)
            best = self._best(own, keys, places, _Found(*mine))
            with when(own.equals(0)):
                self._write(row, part * self.how.count + step, column, best.place)
            return best.numbers

        first = [constant(self.how.key_type, _greatest(self.how.key_type)), constant(_i32(), -1)]
        carried(0, self.how.count, first, search)

    def _best(self, own: Number, keys: Array, places: Array, mine: _Found) -> _Found:
        """The first one of what the threads of the workgroup have found."""
        threads = self.division.threads
        keys[own], places[own] = mine.numbers
        distance = 1 << (threads - 1).bit_length() - 1
        while distance:
            barrier()
            with when((own < distance) & (own + distance < threads)):
                other = _Found(keys[own + distance], places[own + distance])
                keys[own], places[own] = _Found(keys[own], places[own]).better(other).numbers
            distance //= 2
        barrier()
        best = _Found(keys[0], places[0])
        barrier()
        return best

    def _step(
        self, row: Number, column: Number, above: _Found | None = None
    ) -> Callable[..., Sequence[Number]]:
        """One entry, which must not come before `above`."""

        def step(at: Number, *best: Number) -> Sequence[Number]:
            entry = self._entry(row, at, column)
            allowed = None if above is None else above.comes_before(entry)
            return _Found(*best).better(entry, allowed).numbers

        return step

    def _entry(self, row: Number, at: Number, column: Number) -> _Found:
        if self.found is None:
            return _Found(self._key(row, at, column), at.as_integer(_i32()))
        place = self.found[row, at, column]
        is_one = place.differs(NONE)
        key = self._key(row, choose(is_one, place, 0).as_index(), column)
        return _Found(choose(is_one, key, self._none().key), place)

    def _key(self, row: Number, at: Number, column: Number) -> Number:
        return Number(self.how.key(self.source[row, at, column].value))

    def _write(self, row: Number, at: Number, column: Number, place: Number) -> None:
        places, *values = self.targets
        places[row, at, column] = _as_type(place, places.element)
        for array in values:
            array[row, at, column] = self.source[row, place.as_index(), column]

    def _range(self, part: Number) -> tuple[Number, Number]:
        start = part * self.division.length
        return start, (start + self.division.length).least(self.size)

    def _none(self) -> _Found:
        """What comes behind every element."""
        least = -1 - _greatest(self.how.key_type)
        return _Found(constant(self.how.key_type, least), constant(_i32(), NONE))


def _i32() -> Type:
    return mlir.ir.IntegerType.get_signless(32)


def _greatest(key_type: Type) -> int:
    return int((1 << mlir.ir.IntegerType(key_type).width - 1) - 1)


def _as_type(place: Number, type_: Type) -> Number:
    width = mlir.ir.IntegerType(type_).width
    if width == 32:
        return place
    return Number((mlir.arith.extsi if width > 32 else mlir.arith.trunci)(type_, place.value))
