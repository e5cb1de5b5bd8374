"""What became of each test, written as it ends: a run that is stopped or crashes leaves what it had.

A plugin of pytest (`-p tests.gpu.tally --tally FILE`), and what reads its file. Idea: a line of JSON a test,
appended at once; with workers it is the process that directs them that writes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_LONGEST_REASON = 160


@dataclass
class Tally:
    """How many tests passed and were skipped, and why each of the others failed."""

    passed: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tally", type=Path, help="the file that gets a line for each test")


class _Writer:
    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # Of a test that passes its setup and teardown say nothing; a failed teardown counts as well.
        if report.when == "call" or not report.passed:
            with self.path.open("a") as file:
                print(json.dumps(_line(report)), file=file)


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--tally")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Writer(path))


def _line(report: pytest.TestReport) -> dict[str, Any]:
    if not report.failed:
        return {"test": report.nodeid, "outcome": report.outcome}
    crash = getattr(report.longrepr, "reprcrash", None)
    reason = str(report.longrepr if crash is None else crash.message)
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    return {"test": report.nodeid, "outcome": "failed", "reason": " ".join(lines)[:_LONGEST_REASON]}


def read(path: Path) -> Tally:
    """The tally in a file, which may be missing, or end within a line."""
    tally = Tally()
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry["outcome"] == "failed":
            tally.failed[entry["test"]] = entry["reason"]
        elif entry["outcome"] == "skipped":
            tally.skipped += 1
        else:
            tally.passed += 1
    return tally
