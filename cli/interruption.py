"""Whether Ctrl-C was pressed: the signal is remembered, since who catches KeyboardInterrupt may forget it."""

from __future__ import annotations

import os
from typing import Any, Final

_PRINTING: Final = frozenset(("numpy", "ml_dtypes", "iree"))
"""Packages whose C code prints the traceback of what goes wrong while it imports a module."""
_remembered = False


def remember(number: int, frame: Any) -> None:
    """The handler of SIGINT: raises KeyboardInterrupt, as Python's own does.

    While one of the packages that print is being imported it ends the process: nothing has begun yet.
    """
    global _remembered
    _remembered = True
    if _is_imported(frame):
        os._exit(130)
    raise KeyboardInterrupt


def _is_imported(frame: Any) -> bool:
    while frame is not None:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package in _PRINTING and frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


def was_interrupted() -> bool:
    """Whether the handler was called."""
    return _remembered
