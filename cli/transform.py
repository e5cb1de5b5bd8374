"""`adze transform`: a derivative or a batch of a program, made of the adze IR that its file keeps.

Input: a .vmfb that was built with --keep-ir, by this version of adze or an earlier one; its Python source is
not needed. Output: another .vmfb, for the same target or another.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import check_output, chosen_targets, readable_file
from .build import report, write_program
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
from .reporting import JsonOption, command
from .run import FunctionOption, choose_function


@command
def transform(
    file: Annotated[Path, typer.Argument(metavar="IN.vmfb", help="The program.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT.vmfb", help="The file to write.", show_default=False),
    ],
    target: Annotated[
        list[str],
        typer.Option(
            "--target", "-t", metavar="TARGET", help="What it shall run on.", show_default="the same"
        ),
    ] = [],  # noqa: B006 - typer copies it
    grad: GradOption = False,
    value_and_grad: ValueAndGradOption = False,
    vjp: VjpOption = False,
    jvp: JvpOption = False,
    argnums: ArgnumsOption = "0",
    vmap: VmapOption = None,
    in_axes: InAxesOption = None,
    function: FunctionOption = None,
    keep_ir: KeepIrOption = False,
    json: JsonOption = False,
) -> None:
    """Compile a derivative or a batch of a .vmfb that keeps its adze IR.

    Without --grad and its like the program itself is compiled again: for another target, or with another
    version of IREE.

    Example: adze transform loss.vmfb --grad -o gradient.vmfb
    """
    from ..frontend.staging.derived import Specified
    from ..frontend.staging.kept import KeptFunction
    from ..runtime.artifact import artifact

    flags = {"grad": grad, "value_and_grad": value_and_grad, "vjp": vjp, "jvp": jvp}
    how = derivation(flags, argnums, vmap, in_axes)
    contents = artifact.read(readable_file(file))
    manifest = contents.manifest
    name = choose_function(manifest, function).name
    chosen = chosen_targets(target, [v.target for v in manifest.variants] or [manifest.target])
    destination = check_output(output, keep=[file])
    kept = KeptFunction(contents, name)
    args, kwargs = kept.specs
    specified = Specified(kept, args, kwargs)
    report(write_program(specified, how, str(file), chosen, destination, keep_ir), output, json)
