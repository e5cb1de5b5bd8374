"""What a user waits for before the first result: imports, compiles, the cache, the first call of an artifact.

Input: scenarios, each a new process, of adze and of JAX. Output: seconds of CPU time, those of the linker's
process included, beside the goal of each; with `--json`, all of it for machines.
Idea: every round runs all scenarios in a random order, each in a process of its own with a compile cache that
is empty or was filled by this script; the lowest time of the rounds counts.

    python benchmarks/cold_start.py --rounds 5
    python benchmarks/cold_start.py --scenarios import,artifact --json
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _measure import circumstances
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Scenario:
    """Code that runs in a new process; it sets `began` behind what is not measured, 0.0 for nothing.

    `cached`: whether compiled programs are found on the disk, where an unmeasured process put them first.
    """

    code: str
    cached: bool = False


@dataclass(frozen=True)
class Goal:
    """What the time of a scenario is compared with: a number of seconds, or some times another scenario."""

    scenario: str
    seconds: float = 0.0
    times: float = 0.0
    other: str = ""

    def limit(self, measured: dict[str, float]) -> float:
        return self.seconds if not self.other else self.times * measured[self.other]


_PRELUDE = """
import os, resource
def cpu():
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)
began = 0.0
"""
_NUMPY = "import numpy as np\nbegan = cpu()\n"
_LIBRARY = {
    "adze": "import adze as lib\nimport adze.numpy as xp\nwait = lambda r: r\n",
    "jax": "import jax as lib\nimport jax.numpy as xp\nwait = lib.block_until_ready\n",
}
_ADD = "wait(lib.jit(lambda x, y: x + y)(np.ones(4, np.float32), np.ones(4, np.float32)))\n"
_OTHER = "wait(lib.jit(lambda x: x * 2 - 1)(np.ones(5, np.float32)))\nbegan = cpu()\n"
_MLP = """
def loss(w1, w2, x):
    return (xp.tanh(xp.tanh(x @ w1) @ w2) ** 2).sum()
wait(lib.jit(lib.value_and_grad(loss, argnums=(0, 1)))(
    np.ones((20, 30), np.float32), np.ones((30, 10), np.float32), np.ones((16, 20), np.float32)))
"""
_LAYERS = """
def loss(weights, x):
    for w, b in weights:
        x = xp.tanh(x @ w + b)
    return (x ** 2).mean()
weights = [(np.full((32, 32), 0.1, np.float32), np.full(32, 0.1, np.float32)) for _ in range(200)]
wait(lib.jit(lib.value_and_grad(loss))(weights, np.ones((16, 32), np.float32)))
"""
_CACHE_OF_JAX = """
lib.config.update("jax_compilation_cache_dir", os.environ["COLD_START_JAX_CACHE"])
lib.config.update("jax_persistent_cache_min_compile_time_secs", 0)
lib.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
"""
_ARTIFACT = """
import adze
result = adze.load(os.environ["COLD_START_ARTIFACT"])(np.ones(4, np.float32))
assert np.asarray(result).tolist() == [2.0] * 4, result
"""
_EXPANSION = """
import sys
sys.path.insert(0, os.environ["COLD_START_HERE"])
import adze
from adze import jit, lax, nn
from compile_overhead import arguments, straight_line_code
f = straight_line_code(2000)
def total(x, y):
    first, second = f(x, y)
    return xp.sum(first) + xp.sum(second)
adze.trace(lambda x: x + 1, np.ones(3, np.float32)).lower()
began = cpu()
adze.trace(adze.grad(total), *arguments()).lower()
"""


def scenarios() -> dict[str, Scenario]:
    table = {
        "numpy": Scenario("import numpy\n"),
        "import adze": Scenario(_NUMPY + "from adze import jit, lax, nn, numpy\n"),
        "artifact": Scenario(_NUMPY + _ARTIFACT),
        "expansion": Scenario(_NUMPY + _LIBRARY["adze"] + _EXPANSION),
    }
    for name, library in _LIBRARY.items():
        keep = _CACHE_OF_JAX if name == "jax" else ""
        start = _NUMPY.replace("began = cpu()\n", "") + library
        table |= {
            f"{name} add, process": Scenario(start + _ADD),
            f"{name} mlp, process": Scenario(start + _MLP),
            f"{name} add, process, cache": Scenario(start + keep + _ADD, cached=True),
            f"{name} mlp, process, cache": Scenario(start + keep + _MLP, cached=True),
            f"{name} add, compile": Scenario(start + _OTHER + _ADD),
            f"{name} add, compile, cache": Scenario(start + keep + _OTHER + _ADD, cached=True),
            f"{name} mlp, compile": Scenario(start + _OTHER + _MLP),
            f"{name} 200 layers": Scenario(start + _OTHER + _LAYERS),
        }
    return table


GOALS = (
    Goal("import adze", seconds=0.15),
    Goal("artifact", seconds=0.25),
    Goal("expansion", seconds=0.5),
    Goal("adze add, compile", seconds=0.3),
    Goal("adze add, compile, cache", seconds=0.25),
    Goal("adze mlp, compile", times=3.0, other="jax mlp, compile"),
    Goal("adze add, process, cache", times=1.0, other="jax add, process"),
    Goal("adze mlp, process, cache", times=1.0, other="jax mlp, process"),
    Goal("adze 200 layers", times=1.0, other="jax 200 layers"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description="CPU seconds before the first result, adze beside JAX")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scenarios", default="", help="words, comma separated; all scenarios if empty")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    words = [word.strip() for word in options.scenarios.split(",") if word.strip()]
    table = {n: s for n, s in scenarios().items() if not words or any(word in n for word in words)}
    if not table:
        parser.error(
            f"no scenario has one of these words: {options.scenarios}; all: {', '.join(scenarios())}"
        )
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(table, options.rounds, Path(folder))
    best = {name: min(times) for name, times in measured.items()}
    if options.json:
        report = {"circumstances": circumstances(), "seconds": measured, "goals": judged(best)}
        print(json.dumps(report, indent=2))
    else:
        Console().print(printed(best))
    return 0


def measure(table: dict[str, Scenario], rounds: int, folder: Path) -> dict[str, list[float]]:
    """The CPU seconds of each scenario in each round."""
    artifact = folder / "artifact.vmfb"
    environment = {
        **os.environ,
        "COLD_START_HERE": str(HERE),
        "COLD_START_JAX_CACHE": str(folder / "jax"),
        "COLD_START_ARTIFACT": str(artifact),
        "ADZE_CACHE_DIR": str(folder / "adze"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each process would compile what it imports
    build = (
        "import numpy as np, adze\nadze.trace(lambda x: x + 1, np.ones(4, np.float32)).lower('cpu').compile()"
    )
    run(f"{build}.save({str(artifact)!r})\n", {**environment, "ADZE_CACHE": "0"})
    for scenario in table.values():
        if scenario.cached:
            run(scenario.code, environment)
    order, shuffled = list(table.items()), random.Random(0)
    measured: dict[str, list[float]] = {name: [] for name in table}
    for _ in range(rounds):
        shuffled.shuffle(order)
        for name, scenario in order:
            cache = {} if scenario.cached else {"ADZE_CACHE": "0"}
            measured[name].append(run(scenario.code, {**environment, **cache}))
    return measured


def run(code: str, environment: dict[str, str]) -> float:
    """The CPU seconds of a new process behind `began`, those of its children included."""
    done = subprocess.run(
        [sys.executable, "-c", f"{_PRELUDE}{code}\nprint(cpu() - began)"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"a scenario failed:\n{code}\n{done.stderr}")
    return float(done.stdout.split()[-1])


def judged(best: dict[str, float]) -> dict[str, dict[str, Any]]:
    """The goals of the scenarios that were measured, with what was seen."""
    return {
        goal.scenario: {
            "seconds": best[goal.scenario],
            "limit": goal.limit(best),
            "holds": best[goal.scenario] <= goal.limit(best),
        }
        for goal in GOALS
        if goal.scenario in best and (not goal.other or goal.other in best)
    }


def printed(best: dict[str, float]) -> Table:
    goals = judged(best)
    table = Table(title=f"CPU seconds, lowest of the rounds ({circumstances()['processor']})")
    for heading in ("scenario", "seconds", "goal", ""):
        table.add_column(heading, justify="left" if heading == "scenario" else "right")
    shown: Callable[[float], str] = "{:.3f}".format
    for name, seconds in best.items():
        goal = goals.get(name)
        judgement = (shown(goal["limit"]), "holds" if goal["holds"] else "missed") if goal else ("", "")
        table.add_row(name, shown(seconds), *judgement)
    return table


if __name__ == "__main__":
    sys.exit(main())
