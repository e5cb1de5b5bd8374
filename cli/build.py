"""`adze build`: a Python function compiled to one .vmfb for one target or several.

Input: a file with a function in it, specs of its arguments and targets. Output: the program's file, whole or
not at all, and a line (or JSON) on its signature, size and time. `frontend` does the work: trace, lower,
compile, save.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..dialects.errors import AdzeError
from .arguments import FunctionsArgument, SpecOption, TargetsOption, bind_specs, check_output, chosen_targets
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
from .dims import DimOption, SpecializeOption, bounded, parse_dims, parse_sizes
from .programs import Asked, BundleOption, compile_program, program_of
from .reporting import JsonOption, command, print_json, print_note, print_text, readable_bytes, working
from .source import load_objects, source_file, user_code

if TYPE_CHECKING:
    from ..frontend.staging.derived import Derivation, Specified
    from ..frontend.staging.stages import Compiled
    from ..runtime.targets import Target


@command
def build(
    functions: FunctionsArgument,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT.vmfb", help="The file to write.", show_default=False),
    ],
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    target: TargetsOption = [],  # noqa: B006
    grad: GradOption = False,
    value_and_grad: ValueAndGradOption = False,
    vjp: VjpOption = False,
    jvp: JvpOption = False,
    argnums: ArgnumsOption = "0",
    vmap: VmapOption = None,
    in_axes: InAxesOption = None,
    bundle: BundleOption = None,
    dims: DimOption = [],  # noqa: B006
    specialize: SpecializeOption = [],  # noqa: B006
    keep_ir: KeepIrOption = False,
    c_stub: CStubOption = None,
    c_embed: CEmbedOption = False,
    json: JsonOption = False,
) -> None:
    """Compile a Python function to one .vmfb.

    Python runs the file once, and the function is traced with the given shapes and dtypes. What comes
    out is one file that runs without Python on the device that the target names. With --grad and its like
    the derivative is compiled in place of the function, with --vmap a batch of it. With several targets the
    file holds a program for each, and the best one that a machine can run is chosen when it is loaded.

    Several functions, or an adze.Program of the file, become functions of one program. --in SPEC holds for
    all of them, --in NAME:SPEC for one; --bundle vjp,batched=8 adds f.vjp and f.batched to each f.

    Example: adze build model.py:predict --in 'f32[8,784]' -o predict.vmfb
    """
    from ..frontend.staging.derived import Specified

    flags = {"grad": grad, "value_and_grad": value_and_grad, "vjp": vjp, "jvp": jvp}
    how = derivation(flags, argnums, vmap, in_axes)
    targets = chosen_targets(target)
    destination = check_output(output, keep=[source_file(function) for function in functions])
    header = check_c_stub(c_stub, c_embed, destination, source_file(functions[0]))
    with user_code(f"{', '.join(functions)} was traced"):
        loaded = load_objects(functions)
        asked = Asked(specs, how, bundle, parse_dims(dims), parse_sizes(specialize))
        program = program_of(functions, loaded, asked)
        if program is not None:
            written = Written(*compile_program(program, functions, targets, destination, keep_ir))
        else:
            specified = Specified(loaded[0], *bounded(bind_specs(loaded[0], specs), asked.dims))
            written = write_program(specified, how, functions[0], targets, destination, keep_ir)
    if header is not None:
        write_c_stub(header, destination, output, embed=c_embed)
    report(written, output, json)


@dataclass(frozen=True)
class Written:
    """A program that was compiled for each of its targets and written: its size, and the seconds it took."""

    compiled: tuple[Compiled, ...]
    size: int
    seconds: float


def write_program(
    specified: Specified,
    how: Derivation,
    function: str,
    targets: Sequence[Target],
    destination: Path,
    keep_ir: bool,
) -> Written:
    """Compile what `how` asks of the function that the user calls `function`, and write it."""
    from ..frontend.staging.jit import trace
    from ..frontend.staging.packages import packed
    from ..runtime.artifact.artifact import save

    started = time.perf_counter()
    with working(f"compiling {function} for {', '.join(map(str, targets))}"):
        derived = specified.derived(how)
        traced = trace(derived.function, *derived.args, **derived.kwargs)
        if not traced.does_anything():
            raise AdzeError(
                f"{function} returns nothing: the program would have no results",
                where=traced.defined_at,
                hint="end the function with `return` and the arrays that it computes",
            )
        compiled = tuple(traced.lower(target).compile() for target in targets)
        save(destination, packed(compiled, keep_ir=keep_ir))
    return Written(compiled, destination.stat().st_size, time.perf_counter() - started)


def report(written: Written, output: Path, as_json: bool) -> None:
    """Say what was written to the file that the user calls `output`: signatures, targets, size and time."""
    records = [compiled.report.record for compiled in written.compiled]
    for warning in dict.fromkeys(warning for record in records for warning in record.warnings):
        print_note(f"warning: {warning}")
    targets = [str(compiled.target) for compiled in written.compiled]
    signatures = written.compiled[0].manifest.signatures
    is_hit = all(record.hit for record in records)
    if as_json:
        print_json(
            {
                "output": str(output),
                "function": str(signatures[0]),
                "functions": [str(signature) for signature in signatures],
                "target": targets[0],
                "targets": targets,
                "bytes": written.size,
                "seconds": round(written.seconds, 3),
                "cache_hit": is_hit,
            }
        )
    else:
        origin = ", from the compile cache" if is_hit else ""
        size = readable_bytes(written.size)
        for signature in signatures:
            print_text(str(signature))
        print_text(f"{output}: {size} for {', '.join(targets)} in {written.seconds:.2f} s{origin}")
