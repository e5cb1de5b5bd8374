"""`adze diff`: two programs, or a program and its source, beside each other.

Input: two files, or a file and functions with what `adze build` takes of them, which are compiled for the
targets of the file. Output: what differs; with --exit-code the command ends with code 1 where anything does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import SpecOption, readable_file
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
from .dims import DimOption, SpecializeOption, parse_dims, parse_sizes
from .programs import Asked, BundleOption, trace_functions
from .project.command import names_function
from .reporting import BadUsage, JsonOption, command, print_json, print_text, working

if TYPE_CHECKING:
    from ..frontend.staging.differences import Row
    from ..runtime.artifact.artifact import Contents


@command
def diff(
    left: Annotated[str, typer.Argument(metavar="A.vmfb", help="A program.", show_default=False)],
    right: Annotated[
        list[str],
        typer.Argument(
            metavar="B.vmfb | FILE.py:FUNC...",
            help="Another; or functions, or an adze.Program.",
            show_default=False,
        ),
    ],
    specs: SpecOption = [],  # noqa: B006 - typer copies it
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
    fails: Annotated[bool, typer.Option("--exit-code", help="End with code 1 where they differ.")] = False,
    json: JsonOption = False,
) -> None:
    """Compare two programs, or a program with its source: versions, size, kernels, cost, IR.

    Programs that keep their IR (adze build --keep-ir) are compared op by op. Functions are traced with --in
    and the other options of adze build, and compiled for the targets of the program.

    Example: adze diff old.vmfb new.vmfb
    """
    from ..frontend.staging.differences import ir_difference, rows
    from ..runtime.artifact import artifact

    first = artifact.read(readable_file(Path(left)))
    flags = {"grad": grad, "value_and_grad": value_and_grad, "vjp": vjp, "jvp": jvp}
    how = derivation(flags, argnums, vmap, in_axes)
    asked = Asked(specs, how, bundle, parse_dims(dims), parse_sizes(specialize))
    shown = ", ".join(right)
    second = _other(right, asked, first)
    found = rows(first, second)
    lines = ir_difference(first, second, (left, shown))
    same = not lines and not any(row.differs for row in found)
    if json:
        entries = [{"name": r.name, "left": r.left, "right": r.right, "growth": r.growth} for r in found]
        print_json({"same": same, "properties": entries, "ir": lines})
    elif same:
        print_text(f"{left} and {shown} are the same program")
    else:
        _show(found, lines)
    if fails and not same:
        raise typer.Exit(1)


def _other(right: list[str], asked: Asked, first: Contents) -> Contents:
    """The program to compare with: a file, or functions that are compiled as `first` was."""
    from ..runtime.artifact import artifact

    if all(names_function(name) and not name.endswith(".vmfb") for name in right):
        return _compiled(right, asked, first)
    if asked != Asked([], derivation({}, "0", None, None), None, {}, []):
        raise BadUsage("--in is for a function", hint="name it second: adze diff a.vmfb model.py:f")
    if len(right) > 1:
        raise BadUsage(f"{', '.join(right)}: expected one other program, or functions of Python files")
    return artifact.read(readable_file(Path(right[0])))


def _show(found: list[Row], lines: list[str]) -> None:
    """A line for each property, then the difference of the IR."""
    width = max(len(row.name) for row in found)
    for row in found:
        grown = f" ({row.growth:+.1%})" if row.growth else ""
        told = f"{row.left} -> {row.right}{grown}" if row.differs else f"{row.left} in both"
        print_text(f"{row.name:<{width}}  {told}")
    for line in lines:
        print_text(line)


def _compiled(functions: list[str], asked: Asked, like: Contents) -> Contents:
    """Functions compiled for the targets of a program, with their IR."""
    from ..frontend.staging.packages import contents_of

    manifest = like.manifest
    targets = [variant.target for variant in manifest.variants] or [manifest.target]
    file = manifest.parameters.file if manifest.parameters else None
    with working(f"compiling {', '.join(functions)}"):
        tracing = trace_functions(functions, asked)
        compiled = [tracing.program.lower(target).compile() for target in targets]
        contents, _ = contents_of(compiled, bool(like.ir), tracing.parameters, file)
    return contents
