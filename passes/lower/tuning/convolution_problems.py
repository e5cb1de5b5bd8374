"""What a convolution sums: an index for each axis of the sum, and how it moves in each array.

Input: shapes and letters, as `kernels/convolutions/problems.py` writes them. Output: a `Problem`, for which
`convolution_plans.py` looks for the cheapest plan.
"""

from __future__ import annotations

from math import prod

from ....dialects.dataclass import dataclass
from .array_layouts import Layout, plain

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Letter:
    """An index of the sum: its size, and the axis of each array that it moves along with its step there."""

    name: str
    size: int
    image: Place | None = None
    weights: Place | None = None
    out: Place | None = None
    image_start: int = 0
    weights_start: int = 0
    out_start: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """A convolution: shapes, the range of the image along each axis (zeros outside), a sum for each phase.

    `beside`: for each operand of what is applied to the sums, how far apart its elements are along each axis
    of the result; `beside_starts`: where the first one is. `has_edges`: the phases are the middle of the
    image and its edges, with smaller windows. `stored`: how the image lies; `written`: how the result must,
    None where a plan may choose and copy it. `is_of_each`: there are several images, this is the sum of one.
    """

    image: tuple[int, ...]
    weights: tuple[int, ...]
    out: tuple[int, ...]
    ranges: tuple[Place, ...]
    sums: tuple[tuple[Letter, ...], ...]
    beside: tuple[tuple[int, ...], ...] = ()
    beside_starts: tuple[int, ...] = ()
    has_edges: bool = False
    is_of_each: bool = False
    stored: Layout | None = None
    written: Layout | None = None

    @property
    def seen(self) -> Layout:
        """How the image lies: its axes in order, unless it is said."""
        return self.stored or plain(self.image)

    @property
    def largest(self) -> tuple[Letter, ...]:
        """The sum with most multiplications."""
        return max(self.sums, key=lambda letters: prod(letter.size for letter in letters))

    @property
    def work(self) -> int:
        """Multiplications."""
        return sum(prod(letter.size for letter in letters) for letters in self.sums)

    @property
    def are_phases_alike(self) -> bool:
        """Whether there are several phases, all with as many places."""
        places = {tuple(letter.size for letter in letters if letter.out) for letters in self.sums}
        return len(self.sums) > 1 and len(places) == 1 and not self.has_edges

    @property
    def spreads(self) -> dict[int, int]:
        """How far apart the places of a phase are, along each axis of the result."""
        letters = (letter for letter in self.sums[0] if letter.name.startswith("p") and letter.out)
        return {letter.out[0]: letter.out[1] for letter in letters if letter.out}

    @property
    def is_padded(self) -> bool:
        """Whether zeros around the image are seen."""
        return any(low < 0 or high > n for (low, high), n in zip(self.ranges, self.image, strict=True))
