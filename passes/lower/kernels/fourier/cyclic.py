"""A Fourier transform of vectors of lanes whose size has a large prime factor, by two of another length.

Input: a plan (`cyclic_plans.py`), stages of its length, and functions as of `stages.py`. Output: calls of a
function that writes the complex vector of a place of the spectrum.
Idea: the elements, times a chirp or in the order of a generator's powers, are transformed, multiplied with
the response and transformed back, with the parts exchanged. `read` and `write` may mean half 1 of the
scratch: elements are read before anything is written to it.
"""

from __future__ import annotations

from .....dialects.dataclass import dataclass
from ..builder import Array, Number, Place, constant, index, loop
from .cyclic_plans import Cyclic
from .stages import Parts, Read, Stages, Write


@dataclass(frozen=True, slots=True)
class Cycle:
    """The transform; `stages.table` has the response at `response`, the chirp at `chirp`.

    `powers` has the powers of the generator, if the plan is in their order.
    """

    plan: Cyclic
    stages: Stages
    response: int
    chirp: int
    powers: Array | None

    def reader(self, half: int) -> Read:
        """Read the places of a half of the scratch."""
        return self.stages.reader(half)

    def writer(self, half: int) -> Write:
        """Write the places of a half of the scratch."""
        return self.stages.writer(half)

    def run(self, read: Read, write: Write) -> None:
        """The transform."""
        if self.powers is None:
            self._by_chirp(read, write)
        else:
            self._by_powers(self.powers, read, write)

    def _by_powers(self, powers: Array, read: Read, write: Write) -> None:
        """The first element is added to all others' sums, and is in the first place of the spectrum."""
        length, half = self.plan.length, self.stages.last_half

        def power(place: Place) -> Number:
            return powers[index(place)].as_index()

        def stored(place: Place, parts: Parts) -> None:
            # The convolution is in the order of the powers' inverses.
            write(power((length - index(place)) % length), parts[::-1])

        first = read(0)
        self.stages.run(lambda place: read(power(place)), self._responded(half))
        mean = self.stages.reader(half)(0)  # times the response, which is -1 / length there
        self.stages.writer(half)(0, (mean[0] + first[0], mean[1] + first[1]))
        self._back(stored)
        write(0, (first[0] - mean[0] * length, first[1] - mean[1] * length))

    def _by_chirp(self, read: Read, write: Write) -> None:
        stages, size = self.stages, self.plan.size
        read_half, write_half = stages.reader(1), stages.writer(1)

        def turned(place: Number, parts: Parts) -> Parts:
            return stages.times(parts, stages.root(place * 2 + self.chirp))

        with loop(0, size) as place:
            write_half(place, turned(place, read(place)))
        zero = constant(stages.table.element, 0.0)
        with loop(size, self.plan.length) as place:
            filled = stages.filled(zero)
            write_half(place, (filled, filled))
        stages.run(read_half, self._responded(stages.last_half))
        self._back(lambda place, parts: write_half(place, parts[::-1]))
        with loop(0, size) as place:
            write(place, turned(place, read_half(place)))

    def _responded(self, half: int) -> Write:
        """Store a place of the spectrum, times the response."""
        stages = self.stages

        def write(place: Place, parts: Parts) -> None:
            root = stages.root(index(place) * 2 + self.response)
            stages.writer(half)(place, stages.times(parts, root))

        return write

    def _back(self, write: Write) -> None:
        """The inverse transform, whose parts `write` gets exchanged; its last step reads half 0."""
        half = self.stages.last_half
        spectrum = self.stages.reader(half)
        self.stages.run(lambda place: spectrum(place)[::-1], write, first=1 - half)
