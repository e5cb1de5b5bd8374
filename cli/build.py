"""`adze build`: a Python function compiled to one .vmfb for one target.

Input: a file with a function in it, specs of its arguments and a target. Output: the program's file, whole or
not at all, and a line (or JSON) on its signature, size and time. `frontend` does the work: trace, lower,
compile, save.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..dialects.errors import AdzeError
from .arguments import FunctionArgument, SpecOption, TargetOption, bind_specs, check_output
from .c_stub import CEmbedOption, CStubOption, check_c_stub, write_c_stub
from .derivations import (
    ArgnumsOption,
    GradOption,
    InAxesOption,
    JvpOption,
    KeepIrOption,
    ValueAndGradOption,
    VjpOption,
    VmapOption,
    derivation,
)
from .reporting import JsonOption, command, print_json, print_note, print_text, readable_bytes, usage, working
from .source import load_function, source_file, user_code

if TYPE_CHECKING:
    from ..frontend.staging.derived import Derivation, Specified
    from ..frontend.staging.stages import Compiled
    from ..runtime.targets import Target


@command
def build(
    function: FunctionArgument,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT.vmfb", help="The file to write.", show_default=False),
    ],
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    target: TargetOption = "cpu",
    grad: GradOption = False,
    value_and_grad: ValueAndGradOption = False,
    vjp: VjpOption = False,
    jvp: JvpOption = False,
    argnums: ArgnumsOption = "0",
    vmap: VmapOption = None,
    in_axes: InAxesOption = None,
    keep_ir: KeepIrOption = False,
    c_stub: CStubOption = None,
    c_embed: CEmbedOption = False,
    json: JsonOption = False,
) -> None:
    """Compile a Python function to one .vmfb.

    Python runs the file once, and the function is traced with the given shapes and dtypes. What comes
    out is one file that runs without Python on the device that the target names. With --grad and its like
    the derivative is compiled in place of the function, with --vmap a batch of it.

    Example: adze build model.py:predict --in 'f32[8,784]' -o predict.vmfb
    """
    from ..frontend.staging.derived import Specified
    from ..runtime.targets import parse_target

    flags = {"grad": grad, "value_and_grad": value_and_grad, "vjp": vjp, "jvp": jvp}
    how = derivation(flags, argnums, vmap, in_axes)
    chosen = usage("--target", parse_target, target)
    destination = check_output(output, keep=[source_file(function)])
    header = check_c_stub(c_stub, c_embed, destination, source_file(function))
    with user_code(f"{function} was traced"):
        loaded = load_function(function)
        specified = Specified(loaded, *bind_specs(loaded, specs))
        written = write_program(specified, how, function, chosen, destination, keep_ir)
    if header is not None:
        write_c_stub(header, destination, output, embed=c_embed)
    report(written, output, json)


@dataclass(frozen=True)
class Written:
    """A program that was compiled and written, its size, and the seconds that it took."""

    compiled: Compiled
    target: Target
    size: int
    seconds: float


def write_program(
    specified: Specified, how: Derivation, function: str, target: Target, destination: Path, keep_ir: bool
) -> Written:
    """Compile what `how` asks of the function that the user calls `function`, and write it."""
    from ..frontend.staging.jit import trace

    started = time.perf_counter()
    with working(f"compiling {function} for {target}"):
        derived = specified.derived(how)
        traced = trace(derived.function, *derived.args, **derived.kwargs)
        if not traced.does_anything():
            raise AdzeError(
                f"{function} returns nothing: the program would have no results",
                where=traced.defined_at,
                hint="end the function with `return` and the arrays that it computes",
            )
        compiled = traced.lower(target).compile()
        compiled.save(destination, keep_ir=keep_ir)
    return Written(compiled, target, destination.stat().st_size, time.perf_counter() - started)


def report(written: Written, output: Path, as_json: bool) -> None:
    """Say what was written to the file that the user calls `output`: its signature, target, size and time."""
    compiled, target, size, seconds = written.compiled, written.target, written.size, written.seconds
    cached = compiled.report.record
    for warning in cached.warnings:
        print_note(f"warning: {warning}")
    signature = compiled.manifest.signatures[0]
    if as_json:
        print_json(
            {
                "output": str(output),
                "function": str(signature),
                "target": str(target),
                "bytes": size,
                "seconds": round(seconds, 3),
                "cache_hit": cached.hit,
            }
        )
    else:
        origin = ", from the compile cache" if cached.hit else ""
        told = f"{readable_bytes(size)} for {target} in {seconds:.2f} s{origin}"
        print_text(f"{signature}\n{output}: {told}")
