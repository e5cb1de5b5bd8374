"""How commands speak: results to standard output, everything else to standard error, exit codes.

`command` wraps a command function. It adds `--traceback`, and turns what the function raises into one
readable message and exit code 1, or 2 where a command raises `BadUsage`. The one idea: a user's mistake
never shows a traceback unless it was asked for.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import traceback as tracebacks
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

from ..dialects.errors import AdzeError
from .front import typer
from .interruption import was_interrupted
from .streams import divert

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
_TracebackOption = Annotated[
    bool, typer.Option("--traceback", help="Show Python's traceback when the command fails.")
]

Parsed = TypeVar("Parsed")
FOLDERS = ("cli", "frontend", "passes", "runtime", "dialects")


class OutputError(AdzeError):
    """Standard output, or the file of a result, takes no more."""


class BadUsage(AdzeError):
    """The command line itself is wrong: a name, a spec, a path that is not there."""


def usage(option: str, parse: Callable[[str], Parsed], text: str) -> Parsed:
    """`parse(text)`, where what it refuses is bad usage of `option`."""
    try:
        return parse(text)
    except AdzeError as error:
        raise BadUsage(f"{option}: {error.message}", where=error.where, hint=error.hint) from error


def command(function: Callable[..., None]) -> Callable[..., None]:
    """`function` as a command: with `--traceback`, and with errors turned into messages."""

    @functools.wraps(function)
    def guarded(*args: Any, traceback: bool = False, **kwargs: Any) -> None:
        try:
            function(*args, **kwargs)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise  # the last is for `| head`: who reads wants no more, and no message
        except Exception as error:
            if was_interrupted():  # a library made an error of it
                raise KeyboardInterrupt from None
            if traceback:
                tracebacks.print_exception(error)
            else:
                typer.secho("error: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
                typer.echo(describe(error), err=True)
            raise typer.Exit(2 if isinstance(error, BadUsage) else 1) from None

    signature = inspect.signature(function, eval_str=True)
    extra = inspect.Parameter(
        "traceback", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_TracebackOption
    )
    parameters = [*signature.parameters.values(), extra]
    guarded.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    guarded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return guarded


def describe(error: Exception) -> str:
    """What went wrong, in words; for an error that is not adze's own, also where it was raised."""
    if isinstance(error, AdzeError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"SyntaxError: {error.msg}\n  at {error.filename}:{error.lineno}"
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # an error of the user's own, whose text is an error itself
        text = ""
    lines = [f"{kind}: {text}" if text else kind]
    where = user_line_of(error)
    if where:
        lines.append(f"  at {where}")
        lines += [f"  called at {place}" for place in user_lines_of(error)[:-1][::-1]]
    lines.append("  hint: --traceback shows the whole way there")
    return "\n".join(lines)


def user_line_of(error: BaseException) -> str | None:
    """File and line of the user's own code that raised `error`, or of the innermost code where none did."""
    frames = tracebacks.extract_tb(error.__traceback__)
    return _innermost_of_the_user(frames) if frames else None


def user_lines_of(error: BaseException) -> list[str]:
    """The lines of the user's own code on the way to `error`, the innermost one last."""
    frames = tracebacks.extract_tb(error.__traceback__)
    places = [(Path(frame.filename), frame.lineno) for frame in frames]
    return [f"{path}:{line}" for path, line in places if _is_user_file(path)]


def _innermost_of_the_user(frames: Iterable[tracebacks.FrameSummary]) -> str:
    places = [(Path(frame.filename), frame.lineno) for frame in frames]
    outside = [(path, line) for path, line in places if _is_user_file(path)]
    path, line = (outside or places)[-1]
    return f"{path}:{line}"


def _is_user_file(path: Path) -> bool:
    """False for adze, for installed packages and for Python's own modules."""
    adze = Path(__file__).resolve().parent.parent
    own = any(path.resolve().is_relative_to(adze / folder) for folder in FOLDERS)
    standard = path.is_relative_to(Path(inspect.__file__).parent)
    return path.exists() and not own and not standard and "site-packages" not in path.parts


def print_text(text: str = "", *, newline: bool = True) -> None:
    """The command's result, or a part of it, on standard output."""
    try:
        typer.echo(text, nl=newline)
    except BrokenPipeError:
        divert(None)  # what the buffer still holds would fail again at the end
        raise
    except OSError as error:
        divert(None)
        raise OutputError(f"cannot write to standard output: {error.strerror or error}") from None


def print_json(value: object) -> None:
    """One JSON document on standard output, and nothing else there."""
    print_text(json.dumps(value, indent=2, default=str))


def print_rows(rows: Iterable[tuple[str, object]]) -> None:
    """Names and values in two columns, readable in any terminal and in a log."""
    pairs = [(name, str(value)) for name, value in rows]
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        print_text(f"{name:<{width}}  {value}")


def print_note(text: str) -> None:
    """Progress and remarks: to standard error, so that pipes carry results only."""
    typer.echo(text, err=True)


@contextlib.contextmanager
def working(text: str) -> Iterator[None]:
    """A spinner with `text` on standard error while the block runs; nothing where no one watches."""
    try:
        from rich.console import Console
    except ModuleNotFoundError:  # it comes with Typer
        yield
        return

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(text):
        yield


def readable_bytes(count: int) -> str:
    """`1536` as `1.5 KiB`."""
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def counted(number: int, noun: str) -> str:
    """`1 input`, `2 inputs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
