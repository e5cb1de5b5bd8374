"""Whether Ctrl-C was pressed: the signal is remembered, since who catches KeyboardInterrupt may forget it."""

from __future__ import annotations

from typing import Any

_remembered = False


def remember(number: int, frame: Any) -> None:
    """The handler of SIGINT: raises KeyboardInterrupt, as Python's own does."""
    global _remembered
    _remembered = True
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Whether the handler was called."""
    return _remembered
