"""The classes of `jax.experimental.layout`: in which order the elements of an array lie, and where.

Arrays of adze lie row by row; another order is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.dataclass import dataclass
from ..errors import UnsupportedError
from ..tracing.locations import user_location_text


@dataclass(frozen=True)
class Layout:
    """The order of dimensions in memory: the last one is the innermost."""

    major_to_minor: Sequence[int]
    tiling: Any = None

    def __post_init__(self) -> None:
        order = tuple(self.major_to_minor)
        if order != tuple(range(len(order))) or self.tiling:
            raise UnsupportedError(
                f"Layout: major_to_minor is {order} and tiling {self.tiling}, "
                f"expected {tuple(range(len(order)))} and None",
                where=user_location_text(),
                hint="arrays of adze lie row by row: transpose the array instead",
            )


@dataclass(frozen=True)
class Format:
    """A layout together with a sharding, as `device_put` takes it."""

    layout: Layout | None = None
    sharding: Any = None
