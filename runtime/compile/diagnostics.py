"""What IREE says about a module, as values.

Input: the text of one diagnostic of a compile in process, or what `iree-compile` wrote to its standard error.
Output: `Diagnostic`s, with the user's file and line where IREE names them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

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
_CONSOLE_LINE: Final = re.compile(
    r"^(?:(?P<where>[^\s][^\n]*?:\d+:\d+): )?(?P<severity>error|warning|remark): "
)


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


def parse_diagnostics(text: str) -> list[Diagnostic]:
    """The diagnostics in what `iree-compile` wrote to its standard error."""
    diagnostics: list[Diagnostic] = []
    for line in text.splitlines():
        match = _CONSOLE_LINE.match(line)
        if match is None:
            continue
        where = match["where"]
        if where is not None and where.startswith("<unknown>"):
            where = None
        diagnostics.append(Diagnostic(match["severity"], line[match.end() :].strip(), where))
    return diagnostics
