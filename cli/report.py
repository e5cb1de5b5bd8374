"""`adze report`: one page of HTML that shows a program on its way from source to kernels.

Input: a function with specs, or a `.vmfb` that keeps its IR. Output: a page that needs no network.
`frontend/report` does the work.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import SpecOption, TargetOption, bind_specs, check_output, readable_file
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
from .measured import SizesOption, parse_sizes
from .reporting import BadUsage, JsonOption, command, print_json, print_text, readable_bytes, usage, working
from .source import load_function, source_file, user_code

if TYPE_CHECKING:
    from ..frontend.staging.derived import Derivation
    from ..frontend.staging.stages import Traced


@command
def report(
    program: Annotated[
        str,
        typer.Argument(
            metavar="FILE.py:FUNC|OUT.vmfb",
            help="A function, or a program that keeps its IR.",
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
    is_artifact = program.endswith(".vmfb")
    kept_file = readable_file(Path(program)) if is_artifact else source_file(program)
    destination = check_output(output, keep=[kept_file])
    if is_artifact and specs:
        raise BadUsage(
            "--in: the program has its shapes already", hint="name sizes for the times with --size"
        )
    with working(f"reporting on {program}"):
        traced, ir = _kept(Path(program), how) if is_artifact else (_traced(program, specs, how), None)
        names = {n for p in traced.parameters for n in (p.dimensions or ()) if n is not None}
        known = parse_sizes(sizes, {str(name) for name in names})
        text = report_page(traced, chosen, title=program, timed=time, sizes=known, ir=ir)
    content = text.encode(errors="replace")
    write_atomically(destination, content)
    if json:
        print_json({"program": program, "output": str(output), "target": str(chosen), "bytes": len(content)})
    else:
        print_text(f"{output}: {readable_bytes(len(content))}, {program} for {chosen}")


def _traced(function: str, specs: list[str], how: Derivation) -> Traced:
    from ..frontend.staging.derived import Specified
    from ..frontend.staging.jit import trace

    with user_code(f"{function} was traced"):
        loaded = load_function(function)
        derived = Specified(loaded, *bind_specs(loaded, specs)).derived(how)
        return trace(derived.function, *derived.args, **derived.kwargs)


def _kept(file: Path, how: Derivation) -> tuple[Traced, str]:
    """The program of an artifact, traced again, with lines in the text of its IR."""
    from ..frontend.report.kept import with_lines
    from ..frontend.staging.derived import Specified
    from ..frontend.staging.jit import trace
    from ..frontend.staging.kept import KeptFunction
    from ..runtime.artifact import artifact

    contents, ir = with_lines(artifact.read(file))
    kept: Any = KeptFunction(contents)
    args, kwargs = kept.specs
    derived = Specified(kept, args, kwargs).derived(how)
    return trace(derived.function, *derived.args, **derived.kwargs), ir
