"""`adze transform`: a derivative or a batch of a program, made of the adze IR that its file keeps.

Input: a .vmfb that was built with --keep-ir, by this version of adze or an earlier one; its Python source is
not needed. Output: another .vmfb, for the same target or another.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import check_output, chosen_targets, readable_file, same_file
from .build import report
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
from .programs import Tracing, Written, traced, write_program
from .reporting import BadUsage, JsonOption, command, working
from .run import FunctionOption, choose_function

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.artifact.artifact import Contents
    from ..runtime.targets import Target


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
    inside: Annotated[
        bool, typer.Option("--weights-inside", help="Put weights that are outside into the new file.")
    ] = False,
    keep_ir: KeepIrOption = False,
    json: JsonOption = False,
) -> None:
    """Compile a derivative or a batch of a .vmfb that keeps its adze IR.

    Without --grad and its like the whole program is compiled again: for other targets, or with another
    version of IREE. Weights outside of it are copied to the folder of the new file.

    A derivative of a function of an adze.Program is a function without state: it takes the state as its
    first argument, a dict of arrays by their paths, and returns the new state before its results.

    Example: adze transform loss.vmfb --grad -o gradient.vmfb
    """
    from ..frontend.staging.derived import Specified
    from ..frontend.staging.kept import KeptFunction
    from ..runtime.artifact import artifact

    flags = {"grad": grad, "value_and_grad": value_and_grad, "vjp": vjp, "jvp": jvp}
    how = derivation(flags, argnums, vmap, in_axes)
    contents = artifact.read(readable_file(file))
    manifest = contents.manifest
    chosen = chosen_targets(target, [v.target for v in manifest.variants] or [manifest.target])
    destination = check_output(output, keep=[file])
    if function is None and how.derivative is None and how.batch is None:
        report(_compiled_again(contents, file, chosen, destination, keep_ir, inside), output, json)
        return
    if inside:
        raise BadUsage(
            "--weights-inside is for the whole program: a derivative takes its weights as an argument",
            hint="leave it out, or --function, --grad and their like",
        )
    name = choose_function(manifest, function).name
    kept = KeptFunction(contents, name)
    args, kwargs = kept.specs
    specified = Specified(kept, args, kwargs)
    written = write_program(
        lambda: Tracing(traced(specified, how, str(file))), str(file), chosen, destination, keep_ir
    )
    report(written, output, json)


def _compiled_again(
    contents: Contents,
    file: Path,
    targets: Sequence[Target],
    destination: Path,
    keep_ir: bool,
    inside: bool,
) -> Written:
    """The whole program, compiled again and written, with its file of parameters beside it."""
    from ..frontend.staging.recompiled import recompiled
    from ..runtime.artifact.artifact import save
    from ..runtime.artifact.files import write_atomically

    started = time.perf_counter()
    with working(f"compiling {file} for {', '.join(map(str, targets))}"):
        weights = _weights(contents, file.parent) if inside else None
        new, compiled = recompiled(contents, targets, keep_ir=keep_ir, inside=weights)
        beside = new.manifest.parameters.file if new.manifest.parameters else None
        if beside is not None and not same_file(file.parent, destination.parent):
            parameters = readable_file(file.parent / beside).read_bytes()
            write_atomically(check_output(destination.parent / beside), parameters)
        save(destination, new)
    return Written(compiled, destination.stat().st_size, time.perf_counter() - started)


def _weights(contents: Contents, folder: Path) -> dict[str, np.ndarray]:
    """The weights that are outside; what has none, or none in a .safetensors file, is bad usage."""
    from ..runtime.artifact.weights import parameters_of

    parameters = contents.manifest.parameters
    weights = parameters_of(parameters, folder)
    outside = [] if parameters is None else [h.spec for h in parameters.held if h.is_parameter]
    if not outside or any(spec.name not in weights for spec in outside):
        raise BadUsage("--weights-inside: the program has no .safetensors file of weights beside it")
    for spec in outside:
        if spec.dtype.kind == "c":
            raise BadUsage(f"--weights-inside: {spec} is complex, and such weights stay outside")
    return weights
