"""`python -m tests.gpu.report` runs all that is known about GPUs on one, and writes what it saw.

Input: the device (`--device`, CUDA where there is one, else Vulkan) and the file of the report. Output:
device, driver, checked products, how many tests pass, and how much of its peak the device reaches in ten
programs.
`--programs-only` leaves out the tests, which take half an hour on a CPU; `--small` makes products and
programs small, for a GPU that a processor imitates (`ptx_machine.py`).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np

import adze
from adze import AdzeError, ShapeDtype
from adze.frontend.report.gpus import GpuCheck, Peak, Subject, check_gpu
from adze.frontend.tree import leaves
from adze.runtime.execute.devices import absence, list_devices

from .programs import PROGRAMS, TEN, Program

CHECKOUT: Final = Path(__file__).resolve().parents[2]
DESTINATION: Final = CHECKOUT / "docs" / "gpu_report.md"
SUITES: Final = {
    "rows of the table of ops, compiled": ("tests/dialects/ops/test_ops.py", "-k", "compiled"),
    "programs and faults of GPUs": ("tests/gpu", "--deselect", "tests/gpu/test_ops.py"),
    "the runtime": ("tests/runtime/execute", "tests/runtime/measure"),
}
"""What the tests are about, and how pytest is told to run them."""


@dataclass(frozen=True)
class Ran:
    """A program on the device: its time, the least that the device could take, and what differs."""

    name: str
    seconds: float
    least_seconds: float
    bound: str
    difference: float

    @property
    def share(self) -> float:
        return self.least_seconds / self.seconds


def main() -> None:
    options = parsed()
    device = options.device or default_device()
    seen = check_gpu(device, small=options.small)
    counts = (
        {}
        if options.programs_only
        else {name: counted(arguments, device) for name, arguments in SUITES.items()}
    )
    lines = [
        *heading(seen),
        *table_of_counts(counts),
        *table_of_programs(list(programs(seen, small=options.small))),
    ]
    options.output.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    wrong = [each for each in seen.products if not each.is_right]
    if wrong or any(failed for _, failed, _ in counts.values()):
        sys.exit(1)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="what a GPU does with adze, as a page")
    parser.add_argument("--device", help="its name, such as cuda:0; cuda:0 or else vulkan:0 where left out")
    parser.add_argument("--output", type=Path, default=DESTINATION, help="the file to write")
    parser.add_argument("--programs-only", action="store_true", help="leave out the tests")
    parser.add_argument("--small", action="store_true", help="small products and programs")
    return parser.parse_args()


def default_device() -> str:
    """CUDA's first device, else Vulkan's; the program ends where there is neither."""
    here = [info.name for info in list_devices()]
    for name in ("cuda:0", "vulkan:0"):
        if name in here:
            return name
    reasons = [
        f"{driver}: {why.reason}; {why.hint}" for driver in ("cuda", "vulkan") if (why := absence(driver))
    ]
    sys.exit("\n".join(["error: there is no GPU here", *reasons]))


def counted(arguments: Sequence[str], device: str) -> tuple[int, int, int]:
    """How many tests passed, failed and were skipped."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "results.xml"
        command = [sys.executable, "-m", "pytest", "-q", "--all", f"--junit-xml={written}", *arguments]
        command.append(f"--device={device.partition(':')[0]}")
        subprocess.run(command, cwd=CHECKOUT, check=False)
        if not written.exists():
            sys.exit(f"error: pytest wrote no results: {' '.join(command)}")
        return counts_in(written.read_text())


def counts_in(text: str) -> tuple[int, int, int]:
    """As `counted`, from JUnit's XML."""
    suites = list(ElementTree.fromstring(text).iter("testsuite"))

    def total(*names: str) -> int:
        return sum(int(suite.get(name, 0)) for suite in suites for name in names)

    failed, skipped = total("failures", "errors"), total("skipped")
    return total("tests") - failed - skipped, failed, skipped


def programs(seen: GpuCheck, *, small: bool) -> Iterator[Ran | tuple[str, str]]:
    """The ten programs on the device, or why one cannot run there."""
    for name, reduced in TEN.items():
        print(f"running {name}", file=sys.stderr, flush=True)
        try:
            yield ran(name, reduced if small else PROGRAMS[name], seen)
        except AdzeError as error:
            yield name, error.message


def ran(name: str, program: Program, seen: GpuCheck) -> Ran:
    """A program with drawn arguments, timed, and compared with the same on the CPU."""
    arguments = drawn(program)
    flat = leaves(arguments)

    def function(*arrays: Any) -> Any:
        return program.function(*rebuilt(arguments, iter(arrays)))

    subject = Subject.of(function, flat, seen.device)
    got = [np.asarray(result.numpy(), np.float64) for result in subject.call()]
    want = [np.asarray(each, np.float64) for each in leaves(adze.jit(function, device="cpu")(*flat))]
    moved = sum(array.nbytes for array in flat) + sum(array.nbytes for array in subject.call())
    work = adze.trace(program.function, *program.specs).cost().flops
    compute, memory = work / seen.peak.value, moved / seen.bandwidth.value
    return Ran(
        name,
        subject.seconds(),
        max(compute, memory),
        "arithmetic" if compute > memory else "memory",
        max(
            float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-30))
            for a, b in zip(got, want, strict=True)
        ),
    )


def drawn(program: Program) -> tuple[Any, ...]:
    """Arguments of the program's specs: small numbers, and indices into its first argument."""
    random = np.random.default_rng(0)
    first = leaves(program.specs)[0].shape[0]

    def array(spec: ShapeDtype) -> np.ndarray:
        if np.dtype(spec.dtype).kind in "iu":
            return random.integers(0, first, spec.shape).astype(spec.dtype)
        return (random.standard_normal(spec.shape) / 4).astype(spec.dtype)

    return tuple(rebuilt(program.specs, iter([array(spec) for spec in leaves(program.specs)])))


def rebuilt(tree: Any, values: Iterator[Any]) -> Any:
    """The nested tuples of `tree` with other leaves."""
    return tuple(rebuilt(part, values) for part in tree) if isinstance(tree, tuple) else next(values)


def heading(seen: GpuCheck) -> list[str]:
    facts = seen.facts
    memory = "not told" if facts.memory is None else f"{facts.memory / 2**30:.1f} GiB"
    lines = [
        "# What a GPU does",
        "",
        "`make gpu-report` wrote this page. It runs the products of `adze doctor --gpu`, the tests of GPUs",
        "and ten programs of `tests/gpu/programs.py`.",
        "",
        "| | |",
        "|---|---|",
        f"| device | {seen.device}: {seen.description} |",
        f"| driver | {facts.driver or 'not told'} |",
        f"| memory | {memory}, {rate(seen.bandwidth, 'B/s')} |",
        f"| peak in float32 | {rate(seen.peak, 'flop/s')} |",
        f"| times by | {seen.clock} |",
    ]
    for each in seen.products:
        verdict = "right" if each.is_right else f"WRONG (off by {each.error:.1g})"
        speed = f"{each.flops / 1e9:.4g} Gflop/s, {each.flops / seen.peak.value:.0%} of the peak in float32"
        lines.append(f"| product of {each.dtype}, {each.size} x {each.size} | {verdict}; {speed} |")
    return lines


def rate(peak: Peak, unit: str) -> str:
    return f"{peak.value / 1e9:.4g} G{unit} ({peak.source})"


def table_of_counts(counts: dict[str, tuple[int, int, int]]) -> list[str]:
    if not counts:
        return ["", "The tests were left out (`--programs-only`)."]
    rows = [
        f"| {name} | {passed} | {failed} | {skipped} |" for name, (passed, failed, skipped) in counts.items()
    ]
    return ["", "| tests of | passed | failed | skipped |", "|---|---|---|---|", *rows]


def table_of_programs(results: list[Ran | tuple[str, str]]) -> list[str]:
    """What the ten programs took."""
    lines = [
        "",
        "The least time of a program is what its arithmetic takes at the peak, or its arguments and",
        "results at the bandwidth of the memory, whichever is longer. The difference is from the CPU, in",
        "parts of the largest element.",
        "",
        "| program | ms | least ms | bound by | part of the peak | difference |",
        "|---|---|---|---|---|---|",
    ]
    for each in results:
        if isinstance(each, tuple):
            lines.append(f"| {each[0]} | does not run: {each[1]} | | | | |")
            continue
        cells = (f"{each.seconds * 1e3:.4g}", f"{each.least_seconds * 1e3:.4g}", each.bound)
        lines.append(f"| {each.name} | {' | '.join(cells)} | {each.share:.1%} | {each.difference:.1g} |")
    return lines


if __name__ == "__main__":
    main()
