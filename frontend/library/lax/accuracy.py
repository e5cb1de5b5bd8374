"""How exact an elementwise function must be: `accuracy=` of `lax.exp` and others.

Input: what the caller asks for. Output: nothing; adze has one form of each function, the most exact one.
"""

from __future__ import annotations

import enum
from typing import Any

from ....dialects.dataclass import dataclass
from ..numpy.arguments import argument_error, type_error


class AccuracyMode(enum.Enum):
    """How exact an elementwise function must be; adze has one form of each, the most exact one."""

    HIGHEST = 1
    DEFAULT = 2


@dataclass(frozen=True)
class Tolerance:
    """How far an elementwise function may be from the exact one: `accuracy=` of `lax.exp` and others."""

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        if self.atol < 0 or self.rtol < 0 or self.ulps < 0:
            raise argument_error(f"Tolerance: the numbers must not be negative, got {self}")


def check_accuracy(accuracy: Any) -> None:
    """Raise `ArgumentTypeError` for what is no accuracy: an array there is most likely a second operand."""
    if accuracy is not None and not isinstance(accuracy, (AccuracyMode, Tolerance)):
        raise type_error(
            f"accuracy is {type(accuracy).__name__}, expected lax.AccuracyMode, lax.Tolerance or None"
        )
