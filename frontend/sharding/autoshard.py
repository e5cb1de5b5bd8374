"""`autoshard`: layouts of a function's arguments that take least time, under a bound of memory.

Input: a function, a mesh, and the bytes that a rank may hold. Output: a plan: shardings for `jit`, and why.
Idea: the program becomes an integer program over the ways to divide each op (`passes/partition/choose.py`).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...dialects.communicator import bound
from ...dialects.dataclass import dataclass
from ...passes.partition.choices import Machine, Place, Problem, problem, size_of
from ...passes.partition.choose import Choice, choose, moved
from ...passes.pipeline import OPTIMIZE, run_pipeline
from .. import tree
from ..errors import ShardingError
from ..tracing.locations import located, user_location_text
from ..tracing.trace import trace_program
from .mesh import Mesh, PartitionSpec, spec_of
from .named import NamedSharding

_MIB = 1 << 20


@dataclass(frozen=True)
class ShardingPlan:
    """How to divide a function: shardings as `jit` takes them, the seconds of a call by the model, the bytes
    that a rank holds at most, and each step that takes time. Print it."""

    in_shardings: tuple[Any, ...]
    out_shardings: Any
    seconds: float
    memory: float
    steps: tuple[str, ...]
    is_best: bool
    names: tuple[str, ...]

    def __str__(self) -> str:
        specs = [s.spec for s in tree.leaves(self.in_shardings)]
        width = max(map(len, self.names), default=0)
        lines = [f"{name:<{width}}  {spec}" for name, spec in zip(self.names, specs, strict=True)]
        cut = "" if self.is_best else "; the search was cut off, there may be better ones"
        lines.append(f"{self.seconds * 1e3:.3f} ms a call, {self.memory / _MIB:.2f} MiB a rank{cut}")
        return "\n".join([*lines, *(f"  {step}" for step in self.steps)])


def autoshard(
    function: Callable[..., Any],
    mesh: Mesh,
    *,
    memory: float | None = None,
    machine: Machine | None = None,
) -> Callable[..., ShardingPlan]:
    """A function that returns, for arguments or specs, the plan by which `function` takes least time.

    `memory`: the bytes that arguments and intermediate arrays may take in a rank at any point. `machine`: the
    speeds of a rank; `adze.sharding.measure_machine()` measures them, by default they are those of a core and
    a network of 1 GB/s. Pass `plan.in_shardings` and `plan.out_shardings` to `jit`. Loops, and ops that
    cannot be divided, count as computed whole by each rank.

    The model is that of Alpa (Zheng et al., OSDI 2022), within one stage. Raises `NoLayoutError` where
    nothing fits into `memory`, `MissingSolverError` without SciPy, `ShardingError` for dynamic sizes.
    """

    @functools.wraps(function)
    def planned(*args: Any) -> ShardingPlan:
        program = trace_program(function, args, {})
        if not all(p.type.is_static for p in program.parameters):
            raise ShardingError(
                "autoshard: sizes must be static",
                where=user_location_text(),
                hint="give numbers for all sizes",
            )
        run_pipeline(program.module, OPTIMIZE)
        grid = NamedSharding(mesh, PartitionSpec()).grid
        with located():
            stated = problem(program.module, program.symbol, grid, machine or Machine())
            choice = choose(stated, memory)
        arguments = [_spec(mesh, stated.place(s, choice.ways[s.node]), s.type.rank) for s in stated.arguments]
        results = [
            _spec(mesh, (None,) * len(mesh.axis_sizes), 0)
            if s is None
            else _spec(mesh, stated.place(s, choice.ways[s.node]), s.type.rank)
            for s in stated.results
        ]
        return ShardingPlan(
            tree.unflatten(tree.structure(args), [NamedSharding(mesh, s) for s in arguments]),
            tree.unflatten(program.result_tree, [NamedSharding(mesh, s) for s in results]),
            choice.seconds,
            choice.memory,
            tuple(_steps(stated, choice)),
            choice.is_best,
            tuple(f"{p.name}: {p.type}" for p in program.parameters),
        )

    return planned


def _spec(mesh: Mesh, place: Place, rank: int) -> PartitionSpec:
    where = [*zip(mesh.axis_names, place, strict=True)]
    return spec_of([name for name, at in where if at == axis] for axis in range(rank))


def _steps(stated: Problem, choice: Choice) -> list[str]:
    """What takes time, the longest first: ops with what they send, and arrays that change their layout."""
    timed: list[tuple[float, str]] = []
    for node, way in zip(stated.nodes, choice.ways, strict=True):
        chosen = node.ways[way]
        if chosen.seconds:
            where = f", {node.where}" if node.where else ""
            timed.append((chosen.seconds, f"{node.name}{where}"))
    for edge in stated.edges:
        seconds = moved(stated, edge, choice.ways)
        if seconds:
            node = stated.nodes[edge.node]
            size = size_of(edge.source.type) / _MIB
            timed.append(
                (seconds, f"{edge.source.type} ({size:.2f} MiB) goes to another layout for {node.name}")
            )
    timed.sort(key=lambda each: -each[0])
    return [f"{seconds * 1e3:.3f} ms: {what}" for seconds, what in timed[:10]]


def measure_machine(repeats: int = 5) -> Machine:
    """The speeds of a rank, measured: a product of 512 x 512, a copy of 32 MB, and in a job sums of small and
    large arrays over all ranks. Every rank calls it, and has the same numbers."""
    x = np.ones((512, 512), np.float32)
    y = np.ones(8 * _MIB // 2, np.float64)
    flops = 2 * 512**3 / _shortest(lambda: x @ x, repeats)
    speed = 2 * y.nbytes / _shortest(y.copy, repeats)
    communicator = bound()
    if communicator is None or communicator.size == 1:
        return Machine(flops=flops, memory=speed)
    everyone = tuple(range(communicator.size))
    small, large = np.ones(1, np.float32), np.ones(_MIB, np.float32)
    short = _shortest(lambda: communicator.all_reduce(everyone, "sum", small), repeats)
    long = _shortest(lambda: communicator.all_reduce(everyone, "sum", large), repeats)
    sent = 2 * large.nbytes * (communicator.size - 1) / communicator.size
    mine = np.asarray([-flops, -speed, -sent / max(long - short, 1e-9), short / 2])
    slowest = communicator.all_reduce(everyone, "max", mine)
    return Machine(-float(slowest[0]), -float(slowest[1]), -float(slowest[2]), float(slowest[3]))


def _shortest(call: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times[1:])
