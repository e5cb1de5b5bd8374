"""What a program does over time: operations and bytes alive, op by op.

Input: a simplified module. Output: a `Timeline`. Counted on the IR before IREE fuses ops, in the order of the
program: sizes that only a call states count as 1.
"""

from __future__ import annotations

from typing import Any

from ...dialects.dataclass import dataclass
from ...passes.analysis.cost import Cost, costs, steps
from .provenance import Locations, Provenance


@dataclass(frozen=True)
class Moment:
    """One op: its name, what it costs, the bytes alive while it runs, and where it comes from."""

    name: str
    flops: int
    bytes_moved: int
    alive: int
    origin: Provenance


@dataclass(frozen=True)
class Timeline:
    """All ops of a program in order, and their sum."""

    moments: list[Moment]
    cost: Cost

    @property
    def peak(self) -> int:
        """The position of the op while which most bytes are alive."""
        return max(range(len(self.moments)), key=lambda n: self.moments[n].alive, default=0)


def timelines(module: Any) -> dict[str, Timeline]:
    """The timeline of each public function of a module, by its name."""
    locations = Locations(())
    return {name: Timeline(_moments(module, name, locations), whole) for name, whole in costs(module).items()}


def _moments(module: Any, name: str, locations: Locations) -> list[Moment]:
    return [
        Moment(
            step.operation.name.removeprefix("adze."),
            step.flops,
            step.bytes_moved,
            step.alive_bytes,
            locations.of(location_text(step.operation)),
        )
        for step in steps(module, name)
    ]


def location_text(operation: Any) -> str:
    """The location of an op as MLIR prints it, without `loc(...)` around."""
    return str(operation.location).removeprefix("loc(").removesuffix(")")
