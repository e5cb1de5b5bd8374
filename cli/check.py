"""`adze check`: functions traced, their IR verified, their derivatives checked; nothing compiled, no device.

Input: artifacts of a project, or one function with the specs of its arguments. Output: an outcome for each,
and exit code 1 where one has a problem.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import SpecOption, TargetsOption
from .project.checking import check_artifacts
from .project.command import FormatOption, JobsOption, ProjectOption, finish, names_function, progress
from .project.configuration import Artifact, Project, find_project
from .project.outcomes import parse_format
from .project.workers import default_jobs
from .reporting import BadUsage, JsonOption, command


@command
def check(
    functions: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE.py:FUNC | ARTIFACT...]",
            help="A function, or artifacts of the project (all of them, if none is named).",
            show_default=False,
        ),
    ] = [],  # noqa: B006 - typer copies it
    specs: SpecOption = [],  # noqa: B006
    target: TargetsOption = [],  # noqa: B006
    gradients: Annotated[
        bool, typer.Option("--gradients/--no-gradients", help="Check the derivatives too.")
    ] = True,
    project: ProjectOption = None,
    jobs: JobsOption = None,
    form: FormatOption = "text",
    json: JsonOption = False,
) -> None:
    """Trace functions, verify their IR and check their derivatives, without a compile or a device.

    Reverse mode is compared with forward mode, and forward mode with differences of values, on inputs that
    are drawn, and evaluated with NumPy.

    Example: adze check model.py:loss --in 'f32[3]'
    """
    how_to_print = parse_format(form, json)
    if any(map(names_function, functions)):
        if len(functions) > 1:
            raise BadUsage(f"{', '.join(functions)}: expected one function", hint="check them one by one")
        if project is not None:
            raise BadUsage(
                "--project is for the artifacts of a project", hint="leave it out, or the function"
            )
        chosen = _project_of(functions[0], specs, target)
    else:
        if specs or target:
            raise BadUsage("--in and --target are for one function", hint="name it: adze check model.py:f")
        chosen = find_project(project or Path.cwd())
    names = [] if any(map(names_function, functions)) else functions
    outcomes = check_artifacts(chosen, names, gradients, jobs or default_jobs(), progress)
    finish(outcomes, how_to_print, "adze check")


def _project_of(function: str, specs: list[str], targets: list[str]) -> Project:
    """A function alone, as a project of one artifact that is not written."""
    from .arguments import chosen_targets

    chosen_targets(targets)
    here = Path.cwd()
    artifact = Artifact(
        name=function,
        entries=(function,),
        targets=tuple(targets) or ("cpu",),
        output=here / "none.vmfb",
        where=function.rpartition(":")[0] + ":1",
        inputs=tuple(specs),
    )
    return Project(here, here, (artifact,))
