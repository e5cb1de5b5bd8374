"""What IREE says about a module, as values.

Input: the text of a diagnostic. Output: a `Diagnostic`, with the user's file and line where IREE names them.
"""

from __future__ import annotations

import re
from typing import Final

from ...dialects.dataclass import dataclass

SOURCE_NAME: Final = "module.mlir"
"""The name of every source: the stem of it enters the bytes, as the name of linked executables."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that IREE said: `severity` is error, warning, remark or note."""

    severity: str
    message: str
    where: str | None

    def __str__(self) -> str:
        return f"{self.where + ': ' if self.where else ''}{self.severity}: {self.message}"


_PLACE: Final = re.compile(r'^loc\("-":(\d+):(\d+)\)')
_LOCATED: Final = re.compile(r"^(?P<where>(?:[^\s:][^:\n]*|<unknown>):\d+:\d+): (?P<rest>.*)", re.DOTALL)


def place_of(location: str) -> str | None:
    """Line and column of a location in the text of a module."""
    place = _PLACE.search(location)
    return f"{SOURCE_NAME}:{place[1]}:{place[2]}" if place else None


def diagnostic_of(severity: str, text: str) -> Diagnostic:
    located = _LOCATED.match(text)
    if located is None:
        return Diagnostic(severity, text.strip(), None)
    where = located["where"]
    return Diagnostic(severity, located["rest"].strip(), None if where.startswith("<unknown>") else where)
