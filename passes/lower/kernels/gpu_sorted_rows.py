"""The code of the kernels of `gpu_sorting.py`: a workgroup that sorts, a thread that merges or takes.

Input: arrays of one axis, in which rows of `size` elements lie one behind the other; `size` is a number of
the kernel where it is not known. Output: ops at the ambient insertion point.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type
from .builder import (
    Array,
    Number,
    Place,
    carried,
    ceil_divided,
    choose,
    index,
    least,
    loop,
    of_workgroup,
    when,
)
from .executable import barrier, thread_id, workgroup_id
from .sorting import Ordering


@dataclass(frozen=True, slots=True)
class Ends:
    """The arrays of the first `kept` elements of each row, and of their places where these are asked for."""

    source: Array
    size: Place
    targets: Sequence[Array]
    kept: Place

    def put(self, row: Place, at: Place, place: Number) -> None:
        """The element that was at `place`, at the place `at`, which is one of the kept."""
        first, *order = self.targets
        to = index(row) * self.kept + at
        first[to] = self.source[index(row) * self.size + place.as_index()]
        for array in order:
            array[to] = place


@dataclass(frozen=True, slots=True)
class Between:
    """The arrays of all keys and their places, from `start` on."""

    keys: Array
    places: Array
    size: Place
    start: Place = 0

    def put(self, row: Place, at: Place, key: Number, place: Number) -> None:
        """A key and its place, at the place `at` of the row."""
        to = index(row) * self.size + at + self.start
        self.keys[to] = key
        self.places[to] = place

    def key(self, row: Place, at: Place) -> Number:
        """The key at a place of a row."""
        return self.keys[index(row) * self.size + at + self.start]

    def place(self, row: Place, at: Place) -> Number:
        """Where the element of that key was."""
        return self.places[index(row) * self.size + at + self.start]


@dataclass(frozen=True, slots=True)
class Part:
    """The code of a workgroup that sorts `most` elements of a row, a power of two, or a shorter row."""

    how: Ordering
    key_type: Type
    most: int
    threads: int
    source: Array
    size: Place

    def run(self, to: Ends | Between) -> None:
        """Sort the part of this workgroup; `Ends` are of rows of one part."""
        number, own = Number(workgroup_id()), Number(thread_id())
        parts = ceil_divided(self.size, self.most)
        row, start = number // parts, number % parts * self.most
        bits = self._bits()
        length = index(1 << bits) if isinstance(bits, int) else index(1) << bits
        keys, places = of_workgroup(self.most, self.key_type), of_workgroup(self.most, _i32())
        with loop(own, length, self.threads) as at:
            self._read(row, start + at, keys, places, at)
        with loop(1, bits + 1) as stage, loop(0, stage) as step:
            barrier()
            with loop(own, length >> 1, self.threads) as pair:
                _exchange(keys, places, pair, stage, stage - 1 - step)
        barrier()
        with loop(own, length, self.threads) as at:
            if isinstance(to, Ends):
                with when(start + at < to.kept):
                    to.put(row, start + at, places[at])
            else:
                with when(start + at < self.size):
                    to.put(row, start + at, keys[at], places[at])

    def _bits(self) -> Place:
        """The logarithm of the least power of two that a row, or a whole part, fits in."""
        most = self.most.bit_length() - 1
        if isinstance(self.size, int):
            return min((self.size - 1).bit_length(), most)
        bits = index(0)
        for lower in range(most):
            bits = bits + choose(self.size > (1 << lower), index(1), 0)
        return bits

    def _read(self, row: Number, at: Number, keys: Array, places: Array, to: Number) -> None:
        """An element; behind the row's end one that comes last."""
        element = self.source[row * self.size + least(at, self.size - 1)]
        greatest = (1 << mlir.ir.IntegerType(self.key_type).width - 1) - 1
        keys[to] = choose(at < self.size, Number(self.how.key(element.value)), greatest)
        places[to] = at.as_integer(_i32())


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
class Merge:
    """The code of a thread that puts one element in its place among two sorted neighbours of `2 ** bits`."""

    bits: Place
    size: Place
    source: Between

    def run(self, count: Place, to: Ends | Between, threads: int) -> None:
        """Of `count` elements the one of the thread's number."""
        number = Number(workgroup_id()) * threads + Number(thread_id())
        with when(number < count):
            row, at = number // self.size, number % self.size
            place, target = self.source.place(row, at), self._place(row, at)
            if isinstance(to, Between):
                to.put(row, target, self.source.key(row, at), place)
            else:
                with when(target < to.kept):
                    to.put(row, target, place)

    def _place(self, row: Number, at: Number) -> Number:
        length, twice = index(1) << self.bits, index(1) << (self.bits + 1)
        start = at & (0 - twice)
        is_right = at - start >= length
        other = choose(is_right, start, (start + length).least(self.size))
        end = choose(is_right, start + length, (start + twice).least(self.size))
        own = choose(is_right, at - start - length, at - start)
        key = self.source.key(row, at)

        def halve(_: Number, low: Number, high: Number) -> Sequence[Number]:
            is_open = low < high
            middle = choose(is_open, (low + high) >> 1, at)
            there = self.source.key(row, middle)
            # Of equal elements those of the left part come first.
            is_before = (there < key) | (is_right & there.equals(key))
            return [
                choose(is_open & is_before, middle + 1, low),
                choose(is_open & is_before.equals(False), middle, high),
            ]

        low, _ = carried(0, self.bits + 1, [other, end], halve)
        return start + own + (low - other)


def _i32() -> Type:
    return mlir.ir.IntegerType.get_signless(32)
