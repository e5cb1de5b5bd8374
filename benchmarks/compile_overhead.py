"""The time of a compile before IREE starts (trace, verify, simplify, lower), and of `import adze`.

Input: straight-line code of about `--ops` operations. All are different, so that `simplify` removes none.
Output: seconds of CPU time of each pass (the fastest of some rounds), and seconds of the import by package.

    python benchmarks/compile_overhead.py
    python benchmarks/compile_overhead.py --ops 500 --json
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _imports import ImportCost, import_cost
from _measure import circumstances
from rich.console import Console
from rich.table import Table

import adze.numpy as anp
from adze.frontend.staging.modules import clone_module
from adze.frontend.tracing.trace import trace_program
from adze.frontend.transforms.differentiation import grad
from adze.passes.analysis.verify import verify
from adze.passes.engines import Engines
from adze.passes.pipeline import LOWER, OPTIMIZE, run_pipeline

OPS_PER_ITERATION = 5
# `import adze` loads its modules lazily; a program that compiles functions imports those of the second line.
IMPORTS = ("import adze", "from adze import jit, lax, nn, numpy")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="the time of trace, verify, simplify and lower, and of import"
    )
    parser.add_argument("--ops", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()

    function = straight_line_code(options.ops)
    count = operation_count(function)
    rounds = [stage_seconds(function) for _ in range(options.rounds)]
    stages = {name: min(one[name] for one in rounds) for name in rounds[0]}
    rounds = [gradient_seconds(function) for _ in range(options.rounds)]
    gradient = {name: min(one[name] for one in rounds) for name in rounds[0]}
    imports = {statement: import_cost(statement, "adze", options.rounds) for statement in IMPORTS}
    if options.json:
        report = {
            "circumstances": circumstances(),
            "operations": count,
            "stages": stages,
            "gradient": gradient,
            "imports": {statement: import_report(cost) for statement, cost in imports.items()},
        }
        print(json.dumps(report, indent=2))
        return 0
    console = Console()
    console.print(stage_table(stages, count))
    console.print(stage_table(gradient, count, "its gradient, "))
    for statement, cost in imports.items():
        console.print(import_table(statement, cost))
    return 0


def straight_line_code(ops: int) -> Any:
    """A function of about `ops` operations, five in each iteration, no two of them equal."""

    def function(x: Any, y: Any) -> Any:
        for _ in range(ops // OPS_PER_ITERATION):
            x, y = anp.sin(x) * y, anp.maximum(x - y, anp.tanh(y))
        return x, y

    return function


def arguments() -> tuple[Any, Any]:
    return np.ones((8, 16), np.float32), np.full((8, 16), 0.5, np.float32)


def operation_count(function: Any) -> int:
    """The number of adze operations in the trace."""
    return str(trace_program(function, arguments(), {}).module).count('"adze.')


def stage_seconds(function: Any) -> dict[str, float]:
    """Run the pipeline of `jit` once and time each pass."""
    seconds: dict[str, float] = {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = call()
        seconds[name] = time.process_time() - began
        return result

    module = timed("trace", lambda: trace_program(function, arguments(), {})).module
    timed("verify", lambda: verify(module))
    passes_seconds(module, seconds)
    return seconds


def passes_seconds(module: Any, seconds: dict[str, float]) -> None:
    """Add the seconds of each pass, those that lower together, and of verifying between passes."""
    passes = (*OPTIMIZE, *LOWER)
    verified = clone_module(module)
    began = time.process_time()
    run_pipeline(verified, passes)
    total = time.process_time() - began
    began = last = time.process_time()

    def observe(step: Any, _: Any, __: float) -> None:
        nonlocal last
        name = step.name if step in OPTIMIZE else "lower"
        now = time.process_time()
        seconds[name] = seconds.get(name, 0.0) + now - last
        last = now

    run_pipeline(module, passes, check=False, observer=observe)
    seconds["verify between passes"] = max(0.0, total - (last - began))


def gradient_seconds(function: Any) -> dict[str, float]:
    """Time each step of the function's gradient: linearize (with jvp inside), transpose, and the passes."""
    seconds: dict[str, float] = {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = call()
        seconds[name] = time.process_time() - began
        return result

    def total(x: Any, y: Any) -> Any:
        first, second = function(x, y)
        return anp.sum(first) + anp.sum(second)

    traced = timed("trace", lambda: trace_program(total, arguments(), {}))
    module = traced.module
    linearizer = Engines(module).linearizer
    linearized = timed("linearize", lambda: linearizer.linearize(traced.symbol, (True, True)))
    linear = (False,) * len(linearized.residuals) + (True, True)
    timed("transpose", lambda: linearizer.transposer.transpose(linearized.linear, linear))
    whole = trace_program(grad(total), arguments(), {}).module  # untimed: it repeats the steps above
    passes_seconds(whole, seconds)
    return seconds


def stage_table(stages: dict[str, float], count: int, what: str = "") -> Table:
    table = Table(title=f"{what}{count} operations, best of the rounds")
    table.add_column("stage")
    for heading in ("ms", "us per operation"):
        table.add_column(heading, justify="right")
    for name, seconds in (*stages.items(), ("all", sum(stages.values()))):
        table.add_row(name, f"{seconds * 1e3:.1f}", f"{seconds / count * 1e6:.1f}")
    return table


def import_report(cost: ImportCost) -> dict[str, Any]:
    return {
        "seconds": cost.seconds,
        "by_package": cost.by_package,
        "compiler_imported": cost.imported("iree.compiler"),
    }


def import_table(statement: str, cost: ImportCost, shown: int = 8) -> Table:
    compiler = "with" if cost.imported("iree.compiler") else "without"
    table = Table(title=f"{statement}: {cost.seconds * 1e3:.0f} ms, {compiler} the compiler")
    table.add_column("package")
    table.add_column("ms", justify="right")
    for name, seconds in sorted(cost.by_package.items(), key=lambda item: -item[1])[:shown]:
        table.add_row(name, f"{seconds * 1e3:.1f}")
    return table


if __name__ == "__main__":
    sys.exit(main())
