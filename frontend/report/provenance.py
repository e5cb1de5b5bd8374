"""Where an op comes from: the user's lines, and the transforms that made it of them.

Input: locations as MLIR prints them, `loc(fused<"transpose">[fused<"linearize">["model.py":4:1]])`, with
aliases. Output: `Provenance`. Rules of derivatives and batches fuse their name with the location of the op
that they came from (`DESIGN`: every op keeps a fused location), so that a backward op names its forward line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ...dialects.dataclass import dataclass

Line = tuple[str, int]

_FILE: Final = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):\d+(?: to (?:\d+)?:\d+)?')
_NAME: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ALIAS: Final = re.compile(r"#[\w.]+")
_DEFINITION: Final = re.compile(r"^(#[\w.]+) = loc\((.*)\)\s*$")


@dataclass(frozen=True, slots=True)
class Provenance:
    """The user's lines (file, line), and the transforms from the outermost to the innermost."""

    lines: tuple[Line, ...] = ()
    via: tuple[str, ...] = ()

    @property
    def is_backward(self) -> bool:
        """Whether it belongs to the backward pass of a derivative."""
        return any(name.startswith("transpose") for name in self.via)


NOWHERE: Final = Provenance()


class Locations:
    """The locations of one printed module: its aliases, and what each text means."""

    def __init__(self, lines: Iterable[str]) -> None:
        found = map(_DEFINITION.match, lines)
        self._aliases = {match[1]: match[2] for match in found if match is not None}
        self._known: dict[str, Provenance] = {}

    @staticmethod
    def defines(line: str) -> bool:
        """Whether the line is nothing but the definition of an alias."""
        return _DEFINITION.match(line) is not None

    def of(self, text: str) -> Provenance:
        """What the text inside of `loc(...)` means."""
        known = self._known.get(text)
        if known is None:
            self._known[text] = NOWHERE  # of an alias that refers to itself
            known = self._known[text] = self._parse(text.strip())
        return known

    def _parse(self, text: str) -> Provenance:
        alias = _ALIAS.fullmatch(text)
        if alias:
            return self.of(self._aliases.get(text, "unknown"))
        if text.startswith("callsite("):
            callee, _, caller = _split_at(text[len("callsite(") : -1], " at ")
            inner = self.of(callee)
            return inner if inner.lines else self.of(caller)
        if text.startswith("fused"):
            return self._fused(text[len("fused") :])
        file = _FILE.fullmatch(text)
        if file:
            number = int(file[2])
            return (
                Provenance(((_unescaped(file[1]), number),)) if number and file[1] != "<unknown>" else NOWHERE
            )
        name = _NAME.match(text)
        if name and text[name.end() :].startswith("("):
            return self.of(text[name.end() + 1 : -1])
        return NOWHERE

    def _fused(self, rest: str) -> Provenance:
        via: tuple[str, ...] = ()
        if rest.startswith("<"):
            end = rest.index(">[") if ">[" in rest else len(rest) - 1
            via, rest = (rest[1:end].strip('"'),), rest[end + 1 :]
        parts = [self.of(part) for part in _parts(rest[1:-1])]
        lines = tuple(dict.fromkeys(line for part in parts for line in part.lines))
        inner = max((part.via for part in parts), key=len, default=())
        return Provenance(lines, (*via, *inner))


def without_locations(line: str) -> tuple[str, str | None]:
    """A line of MLIR without its locations, and the last of them: that of the op, if it ends there."""
    if " loc(" not in line:
        return line, None
    kept, last, position = [], None, 0
    while True:
        start = line.find(" loc(", position)
        if start < 0:
            break
        end = _closing(line, start + len(" loc("))
        kept.append(line[position:start])
        last, position = line[start + len(" loc(") : end], end + 1
    kept.append(line[position:])
    return "".join(kept), last


def _closing(text: str, position: int) -> int:
    """Where the parenthesis that was opened before `position` is closed; quotes are skipped."""
    depth, is_quoted = 1, False
    while position < len(text):
        sign = text[position]
        if is_quoted and sign == "\\":
            position += 1
        elif sign == '"':
            is_quoted = not is_quoted
        elif not is_quoted and sign in "()":
            depth += 1 if sign == "(" else -1
            if depth == 0:
                return position
        position += 1
    return len(text)


def _split_at(text: str, separator: str) -> tuple[str, str, str]:
    """`text` divided at the first separator that is in no parentheses, brackets or quotes."""
    depth, is_quoted = 0, False
    for position, sign in enumerate(text):
        if sign == '"' and text[position - 1 : position] != "\\":
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += (sign in "([") - (sign in ")]")
            if depth == 0 and text.startswith(separator, position):
                return text[:position], separator, text[position + len(separator) :]
    return text, "", ""


def _parts(text: str) -> list[str]:
    """What commas divide."""
    parts = []
    while text:
        part, _, text = _split_at(text, ", ")
        parts.append(part)
    return parts


def _unescaped(text: str) -> str:
    """A string of MLIR: `\\22` is a quote, two hex digits a byte."""
    raw = re.sub(rb"\\([0-9A-Fa-f]{2}|\\|\")", _byte, text.encode())
    return raw.decode(errors="replace")


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)]) if len(match[1]) == 2 else match[1]
