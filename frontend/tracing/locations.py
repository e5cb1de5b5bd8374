"""The user's current line: the innermost Python frame outside adze and the libraries it calls."""

from __future__ import annotations

import dis
import itertools
import linecache
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from ...dialects.errors import AdzeError

_OWN: Final = frozenset(
    str(Path(__file__).resolve().parents[2] / folder)
    for folder in ("frontend", "dialects", "passes", "runtime", "cli")
)
_LIBRARIES: Final = (
    *(f"-packages/{name}/" for name in ("numpy", "optree", "opt_einsum", "typer", "click")),
    *("/contextlib.py", "/functools.py"),
    *("<frozen ", "/bin/adze"),
)
_foreign: dict[str, bool] = {}
"""Whether a file is the user's. Not by code objects: these compute their hash anew each time."""


def _is_user_frame(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    if file == "<string>":  # the user's, or what `dataclasses` wrote for one of adze's classes
        return str(frame.f_globals.get("__name__")).partition(".")[0] != "adze"
    known = _foreign.get(file)
    if known is None:
        own = any(file.startswith(folder) for folder in _OWN) or any(part in file for part in _LIBRARIES)
        known = _foreign[file] = not own
    return known


def is_own_file(file: str) -> bool:
    """Whether a file is one of adze's own."""
    return any(file.startswith(folder) for folder in _OWN)


def user_location() -> tuple[str, int]:
    """File and line of the innermost user frame; `("<unknown>", 0)` when there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if _foreign.get(file, True) and _is_user_frame(frame):  # most frames need no call
            return file, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "<unknown>", 0


class _Detail(threading.local):
    is_on = False


_detail: Final = _Detail()


@contextmanager
def detailed() -> Iterator[None]:
    """Let ops carry the column and the function of the user's line too, for who shows them to the user."""
    before, _detail.is_on = _detail.is_on, True
    try:
        yield
    finally:
        _detail.is_on = before


def place_of_op() -> tuple[str, int]:
    """What an op carries: file and line; in `detailed()` a text with column and function, and 0."""
    if not _detail.is_on:
        return user_location()
    frames = user_frames(1)
    if not frames:
        return "<unknown>", 0
    code = frames[0].f_code
    line, _, column, _ = next(itertools.islice(code.co_positions(), frames[0].f_lasti // 2, None))
    return f"{code.co_filename}:{line}:{column} ({code.co_qualname})", 0


def user_frames(count: int | None = None) -> list[FrameType]:
    """The frames of the user's code, the innermost first, at most `count` of them."""
    found: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (count is None or len(found) < count):
        if _is_user_frame(frame):
            found.append(frame)
        frame = frame.f_back
    return found


@contextmanager
def located() -> Iterator[None]:
    """Errors of lower layers that pass through say where the user's own code was."""
    try:
        yield
    except AdzeError as error:
        error.locate(user_location_text())
        raise


def user_location_text() -> str:
    """The user's own `file:line`, for error messages; empty where no code of the user runs."""
    file, line = user_location()
    return f"{file}:{line}" if line else ""


def user_line() -> str:
    """The text of the user's own line, empty where its source is not at hand."""
    return linecache.getline(*user_location()).strip()


def is_call_of(frame: FrameType, name: str) -> bool:
    """Whether what runs now in `frame` is a call that names the function `name`, as `float(x)` does.

    C code asks for a value as Python's `float` does, `math.sin` for instance: only the call tells them apart.
    """
    instructions = list(dis.get_instructions(frame.f_code))
    position = next(n for n, i in enumerate(instructions) if i.offset == frame.f_lasti)
    place = instructions[position].positions
    if place is None or place.lineno is None:
        return False
    first = (place.lineno, place.col_offset)
    callee = None
    for instruction in instructions[:position]:
        positions = instruction.positions
        if positions is not None and (positions.lineno, positions.col_offset) == first and positions != place:
            callee = instruction  # the last that begins where the call does: all of the callee's text
    return callee is not None and callee.opname in ("LOAD_GLOBAL", "LOAD_NAME") and callee.argval == name
