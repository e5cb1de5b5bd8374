"""`adze verify`: a .vmfb against the adze IR that it keeps, which NumPy evaluates op by op.

Input: a program that was built with --keep-ir; its own inputs, or a seed to draw some. Output: for each
result the largest error, and exit code 1 where one is larger than it may be.
"""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from .arguments import readable_file
from .inputs import pair_inputs, read_inputs
from .reporting import BadUsage, JsonOption, command, print_json, print_text, usage, working
from .run import DeviceOption, InputsOption


@command
def verify(
    file: Annotated[Path, typer.Argument(metavar="OUT.vmfb", help="The program.", show_default=False)],
    inputs: InputsOption = [],  # noqa: B006 - typer copies it
    samples: Annotated[int, typer.Option("--samples", min=1, help="How many calls with drawn inputs.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="What the inputs are drawn by.")] = 0,
    sizes: Annotated[
        list[str],
        typer.Option("--size", metavar="NAME=N", help="The size of a named dimension.", show_default=False),
    ] = [],  # noqa: B006
    max_error: Annotated[
        float | None,
        typer.Option(
            "--max-error",
            min=0,
            help="The largest relative error of floats.",
            show_default="by dtype: 1e-4 for f32, 1e-10 for f64",
        ),
    ] = None,
    device: DeviceOption = None,
    json: JsonOption = False,
) -> None:
    """Compare the results of a .vmfb with those of its adze IR, evaluated with NumPy.

    Inputs are drawn: normal floats, integers 0 to 4, named dimensions of 1 and then of up to 8. With --in the
    program is called once, on the arrays that you name. An error is relative to the largest magnitude in its
    result; integers, bools, NaN and infinities must be equal.

    Example: adze verify predict.vmfb --samples 20
    """
    from ..frontend.staging.artifacts import LoadedProgram
    from ..frontend.staging.verification import compare, drawn
    from ..runtime.artifact.artifact import inspect, load
    from ..runtime.execute.devices import get_device

    signature = inspect(readable_file(file)).manifest.signatures[0]
    chosen = usage("--device", get_device, device) if device is not None else None
    known = _sizes(sizes, {n for spec in signature.inputs for n in spec.shape if isinstance(n, str)})
    calls = (
        [read_inputs(pair_inputs(inputs, signature), signature)]
        if inputs
        else list(drawn(signature, samples, seed, known))
    )
    with working(f"verifying {file}"):
        agreements = compare(LoadedProgram(load(file, chosen)), calls, max_error)
    wrong = [a.result.name for a in agreements if not a.holds]
    if json:
        results = [
            {"name": a.result.name, "error": a.error if isfinite(a.error) else "inf", "allowed": a.allowed}
            for a in agreements
        ]
        print_json({"file": str(file), "calls": len(calls), "results": results, "holds": not wrong})
    else:
        for a in agreements:
            print_text(
                f"{a.result}: error {a.error:.2g}, allowed {a.allowed:.2g}{'' if a.holds else '  WRONG'}"
            )
        print_text(f"{len(calls)} calls: {'wrong: ' + ', '.join(wrong) if wrong else 'all results agree'}")
    if wrong:
        raise typer.Exit(1)


def _sizes(texts: list[str], names: set[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in texts:
        name, separator, number = text.partition("=")
        if not separator or not number.isdecimal():
            raise BadUsage(f"--size: {text!r} is not NAME=N", hint="write --size n=16")
        if name not in names:
            raise BadUsage(
                f"--size: the program has no dimension {name!r}: it has {', '.join(sorted(names)) or 'none'}"
            )
        sizes[name] = int(number)
    return sizes
