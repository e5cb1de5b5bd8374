"""The choice of layouts: an integer linear program, solved by HiGHS (SciPy, the extra `scipy`).

Input: a `Problem` and the bytes of memory that a rank has. Output: a way for each node, so that the sum of
all times is least. Variables: one for each way of each node, 0 or 1, of which one is chosen; and for each
array on its way one for each pair of layouts, which follows from the choices at both ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from .choices import Edge, Place, Problem

SECONDS: Final = 60.0
"""After which the best choice so far is taken."""


class NoLayoutError(AdzeError, ValueError):
    """No layout of the arrays fits into memory."""


class MissingSolverError(AdzeError, ImportError):
    """The package that solves integer programs is not installed."""


@dataclass(frozen=True)
class Choice:
    """The way of each node, the seconds of all, and the bytes at the point where a rank has most."""

    ways: tuple[int, ...]
    seconds: float
    memory: float
    is_best: bool


def choose(problem: Problem, memory: float | None = None) -> Choice:
    """The ways that take least time together, with at most `memory` bytes in a rank at any point.

    Raises `NoLayoutError` where none fits, `MissingSolverError` without SciPy.
    """
    return _Program(problem, memory).solve()


class _Program:
    """The integer program: columns (variables) with costs, and rows (constraints)."""

    def __init__(self, problem: Problem, memory: float | None) -> None:
        self.problem, self.memory = problem, memory
        self.costs: list[float] = []
        self.entries: list[tuple[int, int, float]] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self.first: list[int] = []
        for node in problem.nodes:
            self.first.append(len(self.costs))
            self.costs += [way.seconds for way in node.ways]
        self.integers = len(self.costs)

    def solve(self) -> Choice:
        try:
            import numpy as np
            from scipy.optimize import Bounds, LinearConstraint, milp
            from scipy.sparse import csr_array
        except ImportError as error:
            raise MissingSolverError(
                f"layouts are chosen by an integer program, which SciPy solves: {error}",
                hint="pip install 'adze-compiler[scipy]'",
            ) from None
        for node, first in zip(self.problem.nodes, self.first, strict=True):
            self._row([(first + k, 1.0) for k in range(len(node.ways))], 1.0, 1.0)
        for edge in self.problem.edges:
            self._edge(edge)
        if self.memory is not None:
            self._within(self.memory)
        rows, columns, values = zip(*self.entries, strict=True)
        matrix = csr_array((values, (rows, columns)), shape=(len(self.low), len(self.costs)))
        kinds = np.zeros(len(self.costs))
        kinds[: self.integers] = 1
        scale = max(max(self.costs), 1e-12)
        solved = milp(
            np.asarray(self.costs) / scale,
            constraints=LinearConstraint(matrix, self.low, self.high),
            integrality=kinds,
            bounds=Bounds(0, 1),
            options={"time_limit": SECONDS, "mip_rel_gap": 1e-6},
        )
        if solved.x is None:
            raise NoLayoutError(
                f"no layout of the program fits into {self.memory or 0:.0f} bytes a rank",
                hint="allow more memory, or use more ranks",
            )
        return self._choice(solved)

    def _choice(self, solved: Any) -> Choice:
        ways = []
        for node, first in zip(self.problem.nodes, self.first, strict=True):
            flags = [solved.x[first + k] for k in range(len(node.ways))]
            ways.append(flags.index(max(flags)))
        held = [sum(self.problem.bytes_of(s, ways[s.node]) for s in point) for point in self.problem.alive]
        return Choice(tuple(ways), self._seconds(ways), max(held, default=0.0), solved.status == 0)

    def _seconds(self, ways: Sequence[int]) -> float:
        nodes = zip(self.problem.nodes, ways, strict=True)
        return sum(node.ways[way].seconds for node, way in nodes) + sum(
            moved(self.problem, edge, ways) for edge in self.problem.edges
        )

    def _row(self, entries: Sequence[tuple[int, float]], low: float, high: float) -> None:
        number = len(self.low)
        self.entries += [(number, column, value) for column, value in entries]
        self.low.append(low)
        self.high.append(high)

    def _edge(self, edge: Edge) -> None:
        """A variable for each pair of layouts at the ends; those of one layout add up to its being chosen."""
        before = self._layouts(edge.source.node, lambda way: self.problem.place(edge.source, way))
        after = self._layouts(edge.node, lambda way: wanted(self.problem, edge, way))
        pairs = {}
        for a in before:
            for b in after:
                pairs[a, b] = len(self.costs)
                self.costs.append(self._moved(edge, a, b))
        for a, ways in before.items():
            row = [(pairs[a, b], 1.0) for b in after] + [(column, -1.0) for column in ways]
            self._row(row, 0.0, 0.0)
        for b, ways in after.items():
            row = [(pairs[a, b], 1.0) for a in before] + [(column, -1.0) for column in ways]
            self._row(row, 0.0, 0.0)

    def _moved(self, edge: Edge, before: Place | None, after: Place | None) -> float:
        if before is None or after is None:
            return 0.0
        return self.problem.moved(edge.source.type, before, after)

    def _layouts(self, node: int, place: Any) -> dict[Place | None, list[int]]:
        found: dict[Place | None, list[int]] = {}
        for way in range(len(self.problem.nodes[node].ways)):
            found.setdefault(place(way), []).append(self.first[node] + way)
        return found

    def _within(self, memory: float) -> None:
        for point in self.problem.alive:
            held: dict[int, float] = {}
            for source in point:
                for way in range(len(self.problem.nodes[source.node].ways)):
                    column = self.first[source.node] + way
                    held[column] = held.get(column, 0.0) + self.problem.bytes_of(source, way) / memory
            self._row(list(held.items()), 0.0, 1.0)


def wanted(problem: Problem, edge: Edge, way: int) -> Place | None:
    """The layout that an operand must have; of an op that follows others, that of what it follows."""
    chosen = problem.nodes[edge.node].ways[way]
    return chosen.results[-1 - edge.operand] if edge.operand < 0 else chosen.operands[edge.operand]


def moved(problem: Problem, edge: Edge, ways: Sequence[int]) -> float:
    """Seconds to bring the array of an edge to its node."""
    before, after = problem.place(edge.source, ways[edge.source.node]), wanted(problem, edge, ways[edge.node])
    return 0.0 if after is None else problem.moved(edge.source.type, before, after)
