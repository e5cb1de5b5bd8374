"""Where in the user's own code are we? The innermost frame outside adze and the libraries it calls."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import Final

from ...dialects.errors import AdzeError

_OWN: Final = frozenset(
    str(Path(__file__).resolve().parents[2] / folder)
    for folder in ("frontend", "dialects", "passes", "runtime", "cli")
)
_LIBRARIES: Final = (
    *("/numpy/", "/optree/", "/opt_einsum/", "/typer/", "/click/", "/contextlib.py", "/functools.py"),
    *("<frozen ", "/bin/adze"),
)
_foreign: dict[CodeType, bool] = {}


def _is_user_code(code: CodeType) -> bool:
    known = _foreign.get(code)
    if known is None:
        file = code.co_filename
        own = any(file.startswith(folder) for folder in _OWN) or any(part in file for part in _LIBRARIES)
        known = _foreign[code] = not own
    return known


def user_location() -> tuple[str, int]:
    """File and line of the innermost user frame; `("<unknown>", 0)` when there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if _is_user_code(frame.f_code):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "<unknown>", 0


@contextmanager
def located() -> Iterator[None]:
    """Errors of lower layers that pass through say where the user's own code was."""
    try:
        yield
    except AdzeError as error:
        error.locate(user_location_text())
        raise


def user_location_text() -> str:
    """The user's own `file:line`, for error messages."""
    file, line = user_location()
    return f"{file}:{line}"


def user_line() -> str:
    """The text of the user's own line, empty where its source is not at hand."""
    return linecache.getline(*user_location()).strip()
