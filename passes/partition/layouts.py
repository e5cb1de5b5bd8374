"""How arrays lie on a mesh of ranks: which axes of the mesh divide each of their axes.

Input: sizes and names of a mesh, and Shardy's text of shardings. Output: layouts, and a mesh on whose axes
all of them are whole axes: where one axis of the mesh divides two of an array, each by a part, it is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from math import prod
from typing import Final, NamedTuple, TypeAlias

from ...dialects.dataclass import dataclass
from ...dialects.types import TensorType

_ENTRY: Final = re.compile(r"\{([^{}]*)\}")
_AXIS_PART: Final = re.compile(r'"([^"]*)":\((\d+)\)(\d+)')
_AXIS: Final = re.compile(r'"([^"]*)"(?::\((\d+)\)(\d+))?')


class Axis(NamedTuple):
    """An axis of a mesh, or the part of it of `size` ranks with `before` parts to the left of it."""

    name: str
    before: int
    size: int


Layout: TypeAlias = tuple[tuple[Axis, ...], ...]
"""For each axis of an array the axes that divide it, the major one first."""

Spec: TypeAlias = tuple[tuple[str, ...] | None, ...]
"""For each axis of an array the names of the axes that divide it; None where propagation decides."""


@dataclass(frozen=True)
class Grid:
    """The ranks of a job in a grid with named axes, numbered row by row."""

    sizes: tuple[int, ...]
    names: tuple[str, ...]

    def axes(self, text: str) -> tuple[Axis, ...]:
        """The axes that Shardy lists in `text`: `"x", "y":(1)2`."""
        return tuple(
            Axis(name, int(before or 1), int(size or self.sizes[self.names.index(name)]))
            for name, before, size in _AXIS.findall(text)
        )

    def layout(self, text: str) -> Layout:
        """The layout that Shardy writes as `[{"x", ?}, {}]`; what follows the bracket is not read."""
        return tuple(self.axes(entry) for entry in _ENTRY.findall(text.split("]", 1)[0]))

    def cut(self, text: str) -> Cut:
        """This grid, each axis cut where a part of it that Shardy's `text` names begins or ends."""
        places = {name: {1, size} for name, size in zip(self.names, self.sizes, strict=True)}
        for name, before, size in _AXIS_PART.findall(text):
            places[name].update((int(before), int(before) * int(size)))
        return Cut({name: tuple(sorted(each)) for name, each in places.items()})


@dataclass(frozen=True)
class Cut:
    """A grid whose axes are cut at `places`: products of sizes from the left, from 1 to the whole size."""

    places: dict[str, tuple[int, ...]]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the parts, axis by axis."""
        return tuple(n // m for each in self.places.values() for m, n in pairwise(each))

    @property
    def names(self) -> tuple[str, ...]:
        """Their names: that of the axis where it is not cut."""
        return tuple(
            name if len(each) < 3 else f"{name}.{part}"
            for name, each in self.places.items()
            for part in range(len(each) - 1)
        )

    @property
    def is_even(self) -> bool:
        """Whether each place is a multiple of the one before."""
        return all(n % m == 0 for each in self.places.values() for m, n in pairwise(each))

    def positions(self, axis: Axis) -> list[int]:
        """Where the parts of `axis` are in the grid, the major one first."""
        first = 0
        for name, each in self.places.items():
            if name == axis.name:
                start, end = each.index(axis.before), each.index(axis.before * axis.size)
                return [*range(first + start, first + end)]
            first += len(each) - 1
        raise AssertionError(axis)


def count(axes: Iterable[Axis]) -> int:
    """Into how many parts they divide an axis of an array."""
    return prod(axis.size for axis in axes)


def divides(layout: Layout, type_: TensorType) -> bool:
    """Whether all parts have equal sizes."""
    return all(
        n is not None and n % count(axes) == 0 for axes, n in zip(layout, type_.static_shape, strict=True)
    )


def part_of(type_: TensorType, layout: Layout) -> TensorType:
    """The type of each rank's part."""
    if not layout:
        return type_
    return type_.with_shape(
        (n or 0) // count(axes) for axes, n in zip(layout, type_.static_shape, strict=True)
    )
