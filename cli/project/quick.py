"""Builds of a project that need no command line parser, which takes longer to import than such a build takes.

Input: the words of the command line. Output: the options of `adze build`, or None for words of another
command or ones that typer shall parse, and complain about.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import typer

from ..build import build
from .command import names_function

_SWITCHES: Final = {
    "--check": "check",
    "--locked": "locked",
    "--force": "again",
    "--json": "json",
    "--traceback": "traceback",
}
_VALUES: Final = {"--format": "form", "--project": "project", "--jobs": "jobs", "-j": "jobs"}


def project_options(words: Sequence[str]) -> dict[str, Any] | None:
    """The options of a build of a project, as the function `build` takes them."""
    if not words or words[0] != "build":
        return None
    options: dict[str, Any] = {}
    names: list[str] = []
    left = list(words[1:])
    while left:
        word = left.pop(0)
        option, equals, value = word.partition("=")
        if word in _SWITCHES:
            options[_SWITCHES[word]] = True
        elif option in _VALUES and (equals or left):
            options[_VALUES[option]] = value if equals else left.pop(0)
        elif word.startswith("-") or names_function(word):
            return None
        else:
            names.append(word)
    return _parsed({**options, "functions": names})


def _parsed(options: dict[str, Any]) -> dict[str, Any] | None:
    if "project" in options:
        options["project"] = Path(options["project"])
    if "jobs" in options:
        if not options["jobs"].isdecimal() or int(options["jobs"]) < 1:
            return None
        options["jobs"] = int(options["jobs"])
    return options


def build_project(options: dict[str, Any]) -> NoReturn:
    """Run `adze build` with these options, and end as the parser would."""
    try:
        build(**options)
    except typer.Exit as end:
        sys.exit(end.exit_code)
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        print("Aborted.", file=sys.stderr)
        sys.exit(130)
    sys.exit(0)
