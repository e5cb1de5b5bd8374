"""`adze bench`: how long a call of a .vmfb takes, beside another .vmfb where one is named.

Input: a program, its inputs or sizes to draw some for. Output: the distribution of the latency of calls, the
throughput, the memory of a call, and a table of kernels. `runtime/measure` does the work; the compiler is
never loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .measured import SeedOption, SizesOption, Subject, readable_time, subject
from .reporting import JsonOption, command, print_json, print_note, print_text, readable_bytes, working
from .run import DeviceOption, FunctionOption, InputsOption

if TYPE_CHECKING:
    from ..runtime.measure.latency import Comparison, Latency
    from ..runtime.measure.memory import Memory
    from ..runtime.measure.profiles import Kernel

_KERNEL_ROWS = 20
_KERNEL_CALLS = 20


@command
def bench(
    file: Annotated[Path, typer.Argument(metavar="OUT.vmfb", help="The program.", show_default=False)],
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="OTHER.vmfb",
            help="Another program, called in turn with the first.",
            show_default=False,
        ),
    ] = None,
    inputs: InputsOption = [],  # noqa: B006 - typer copies it
    sizes: SizesOption = [],  # noqa: B006
    seed: SeedOption = 0,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.01, max=3600, help="How long to call each program.")
    ] = 1.0,
    calls: Annotated[
        int | None,
        typer.Option(
            "--calls",
            min=1,
            max=1_000_000,
            help="How many calls to time, in place of --seconds.",
            show_default=False,
        ),
    ] = None,
    kernels: Annotated[bool, typer.Option("--kernels/--no-kernels", help="Measure each kernel too.")] = True,
    function: FunctionOption = None,
    device: DeviceOption = None,
    json: JsonOption = False,
) -> None:
    """Measure the latency, throughput, memory and kernels of a .vmfb.

    A call begins with arguments on the device and ends when its results are there. With --against, both
    programs are called in turn, a few milliseconds each, and compared round by round. Inputs are drawn, or
    named with --in.

    Example: adze bench predict.vmfb --size n=64 --against other.vmfb
    """
    from ..runtime.measure.latency import compare, measure

    first = subject(file, function, device, inputs, sizes, seed)
    programs = [first]
    if against is not None:
        programs.append(subject(against, function, device, [], [], seed, first.arguments))
    with working(f"measuring {file}"):
        comparison = None
        if len(programs) == 2:
            latencies, comparison = compare(programs[0].caller(), programs[1].caller(), seconds, calls)
        else:
            latencies = measure([first.caller()], seconds, calls)
        rest = [_rest(each, kernels) for each in programs]
    if json:
        entries = [_entry(*each) for each in zip(programs, latencies, rest, strict=True)]
        print_json({"programs": entries, "comparison": comparison and comparison.to_json()})
        return
    for each, latency, (memory, table) in zip(programs, latencies, rest, strict=True):
        _print(each, latency, memory, table)
    if comparison is not None:
        _print_comparison(comparison, programs)


def _rest(each: Subject, wanted: bool) -> tuple[Memory, list[Kernel] | None]:
    """The memory of a call, and its kernels; None where they cannot be measured, which a note explains."""
    from ..dialects.errors import AdzeError
    from ..runtime.measure import profiles
    from ..runtime.measure.memory import memory_of_a_call

    name = each.signature.name
    memory = memory_of_a_call(each.load, each.device, name, each.arguments)
    if not wanted:
        return memory, None
    try:
        events = profiles.record(
            each.module, each.device, name, each.arguments, _KERNEL_CALLS, each.parameters
        )
        return memory, profiles.kernels(events)
    except AdzeError as error:
        print_note(f"{each.file}: kernels are not measured: {error.message}")
        return memory, None


def _print(each: Subject, latency: Latency, memory: Memory, table: list[Kernel] | None) -> None:
    sizes = "".join(f", {name}={n}" for name, n in each.sizes.items())
    print_text(f"{each.file}: {each.signature}")
    variant = f", {each.manifest.target}" if each.manifest.variants else ""
    print_text(f"  {latency.calls} calls on {each.device}{variant}{sizes}")
    numbers = [f"{name} {readable_time(latency.quantile(share))}" for name, share in _QUANTILES]
    print_text(f"  latency     {', '.join(numbers)}, mean {readable_time(latency.mean)}")
    print_text(f"  throughput  {latency.throughput:.4g} calls/s from one thread")
    peak = "not counted" if memory.peak is None else f"{readable_bytes(memory.peak)} at most"
    parts = f"arguments {readable_bytes(memory.arguments)}, results {readable_bytes(memory.results)}"
    print_text(f"  memory      {peak} ({parts})")
    if table is not None:
        _print_kernels(table)


_QUANTILES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("min", 0.0), ("max", 1.0))


def _print_kernels(table: list[Kernel]) -> None:
    if not table:
        print_text("  kernels     none: the program launches nothing")
        return
    print_text(f"  kernels     time and share of each, median of its runs in {_KERNEL_CALLS} calls")
    for kernel in table[:_KERNEL_ROWS]:
        often = kernel.runs / _KERNEL_CALLS
        per_call = f" x{often:g}" if often != 1 else ""
        print_text(f"    {readable_time(kernel.median):>9}{per_call}  {kernel.share:6.1%}  {kernel.name}")
    if len(table) > _KERNEL_ROWS:
        print_text(f"    and {len(table) - _KERNEL_ROWS} more (--json has them all)")


def _print_comparison(comparison: Comparison, programs: list[Subject]) -> None:
    low, high = comparison.middle_half
    first, second = (each.file for each in programs)
    print_text(
        f"{second} takes {comparison.median:.3g} times as long as {first} "
        f"(half of {len(comparison.ratios)} rounds: {low:.3g} to {high:.3g})"
    )


def _entry(each: Subject, latency: Latency, rest: tuple[Memory, list[Kernel] | None]) -> dict[str, Any]:
    memory, table = rest
    return {
        "file": str(each.file),
        "function": str(each.signature),
        "target": each.manifest.target,
        "device": each.device,
        "sizes": each.sizes,
        "latency": latency.to_json(),
        "memory": {"peak": memory.peak, "arguments": memory.arguments, "results": memory.results},
        "kernels": None if table is None else [kernel.to_json() for kernel in table],
    }
