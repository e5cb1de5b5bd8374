"""`adze report`: one page of HTML that shows a program on its way from source to kernels.

Input: functions with specs, or a `.vmfb` that keeps its IR. Output: a page that needs no network.
`frontend/report` does the work.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import SpecOption, TargetOption, check_output, readable_file
from .derivations import (
    ArgnumsOption,
    GradOption,
    InAxesOption,
    JvpOption,
    ValueAndGradOption,
    VjpOption,
    VmapOption,
    derivation,
)
from .dims import DimOption, SpecializeOption, parse_dims
from .dims import parse_sizes as parse_specialized
from .measured import SizesOption, parse_sizes
from .programs import Asked, BundleOption, Tracing, trace_functions
from .reporting import BadUsage, JsonOption, command, print_json, print_text, readable_bytes, usage, working
from .source import source_file

if TYPE_CHECKING:
    from ..frontend.staging.derived import Derivation


@command
def report(
    programs: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE.py:FUNC...|OUT.vmfb",
            help="Functions, an adze.Program, or a program that keeps its IR.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="REPORT.html", help="The file to write.", show_default=False),
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
    bundle: BundleOption = None,
    dims: DimOption = [],  # noqa: B006
    specialize: SpecializeOption = [],  # noqa: B006
    time: Annotated[
        bool, typer.Option("--time/--no-time", help="Compile it, and time its kernels here.")
    ] = True,
    sizes: SizesOption = [],  # noqa: B006
    json: JsonOption = False,
) -> None:
    """Write a page with the source, every stage, the graph, cost, memory and kernels of a program.

    Hover a line of the source to see its ops in each stage. Ops of derivatives name the line that they
    differentiate. The page is one file without external parts.

    Example: adze report model.py:loss --in 'f32[8,784]' --grad -o report.html
    """
    from ..frontend.report.report import report_page
    from ..runtime.artifact.files import write_atomically
    from ..runtime.targets import parse_target

    flags = {"grad": grad, "value_and_grad": value_and_grad, "vjp": vjp, "jvp": jvp}
    how = derivation(flags, argnums, vmap, in_axes)
    chosen = usage("--target", parse_target, target)
    is_artifact = any(name.endswith(".vmfb") for name in programs)
    program = ", ".join(programs)
    if is_artifact and len(programs) > 1:
        raise BadUsage(f"{program}: expected one program, or functions of Python files")
    kept_files = [readable_file(Path(program))] if is_artifact else [source_file(name) for name in programs]
    destination = check_output(output, keep=kept_files)
    if is_artifact and (specs or bundle or dims or specialize):
        raise BadUsage(
            "--in: the program has its shapes already", hint="name sizes for the times with --size"
        )
    asked = Asked(specs, how, bundle, parse_dims(dims), parse_specialized(specialize))
    with working(f"reporting on {program}"):
        tracing, ir = _kept(Path(program), how) if is_artifact else (trace_functions(programs, asked), None)
        entries = tracing.program.program.entries
        names = {n for e in entries for p in e.parameters for n in p.dimensions if n is not None}
        known = parse_sizes(sizes, {str(name) for name in names})
        text = report_page(
            tracing.program,
            chosen,
            title=program,
            timed=time,
            sizes=known,
            ir=ir,
            parameters=tracing.parameters,
        )
    content = text.encode(errors="replace")
    write_atomically(destination, content)
    if json:
        print_json({"program": program, "output": str(output), "target": str(chosen), "bytes": len(content)})
    else:
        print_text(f"{output}: {readable_bytes(len(content))}, {program} for {chosen}")


def _kept(file: Path, how: Derivation) -> tuple[Tracing, str]:
    """The program of an artifact, traced again, with lines in the text of its IR."""
    from ..frontend.report.kept import with_lines
    from ..frontend.staging.derived import Specified
    from ..frontend.staging.jit import trace
    from ..frontend.staging.kept import KeptFunction
    from ..frontend.staging.recompiled import retraced
    from ..runtime.artifact import artifact
    from ..runtime.artifact.weights import parameters_of

    contents, ir = with_lines(artifact.read(file))
    if how.derivative is None and how.batch is None:
        return Tracing(retraced(contents), parameters_of(contents.manifest.parameters, file.parent)), ir
    kept = KeptFunction(contents)
    derived = Specified(kept, *kept.specs).derived(how)
    return Tracing(trace(derived.function, *derived.args, **derived.kwargs)), ir
