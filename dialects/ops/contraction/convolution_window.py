"""How a window moves over an image: strides, padding and dilations, and the sizes that follow."""

from __future__ import annotations

from math import gcd
from typing import NamedTuple, TypeVar

from ...op import Record, integer, ints, pairs, stated
from ...symbolic_sizes import NamedSize, maximum, quotient

Layout = tuple[int, ...]
S = TypeVar("S", int, int | NamedSize)


class Convolution(Record):
    """The attributes of `conv_general`."""

    window_strides: tuple[int, ...] = stated(ints("step of the window along each spatial axis"))
    padding: tuple[tuple[int, int], ...] = stated(
        pairs("zeros before and after each spatial axis; negative numbers crop")
    )
    lhs_dilation: tuple[int, ...] = stated(ints("distance between neighbours of the image"))
    rhs_dilation: tuple[int, ...] = stated(ints("distance between neighbours of the kernel"))
    lhs_spec: Layout = stated(ints("axes of the image: batch, feature, spatial"))
    rhs_spec: Layout = stated(ints("axes of the kernel: output feature, input feature, spatial"))
    out_spec: Layout = stated(ints("axes of the result: batch, feature, spatial"))
    feature_group_count: int = stated(integer("groups that features are split into"))
    batch_group_count: int = stated(integer("groups that the batch is split into"))

    @property
    def window(self) -> Window:
        """How the window moves."""
        return Window(self.window_strides, self.padding, self.lhs_dilation, self.rhs_dilation)

    @property
    def group_count(self) -> int:
        """Groups of either kind."""
        return self.feature_group_count * self.batch_group_count


class Window(NamedTuple):
    """How the window moves: one entry for each spatial axis."""

    window_strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: tuple[int, ...]
    rhs_dilation: tuple[int, ...]

    @property
    def has_phases(self) -> bool:
        """Whether the zeros between the elements of a dilated image are left out: no product has them."""
        apart = zip(self.lhs_dilation, self.rhs_dilation, strict=True)
        return (
            max(self.lhs_dilation, default=1) > 1
            and set(self.window_strides) == {1}
            and all(gcd(d, r) == 1 for d, r in apart)
        )


class Phase(NamedTuple):
    """Every so many positions from `first`: they see `[start, end)` of the image by `taps` from `tap` on."""

    first: int
    places: int
    tap: int
    taps: int
    start: int
    end: int


def dilated(size: S, dilation: int) -> S:
    """The size of an axis after `dilation - 1` zeros are put between its elements."""
    return maximum((size - 1) * dilation + 1, 0)


def output_size(size: S, kernel: int, stride: int, pads: tuple[int, int], spread: tuple[int, int]) -> S:
    """How many positions a window has along one axis; `spread` dilates image and kernel."""
    span = dilated(size, spread[0]) + pads[0] + pads[1] - dilated(kernel, spread[1])
    return maximum(quotient(span, stride) + 1, 0)


def phases_of(spread: int, dilation: int, low: int, positions: int, taps: int) -> list[Phase]:
    """The phases along one axis of an image whose elements are `spread` apart, `low` after its edge."""
    phases = []
    for first in range(min(spread, positions)):
        tap = next(t for t in range(spread) if (first + dilation * t - low) % spread == 0)
        places, count = len(range(first, positions, spread)), len(range(tap, taps, spread))
        start = (first + dilation * tap - low) // spread
        phases.append(Phase(first, places, tap, count, start, start + places + dilation * max(count - 1, 0)))
    return phases
