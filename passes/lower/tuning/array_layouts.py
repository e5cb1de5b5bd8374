"""How an array lies in memory between two kernels of our own: the order of its axes, and zeros around it.

Input: a shape, an order of its axes, and the range of places that is stored along each. Output: strides, and
where the first element is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dialects.dataclass import dataclass

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """A dense box of places with the axes in `order`, outermost first.

    Along axis `a` it has the places `ranges[a][0]` to `ranges[a][1]`, of which 0 to `shape[a]` are those of
    the array, and all others are zero.
    """

    shape: tuple[int, ...]
    order: tuple[int, ...]
    ranges: tuple[Range, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The places along each axis."""
        return tuple(high - low for low, high in self.ranges)

    @property
    def size(self) -> int:
        """All places."""
        size = 1
        for n in self.sizes:
            size *= n
        return size

    @property
    def strides(self) -> tuple[int, ...]:
        """How far apart the elements are along each axis."""
        return dense_strides(self.sizes, self.order)

    @property
    def start(self) -> int:
        """The place of the first element."""
        return -sum(low * stride for (low, _), stride in zip(self.ranges, self.strides, strict=True))

    @property
    def is_plain(self) -> bool:
        """Whether the axes are in their own order, with nothing around."""
        return self == plain(self.shape)

    @property
    def is_padded(self) -> bool:
        """Whether there are zeros around the array."""
        return any(low < 0 or high > n for (low, high), n in zip(self.ranges, self.shape, strict=True))

    @property
    def around_rows(self) -> Range:
        """How many zeros are before and behind each row along the last axis in order."""
        last = self.order[-1]
        low, high = self.ranges[last]
        return -low, high - self.shape[last]

    def runs_around(self, width: int) -> int:
        """How many stores of up to `width` elements write the zeros around the array."""
        count, rows, inside = 0, 1, self.size
        for a in self.order:
            low, high = self.ranges[a]
            inside //= high - low
            for part in (-low, high - self.shape[a]):
                count += rows * -(-part * inside // width)
            rows *= self.shape[a]
        return count

    def covers(self, ranges: Sequence[Range]) -> bool:
        """Whether all places of `ranges` are stored."""
        return all(
            low <= first and last <= high
            for (low, high), (first, last) in zip(self.ranges, ranges, strict=True)
        )

    def with_all(self) -> Layout:
        """The same where all of the array is stored, also what is outside the ranges now."""
        ranges = tuple(
            (min(low, 0), max(high, n)) for (low, high), n in zip(self.ranges, self.shape, strict=True)
        )
        return replace(self, ranges=ranges)

    def merged(self, first: int, count: int) -> Layout | None:
        """The same with one axis instead of `count` from `first` on, None where these lie otherwise."""
        axes = tuple(range(first, first + count))
        at = self.order.index(first)
        if self.order[at : at + count] != axes or any(self.ranges[a] != (0, self.shape[a]) for a in axes):
            return None
        n = 1
        for a in axes:
            n *= self.shape[a]
        order = (*self.order[: at + 1], *self.order[at + count :])
        return Layout(
            (*self.shape[:first], n, *self.shape[first + count :]),
            tuple(a if a <= first else a - count + 1 for a in order),
            (*self.ranges[:first], (0, n), *self.ranges[first + count :]),
        )


def plain(shape: Sequence[int]) -> Layout:
    """The axes in their own order, with nothing around."""
    return Layout(tuple(shape), tuple(range(len(shape))), tuple((0, n) for n in shape))


def dense_strides(sizes: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """The stride of each axis of an array that lies densely in this order of its axes."""
    strides, far = [0] * len(sizes), 1
    for a in reversed(order):
        strides[a] = far
        far *= sizes[a]
    return tuple(strides)
