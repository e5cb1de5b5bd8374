"""`adze ir`: what a Python function becomes on the way to a .vmfb, stage by stage.

In come the same function and specs as for `adze build`, and a stage; out comes the text of the IR there. All
stages but the one for people are MLIR that `adze opt` reads.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from .arguments import FunctionArgument, SpecOption, TargetOption, bind_specs, check_output
from .reporting import JsonOption, command, print_json, print_text, usage
from .source import load_function, source_file, user_code


class Stage(enum.Enum):
    """Where to stop: each stage is the input of the next."""

    TRACED = "traced"
    PRETTY = "pretty"
    SIMPLIFIED = "simplified"
    LINALG = "linalg"


@command
def ir(
    function: FunctionArgument,
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    stage: Annotated[
        Stage,
        typer.Option(
            "--stage",
            help="traced: as written. pretty: the same, for people. "
            "simplified: folded and shared. linalg: lowered for the target.",
        ),
    ] = Stage.TRACED,
    target: TargetOption = "cpu",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="OUT.mlir", help="Write there, not to standard output."),
    ] = None,
    locations: Annotated[bool, typer.Option("--locations", help="Print the line of each op.")] = False,
    json: JsonOption = False,
) -> None:
    """Print the IR of a Python function at one stage.

    Example: adze ir model.py:predict --in 'f32[8,784]' --stage simplified
    """
    from ..frontend.staging.jit import trace
    from ..runtime.artifact.files import write_atomically
    from ..runtime.targets import parse_target

    chosen = usage("--target", parse_target, target)
    destination = check_output(output, keep=[source_file(function)]) if output else None
    with user_code(f"{function} was traced"):
        found = load_function(function)
        positional, named = bind_specs(found, specs)
        traced = trace(found, *positional, **named)
    match stage:
        case Stage.PRETTY:
            text = traced.pretty()
        case Stage.TRACED | Stage.SIMPLIFIED:
            text = traced.mlir(stage.value, locations=locations)
        case Stage.LINALG:
            text = traced.lower(chosen).mlir(locations=locations)
        case _:
            assert_never(stage)
    text = text.rstrip() + "\n"
    if destination is not None:
        write_atomically(destination, text.encode())
    if json:
        entry = {"function": function, "stage": stage.value, "target": str(chosen)}
        print_json({**entry, "output": str(output) if output else None, "text": text})
    elif destination is None:
        print_text(text, newline=False)
