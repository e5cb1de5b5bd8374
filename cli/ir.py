"""`adze ir`: what a Python function becomes on the way to a .vmfb, pass by pass.

Input: the same function and specs as for `adze build`, and a stage: a name for users, or that of a pass of
the pipeline. Output: the text of the IR there, MLIR that `adze opt` reads unless it is for people.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import FunctionArgument, SpecOption, TargetOption, bind_specs, check_output
from .default_dtypes import DefaultDtypesOption, check_default_dtypes, tracing_dtypes
from .reporting import BadUsage, JsonOption, command, print_json, print_text, usage
from .source import load_function, source_file, user_code

PRETTY = "pretty"


@command
def ir(
    function: FunctionArgument,
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    stage: Annotated[
        str,
        typer.Option(
            "--stage",
            metavar="STAGE",
            help="traced: as written. pretty: the same, for people. "
            "simplified: folded and shared. "
            "partitioned: of one rank, and what ranks send. linalg: lowered for the target. "
            "kernels: divided by IREE, with tiles. "
            "Or the name of a pass: what it leaves (adze opt --list-passes).",
        ),
    ] = "traced",
    target: TargetOption = "cpu",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="OUT.mlir", help="Write there, not to standard output."),
    ] = None,
    remarks: Annotated[
        bool,
        typer.Option("--remarks", help="Print no IR but, for each loop, which form it gets and why."),
    ] = False,
    default_dtypes: DefaultDtypesOption = None,
    locations: Annotated[bool, typer.Option("--locations", help="Print the line of each op.")] = False,
    json: JsonOption = False,
) -> None:
    """Print the IR of a Python function at one stage.

    Example: adze ir model.py:predict --in 'f32[8,784]' --stage simplified
    """
    from ..frontend.staging.jit import trace
    from ..runtime.artifact.files import write_atomically
    from ..runtime.targets import parse_target

    check_stage(stage)
    chosen = usage("--target", parse_target, target)
    destination = check_output(output, keep=[source_file(function)]) if output else None
    check_default_dtypes(default_dtypes)
    with user_code(f"{function} was traced"), tracing_dtypes(default_dtypes):
        loaded = load_function(function)
        positional, named = bind_specs(loaded, specs)
        traced = trace(loaded, *positional, **named)
    if remarks:
        text = "\n".join(traced.remarks(chosen) or ["there is no loop"])
    elif stage == PRETTY:
        text = traced.pretty()
    else:
        text = traced.at_stage(stage, chosen, locations=locations)
    text = text.rstrip() + "\n"
    if destination is not None:
        write_atomically(destination, text.encode())
    if json:
        entry = {"function": function, "stage": stage, "target": str(chosen)}
        print_json({**entry, "output": str(output) if output else None, "text": text})
    elif destination is None:
        print_text(text, newline=False)


def check_stage(stage: str) -> None:
    """A stage is `traced`, one of the names that users know, or a pass of the pipeline."""
    from ..frontend.staging.kernels import KERNELS
    from ..frontend.staging.lowering import TRACED
    from ..frontend.staging.stage_texts import PARTITIONED, STAGES
    from ..passes.pipeline import PIPELINE

    legal = [TRACED, PRETTY, PARTITIONED, *STAGES, KERNELS, *(step.name for step in PIPELINE)]
    if stage not in legal:
        raise BadUsage(f"--stage: there is no stage {stage!r}", hint=f"write {', '.join(map(repr, legal))}")
