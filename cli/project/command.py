"""What `adze build` does without a function: the options of a project, its progress and its summary.

Input: the command line. Output: the outcomes on standard output, in the format that was asked for, problems
on standard error, and exit code 1 where there is one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ..reporting import BadUsage, print_note, print_text
from ..source import is_model
from .outcomes import FORMATS, Outcome, shown

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="PATH",
        help="The project's file, or its folder.",
        show_default="the nearest adze.toml or pyproject.toml",
    ),
]
CheckOption = Annotated[
    bool, typer.Option("--check", help="Write nothing; fail where a build would change a file or adze.lock.")
]
LockedOption = Annotated[
    bool, typer.Option("--locked", help="Write only what adze.lock says, to the byte; fail otherwise.")
]
AgainOption = Annotated[bool, typer.Option("--force", help="Build what did not change, too.")]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="How many to build at once.", show_default="one a processor"),
]
FormatOption = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help=f"How results are printed: {', '.join(FORMATS)}.")
]


def names_function(name: str) -> bool:
    """Whether an argument is FILE.py:FUNC, or was meant to be, or a model, and no name of an artifact."""
    return ":" in name.partition("@")[0] or "/" in name or name.endswith(".py") or is_model(name)


OF_A_FUNCTION: Final = {
    "output": "--output",
    "specs": "--in",
    "target": "--target",
    "grad": "--grad",
    "value_and_grad": "--value-and-grad",
    "vjp": "--vjp",
    "jvp": "--jvp",
    "vmap": "--vmap",
    "in_axes": "--in-axes",
    "bundle": "--bundle",
    "dims": "--dim",
    "specialize": "--specialize",
    "keep_ir": "--keep-ir",
    "ranks": "--ranks",
    "default_dtypes": "--default-dtypes",
    "c_stub": "--c-stub",
    "c_embed": "--c-embed",
    "depfile": "--depfile",
}
OF_A_PROJECT: Final = {
    "project": "--project",
    "check": "--check",
    "locked": "--locked",
    "again": "--force",
    "jobs": "--jobs",
}
"""Options of `adze build` by their parameters: what the one kind of build takes and the other does not."""


def refuse(options: Mapping[str, Any], names: Mapping[str, str], why: str, hint: str) -> None:
    """Bad usage for the first of the options `names` that is set."""
    for parameter, name in names.items():
        if options[parameter] not in (None, False, "text") and options[parameter] != []:
            raise BadUsage(f"{name} {why}", hint=hint)


def build_artifacts(
    names: Sequence[str],
    project: Path | None,
    *,
    check: bool,
    locked: bool,
    again: bool,
    jobs: int | None,
    form: str,
) -> None:
    """Build the artifacts of a project that changed, and say what became of each."""
    from .building import Request, build_project
    from .configuration import find_project
    from .workers import default_jobs

    if check and (locked or again):
        raise BadUsage(
            f"--check writes nothing: {'--locked' if locked else '--force'} has no meaning with it"
        )
    chosen = find_project(project or Path.cwd())
    request = Request(tuple(names), check, locked, again, jobs or default_jobs())
    outcomes = build_project(chosen, request, progress)
    finish(outcomes, form, "adze build", project=str(chosen.file))


def finish(outcomes: Sequence[Outcome], form: str, command: str, **about: Any) -> None:
    """Print the outcomes, and end with exit code 1 where one has a problem."""
    for outcome in outcomes:
        if outcome.log and form != "junit":
            print_note(outcome.log.rstrip("\n"))
    print_text(shown(outcomes, form, command, **about))
    bad = [outcome for outcome in outcomes if outcome.problems]
    if form == "text":
        for outcome in bad:
            for problem in outcome.problems:
                typer.secho("error: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
                typer.echo(f"{outcome.name}: {problem}", err=True)
    if bad:
        raise typer.Exit(1)


@contextlib.contextmanager
def progress(count: int) -> Iterator[Callable[[str], None]]:
    """A bar on standard error for so many artifacts; nothing where no one watches."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda name: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=count)

        def tell(name: str) -> None:
            bar.update(task, advance=1, description=name)

        yield tell
