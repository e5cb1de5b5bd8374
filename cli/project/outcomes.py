"""What became of an artifact, and how pipelines are told: as text, JSON, JUnit XML, annotations of GitHub.

Input: outcomes. Output: texts for standard output. An outcome is good when it has no problem.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ..reporting import BadUsage, readable_bytes

FORMATS: Final = ("text", "json", "junit", "github")
_NOT_IN_XML: Final = {code: "\N{REPLACEMENT CHARACTER}" for code in range(32) if chr(code) not in "\t\n\r"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: what, where in the user's files, and the way out."""

    message: str
    where: str | None = None
    hint: str | None = None
    text: str | None = None

    def __str__(self) -> str:
        if self.text is not None:
            return self.text
        lines = [self.message]
        lines += [f"  at {self.where}"] if self.where else []
        lines += [f"  hint: {self.hint}"] if self.hint else []
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one artifact. `state` is one word, `why` says what it was done for or found."""

    name: str
    state: str
    why: str = ""
    seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    where: str | None = None
    log: str = ""


def parse_format(text: str, is_json: bool) -> str:
    """The value of --format; --json is another word for one."""
    if text not in FORMATS:
        raise BadUsage(f"--format: {text!r} is none: expected one of {', '.join(FORMATS)}")
    if is_json and text not in ("text", "json"):
        raise BadUsage(f"--json and --format {text}: expected one of them")
    return "json" if is_json else text


def shown(outcomes: Sequence[Outcome], form: str, command: str, **about: Any) -> str:
    """The outcomes of `command` in one of `FORMATS`."""
    match form:
        case "json":
            return as_json(outcomes, command, about)
        case "junit":
            return as_junit(outcomes, command)
        case "github":
            return as_github(outcomes)
        case _:
            return as_table(outcomes)


def as_json(outcomes: Sequence[Outcome], command: str, about: dict[str, Any]) -> str:
    """One document with everything that is known."""
    artifacts = [
        {
            "name": o.name,
            "state": o.state,
            "why": o.why,
            "seconds": round(o.seconds, 3),
            **o.facts,
            "problems": [{"message": p.message, "where": p.where, "hint": p.hint} for p in o.problems],
        }
        for o in outcomes
    ]
    is_good = not any(o.problems for o in outcomes)
    return json.dumps({"command": command, **about, "ok": is_good, "artifacts": artifacts}, indent=2)


def as_junit(outcomes: Sequence[Outcome], command: str) -> str:
    """A test suite with a case for each artifact."""
    failed = sum(bool(o.problems) for o in outcomes)
    seconds = sum(o.seconds for o in outcomes)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites><testsuite name={_attribute(command)} tests="{len(outcomes)}" failures="{failed}" '
        f'errors="0" skipped="0" time="{seconds:.3f}">',
    ]
    for o in outcomes:
        opening = (
            f'<testcase classname={_attribute(command)} name={_attribute(o.name)} time="{o.seconds:.3f}"'
        )
        lines.append(opening + ">")
        for problem in o.problems:
            lines.append(f"<failure message={_attribute(problem.message)}>{_content(str(problem))}</failure>")
        told = "\n".join(part for part in (f"{o.state} {o.why}".strip(), o.log) if part)
        lines += [f"<system-out>{_content(told)}</system-out>", "</testcase>"]
    return "\n".join([*lines, "</testsuite></testsuites>"])


def _attribute(text: str) -> str:
    return f'"{_content(text).replace(chr(10), "&#10;")}"'


def _content(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text.translate(_NOT_IN_XML)


def as_github(outcomes: Sequence[Outcome]) -> str:
    """A workflow command for each problem, which GitHub shows at the line, and the table."""
    lines = []
    for o in outcomes:
        for problem in o.problems:
            place = _place(problem.where or o.where)
            message = problem.message + (f"\nhint: {problem.hint}" if problem.hint else "")
            lines.append(f"::error {place}title={_property(f'adze: {o.name}')}::{_data(message)}")
    return "\n".join([*lines, as_table(outcomes)])


def _place(where: str | None) -> str:
    """`file:line` as properties; the path relative to the folder, as GitHub knows it."""
    import os

    if where is None:
        return ""
    path, _, line = where.rpartition(":")
    if not line.isdecimal():
        path, line = where, "1"
    relative = os.path.relpath(path)
    return f"file={_property(path if relative.startswith('..') else relative)},line={line},"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_table(outcomes: Sequence[Outcome]) -> str:
    """A line for each artifact, in columns."""
    rows = [
        (
            o.name,
            o.state.upper() if o.problems else o.state,
            readable_bytes(o.facts["bytes"]) if o.facts.get("bytes") is not None else "",
            f"{o.seconds:.2f} s" if o.seconds >= 0.005 else "",
            o.why,
        )
        for o in outcomes
    ]
    widths = [max((len(row[n]) for row in rows), default=0) for n in range(4)]
    sides = "<<>>"
    return "\n".join(
        "  ".join([*(f"{row[n]:{sides[n]}{widths[n]}}" for n in range(4)), row[4]]).rstrip() for row in rows
    )
