"""Which layouts the arrays of a program can have on a mesh, and what each takes.

Input: a function of a module, a grid of ranks, and the speeds of a machine. Output: a `Problem`: for each op
the ways to divide it among the ranks, with their times, and for each array between two ops the time to go
from one layout to the other. Idea: an axis of the grid divides one factor of an op (`dialects/factors.py`) or
none; layouts and collectives follow from that (Zheng et al., Alpa, OSDI 2022). Ops that compute element by
element have the layout of their latest operand; constants have any.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from math import log2, prod
from typing import Final, TypeAlias

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.factors import Axes, Factors, undivided
from ...dialects.types import TensorType
from ..analysis.verify import location_text
from ..ir.aliases import Operation, Value
from ..ir.functions import body, function, split_body
from .layouts import Grid

Place: TypeAlias = tuple[int | None, ...]
"""For each axis of the grid the axis of an array that it divides, or None."""

TO_HOLD: Final = 1e-2
"""What holding an argument costs beside reading it: of equal layouts the one that divides most is taken."""

POINTS: Final = 12
"""Points of the program at which its arrays must fit into memory: those with most bytes alive."""


@dataclass(frozen=True)
class Machine:
    """The speeds of a rank: arithmetic in operations a second, memory and network in bytes a second, and the
    seconds that a message takes however short it is."""

    flops: float = 4e10
    memory: float = 1e10
    network: float = 1e9
    latency: float = 3e-5

    def gathered(self, size: float, ranks: int) -> float:
        """Seconds until each of `ranks` has all of an array of `size` bytes."""
        return self.latency * log2(ranks) + size * (ranks - 1) / ranks / self.network

    def reduced(self, size: float, ranks: int) -> float:
        """Seconds to add up arrays of `size` bytes."""
        return 2 * self.gathered(size, ranks)


@dataclass(frozen=True)
class Way:
    """One way to divide an op: where each axis of the grid divides its operands and its results (None for
    those of any layout), and the seconds that it takes."""

    operands: tuple[Place | None, ...]
    results: tuple[Place, ...]
    seconds: float


@dataclass
class Node:
    """An op, or an argument, and the ways to divide it."""

    name: str
    where: str | None
    ways: list[Way]


@dataclass(frozen=True)
class Source:
    """A result of a node; `type` is that of the whole array."""

    node: int
    result: int
    type: TensorType


@dataclass(frozen=True)
class Edge:
    """An array on its way to an operand of another node."""

    source: Source
    node: int
    operand: int


@dataclass
class Problem:
    """What is to be chosen: a way for each node. `alive`: at some points, the arrays that are in memory."""

    grid: Grid
    machine: Machine
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    arguments: list[Source] = field(default_factory=list)
    results: list[Source | None] = field(default_factory=list)
    alive: list[list[Source]] = field(default_factory=list)

    def place(self, source: Source, way: int) -> Place:
        """Where the array lies if its node is divided in that way."""
        return self.nodes[source.node].ways[way].results[source.result]

    def bytes_of(self, source: Source, way: int) -> float:
        """What a rank has of it then."""
        return size_of(source.type) / parts(self.grid, self.place(source, way))

    def moved(self, type_: TensorType, before: Place, after: Place) -> float:
        """Seconds to bring an array from one layout to another: parts are taken, exchanged, then gathered."""
        size = size_of(type_) / parts(self.grid, before)
        seconds = 0.0
        axes = list(zip(before, after, self.grid.sizes, strict=True))
        for a, b, ranks in axes:
            if a is None and b is not None:
                size /= ranks
        for a, b, ranks in axes:
            if a is not None and b is not None and a != b:
                seconds += self.machine.gathered(size, ranks)
        for a, b, ranks in axes:
            if a is not None and b is None:
                size *= ranks
                seconds += self.machine.gathered(size, ranks)
        return seconds


def problem(module: mlir.ir.Module, symbol: str, grid: Grid, machine: Machine) -> Problem:
    """The problem of a function without calls, of static sizes."""
    return _Reading(module, symbol, Problem(grid, machine)).read()


def size_of(type_: TensorType) -> float:
    """The bytes of an array."""
    return float(prod(n or 0 for n in type_.static_shape) * type_.dtype.itemsize)


def parts(grid: Grid, place: Place) -> int:
    """Into how many parts an array is divided."""
    return prod(n for n, axis in zip(grid.sizes, place, strict=True) if axis is not None)


def places(grid: Grid, type_: TensorType) -> Iterator[Place]:
    """All layouts of an array: each axis of the grid divides one of its axes into equal parts, or none."""
    for place in itertools.product((None, *range(type_.rank)), repeat=len(grid.sizes)):
        if _is_even(grid, place, [n or 0 for n in type_.static_shape]):
            yield place


def _is_even(grid: Grid, place: Sequence[int | None], sizes: Sequence[int]) -> bool:
    left = list(sizes)
    for n, axis in zip(grid.sizes, place, strict=True):
        if axis is None or n == 1:
            if axis is not None:
                return False  # an axis of one rank divides nothing
            continue
        if left[axis] == 0 or left[axis] % n:
            return False
        left[axis] //= n
    return True


@dataclass
class _Reading:
    """A function on its way to a problem: what makes each value, None where its layout is free."""

    module: mlir.ir.Module
    symbol: str
    problem: Problem
    sources: dict[Value, Source | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.codec = Codec(self.module.context)
        self.reader = Reader(self.codec)

    def read(self) -> Problem:
        source = function(self.module, self.symbol)
        operations, terminator = split_body(source)
        for number, argument in enumerate(body(source).arguments):
            kind = self._type(argument)
            grid, speed = self.problem.grid, self.problem.machine.memory
            held = TO_HOLD * size_of(kind) / speed
            ways = [Way((), (place,), held / parts(grid, place)) for place in places(grid, kind)]
            made = self._node(f"argument {number}", None, ways, [kind])
            self.sources[argument] = made[0]
            self.problem.arguments.append(made[0])
        for each in operations:
            self._operation(each.operation)
        self.problem.results = [self.sources[v] for v in terminator.operands]
        self._memory([*operations, terminator], list(body(source).arguments))
        return self.problem

    def _type(self, value: Value) -> TensorType:
        kind = self.codec.read_type(value.type)
        assert isinstance(kind, TensorType), "sizes are static"
        return kind

    def _node(
        self, name: str, where: str | None, ways: list[Way], types: Sequence[TensorType]
    ) -> list[Source]:
        self.problem.nodes.append(Node(name, where, ways))
        number = len(self.problem.nodes) - 1
        return [Source(number, k, kind) for k, kind in enumerate(types)]

    def _operation(self, operation: Operation) -> None:
        application = self.reader.read(operation)
        assert application is not None, f"{operation.name} is not an op of adze"
        sources = [self.sources[v] for v in operation.operands]
        if not any(sources) and not application.op.has_effect and not application.op.refers_to_functions:
            self.sources.update((v, None) for v in operation.results)  # constants, in any layout
            return
        types = [self._type(v) for v in operation.operands]
        made = [self._type(v) for v in operation.results]
        leader = self._leader(application, sources, made)
        if leader is not None:
            self.sources[operation.results[0]] = Source(leader.node, leader.result, made[0])
            self._edges_to_leader(sources, leader)
            return
        rule = undivided(types, made)
        if application.op.factors is not None:
            rule = application.op.factors(*types, **application.attributes)
        ways = list(self._ways(application, rule, types, made))
        where = location_text(operation.location)
        results = self._node(application.op.name, where, ways, made)
        self.sources.update(zip(operation.results, results, strict=True))
        node = len(self.problem.nodes) - 1
        self.problem.edges += [Edge(s, node, k) for k, s in enumerate(sources) if s is not None]

    def _leader(
        self, application: Application, sources: Sequence[Source | None], made: Sequence[TensorType]
    ) -> Source | None:
        """The operand whose layout an elementwise op has: the one that is made last."""
        if not application.op.is_elementwise:
            return None
        same = [s for s in sources if s is not None and s.type.shape == made[0].shape]
        return max(same, key=lambda s: s.node, default=None)

    def _edges_to_leader(self, sources: Sequence[Source | None], leader: Source) -> None:
        """The other operands have to come to the layout of the leader's result."""
        for each in sources:
            if each is not None and (each.node, each.result) != (leader.node, leader.result):
                self.problem.edges.append(Edge(each, leader.node, -1 - leader.result))

    def _ways(
        self,
        application: Application,
        rule: Factors,
        types: Sequence[TensorType],
        made: Sequence[TensorType],
    ) -> Iterator[Way]:
        grid, machine = self.problem.grid, self.problem.machine
        arrays = [*rule.operands, *rule.results]
        major = {axis[0] for axes in arrays for axis in axes if axis}
        minor = {factor for axes in arrays for axis in axes for factor in axis[1:]}
        free = sorted((major - minor) - rule.whole)
        flops = application.op.flops(types, made, application.attributes)
        for chosen in itertools.product((None, *free), repeat=len(grid.sizes)):
            if not _is_even(grid, chosen, rule.sizes):
                continue
            divided = prod(n for n, f in zip(grid.sizes, chosen, strict=True) if f is not None)
            operands, results = (
                tuple(_placed(chosen, axes) for axes in arrays) for arrays in (rule.operands, rule.results)
            )
            own = zip((*types, *made), (*operands, *results), strict=True)
            moved = sum(size_of(kind) / parts(grid, place) for kind, place in own)
            cost = max(flops / divided / machine.flops, moved / machine.memory)
            for n, factor in zip(grid.sizes, chosen, strict=True):
                if factor in rule.reduced:
                    for kind, place in zip(made, results, strict=True):
                        cost += machine.reduced(size_of(kind) / parts(grid, place), n)
            yield Way(operands, results, cost)

    def _memory(self, operations: Sequence[Operation], arguments: Sequence[Value]) -> None:
        """The arrays that are alive at the points where most bytes are; arguments stay to the end."""
        last: dict[Value, int] = {}
        for position, each in enumerate(operations):
            last.update((v, position) for v in each.operands)
        alive: dict[Value, Source] = {}
        kept = {a: s for a in arguments if (s := self.sources[a]) is not None}
        points: list[tuple[float, list[Source]]] = []
        for position, each in enumerate(operations):
            for value in each.results:
                source = self.sources.get(value)
                if source is not None:
                    alive[value] = source
            now = [*kept.values(), *alive.values()]
            points.append((sum(size_of(s.type) for s in now), now))
            alive = {v: s for v, s in alive.items() if last.get(v, -1) > position}
        points.sort(key=lambda point: -point[0])
        self.problem.alive = [now for _, now in points[:POINTS]]


def _placed(chosen: Sequence[int | None], axes: Axes) -> Place:
    """Where axes of the grid that divide these factors divide an array with the axes `axes`."""
    where: Mapping[int, int] = {axis[0]: dim for dim, axis in enumerate(axes) if axis}
    return tuple(None if factor is None else where.get(factor) for factor in chosen)
