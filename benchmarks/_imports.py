"""What importing adze costs, read from `python -X importtime` in a process of its own.

Out: the total, and how it divides among top-level packages. The best of a few runs counts, because the
first one reads the files from disk.
"""

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class ImportCost:
    """Seconds for the whole import, and each package's own share; `modules` names all that was imported."""

    seconds: float
    by_package: dict[str, float]
    modules: frozenset[str]

    def imported(self, prefix: str) -> bool:
        return any(name == prefix or name.startswith(prefix + ".") for name in self.modules)


def import_cost(statement: str, module: str, runs: int) -> ImportCost:
    """The cheapest of several runs of an import statement, each in a fresh interpreter."""
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
    """Lines are `import time: self us | cumulative us | name`, indented by depth; children come first."""
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
        # A top-level line closes its own tree; the interpreter's start-up imports are other trees.
        if name.split(".")[0] == module:
            seconds += float(fields[1]) / 1e6
            for own, child in inside:
                by_package[child.split(".")[0]] += own
                modules.add(child)
        inside = []
    return ImportCost(seconds, dict(by_package.most_common()), frozenset(modules))
