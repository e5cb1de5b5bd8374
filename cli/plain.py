"""What commands use of Typer, for where it is not installed: argparse reads the same declarations.

Input: a function whose parameters are `Annotated[type, Option(...)]` or `Argument(...)`. Output: the call of
it with what the command line says. It knows the kinds of parameters that the commands of adze-runtime have:
texts, paths, numbers, switches, and lists of them.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, BinaryIO, NoReturn

from ..dialects.dataclass import dataclass


@dataclass(frozen=True)
class _Declared:
    """An option (with names) or an argument (without)."""

    names: tuple[str, ...]
    metavar: str | None
    help: str
    min: float | None
    shown_default: object
    is_option: bool


def Option(
    *names: str, metavar: str | None = None, help: str = "", min: float | None = None, **settings: Any
) -> Any:
    """A parameter that is given by name."""
    return _Declared(names, metavar, help, min, settings.get("show_default", True), True)


def Argument(*, metavar: str | None = None, help: str = "", **settings: Any) -> Any:
    """A parameter that is given by its place."""
    return _Declared((), metavar, help, None, settings.get("show_default", True), False)


class Exit(Exception):
    """The command ends with this exit code."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.exit_code = code


class Abort(Exception):
    """The command was interrupted."""


class colors:
    """Names of colours, which plain output has none of."""

    RED = "red"


def echo(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    """Write to standard output, or to standard error."""
    stream = sys.stderr if err else sys.stdout
    stream.write(f"{text}\n" if nl else text)
    stream.flush()


def secho(text: str = "", *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """As `echo`."""
    echo(text, nl=nl, err=err)


def get_binary_stream(name: str) -> BinaryIO:
    """Standard input as bytes."""
    return sys.stdin.buffer


def make_app(
    name: str,
    about: str,
    commands: Mapping[str, str],
    load: Callable[[str], Any],
    version: Callable[[], str],
) -> Callable[[], NoReturn]:
    """The app: a function that runs the command line of this process and ends it."""

    def app() -> NoReturn:
        try:
            code = _run(name, about, commands, load, version, sys.argv[1:])
        except Exit as end:
            code = end.exit_code
        except KeyboardInterrupt:
            code = 130
        except (Abort, BrokenPipeError):
            code = 1
        sys.exit(code)

    return app


def _run(
    name: str,
    about: str,
    commands: Mapping[str, str],
    load: Callable[[str], Any],
    version: Callable[[], str],
    words: Sequence[str],
) -> int:
    if not words or words[0] == "--help":
        width = max(map(len, commands)) + 2
        rows = "\n".join(f"  {command:<{width}}{line}" for command, line in commands.items())
        echo(f"Usage: {name} [OPTIONS] COMMAND [ARGS]...\n\n  {about}\n\nCommands:\n{rows}")
        return 0 if words else 2
    if words[0] == "--version":
        echo(f"{name} {version()}")
        return 0
    command, *rest = words
    if command not in commands:
        kind = "option" if command.startswith("-") else "command"
        near = ", ".join(map(repr, get_close_matches(command, commands)))
        echo(f"Error: No such {kind} {command!r}.{f' Did you mean {near}?' if near else ''}", err=True)
        return 2
    call(load(command), f"{name} {command}", rest)
    return 0


def call(function: Callable[..., None], program: str, words: Sequence[str]) -> None:
    """Call `function` with what `words` say; a wrong word ends with `Exit(2)` and a line about it."""
    parser = _Parser(
        prog=program,
        description=inspect.getdoc(function),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    takers: set[str] = set()
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        takers |= _add(parser, parameter)
    function(**vars(parser.parse_args(_joined(words, takers))))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        echo(f"{self.format_usage().strip()}\nError: {message}", err=True)
        raise Exit(2)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Exit(status)


def _add(parser: argparse.ArgumentParser, parameter: inspect.Parameter) -> set[str]:
    """Add a parameter; returns the names of an option that takes a value."""
    kind, declared = typing.get_args(parameter.annotation)[:2]
    shown = declared.shown_default
    help = declared.help + (f" [default: {shown}]" if isinstance(shown, str) else "")
    help = help.replace("%", "%%")
    plain = _plain_type(kind)
    convert = plain if declared.min is None else _at_least(plain, declared.min)
    default = None if parameter.default is inspect.Parameter.empty else parameter.default
    if not declared.is_option:
        nargs = None if parameter.default is inspect.Parameter.empty else "?"
        argument = {"metavar": declared.metavar, "help": help, "type": convert, "default": default}
        parser.add_argument(parameter.name, nargs=nargs, **argument)
        return set()
    names = declared.names or (f"--{parameter.name.replace('_', '-')}",)
    if plain is bool:
        _add_switch(parser, parameter.name, names, help, default)
        return set()
    action = "append" if typing.get_origin(kind) is list else "store"
    start = [] if action == "append" else default
    option = {"metavar": declared.metavar, "help": help, "type": convert, "default": start}
    parser.add_argument(*names, dest=parameter.name, action=action, **option)
    return set(names)


def _add_switch(
    parser: argparse.ArgumentParser, name: str, names: Sequence[str], help: str, default: Any
) -> None:
    """A switch, with a second name that is its opposite where it is declared as `--yes/--no`."""
    for declared in names:
        on, _, off = declared.partition("/")
        parser.add_argument(on, dest=name, action="store_true", default=default, help=help)
        if off:
            parser.add_argument(off, dest=name, action="store_false", default=default, help=argparse.SUPPRESS)


def _plain_type(kind: Any) -> Any:
    """The type of one value: `int` of `int | None` and of `list[int]`."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        (kind,) = (each for each in typing.get_args(kind) if each is not type(None))
    return typing.get_args(kind)[0] if typing.get_origin(kind) is list else kind


def _at_least(plain: Any, least: float) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        value = plain(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return value

    convert.__name__ = plain.__name__  # argparse names it in its message
    return convert


def _joined(words: Sequence[str], takers: set[str]) -> list[str]:
    """The words with each value in one word with its option: a value may begin with a minus sign."""
    result: list[str] = []
    rest = iter(words)
    for word in rest:
        value = next(rest, None) if word in takers else None
        if value is None:
            result.append(word)
        else:
            result.append(f"{word}={value}" if word.startswith("--") else f"{word}{value}")
    return result
