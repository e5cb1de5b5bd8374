"""The kernels of NVIDIA's GPUs that sort rows, stably, with the places that elements come from.

Input: rows, one behind the other, and how an element becomes a signed integer (`key`). Output: each row's
elements in rising order of keys, and where they were. The code of the kernels is in `gpu_sorted_rows.py`.
Idea: a workgroup sorts what fits in its memory by a bitonic network (Batcher, Sorting networks and their
applications, 1968); of equal keys the one of the smaller place comes first, so that the sort is stable. Parts
of longer rows are sorted apart, and merged in pairs: the place of an element is its own in its part, and the
number of elements of the other part before it, by a binary search. Each pass is one kernel. For rows of
unknown length there are as many passes as the longest row needs, from one half of an array to the other; one
that the rows are too short for has no workgroups, and is not launched.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeAlias

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from ..tuning.gpu_facts import WARP
from ..tuning.gpu_rows import MOST_SORTING, most_sorted_at_once, sorted_at_once
from .builder import Array, Number, Place, ceil_divided, choose, index, product, when
from .executable import Kernel, Kernels, Result, Size, thread_id, workgroup_id
from .gpu_sorted_rows import Between, Ends, Merge, Part
from .sorting import Ordering, Rows

MERGING: Final = 256  # threads of a workgroup that merges
PLACE_BITS: Final = 31  # of the place of an element


def sort_rows_on_gpu(
    kernels: Kernels, rows: Rows, how: Ordering, key_type: Type, kept: int | None, *, has_order: bool
) -> tuple[Value, Value | None]:
    """The first `kept` elements of each row in order (None: all); with `has_order` their places (i32).

    The tensor of `rows` and the results have one axis, with one row behind the other.
    """
    count, size = map(_place, rows.sizes)
    total = product([count, size])
    array = total if isinstance(size, int) else total * 2
    sort = _Sort(kernels, rows, how, key_type, kept, has_order, count, size, total, array)
    first, *order = sort.of_known_length() if isinstance(size, int) else sort.of_any_length()
    return first, order[0] if order else None


@dataclass(frozen=True, slots=True)
class _Sort:
    """The calls of the kernels of one sort: `total` is what all rows have, `array` what is kept of them."""

    kernels: Kernels
    rows: Rows
    how: Ordering
    key_type: Type
    kept: int | None
    has_order: bool
    count: Place
    size: Place
    total: Place
    array: Place

    def of_known_length(self) -> Sequence[Value]:
        """Each pass has results of its own; rows that one workgroup sorts need one pass."""
        size = self.size
        assert isinstance(size, int)
        length = sorted_at_once(size, self._key_bytes)
        state = self._sorted_parts(length, is_whole=length >= size)
        while length < size:
            state = self._merged(state, length, is_last=2 * length >= size)
            length *= 2
        return state

    def of_any_length(self) -> Sequence[Value]:
        """All passes that there may be, between the halves of an array of keys and one of places."""
        length = most_sorted_at_once(self._key_bytes)
        state = self._sorted_parts(length, is_whole=False)
        passes = index(0)
        for bits in range(length.bit_length() - 1, PLACE_BITS):
            is_needed = index(self.size) > (1 << bits)
            state = self._merged_in_place(state, bits, passes, is_needed)
            passes = passes + choose(is_needed, index(1), 0)
        return self._taken(state[1], passes)

    # -- passes --

    def _sorted_parts(self, length: int, *, is_whole: bool) -> Sequence[Value]:
        """Parts of `length` elements sorted: elements where a row is one part, else keys; their places."""
        threads = min(max(length // 2, WARP), MOST_SORTING)

        def emit(arrays: Sequence[Array], written: Sequence[Array], _: Sequence[Number], size: Place) -> None:
            (source,) = arrays
            part = Part(self.how, self.key_type, length, threads, source, size)
            part.run(self._to_ends(source, written, size) if is_whole else _between(written, size))

        groups = product([self.count, ceil_divided(self.size, length)])
        results = self._ends() if is_whole else self._between()
        return self._call(_Pass("sort_part", results, emit, groups, threads, (length, is_whole)), [], [])

    def _merged(self, state: Sequence[Value], length: int, *, is_last: bool) -> Sequence[Value]:
        """Neighbours of `length` sorted elements merged, given by keys and places."""

        def emit(arrays: Sequence[Array], written: Sequence[Array], _: Sequence[Number], size: Place) -> None:
            source, *state = arrays
            merge = Merge(length.bit_length() - 1, size, _between(state, size))
            ends = self._to_ends(source, written, size) if is_last else _between(written, size)
            merge.run(source.size(0), ends, MERGING)

        results, groups = self._ends() if is_last else self._between(), ceil_divided(self.total, MERGING)
        return self._call(_Pass("merge", results, emit, groups, MERGING, (length, is_last)), state, [])

    def _merged_in_place(
        self, state: Sequence[Value], bits: int, passes: Number, is_needed: Number
    ) -> Sequence[Value]:
        """Neighbours of `2 ** bits` elements merged, from one half of the arrays to the other."""

        def emit(
            arrays: Sequence[Array], written: Sequence[Array], numbers: Sequence[Number], size: Place
        ) -> None:
            length, earlier = numbers
            total, half = arrays[0].size(0), earlier & 1
            source, target = (_between(written, size, start * total) for start in (half, 1 - half))
            Merge(length, size, source).run(total, target, MERGING)

        groups = choose(is_needed, index(ceil_divided(self.total, MERGING)), 0)
        results = [
            Result(each.type, each.sizes, position) for position, each in enumerate(self._between(), start=1)
        ]
        return self._call(_Pass("merge_half", results, emit, groups, MERGING), state, [index(bits), passes])

    def _taken(self, places: Value, passes: Number) -> Sequence[Value]:
        """The elements from their places, which are in one half of an array."""

        def emit(
            arrays: Sequence[Array], written: Sequence[Array], numbers: Sequence[Number], size: Place
        ) -> None:
            source, places = arrays
            ends, start = self._to_ends(source, written, size), (numbers[0] & 1) * source.size(0)
            number = Number(workgroup_id()) * MERGING + Number(thread_id())
            with when(number < written[0].size(0)):
                row, at = number // ends.kept, number % ends.kept
                ends.put(row, at, places[start + row * size + at])

        groups = ceil_divided(product([self.count, self._kept]), MERGING)
        return self._call(_Pass("take_sorted", self._ends(), emit, groups, MERGING), [places], [passes])

    # -- calls --

    def _call(self, each: _Pass, state: Sequence[Value], numbers: Sequence[Number]) -> Sequence[Value]:
        """The results of a kernel for the source, the arrays of `state`, numbers, and the size if unknown."""
        size, count = self.size, 1 + len(state)

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            told = [Number(n) for n in operands[count:]]
            within = size if isinstance(size, int) else told.pop()
            each.emit([Array(a) for a in operands[:count]], [Array(w) for w in written], told, within)

        known = size if isinstance(size, int) else None
        key = (self.how.name, str(self.key_type), known, self.kept, each.key)
        kernel = Kernel(
            each.name, tuple(each.results), emit, key, (_size(each.groups),), threads=each.threads
        )
        told = numbers if isinstance(size, int) else [*numbers, size]
        arrays = [self.rows.tensor, *state]
        sizes = {value: _size(self.array if value in state else self.total) for value in arrays}
        return self.kernels.call(
            kernel, [*arrays, *(n.value for n in told)], sizes=lambda value: [sizes[value]]
        )

    def _ends(self) -> list[Result]:
        count = product([self.count, self._kept])
        return [_result(each, count) for each in (self.rows.element, _i32())[: 1 + self.has_order]]

    def _between(self) -> list[Result]:
        return [_result(each, self.array) for each in (self.key_type, _i32())]

    def _to_ends(self, source: Array, written: Sequence[Array], size: Place) -> Ends:
        return Ends(source, size, written, size if self.kept is None else self.kept)

    @property
    def _kept(self) -> Place:
        return self.size if self.kept is None else self.kept

    @property
    def _key_bytes(self) -> int:
        return int(mlir.ir.IntegerType(self.key_type).width) // 8


def _between(arrays: Sequence[Array], size: Place, start: Place = 0) -> Between:
    keys, places = arrays
    return Between(keys, places, size, start)


_Code: TypeAlias = Callable[[Sequence[Array], Sequence[Array], Sequence[Number], Place], None]


@dataclass(frozen=True, slots=True)
class _Pass:
    """A kernel of a sort; `emit` gets the arrays, those of the results, numbers, and the length of a row."""

    name: str
    results: Sequence[Result]
    emit: _Code
    groups: Place
    threads: int
    key: Hashable = ()


def _result(element: Type, count: Place) -> Result:
    if isinstance(count, int):
        return Result(mlir.ir.RankedTensorType.get([count], element))
    dynamic = mlir.ir.ShapedType.get_dynamic_size()
    return Result(mlir.ir.RankedTensorType.get([dynamic], element), (count.value,))


def _place(size: Size) -> Place:
    return size if isinstance(size, int) else Number(size)


def _size(place: Place) -> Size:
    return place if isinstance(place, int) else place.value


def _i32() -> Type:
    return mlir.ir.IntegerType.get_signless(32)
