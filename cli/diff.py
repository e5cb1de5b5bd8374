"""`adze diff`: two programs, or a program and its source, beside each other.

Input: two files, or a file and FILE.py:FUNC with the specs of its arguments, which is compiled for the
target of the file. Output: what differs; with --exit-code the command ends with code 1 where anything does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import SpecOption, bind_specs, readable_file
from .project.command import names_function
from .reporting import BadUsage, JsonOption, command, print_json, print_text, working
from .source import load_function, user_code

if TYPE_CHECKING:
    from ..runtime.artifact.artifact import Contents


@command
def diff(
    left: Annotated[str, typer.Argument(metavar="A.vmfb", help="A program.", show_default=False)],
    right: Annotated[
        str,
        typer.Argument(metavar="B.vmfb | FILE.py:FUNC", help="Another, or a function."),
    ],
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    fails: Annotated[bool, typer.Option("--exit-code", help="End with code 1 where they differ.")] = False,
    json: JsonOption = False,
) -> None:
    """Compare two programs, or a program with its source: versions, size, kernels, cost, IR.

    Programs that keep their IR (adze build --keep-ir) are compared op by op. A function is traced with --in,
    and compiled for the target of the program.

    Example: adze diff old.vmfb new.vmfb
    """
    from ..frontend.staging.differences import ir_difference, rows
    from ..runtime.artifact import artifact

    first = artifact.read(readable_file(Path(left)))
    if names_function(right) and not right.endswith(".vmfb"):
        second = _compiled(right, specs, first)
    elif specs:
        raise BadUsage("--in is for a function", hint="name it second: adze diff a.vmfb model.py:f")
    else:
        second = artifact.read(readable_file(Path(right)))
    found = rows(first, second)
    lines = ir_difference(first, second, (left, right))
    same = not lines and not any(row.differs for row in found)
    if json:
        entries = [{"name": r.name, "left": r.left, "right": r.right, "growth": r.growth} for r in found]
        print_json({"same": same, "properties": entries, "ir": lines})
    elif same:
        print_text(f"{left} and {right} are the same program")
    else:
        width = max(len(row.name) for row in found)
        for row in found:
            grown = f" ({row.growth:+.1%})" if row.growth else ""
            told = f"{row.left} -> {row.right}{grown}" if row.differs else f"{row.left} in both"
            print_text(f"{row.name:<{width}}  {told}")
        for line in lines:
            print_text(line)
    if fails and not same:
        raise typer.Exit(1)


def _compiled(function: str, specs: list[str], like: Contents) -> Contents:
    """A function compiled for the targets of a program, with its IR."""
    from ..frontend.staging.jit import trace
    from ..frontend.staging.packages import packed

    manifest = like.manifest
    targets = [variant.target for variant in manifest.variants] or [manifest.target]
    with user_code(f"{function} was traced"), working(f"compiling {function}"):
        loaded = load_function(function)
        args, kwargs = bind_specs(loaded, specs)
        traced = trace(loaded, *args, **kwargs)
    return packed([traced.lower(target).compile() for target in targets], keep_ir=bool(like.ir))
