"""The time of `import adze`, measured by `python -X importtime` in a separate process.

Input: an import statement.
Output: the total, and the share of each top-level package. The fastest of several runs counts, because the
first run reads the files from disk.
"""

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class ImportCost:
    """Seconds of the whole import and of each package; `modules` has the names of all imported modules."""

    seconds: float
    by_package: dict[str, float]
    modules: frozenset[str]

    def imported(self, prefix: str) -> bool:
        return any(name == prefix or name.startswith(prefix + ".") for name in self.modules)


def import_cost(statement: str, module: str, runs: int) -> ImportCost:
    """The fastest of several runs of an import statement, each in a new interpreter."""
    return min((measured_once(statement, module) for _ in range(runs)), key=lambda cost: cost.seconds)


def measured_once(statement: str, module: str) -> ImportCost:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", statement],
        capture_output=True,
        text=True,
        check=True,
    )
    return parse(done.stderr, module)


def parse(text: str, module: str) -> ImportCost:
    """Parse lines `import time: self us | cumulative us | name`, indented by depth, children first."""
    seconds = 0.0
    by_package: Counter[str] = Counter()
    modules: set[str] = set()
    inside: list[tuple[float, str]] = []
    for line in text.splitlines():
        fields = line.removeprefix("import time:").split("|")
        if len(fields) != 3 or not fields[0].strip().isdigit():
            continue
        name, is_top_level = fields[2].strip(), not fields[2].startswith("  ")
        inside.append((float(fields[0]) / 1e6, name))
        if not is_top_level:
            continue
        # A top-level line ends the tree of its module; imports of the interpreter's start are other trees.
        if name.split(".")[0] == module:
            seconds += float(fields[1]) / 1e6
            for own, child in inside:
                by_package[child.split(".")[0]] += own
                modules.add(child)
        inside = []
    return ImportCost(seconds, dict(by_package.most_common()), frozenset(modules))
