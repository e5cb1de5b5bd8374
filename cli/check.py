"""`adze check`: functions traced, their IR verified, their derivatives checked; nothing compiled, no device.

Input: artifacts of a project, or functions with the specs of their arguments. Output: an outcome for each,
and exit code 1 where one has a problem.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import SpecOption, TargetsOption
from .dims import DimOption, parse_dims
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
            help="Functions, or an adze.Program; or artifacts of the project (all, if none is named).",
            show_default=False,
        ),
    ] = [],  # noqa: B006 - typer copies it
    specs: SpecOption = [],  # noqa: B006
    target: TargetsOption = [],  # noqa: B006
    dims: DimOption = [],  # noqa: B006
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
    are drawn, and evaluated with NumPy. The functions of an adze.Program are checked by its state too, whose
    arrays are drawn as well.

    Example: adze check model.py:loss --in 'f32[3]'
    """
    how_to_print = parse_format(form, json)
    if any(map(names_function, functions)):
        if project is not None:
            raise BadUsage(
                "--project is for the artifacts of a project", hint="leave it out, or the functions"
            )
        parse_dims(dims)
        chosen = _project_of(functions, specs, target, dims)
    else:
        if specs or target or dims:
            raise BadUsage("--in, --dim and --target are for functions", hint="name one: adze check m.py:f")
        chosen = find_project(project or Path.cwd())
    names = [] if any(map(names_function, functions)) else functions
    outcomes = check_artifacts(chosen, names, gradients, jobs or default_jobs(), progress)
    finish(outcomes, how_to_print, "adze check")


def _project_of(functions: list[str], specs: list[str], targets: list[str], dims: list[str]) -> Project:
    """Functions alone, as a project of one artifact that is not written."""
    from .arguments import chosen_targets

    chosen_targets(targets)
    here = Path.cwd()
    artifact = Artifact(
        name=", ".join(functions),
        entries=tuple(functions),
        targets=tuple(targets) or ("cpu",),
        output=here / "none.vmfb",
        where=functions[0].rpartition(":")[0] + ":1",
        inputs=tuple(specs),
        dims=tuple(dims),
    )
    return Project(here, here, (artifact,))
