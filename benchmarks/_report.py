"""Figures of a run: ratios, their geometric means by family, and the worst cases.

Input: the rows of a run, as the worker returns them.
Output: lines of text for a person; the rows themselves are the machine's.
"""

import math
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]
WORST = 5


def ratio(row: Row, peer: str, clock: str = "wall") -> float | None:
    """The time of a library divided by that of adze, or None if one of them has none."""
    times = row["times"]
    if peer not in times or "adze" not in times:
        return None
    return times[peer][clock] / max(times["adze"][clock], 1e-9)


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def ratios(rows: list[Row], peer: str, clock: str) -> list[float]:
    return [value for row in rows if (value := ratio(row, peer, clock)) is not None]


def family_line(name: str, rows: list[Row], clock: str) -> str:
    """One line of the summary: cases, geometric means, cases below 1.0, failures."""
    to_jax, to_numpy = ratios(rows, "jax", clock), ratios(rows, "numpy", clock)
    compile_ratio = ratios(rows, "jax", f"first_{clock}")
    failed = sum(bool(row["errors"]) for row in rows)
    return (
        f"{name:<16}{len(rows):>6}{geometric_mean(to_jax):>10.2f}{sum(r < 1 for r in to_jax):>7}"
        f"{geometric_mean(to_numpy):>12.2f}{1 / geometric_mean(compile_ratio):>13.1f}{failed:>9}"
    )


def summary(rows: list[Row], clock: str) -> list[str]:
    """The table by family, the worst cases and all errors."""
    by_family: dict[str, list[Row]] = {}
    for row in rows:
        by_family.setdefault(row["family"], []).append(row)
    columns = f"{'jax/adze':>10}{'below':>7}{'numpy/adze':>12}{'first call':>13}{'failed':>9}"
    lines = [f"{'family':<16}{'cases':>6}{columns}"]
    lines += [family_line(name, members, clock) for name, members in by_family.items()]
    if len(by_family) > 1:
        lines.append(family_line("all", rows, clock))
    slow = sorted(
        ((value, row) for row in rows if (value := ratio(row, "jax", clock)) is not None),
        key=lambda pair: pair[0],
    )
    lines.append(f"worst of jax/adze ({clock} time):")
    lines += [f"  {value:.3f}  {row['family']}: {row['case']}" for value, row in slow[:WORST]]
    unsettled = [row for row in rows if row.get("difference_of_others", 0.0) > 1.0]
    lines += [
        f"the other libraries differ by {row['difference_of_others']:.3g} times the tolerance: "
        f"{row['family']}: {row['case']}"
        for row in unsettled
    ]
    lines += [
        f"error: {row['family']}: {row['case']}: {who}: {text}"
        for row in rows
        for who, text in row["errors"].items()
    ]
    return lines


def row_line(row: Row, clock: str) -> str:
    """The times of one case in milliseconds, and its ratios."""
    cells = [f"{row['family']}: {row['case']}".ljust(58)]
    for name in ("adze", "jax", "numpy"):
        times = row["times"].get(name)
        cells.append(f"{times[clock] * 1e3:>11.4f}" if times else f"{'-':>11}")
    for name in ("jax", "numpy"):
        value = ratio(row, name, clock)
        cells.append(f"{value:>9.3f}" if value is not None else f"{'-':>9}")
    if row.get("kernel_seconds") is not None:
        cells.append(f"  kernels {row['kernel_seconds'] * 1e3:.4f} ms")
    return "".join(cells) + ("  " + "; ".join(row["errors"]) if row["errors"] else "")
