"""Runs array-api-tests against `adze.numpy` and compares its failures with the documented ones (README.md).

Input is a checkout of array-api-tests with its submodule `array-api`; each failure must be in
`array_api_known.toml` with a reason. Exit status 1 means that there are others.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

KNOWN: Final = Path(__file__).resolve().with_name("array_api_known.toml")


class Recorder:
    """A pytest plugin that keeps each test's outcome and the first line of its error."""

    def __init__(self) -> None:
        self.results: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.results[report.nodeid] = report.outcome, _first_line(report)


def main() -> int:
    """Run the suite; print the failures without a reason and the reasons without a failure."""
    options = _options()
    os.environ["ARRAY_API_TESTS_MODULE"] = "adze.numpy"
    os.chdir(options.sources)
    sys.path.insert(0, str(options.sources))
    recorder = Recorder()
    arguments = ["array_api_tests", f"--max-examples={options.max_examples}", "--disable-deadline"]
    selection = ["-k", options.k] if options.k else []
    quiet = ["-p", "no:cacheprovider", "-q", "--tb=no", "--no-header", "--no-summary"]
    pytest.main([*arguments, *quiet, *selection], plugins=[recorder])
    return _compare(recorder.results, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sources", type=Path, required=True, help="checkout of array-api-tests")
    parser.add_argument("--max-examples", type=int, default=100, help="examples of each property")
    parser.add_argument("-k", help="only these tests (as pytest's -k)")
    parser.add_argument("--report", type=Path, help="write results as JSON")
    options = parser.parse_args()
    options.sources = options.sources.resolve()
    options.report = options.report and options.report.resolve()
    return options


def _first_line(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr or "")
    return text.partition("\n")[0][:300]


def _compare(results: dict[str, tuple[str, str]], options: argparse.Namespace) -> int:
    cases = tomllib.loads(KNOWN.read_text()).get("failure", [])
    known = {case["test"] for case in cases if "test" in case}
    families = [(case["prefix"], case["error"]) for case in cases if "prefix" in case]

    def has_reason(test: str) -> bool:
        error = failed[test]
        return test in known or any(test.startswith(prefix) and text in error for prefix, text in families)

    failed = {test: line for test, (outcome, line) in results.items() if outcome == "failed"}
    counts = collections.Counter(outcome for outcome, _ in results.values())
    print(f"array-api-tests: {counts['passed']} of {counts['passed'] + counts['failed']} pass {dict(counts)}")
    for test, line in failed.items():
        print(f"{'known' if has_reason(test) else 'NEW'}  {test}  {line}")
    for test in known:
        if results.get(test, ("",))[0] == "passed":
            print(f"passes now  {test}")
    if options.report:
        options.report.write_text(json.dumps({"counts": counts, "failures": failed}, indent=1))
    return int(not all(map(has_reason, failed)))


if __name__ == "__main__":
    sys.exit(main())
