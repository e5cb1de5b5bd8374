"""`adze build`: a Python function compiled to one .vmfb for one target."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from .arguments import FunctionArgument, SpecOption, TargetOption, bind_specs, check_output
from .reporting import JsonOption, command, print_json, readable_bytes, usage
from .source import load_function


@command
def build(
    function: FunctionArgument,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT.vmfb", help="The file to write.", show_default=False),
    ],
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    target: TargetOption = "cpu",
    json: JsonOption = False,
) -> None:
    """Compile a Python function to one .vmfb.

    The file is run once by Python; the function is traced with the given shapes and dtypes. What comes
    out is one file that runs without Python, on the device that the target names.

    Example: adze build model.py:predict --in 'f32[8,784]' -t cpu:x86-64-v3 -o predict.vmfb
    """
    from .. import jit
    from ..runtime.targets import parse_target

    chosen = usage("--target", parse_target, target)
    check_output(output)
    found = load_function(function)
    positional, named = bind_specs(found, specs)

    started = time.perf_counter()
    compiled = jit(found).trace(*positional, **named).lower(chosen).compile()
    compiled.save(output)
    seconds = time.perf_counter() - started

    size = output.stat().st_size
    if json:
        print_json(
            {
                "output": str(output),
                "function": function,
                "target": str(chosen),
                "bytes": size,
                "seconds": round(seconds, 3),
            }
        )
    else:
        typer.echo(f"{output}: {readable_bytes(size)} for {chosen} in {seconds:.2f} s")
