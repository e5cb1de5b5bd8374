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
    asked = Asked(specs, how, bundle, parse_dims(dims), parse_specialized(specialize))
    title = ", ".join(programs)
    artifact = _artifact(programs, asked)
    kept_files = [artifact] if artifact else [source_file(name) for name in programs]
    destination = check_output(output, keep=kept_files)
    with working(f"reporting on {title}"):
        tracing, ir = _kept(artifact, how) if artifact else (trace_functions(programs, asked), None)
        text = report_page(
            tracing.program,
            chosen,
            title=title,
            timed=time,
            sizes=parse_sizes(sizes, _dimensions(tracing)),
            ir=ir,
            parameters=tracing.parameters,
        )
    content = text.encode(errors="replace")
    write_atomically(destination, content)
    if json:
        print_json({"program": title, "output": str(output), "target": str(chosen), "bytes": len(content)})
    else:
        print_text(f"{output}: {readable_bytes(len(content))}, {title} for {chosen}")


def _artifact(programs: list[str], asked: Asked) -> Path | None:
    """The one `.vmfb` to show, None for functions; it has its shapes already."""
    if not any(name.endswith(".vmfb") for name in programs):
        return None
    if len(programs) > 1:
        raise BadUsage(f"{', '.join(programs)}: expected one program, or functions of Python files")
    if asked.specs or asked.bundle or asked.dims or asked.sizes:
        raise BadUsage(
            "--in: the program has its shapes already", hint="name sizes for the times with --size"
        )
    return readable_file(Path(programs[0]))


def _dimensions(tracing: Tracing) -> set[str]:
    """The names of the dimensions of a program's arguments."""
    parameters = [p for entry in tracing.program.program.entries for p in entry.parameters]
    return {str(name) for parameter in parameters for name in parameter.dimensions if name is not None}


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
