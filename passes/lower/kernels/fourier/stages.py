"""A Fourier transform of vectors: each element of the transform is a vector of independent lanes.

Input: a function that reads the complex vector of a place, and scratch. Output: calls of a function that
writes the complex vector of a place of the spectrum, in natural order.
Idea: Stockham's algorithm: step by step, each of a radix, from one half of the scratch to the other. The
first step reads the input itself and the last one writes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, pi, sin, sqrt
from typing import TypeAlias

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ..builder import Array, Number, Place, broadcast, index, loop

Parts: TypeAlias = "tuple[Number, Number]"
"""The real and the imaginary part of a complex number or vector."""
Read: TypeAlias = Callable[[Place], Parts]
Write: TypeAlias = Callable[[Place, Parts], None]


@dataclass(frozen=True, slots=True)
class Stages:
    """The steps of transforms of one size, of `width` lanes.

    `table` has the roots of the steps (`plans.stage_roots`) from `offset` on; `work` is scratch
    `[2, size, 2 * width]` or a longer one, whose leading places are `lead`.
    """

    size: int
    radices: tuple[int, ...]
    width: int
    is_fused: bool
    table: Array
    offset: int
    work: Array
    lead: tuple[Place, ...]

    def run(self, read: Read, write: Write, first: int = 0) -> None:
        """The transform; the first step writes half `first` of the scratch, the next one the other."""
        rest, done, offset = self.size, 1, self.offset
        last = len(self.radices) - 1
        if last < 0:
            write(0, read(0))
            return
        for number, radix in enumerate(self.radices):
            source = read if number == 0 else self.reader((number + 1 + first) % 2)
            target = write if number == last else self.writer((number + first) % 2)
            self._step(radix, rest // radix, done, offset, source, target)
            offset += 2 * (rest // radix) * (radix - 1)
            rest, done = rest // radix, done * radix

    def _step(self, radix: int, count: int, done: int, offset: int, read: Read, write: Write) -> None:
        """From `[radix, count, done]` to `[count, radix, done]`: a butterfly, then the roots."""

        def at(place: Place, turns: Sequence[Parts], inner: Place) -> None:
            given = [read(index(place) * done + (index(inner) + done * count * j)) for j in range(radix)]
            results = self.butterfly(given)
            for j, result in enumerate(results):
                turned = self.times(result, turns[j - 1]) if turns and j else result
                write(index(place) * (done * radix) + (index(inner) + done * j), turned)

        def each(place: Place, turns: Sequence[Parts]) -> None:
            if done == 1:
                at(place, turns, 0)
                return
            with loop(0, done) as inner:
                at(place, turns, inner)

        if count == 1:
            each(0, [])
            return
        with loop(0, count) as place:
            first = place * (2 * (radix - 1)) + offset
            each(place, [self.root(first + 2 * j) for j in range(radix - 1)])

    @property
    def last_half(self) -> int:
        """The half that the last step writes, if it writes scratch."""
        return (len(self.radices) - 1) % 2

    def reader(self, half: int) -> Read:
        """Read the places of a half of the scratch."""

        def read(place: Place) -> Parts:
            at = (*self.lead, half, place)
            return self.work.vector(self.width, *at, 0), self.work.vector(self.width, *at, self.width)

        return read

    def writer(self, half: int) -> Write:
        """Write the places of a half of the scratch."""

        def write(place: Place, parts: Parts) -> None:
            for number, part in enumerate(parts):
                self.work[(*self.lead, half, place, number * self.width)] = part

        return write

    def filled(self, number: Number) -> Number:
        """A number for all lanes."""
        return broadcast(number, mlir.ir.VectorType.get([self.width], self.table.element))

    def root(self, place: Place) -> Parts:
        """A root of the table, for all lanes."""
        first = index(place)
        return self.filled(self.table[first]), self.filled(self.table[first + 1])

    def times(self, x: Parts, y: Parts) -> Parts:
        """The complex product."""
        (a, b), (c, d) = x, y
        return self._add_product(-b, d, a * c), self._add_product(b, c, a * d)

    def _add_product(self, x: Number, y: Number, z: Number) -> Number:
        if self.is_fused:
            return Number(mlir.math.fma(x.value, z.lift(y).value, z.value))
        return z + x * y

    def butterfly(self, x: Sequence[Parts]) -> list[Parts]:
        """The transform of a few numbers."""
        if len(x) == 2:
            return [_add(x[0], x[1]), _sub(x[0], x[1])]
        if len(x) == 4:
            return _of_four(x)
        if len(x) == 8:
            return _of_eight(x)
        return self._of_odd(x)

    def _of_odd(self, x: Sequence[Parts]) -> list[Parts]:
        """Of an odd number: sums and differences of the numbers that lie opposite each other."""
        n, half = len(x), len(x) // 2
        sums = [_add(x[k], x[n - k]) for k in range(1, half + 1)]
        differences = [_sub(x[k], x[n - k]) for k in range(1, half + 1)]
        whole = x[0]
        for number in sums:
            whole = _add(whole, number)
        results: list[Parts] = [whole] * n
        for k in range(1, half + 1):
            re, im = x[0]
            turned: Parts = (re, im)
            for j in range(1, half + 1):
                angle = 2 * pi * (j * k % n) / n
                c, s = (re.lift(f(angle)) for f in (cos, sin))
                re, im = (self._add_product(a, c, z) for a, z in zip(sums[j - 1], (re, im), strict=True))
                a, b = differences[j - 1]
                if j == 1:
                    turned = a * s, b * s
                else:
                    turned = self._add_product(a, s, turned[0]), self._add_product(b, s, turned[1])
            back: Parts = (turned[1], -turned[0])  # -i times the sum of the differences
            results[k], results[n - k] = _add((re, im), back), _sub((re, im), back)
        return results


def _add(x: Parts, y: Parts) -> Parts:
    return x[0] + y[0], x[1] + y[1]


def _sub(x: Parts, y: Parts) -> Parts:
    return x[0] - y[0], x[1] - y[1]


def _add_turned(x: Parts, y: Parts) -> Parts:
    """``x - i y``."""
    return x[0] + y[1], x[1] - y[0]


def _sub_turned(x: Parts, y: Parts) -> Parts:
    """``x + i y``."""
    return x[0] - y[1], x[1] + y[0]


def _of_four(x: Sequence[Parts]) -> list[Parts]:
    even, odd = (_add(x[0], x[2]), _sub(x[0], x[2])), (_add(x[1], x[3]), _sub(x[1], x[3]))
    return [
        _add(even[0], odd[0]),
        _add_turned(even[1], odd[1]),
        _sub(even[0], odd[0]),
        _sub_turned(even[1], odd[1]),
    ]


def _of_eight(x: Sequence[Parts]) -> list[Parts]:
    even, odd = _of_four(x[::2]), _of_four(x[1::2])
    re, im = odd[1]
    one: Parts = ((re + im) * sqrt(0.5), (im - re) * sqrt(0.5))
    re, im = odd[3]
    three: Parts = ((re + im) * sqrt(0.5), (im - re) * sqrt(0.5))  # i times its product with the root
    return [
        _add(even[0], odd[0]),
        _add(even[1], one),
        _add_turned(even[2], odd[2]),
        _add_turned(even[3], three),
        _sub(even[0], odd[0]),
        _sub(even[1], one),
        _sub_turned(even[2], odd[2]),
        _sub_turned(even[3], three),
    ]
