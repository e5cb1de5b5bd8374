"""The kernels of NVIDIA's GPUs that sort rows, stably, with the places that elements come from.

Input: rows `[count, size]` and how an element becomes a signed integer (`key`). Output: each row's elements
in rising order of keys, and where they were.
Idea: a workgroup sorts what fits in its memory by a bitonic network (Batcher, Sorting networks and their
applications, 1968); of equal keys the one of the smaller place comes first, so that the sort is stable. Parts
of longer rows are sorted apart, and merged in pairs: the place of an element is its own in its part, and the
number of elements of the other part before it, by a binary search. Each pass is one kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Type, Value
from ..tuning.gpu_rows import MOST_SORTING, WARP, sorted_at_once
from .builder import Array, Number, carried, choose, index, loop, of_workgroup, when
from .executable import Kernel, Kernels, Result, barrier, thread_id, workgroup_id
from .sorting import Ordering

MERGING: Final = 256  # threads of a workgroup that merges


def sort_rows_on_gpu(
    kernels: Kernels, x: Value, how: Ordering, key_type: Type, kept: int, *, has_order: bool
) -> tuple[Value, Value | None]:
    """The first `kept` elements of each row in order; with `has_order` the places (i32) they come from."""
    tensor = mlir.ir.RankedTensorType(x.type)
    count, size = tensor.shape
    length = sorted_at_once(size, mlir.ir.IntegerType(key_type).width // 8)
    ends = [_matrix(count, kept, each) for each in (tensor.element_type, _i32())[: 1 + has_order]]
    between = [_matrix(count, size, each) for each in (key_type, _i32())]
    is_whole = length >= size
    state = _sorted_parts(kernels, x, how, key_type, length, ends if is_whole else between)
    while length < size:
        is_last = 2 * length >= size
        state = _merged(kernels, x, state, length, ends if is_last else between, is_last=is_last)
        length *= 2
    return state[0], state[1] if has_order else None


def _sorted_parts(
    kernels: Kernels, x: Value, how: Ordering, key_type: Type, length: int, types: Sequence[Type]
) -> tuple[Value, ...]:
    """Parts of `length` elements sorted: elements where a row is one part, else keys; their places."""
    count, size = mlir.ir.RankedTensorType(x.type).shape
    parts = -(-size // length)
    threads = min(max(length // 2, WARP), MOST_SORTING)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        part = _Part(how, key_type, length, threads, Array(operands[0]), [Array(w) for w in written])
        part.run(parts)

    kernel = Kernel(
        "sort_part",
        tuple(map(Result, types)),
        emit,
        key=(how.name, length),
        workgroups=(count * parts,),
        threads=threads,
    )
    return kernels.call(kernel, [x])


def _merged(
    kernels: Kernels, x: Value, state: Sequence[Value], length: int, types: Sequence[Type], *, is_last: bool
) -> tuple[Value, ...]:
    """Neighbours of `length` sorted elements merged, given by keys and places."""
    count, size = mlir.ir.RankedTensorType(x.type).shape

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        source, keys, places = map(Array, operands)
        _Merge(length, source, keys, places, [Array(w) for w in written], is_last).run(count * size)

    groups = -(-count * size // MERGING)
    kernel = Kernel(
        "merge",
        tuple(map(Result, types)),
        emit,
        key=(length, is_last),
        workgroups=(groups,),
        threads=MERGING,
    )
    return kernels.call(kernel, [x, *state])


@dataclass(frozen=True, slots=True)
class _Part:
    """The code of a workgroup that sorts `length` elements of a row, a power of two."""

    how: Ordering
    key_type: Type
    length: int
    threads: int
    source: Array
    targets: Sequence[Array]

    def run(self, parts: int) -> None:
        """Sort the part of this workgroup: of `parts` parts a row the one of its number."""
        number, own = Number(workgroup_id()), Number(thread_id())
        row, start = number // parts, number % parts * self.length
        keys, places = of_workgroup(self.length, self.key_type), of_workgroup(self.length, _i32())
        with loop(own, self.length, self.threads) as at:
            self._read(row, start + at, keys, places, at)
        with loop(1, self.length.bit_length()) as stage, loop(0, stage) as step:
            barrier()
            with loop(own, self.length // 2, self.threads) as pair:
                _exchange(keys, places, pair, stage, stage - 1 - step)
        barrier()
        kept = self.targets[0].type.shape[1]
        with loop(own, self.length, self.threads) as at, when(start + at < kept):
            self._write(row, start + at, keys[at], places[at], is_whole=parts == 1)

    @property
    def _size(self) -> int:
        return int(self.source.type.shape[1])

    def _read(self, row: Number, at: Number, keys: Array, places: Array, to: Number) -> None:
        """An element; behind the row's end one that comes last."""
        element = self.source[row, at.least(self._size - 1)]
        greatest = (1 << mlir.ir.IntegerType(self.key_type).width - 1) - 1
        keys[to] = choose(at < self._size, Number(self.how.key(element.value)), greatest)
        places[to] = at.as_integer(_i32())

    def _write(self, row: Number, at: Number, key: Number, place: Number, *, is_whole: bool) -> None:
        first, *order = self.targets
        first[row, at] = self.source[row, place.as_index()] if is_whole else key
        for array in order:
            array[row, at] = place


def _exchange(keys: Array, places: Array, pair: Number, stage: Number, bit: Number) -> None:
    """Put two elements in order whose places differ in one bit: rising or falling, by bit `stage`."""
    distance = index(1) << bit
    low = ((pair >> bit) << (bit + 1)) + (pair & (distance - 1))
    high = low + distance
    rises = ((low >> stage) & 1).equals(0)
    key, other, place, further = keys[low], keys[high], places[low], places[high]
    is_greater = (key > other) | (key.equals(other) & (place > further))
    with when(is_greater.equals(rises)):
        keys[low], keys[high] = other, key
        places[low], places[high] = further, place


@dataclass(frozen=True, slots=True)
class _Merge:
    """The code of a thread that puts one element in its place among two sorted neighbours."""

    length: int
    source: Array
    keys: Array
    places: Array
    targets: Sequence[Array]
    is_last: bool

    def run(self, count: int) -> None:
        """Of `count` elements the one of the thread's number."""
        number, size = Number(workgroup_id()) * MERGING + Number(thread_id()), self.source.type.shape[1]
        with when(number < count):
            row, at = number // size, number % size
            self._put(row, at, self._place(row, at, size))

    def _place(self, row: Number, at: Number, size: int) -> Number:
        length = self.length
        start = at // (2 * length) * (2 * length)
        is_right = at - start >= length
        other = choose(is_right, start, (start + length).least(size))
        end = choose(is_right, start + length, (start + 2 * length).least(size))
        own = choose(is_right, at - start - length, at - start)
        key = self.keys[row, at]

        def halve(_: Number, low: Number, high: Number) -> Sequence[Number]:
            is_open = low < high
            middle = choose(is_open, (low + high) >> 1, at)
            there = self.keys[row, middle]
            # Of equal elements those of the left part come first.
            is_before = (there < key) | (is_right & there.equals(key))
            return [
                choose(is_open & is_before, middle + 1, low),
                choose(is_open & is_before.equals(False), middle, high),
            ]

        low, _ = carried(0, length.bit_length(), [other, end], halve)
        return start + own + (low - other)

    def _put(self, row: Number, at: Number, to: Number) -> None:
        first, *order = self.targets
        with when(to < first.type.shape[1]):
            place = self.places[row, at]
            first[row, to] = self.source[row, place.as_index()] if self.is_last else self.keys[row, at]
            for array in order:
                array[row, to] = place


def _matrix(count: int, size: int, element: Type) -> Type:
    return mlir.ir.RankedTensorType.get([count, size], element)


def _i32() -> Type:
    return mlir.ir.IntegerType.get_signless(32)
