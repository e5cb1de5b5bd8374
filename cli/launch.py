"""`adze launch`: a Python script as a job of several ranks, processes of MPI or threads of one process.

Input: a script with its arguments, and the number of ranks. Output: what the ranks write, each line with the
rank in front, and the exit code of the first rank that failed. `runtime/distributed/` finds the launcher.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from .arguments import readable_file
from .reporting import BadUsage, command

app = typer.Typer(
    help="Run a Python script as a job of several ranks.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
ENGINES = ("mpi", "threads")


@app.command(context_settings={"allow_interspersed_args": False})
@command
def launch(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT.py", help="The script.", show_default=False)],
    arguments: Annotated[
        list[str],
        typer.Argument(metavar="[ARGUMENT...]", help="Its own arguments.", show_default=False),
    ] = [],  # noqa: B006 - typer copies it
    ranks: Annotated[
        int, typer.Option("--ranks", "-n", metavar="N", help="How many ranks.", show_default=False)
    ] = 0,
    engine: Annotated[
        str, typer.Option("--engine", metavar="ENGINE", help="What a rank is: mpi (a process) or threads.")
    ] = "mpi",
) -> None:
    """Run a Python script as a job of several ranks.

    Each rank runs the whole script; meshes that it makes are of these ranks. Every line of output has its
    rank in front. A rank that fails, or is killed, ends the others, and its exit code is the command's.

    Processes need MPI: pip install 'adze-compiler[mpi]'. Threads need nothing; they share the modules that
    the script imports, and are for development.

    Example: adze launch -n 4 train.py --steps 100
    """
    if ranks < 1:
        raise BadUsage("--ranks: how many ranks shall run the script?", hint="write -n 4")
    if engine not in ENGINES:
        raise BadUsage(f"--engine: {engine!r} is none of {' and '.join(ENGINES)}")
    words = [str(readable_file(script)), *arguments]
    if engine == "threads":
        from ..runtime.distributed.threaded import run_in_threads

        try:
            run_in_threads(words, ranks)
        except SystemExit as end:
            raise typer.Exit(end.code if isinstance(end.code, int) else 1) from None
        return
    from ..runtime.distributed.launchers import find_launcher

    launcher = find_launcher()
    rank = [sys.executable, "-m", "adze.runtime.distributed.ranked", *words]
    done = subprocess.run(launcher.command(ranks, rank), env=launcher.environment(ranks), check=False)
    if done.returncode:
        raise typer.Exit(done.returncode if done.returncode > 0 else 128 - done.returncode)
