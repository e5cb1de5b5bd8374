"""Who collects the checks that a function being traced writes: a call of `checkify`, or nobody.

Input and output: the list of texts of that call. Idea: a function that is traced once for several calls is
traced again for each collector, whose texts its checks refer to by their positions.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final


class WrittenChecks(list[Any]):
    """The texts of the checks of one call of `checkify`; equal to itself alone."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other


WRITTEN: Final[ContextVar[WrittenChecks | None]] = ContextVar("written", default=None)
