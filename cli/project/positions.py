"""The lines of a TOML file on which its tables and keys stand, which `tomllib` does not tell.

Input: the text and a path of keys. Output: a line number, for messages. A key inside an inline table is on
the line of what holds it. The text is known to be TOML, so a line is looked at only as far as its key goes.
"""

from __future__ import annotations

import functools
import re
from typing import Final

_PART: Final = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED: Final = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER: Final = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]\]?\s*(?:#.*)?$")
_KEY: Final = re.compile(rf"\s*({_DOTTED})\s*=(.*)$")
_QUOTED: Final = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\])*\"|'[^']*'|#.*")


def line_of(text: str, path: tuple[str, ...]) -> int:
    """The line, from 1, of the key or table that `path` names, or of the nearest one that holds it."""
    lines = _lines(text)
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return 1


@functools.lru_cache(maxsize=2)
def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The first line of each table and key."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if depth <= 0:
            depth = 0
            header, key = _HEADER.match(line), _KEY.match(line)
            if header:
                table = _parts(header[1])
                _place(lines, table, number)
                continue
            if key:
                _place(lines, table + _parts(key[1]), number)
                line = key[2]
        bare = _QUOTED.sub("", line)
        depth += bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")
    return lines


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))


def _place(lines: dict[tuple[str, ...], int], path: tuple[str, ...], number: int) -> None:
    for length in range(1, len(path) + 1):
        lines.setdefault(path[:length], number)
