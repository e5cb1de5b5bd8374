"""Times of two forms of the same op, and the sizes that they follow from (`cost.py`, `gpu_cost.py`)."""

from __future__ import annotations

from math import prod
from typing import Final

from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType

UNKNOWN_LENGTH: Final = 1000
"""Steps of a loop, and terms of a product, how many of which shows at the call."""
UNKNOWN_SIZE: Final = 16
"""Any other size that shows at the call: one thread is good for such arrays."""


@dataclass(frozen=True, slots=True)
class Time:
    """Nanoseconds on the host and in a kernel."""

    host: float = 0.0
    kernel: float = 0.0

    def __add__(self, other: Time) -> Time:
        return Time(self.host + other.host, self.kernel + other.kernel)

    def times(self, count: float) -> Time:
        """That, `count` times."""
        return Time(self.host * count, self.kernel * count)

    def greater(self, other: Time) -> Time:
        """The greater in each form."""
        return Time(max(self.host, other.host), max(self.kernel, other.kernel))


def length_of(n: object) -> int:
    """The length of a loop or of a sum, or what one is taken to be that shows at the call."""
    return n if isinstance(n, int) else UNKNOWN_LENGTH


def elements(type_: TensorType) -> int:
    """How many elements an array has."""
    return prod(map(size_of, type_.shape))


def size_of(n: object) -> int:
    """A size that is known, or what one is taken to be that shows at the call."""
    return n if isinstance(n, int) else UNKNOWN_SIZE
