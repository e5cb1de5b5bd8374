"""The benchmarks in the report of a GPU: what `benchmarks/run.py` measured there, beside JAX where that is.

Input: the device and the most seconds that all cases take. Output: the rows of its file, as far as it came,
and a table.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .report_parts import CHECKOUT, ended, in_a_cell

LIBRARIES: Final = ("adze", "jax", "numpy")
LIMIT: Final = "limit"
"""The error of a case that had not ended in time."""
REFUSED: Final = "lavapipe would leave out"
"""What adze says of a call whose kernels lavapipe would end too early."""
IMITATED: Final = (
    "A processor imitates this GPU: times say nothing of a GPU, and a case that had not ended in time, or is",
    "too large for it, is no failure.",
)


@dataclass(frozen=True)
class Benchmarks:
    """The rows of the cases that were measured, on what, and how it ended where that was not by itself.

    A processor that imitates a GPU is too slow for some cases: none fails there for want of time.
    """

    rows: tuple[dict[str, Any], ...]
    circumstances: dict[str, str]
    end: str = ""
    is_imitated: bool = False

    @property
    def is_right(self) -> bool:
        """Whether adze ran every case, with results as others have them."""
        return not self.end and not any(self._counts(row) for row in self.rows)

    def _counts(self, row: dict[str, Any]) -> bool:
        """Whether what went wrong with a case is a fault of adze, or of a GPU."""
        errors = [(name, text) for name, text in row["errors"].items() if name not in LIBRARIES[1:]]
        return any(not (self.is_imitated and _is_limit(name, text)) for name, text in errors)


def measured(device: str, seconds: float, *, is_imitated: bool) -> Benchmarks:
    """What the quick cases took on `device`, in a process that is ended after so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "benchmarks.json"
        command = [sys.executable, str(CHECKOUT / "benchmarks" / "run.py"), "--quick", "--seconds", "0.3"]
        code = ended([*command, "--device", device, "--json", str(written)], seconds)
        unusual = "" if code in (0, 1) else f"benchmarks/run.py ended with {code}"
        end = f"stopped after {seconds:.0f} s" if code is None else unusual
        found = json.loads(written.read_text()) if written.exists() else {"rows": [], "circumstances": {}}
        return Benchmarks(tuple(found["rows"]), found["circumstances"], end, is_imitated)


def table(benchmarks: Benchmarks | None) -> list[str]:
    """The lines of the page."""
    if benchmarks is None:
        return []
    if not benchmarks.rows:
        return ["", f"No case of the benchmarks was measured: {benchmarks.end or 'there is none'}."]
    place, version = (benchmarks.circumstances.get(name, "not known") for name in ("jax on", "jax"))
    return [
        "",
        f"The quick cases of `benchmarks/`, in milliseconds a call. JAX: {version}, on {place}; NumPy is on",
        "the CPU. Kernels are timed by the device, calls by the host.",
        *(IMITATED if benchmarks.is_imitated else ()),
        "",
        "| case | adze | its kernels | JAX | NumPy | |",
        "|---|---|---|---|---|---|",
        *map(_row, benchmarks.rows),
        *([f"| {benchmarks.end} | | | | | |"] if benchmarks.end else []),
    ]


def _row(row: dict[str, Any]) -> str:
    adze, jax, numpy = (row["times"].get(name, {}).get("wall") for name in LIBRARIES)
    cells = [_milliseconds(each) for each in (adze, row.get("kernel_seconds"), jax, numpy)]
    return f"| {in_a_cell(row['case'])} | {' | '.join(cells)} | {in_a_cell('; '.join(_errors(row)))} |"


def _errors(row: dict[str, Any]) -> list[str]:
    """What went wrong with adze, or with the comparison; what other libraries lack is theirs."""
    return [f"{name}: {text}" for name, text in row["errors"].items() if name not in LIBRARIES[1:]]


def _is_limit(name: str, text: str) -> bool:
    """Whether an error says what a processor that imitates a GPU cannot do."""
    return name == LIMIT or REFUSED in text


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.4g}"
