"""Compares adze with JAX and NumPy on the CPU, and with the peak rates of the machine.

Input: the cases of `_cases.py`.
Output: a table (or JSON) of milliseconds per call, the ratios peer / adze (above 1, adze is faster), and the
fraction of the peak rate that adze reaches.

One process measures all libraries in interleaved rounds. Their results are compared before anything is timed.

    python benchmarks/cpu.py --rounds 15
    python benchmarks/cpu.py --cases matmul,softmax --json
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from _cases import Case, all_cases
from _measure import Peak, circumstances, higher, interleaved, machine_peak
from _peers import Peer, adze_peer, jax_peer, numpy_peer
from rich.console import Console
from rich.progress import track
from rich.table import Table

# Below this ratio to JAX a case is marked in the table.
ACCEPTED_RATIO = 0.7


@dataclass(frozen=True)
class Row:
    """The figures of one case; `fraction` is the time at the peak rates divided by the time of adze."""

    case: str
    seconds: dict[str, float]
    flops: float
    bytes: int
    fraction: float = 0.0

    def ratio(self, peer: str) -> float:
        return self.seconds[peer] / self.seconds["adze"]


def main() -> int:
    parser = argparse.ArgumentParser(description="adze beside JAX and NumPy on the CPU")
    parser.add_argument("--cases", default="", help="comma separated; each picks the cases that contain it")
    parser.add_argument("--rounds", type=int, default=12, help="rounds of each library; the fastest counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    # The width of the table if the output is a file or a pipe.
    console = Console(stderr=options.json, width=None if sys.stdout.isatty() else 100)

    cases = chosen(all_cases(), options.cases)
    if not cases:
        console.print(f"[red]no case contains[/red] {options.cases}")
        return 2
    peers = (adze_peer(), jax_peer(), numpy_peer())
    peak = machine_peak(options.rounds)
    rows = [
        measured(case, peers, options.rounds)
        for case in track(cases, "measuring", console=console, disable=not console.is_terminal)
    ]
    peak = higher(peak, machine_peak(options.rounds))
    for row in rows:
        peak = higher(peak, shown_by(row))
    rows = [with_fraction(row, peak) for row in rows]
    if options.json:
        print(json.dumps(as_json(rows, peak), indent=2))
    else:
        console.print(as_table(rows, peak))
        console.print(summary(rows))
    return 0


def chosen(cases: tuple[Case, ...], text: str) -> list[Case]:
    """The cases whose name contains one of the comma-separated words; all cases for an empty text."""
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    return [case for case in cases if not words or any(word in case.name.lower() for word in words)]


def measured(case: Case, peers: tuple[Peer, ...], rounds: int) -> Row:
    """Check that all libraries agree on the case, then time them in interleaved rounds."""
    calls = {peer.name: peer.prepared(case.function, case.inputs) for peer in peers}
    results = {name: np.asarray(call()) for name, call in calls.items()}
    for name, result in results.items():
        check_agreement(case, name, result, results["numpy"])
    size = sum(np.asarray(array).nbytes for array in case.inputs) + results["numpy"].nbytes
    seconds = interleaved(calls, rounds)
    return Row(case.name, seconds, case.flops, case.touched or size)


def check_agreement(case: Case, name: str, result: Any, reference: Any) -> None:
    """End the script if a result differs from that of NumPy."""
    scale = float(np.abs(reference).max())
    if result.shape != reference.shape or not np.allclose(result, reference, rtol=1e-3, atol=1e-4 * scale):
        difference = "shapes" if result.shape != reference.shape else np.abs(result - reference).max()
        raise SystemExit(f"{case.name}: {name} disagrees with numpy ({difference})")


def shown_by(row: Row) -> Peak:
    """The rate of the fastest library on a case, which the peak rate cannot be below."""
    fastest = min(row.seconds.values())
    return Peak(row.flops / fastest, 0.0 if row.flops else row.bytes / fastest)


def with_fraction(row: Row, peak: Peak) -> Row:
    limit = peak.seconds(row.flops, row.bytes)
    return Row(row.case, row.seconds, row.flops, row.bytes, limit / row.seconds["adze"])


def as_json(rows: list[Row], peak: Peak) -> dict[str, Any]:
    return {
        "circumstances": circumstances(),
        "peak": asdict(peak),
        "rows": [
            {**asdict(row), "jax_over_adze": row.ratio("jax"), "numpy_over_adze": row.ratio("numpy")}
            for row in rows
        ],
    }


def as_table(rows: list[Row], peak: Peak) -> Table:
    facts = circumstances()
    versions = ", ".join(f"{name} {facts[name]}" for name in ("jax", "numpy", "iree-base-compiler"))
    rates = f"{peak.flops_per_second / 1e9:.0f} GF/s, {peak.bytes_per_second / 1e9:.0f} GB/s"
    table = Table(
        title=f"{facts['processor']}, {facts['cores']} cores, one process, best of interleaved rounds",
        caption=f"peak (best rate anything showed in this run): {rates}; {versions}",
    )
    table.add_column("case", no_wrap=True)
    for heading in ("adze ms", "jax ms", "numpy ms", "jax/adze", "numpy/adze", "rate", "of peak"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        ratio = f"{row.ratio('jax'):.2f}"
        table.add_row(
            row.case,
            *(f"{row.seconds[name] * 1e3:.3f}" for name in ("adze", "jax", "numpy")),
            f"[red]{ratio}[/red]" if row.ratio("jax") < ACCEPTED_RATIO else ratio,
            f"{row.ratio('numpy'):.2f}",
            rate(row),
            f"{row.fraction:.2f}",
        )
    return table


def rate(row: Row) -> str:
    """Operations per second for contractions, bytes per second for cases that are bound by memory."""
    if row.flops:
        return f"{row.flops / row.seconds['adze'] / 1e9:.0f} GF/s"
    return f"{row.bytes / row.seconds['adze'] / 1e9:.0f} GB/s"


def summary(rows: list[Row]) -> str:
    ahead = sum(row.ratio("jax") >= 1.0 for row in rows)
    below = [row.case for row in rows if row.ratio("jax") < ACCEPTED_RATIO]
    tail = f"below {ACCEPTED_RATIO}: {', '.join(below)}" if below else f"none below {ACCEPTED_RATIO}"
    return f"ahead of jax in {ahead} of {len(rows)} cases; {tail}"


if __name__ == "__main__":
    sys.exit(main())
