"""Runs test files of JAX against adze and reports which tests pass, which fail, and why (see README.md).

Input is a checkout of JAX; output a line for each test and a report in JSON. A worker process imports the
test file with `jax` standing for adze (`jax_names/`) and runs its tests one after another; when it dies, the
test it was at is a CRASH and another worker goes on behind it.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import fnmatch
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
SUITES = ("lax_autodiff", "lax_vmap", "lax_control_flow", "custom_api")


class Outcome(NamedTuple):
    """The result of one test: PASS, FAIL (an assertion), ERROR (an exception), SKIP, TIMEOUT or CRASH."""

    test: str
    result: str
    cause: str
    seconds: float


class TooSlow(BaseException):
    """The time of a test is up; no `except Exception` of the test stops it."""


def main() -> int:
    """Run the files that the command line names."""
    options = _options()
    if options.worker:
        return _work(options, options.file[-1], json.loads(sys.stdin.read()))
    outcomes: dict[str, list[Outcome]] = {}
    for file in options.file or [f"{suite}_test.py" for suite in SUITES]:
        outcomes[file] = _run_file(options, file)
        print(summary(file, outcomes[file]), flush=True)
    if options.report:
        options.report.write_text(json.dumps(_report(options, outcomes), indent=1))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sources", type=Path, required=True, help="checkout of JAX")
    parser.add_argument("--file", action="append", help="a file of its tests/ (default: the four compared)")
    parser.add_argument(
        "-k", action="append", default=[], metavar="PATTERN", help="only tests with this in them"
    )
    parser.add_argument("--limit", type=int, help="at most so many parameterisations of each test method")
    parser.add_argument("--cases", type=int, default=10, help="parameterisations that JAX generates a method")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds a test may take")
    parser.add_argument("--report", type=Path, help="write results as JSON")
    parser.add_argument("--lines", type=Path, help="write a line for each test as it ends")
    parser.add_argument("--only-failed", type=Path, metavar="REPORT", help="only what does not pass there")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_file(options: argparse.Namespace, file: str) -> list[Outcome]:
    """Start workers until every test of `file` has an outcome."""
    found: dict[str, Outcome] = {}
    lines = options.lines.open("w") if options.lines else contextlib.nullcontext(sys.stdout)
    with lines as out:
        for _ in range(50):
            finished, running = _one_worker(options, file, found, out)
            if finished:
                break
            if not running:
                raise SystemExit(f"{file}: the worker ended before its first test")
            _note(found, Outcome(running, "CRASH", "the process died", 0.0), out)
    return list(found.values())


def _one_worker(
    options: argparse.Namespace, file: str, found: dict[str, Outcome], out: Any
) -> tuple[bool, str | None]:
    """Whether the worker came to the end, else the test it died in."""
    environment = {**os.environ, "JAX_NUM_GENERATED_CASES": str(options.cases)}
    command = [sys.executable, *sys.argv, "--worker"]
    worker = subprocess.Popen(
        [*command, "--file", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(json.dumps([*found, *_passing(options.only_failed)]))
    worker.stdin.close()
    running = None
    for line in worker.stdout:
        kind, _, rest = line.partition(" ")
        if kind == "begin":
            running = json.loads(rest)
        elif kind == "end":
            _note(found, Outcome(*json.loads(rest)), out)
            running = None
    return worker.wait() == 0, running


def _note(found: dict[str, Outcome], outcome: Outcome, out: Any) -> None:
    found[outcome.test] = outcome
    print(f"{outcome.result:7} {' '.join(outcome.test.split())}  {outcome.cause}", file=out, flush=True)


def _passing(report: Path | None) -> list[str]:
    if report is None:
        return []
    files = json.loads(report.read_text())["files"].values()
    return [o["test"] for file in files for o in file["tests"] if o["result"] in ("PASS", "SKIP")]


def _work(options: argparse.Namespace, file: str, done: list[str]) -> int:
    """Run the tests of `file` that are not done; announce each on stdout before and after."""
    sys.path.insert(0, str(HERE))
    from jax_names import finder, tables

    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what tests print does not get into the report
    finder.install(options.sources, tables.tables)
    sys.path.insert(0, str(options.sources / "tests"))
    sys.argv = [file]
    tests = unittest.defaultTestLoader.loadTestsFromName(file.removesuffix(".py"))
    _parse_flags()
    signal.signal(signal.SIGALRM, _stop)
    for test in _selected(options, tests, set(done)):
        print("begin", json.dumps(test.id()), file=out)
        print("end", json.dumps(_outcome(test, options.timeout)), file=out)
    return 0


def _parse_flags() -> None:
    from absl import flags

    flags.FLAGS(["tests"])


def _stop(*_: Any) -> None:
    raise TooSlow


def _selected(options: argparse.Namespace, suite: Any, done: set[str]) -> Iterator[Any]:
    counts: collections.Counter[str] = collections.Counter()
    for test in _flat(suite):
        method = re.sub(r"\d+( .*)?$", "", test.id())
        counts[method] += 1
        if options.limit and counts[method] > options.limit:
            continue
        if options.k and not any(fnmatch.fnmatch(test.id(), f"*{k}*") for k in options.k):
            continue
        if test.id() not in done:
            yield test


def _flat(suite: Any) -> Iterator[Any]:
    if isinstance(suite, unittest.TestCase):
        yield suite
        return
    for part in suite:
        yield from _flat(part)


def _outcome(test: Any, timeout: float) -> Outcome:
    """Run one test within `timeout` seconds."""
    result, start = unittest.TestResult(), time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            test.run(result)
    except TooSlow:
        return Outcome(test.id(), "TIMEOUT", f"longer than {timeout:g} s", timeout)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = round(time.perf_counter() - start, 2)
    if result.skipped:
        return Outcome(test.id(), "SKIP", result.skipped[0][1], seconds)
    if result.wasSuccessful():
        return Outcome(test.id(), "PASS", "", seconds)
    kind = "FAIL" if result.failures else "ERROR"
    return Outcome(test.id(), kind, cause([*result.failures, *result.errors][0][1]), seconds)


def cause(trace: str) -> str:
    """The first line of the exception at the end of a traceback."""
    last = trace.split("Traceback (most recent call last):")[-1]
    found = [
        n
        for n, line in enumerate(last.splitlines())
        if re.match(r"[\w.]+(Error|Exception|\w+)?\b(:|$)", line)
    ]
    lines = last.splitlines()[found[0] :] if found else last.splitlines()[-1:]
    text = " ".join(line.strip() for line in lines if line.strip() and not line.strip().startswith("at "))
    return text[:300]


def summary(file: str, outcomes: list[Outcome]) -> str:
    """The counts and the commonest causes, as text."""
    counts = collections.Counter(o.result for o in outcomes)
    ran = len(outcomes) - counts["SKIP"]
    lines = [f"{file}: {counts['PASS']} of {ran} pass ({len(outcomes)} tests, {dict(counts)})"]
    causes = collections.Counter(group(o.cause) for o in outcomes if o.result not in ("PASS", "SKIP"))
    return "\n".join([*lines, *(f"  {count:4}  {text}" for text, count in causes.most_common(40))])


def group(cause: str) -> str:
    """A cause without what differs from test to test: numbers, shapes, places."""
    text = re.sub(r"\b(i|f|ui|c|bf)\d+(\[[^\]]*\])?", "T", cause)
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "N", text)[:110]


def _report(options: argparse.Namespace, outcomes: dict[str, list[Outcome]]) -> dict[str, Any]:
    return {
        "cases": options.cases,
        "limit": options.limit,
        "files": {
            file: {
                "counts": collections.Counter(o.result for o in found),
                "tests": [o._asdict() for o in found],
            }
            for file, found in outcomes.items()
        },
    }


if __name__ == "__main__":
    sys.exit(main())
