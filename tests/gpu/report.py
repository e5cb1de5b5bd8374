"""`python -m tests.gpu.report` runs all that is known about GPUs on one, and writes what it saw.

Input: the device (`--device`, CUDA where there is one, else Vulkan) and the file of the report. Output:
device, driver, checked products, how much of its peak the device reaches in ten programs, the benchmarks
beside JAX, and which tests fail. Idea: each part is a process that ends after a while, whatever the device
does with it, and the page is written again behind each part: what fails or is stopped costs its own row.
`--programs-only` leaves out the benchmarks and the tests, which take half an hour on a CPU; `--small` makes
products and programs small, for a GPU that a processor imitates (`ptx_machine.py`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from adze.runtime.execute.architectures import is_lavapipe
from adze.runtime.execute.devices import absence, list_devices

from .programs import TEN
from .report_benchmarks import Benchmarks, measured, table
from .report_parts import CHECKOUT, FACTS, PRODUCTS, Failure, attempt, ended, in_a_cell
from .tally import Tally, read

DESTINATION: Final = CHECKOUT / "docs" / "gpu_report.md"
SUITES: Final = {
    "rows of the table of ops, compiled": ("tests/dialects/ops/test_ops.py", "-k", "compiled"),
    "programs and faults of GPUs": ("tests/gpu", "--deselect", "tests/gpu/test_ops.py"),
    "the runtime": ("tests/runtime/execute", "tests/runtime/measure"),
}
"""What the tests are about, and how pytest is told to run them."""
PART_SECONDS: Final = 600.0
SUITE_SECONDS: Final = 3600.0
MOST_FAILURES: Final = 60
"""So many failed tests of a suite are named."""
Part = dict[str, Any] | Failure


@dataclass(frozen=True)
class Suite:
    """What became of the tests of a suite, and how it ended where that was not by itself."""

    tally: Tally
    end: str = ""


@dataclass
class Page:
    """What was seen so far."""

    device: str
    facts: Part | None = None
    products: dict[str, Part] = field(default_factory=dict)
    programs: dict[str, Part] = field(default_factory=dict)
    suites: dict[str, Suite] | None = field(default_factory=dict)
    """None: they are left out, and the benchmarks too."""
    benchmarks: Benchmarks | None = None

    def lines(self) -> list[str]:
        """The page, as far as there are parts."""
        facts = self.facts if isinstance(self.facts, dict) else {}
        return [
            *heading(self.device, self.facts),
            *(product_row(name, part, facts) for name, part in self.products.items()),
            *table_of_programs(self.programs, facts),
            *table(self.benchmarks),
            *table_of_suites(self.suites),
        ]

    @property
    def is_imitated(self) -> bool:
        """Whether the device is known to be a processor."""
        return isinstance(self.facts, dict) and is_lavapipe(self.facts["description"])

    @property
    def is_right(self) -> bool:
        """Whether all products are right, all parts have results, and no test fails."""
        parts = [self.facts, *self.products.values(), *self.programs.values()]
        suites = (self.suites or {}).values()
        return (
            all(isinstance(part, dict) and not part.get("failures") for part in parts)
            and all(isinstance(part, dict) and is_right(part) for part in self.products.values())
            and (self.benchmarks is None or self.benchmarks.is_right)
            and not any(suite.tally.failed or suite.end for suite in suites)
        )


def main() -> None:
    options = parsed()
    device = default_device() if options.device is None else present_device(options.device)
    page = Page(device, suites=None if options.programs_only else {})

    def write() -> None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text("\n".join(page.lines()) + "\n")

    write()  # a file that cannot be written is known now
    fill(page, options, write)
    print("\n".join(page.lines()))
    if not page.is_right:
        sys.exit(1)


def fill(page: Page, options: argparse.Namespace, write: Callable[[], None]) -> None:
    """Run the parts, short ones first, and call `write` behind each."""

    def part(name: str) -> Part:
        print(f"running {name}", file=sys.stderr, flush=True)
        return attempt(page.device, name, small=options.small, seconds=options.part_seconds)

    page.facts = part(FACTS)
    write()
    for results, names in ((page.products, PRODUCTS), (page.programs, TEN)):
        for name in names:
            results[name] = part(name)
            write()
    if page.suites is not None:
        print("running the benchmarks", file=sys.stderr, flush=True)
        page.benchmarks = measured(page.device, options.suite_seconds, is_imitated=page.is_imitated)
        write()
    for name, arguments in SUITES.items() if page.suites is not None else ():
        assert page.suites is not None
        kind = page.device.partition(":")[0]
        page.suites[name] = suite([*arguments, "--all", f"--device={kind}"], options)
        write()


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="what a GPU does with adze, as a page")
    parser.add_argument("--device", help="its name, such as cuda:0; cuda:0 or else vulkan:0 where left out")
    parser.add_argument("--output", type=Path, default=DESTINATION, help="the file to write")
    parser.add_argument("--programs-only", action="store_true", help="leave out benchmarks and tests")
    parser.add_argument("--small", action="store_true", help="small products and programs")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4), help="processes of tests")
    parser.add_argument(
        "--part-seconds", type=float, default=PART_SECONDS, help="the most that a product or program takes"
    )
    parser.add_argument(
        "--suite-seconds",
        type=float,
        default=SUITE_SECONDS,
        help="the most that the benchmarks, or one of three suites, take",
    )
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


def present_device(name: str) -> str:
    """The full name of a device; without it the program ends, and leaves the last page as it was."""
    driver, _, number = name.partition(":")
    device = f"{driver}:{number or 0}"
    here = [info.name for info in list_devices() if info.kind.value in ("cuda", "vulkan")]
    if device in here:
        return device
    why = absence(driver) if driver in ("cuda", "vulkan") else None
    reason = f": {why.reason}; {why.hint}" if why else ""
    sys.exit(f"error: there is no GPU {name!r} here{reason}; there are: {', '.join(here) or 'none'}")


def suite(arguments: Sequence[str], options: argparse.Namespace) -> Suite:
    """The tests that pytest runs, by workers: one that crashes is a failed test, and another goes on."""
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.jsonl"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.gpu.tally", "--tally", str(tally)]
        command += ["-n", str(options.jobs), "--dist", "worksteal", *arguments]
        code = ended(command, options.suite_seconds)
        unusual = "" if code in (0, 1) else f"pytest ended with {code}"
        end = f"stopped after {options.suite_seconds:.0f} s" if code is None else unusual
        return Suite(read(tally), end)


def heading(device: str, facts: Part | None) -> list[str]:
    lines = [
        "# What a GPU does",
        "",
        "`make gpu-report` wrote this page. It runs the products of `adze doctor --gpu`, ten programs of",
        "`tests/gpu/programs.py`, the benchmarks and the tests of GPUs, each in a process of its own.",
        "",
        "| | |",
        "|---|---|",
        f"| adze | {commit()}, IREE {version('iree-base-compiler')} |",
    ]
    if not isinstance(facts, dict):
        reason = "not asked yet" if facts is None else f"FAILED: {facts.reason}"
        return [*lines, f"| device | {device}: {reason} |"]
    memory = "not told" if facts["memory"] is None else f"{facts['memory'] / 2**30:.1f} GiB"
    return [
        *lines,
        f"| device | {device}: {in_a_cell(facts['description'])} |",
        f"| driver | {in_a_cell(facts['driver'] or 'not told')} |",
        f"| memory | {memory}, {rate(facts['bandwidth'], 'B/s')} |",
        f"| peak in float32 | {rate(facts['peak'], 'flop/s')} |",
        f"| times by | {facts['clock']} |",
        *(f"| failed | {in_a_cell(failure)} |" for failure in facts["failures"]),
    ]


def commit() -> str:
    """The commit of this checkout, as git has it."""
    command = ["git", "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    except OSError:
        return "commit not known"
    return done.stdout.strip() or "commit not known"


def rate(peak: dict[str, Any] | None, unit: str) -> str:
    return "not measured" if peak is None else f"{peak['value'] / 1e9:.4g} G{unit} ({peak['source']})"


def is_right(part: dict[str, Any]) -> bool:
    return all(product["is_right"] for product in part["products"])


def product_row(name: str, part: Part, facts: dict[str, Any]) -> str:
    """A row of the heading's table."""
    if isinstance(part, Failure):
        return f"| {name} | FAILED: {part.reason} |"
    said = [*(product_text(product, facts) for product in part["products"]), *part["failures"]]
    return f"| {name} | {in_a_cell('; '.join(said))} |"


def product_text(product: dict[str, Any], facts: dict[str, Any]) -> str:
    verdict = "right" if product["is_right"] else f"WRONG (off by {product['error']:.1g})"
    text = f"{product['size']} x {product['size']}: {verdict}"
    if product["flops"] is None:
        return f"{text}; not timed"
    peak = facts.get("peak")
    share = "" if peak is None else f", {product['flops'] / peak['value']:.0%} of the peak in float32"
    return f"{text}; {product['flops'] / 1e9:.4g} Gflop/s{share}"


def table_of_programs(programs: dict[str, Part], facts: dict[str, Any]) -> list[str]:
    """What the ten programs took."""
    return [
        "",
        "The least time of a program is what its arithmetic takes at the peak, or its arguments and",
        "results at the bandwidth of the memory, whichever is longer. The difference is from the CPU, in",
        "parts of the largest element.",
        "",
        "| program | ms | least ms | bound by | part of the peak | difference |",
        "|---|---|---|---|---|---|",
        *(program_row(name, part, facts) for name, part in programs.items()),
    ]


def program_row(name: str, part: Part, facts: dict[str, Any]) -> str:
    if isinstance(part, Failure):
        return f"| {name} | does not run: {part.reason} | | | | |"
    seconds, cells = part["seconds"], ["not timed"]
    if seconds is not None:
        cells = [f"{seconds * 1e3:.4g}"]
    peak, bandwidth = facts.get("peak"), facts.get("bandwidth")
    if peak is None or bandwidth is None:
        cells += ["not known", "", ""]
    else:
        compute, memory = part["flops"] / peak["value"], part["bytes"] / bandwidth["value"]
        least = max(compute, memory)
        cells += [f"{least * 1e3:.4g}", "arithmetic" if compute > memory else "memory"]
        cells.append(f"{least / seconds:.1%}" if seconds else "")
    return f"| {name} | {' | '.join(cells)} | {part['difference']:.1g} |"


def table_of_suites(suites: dict[str, Suite] | None) -> list[str]:
    if suites is None:
        return ["", "Benchmarks and tests were left out (`--programs-only`)."]
    lines = ["", "| tests of | passed | failed | skipped | |", "|---|---|---|---|---|"]
    for name, each in suites.items():
        tally = each.tally
        lines.append(f"| {name} | {tally.passed} | {len(tally.failed)} | {tally.skipped} | {each.end} |")
    for name, each in suites.items():
        lines += failures(name, each.tally.failed)
    return lines


def failures(name: str, failed: dict[str, str]) -> list[str]:
    """The names of the failed tests of a suite, with what each says."""
    if not failed:
        return []
    shown = [f"* `{test}`: {in_a_cell(reason)}" for test, reason in list(failed.items())[:MOST_FAILURES]]
    left = len(failed) - len(shown)
    return ["", f"Failed of {name}:", "", *shown, *([f"* and {left} more"] if left else [])]


if __name__ == "__main__":
    main()
