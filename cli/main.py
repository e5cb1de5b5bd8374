"""Assembles the `adze` command from the files beside it.

Input: the command line. Output: the exit code: 0 done, 1 failed, 2 bad usage. The command modules import
what they call when they run, so that `adze --help` answers at once.
"""

from __future__ import annotations

import importlib.metadata
import io
import sys
from typing import Annotated

import typer

from . import cache
from .bench import bench
from .build import build
from .doctor import doctor
from .inspect import inspect
from .ir import ir
from .opt import opt
from .profile import profile
from .report import report
from .run import run
from .source import STDERR, divert
from .transform import transform
from .verify import verify

COMMANDS = (build, run, verify, transform, bench, profile, report, ir, opt, inspect, doctor)

app = typer.Typer(
    name="adze",
    help="Compiles Python array functions ahead of time: one .vmfb that runs without Python's frameworks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"adze {importlib.metadata.version('adze-compiler')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", callback=show_version, is_eager=True),
    ] = False,
) -> None:
    """Options that stand before the command."""


for function in COMMANDS:
    app.command()(function)
app.add_typer(cache.app, name="cache")


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files need not be text in the terminal's encoding
            stream.reconfigure(errors="backslashreplace")
    code: str | int | None = 1
    try:
        app()
    except SystemExit as end:
        code = end.code
    except OSError as error:  # a page of help that cannot be written
        print(f"error: cannot write to standard output: {error.strerror or error}", file=sys.stderr)
    sys.exit(code if close_output() else code or 1)


def close_output() -> bool:
    """Write what is left of standard output, and lead what the user's code prints at its end elsewhere."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        divert(None)
        if not isinstance(error, BrokenPipeError):
            print(f"error: cannot write to standard output: {error.strerror or error}", file=sys.stderr)
        return False
    divert(STDERR)
    return True
