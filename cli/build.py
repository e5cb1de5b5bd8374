"""`adze build`: a Python function compiled to one .vmfb for one target.

Input: a file with a function in it, specs of its arguments and a target. Output: the program's file, whole or
not at all, and a line (or JSON) on its signature, size and time. `frontend` does the work: trace, lower,
compile, save.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from ..dialects.errors import AdzeError
from .arguments import FunctionArgument, SpecOption, TargetOption, bind_specs, check_output
from .reporting import JsonOption, command, print_json, print_note, print_text, readable_bytes, usage, working
from .source import load_function, source_file, user_code


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

    Python runs the file once, and the function is traced with the given shapes and dtypes. What comes
    out is one file that runs without Python on the device that the target names.

    Example: adze build model.py:predict --in 'f32[8,784]' -o predict.vmfb
    """
    from ..frontend.staging.jit import trace
    from ..runtime.targets import parse_target

    chosen = usage("--target", parse_target, target)
    destination = check_output(output, keep=[source_file(function)])
    with user_code(f"{function} was traced"):
        loaded = load_function(function)
        positional, named = bind_specs(loaded, specs)
        started = time.perf_counter()
        with working(f"compiling {function} for {chosen}"):
            traced = trace(loaded, *positional, **named)
            if not traced.does_anything():
                raise AdzeError(
                    f"{function} returns nothing: the program would have no results",
                    where=traced.defined_at,
                    hint="end the function with `return` and the arrays that it computes",
                )
            compiled = traced.lower(chosen).compile()
            compiled.save(destination)
    seconds = time.perf_counter() - started

    size = destination.stat().st_size
    cached = compiled.report.record
    for warning in cached.warnings:
        print_note(f"warning: {warning}")
    signature = compiled.manifest.signatures[0]
    if json:
        print_json(
            {
                "output": str(output),
                "function": str(signature),
                "target": str(chosen),
                "bytes": size,
                "seconds": round(seconds, 3),
                "cache_hit": cached.hit,
            }
        )
    else:
        origin = ", from the compile cache" if cached.hit else ""
        print_text(f"{signature}\n{output}: {readable_bytes(size)} for {chosen} in {seconds:.2f} s{origin}")
