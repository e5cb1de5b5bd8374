"""`adze profile`: what happens inside the calls of a .vmfb, as a file for Perfetto.

Input: a program, its inputs or sizes to draw some for. Output: a trace with every kernel and allocation, and
a line on where the time goes. `runtime/measure/profiles.py` says what the times are.
"""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from .arguments import check_output
from .measured import SeedOption, SizesOption, readable_time, subject
from .reporting import JsonOption, command, counted, print_json, print_text, working
from .run import DeviceOption, FunctionOption, InputsOption


@command
def profile(
    file: Annotated[Path, typer.Argument(metavar="OUT.vmfb", help="The program.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="TRACE.json", help="The file to write.", show_default=False),
    ],
    inputs: InputsOption = [],  # noqa: B006 - typer copies it
    sizes: SizesOption = [],  # noqa: B006
    seed: SeedOption = 0,
    calls: Annotated[int, typer.Option("--calls", min=1, max=10_000, help="How many calls to record.")] = 10,
    function: FunctionOption = None,
    device: DeviceOption = None,
    json: JsonOption = False,
) -> None:
    """Record the kernels and allocations of calls of a .vmfb, for https://ui.perfetto.dev.

    The times are those of IREE's own profiler on the host's clock: of a kernel, from the start of its first
    workgroup to the end of its last; of a GPU's kernels, those of the device's clock. Recording makes calls
    slower; adze bench measures them undisturbed.

    Example: adze profile predict.vmfb --size n=64 -o trace.json
    """
    from ..runtime.artifact.files import write_atomically
    from ..runtime.measure import perfetto, profiles

    destination = check_output(output, keep=[file])
    measured = subject(file, function, device, inputs, sizes, seed)
    with working(f"recording {file}"):
        events = profiles.record(
            measured.module,
            measured.device,
            measured.signature.name,
            measured.arguments,
            calls,
            measured.parameters,
        )
    document = perfetto.trace_document(events, measured.signature.name, measured.device)
    write_atomically(destination, json_text.dumps(document, separators=(",", ":")).encode())
    table = profiles.kernels(events)
    if json:
        entry = {"file": str(file), "output": str(output), "device": measured.device, "calls": calls}
        print_json({**entry, "events": len(events), "kernels": [kernel.to_json() for kernel in table]})
        return
    print_text(f"{output}: {counted(calls, 'call')} of {measured.signature} on {measured.device}")
    print_text(f"{counted(len(table), 'kernel')}, {counted(len(events), 'event')}")
    for kernel in table[:5]:
        print_text(f"  {readable_time(kernel.median):>9}  {kernel.share:6.1%}  {kernel.name}")
