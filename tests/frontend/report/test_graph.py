"""Graphs: rows follow values, boxes of a row do not overlap, and many ops become boxes of lines."""

from itertools import pairwise
from typing import Any

import pytest

import adze
from adze import ShapeDtype
from adze import numpy as xp
from adze.frontend.report.cost import Timeline, timelines
from adze.frontend.report.graph import MOST_OPS, Box, Graph, graphs_of, laid_out


def module_of(function: Any, *specs: ShapeDtype) -> Any:
    return adze.trace(function, *specs).program.module


def graph_of(module: Any) -> Graph:
    (graph,) = graphs_of(module).values()
    return graph


def timeline(module: Any) -> Timeline:
    (line,) = timelines(module).values()
    return line


def overlap(graph: Graph) -> list[tuple[Box, Box]]:
    rows: dict[int, list[Box]] = {}
    for box in graph.boxes:
        rows.setdefault(box.layer, []).append(box)
    ordered = [sorted(row, key=lambda box: box.place) for row in rows.values()]
    return [(a, b) for row in ordered for a, b in pairwise(row) if b.place - a.place < 0.999]


def test_values_flow_downward() -> None:
    graph = graph_of(module_of(lambda x, y: (xp.tanh(x @ y), x + 1), ShapeDtype((2, 2)), ShapeDtype((2, 2))))
    names = [box.name for box in graph.boxes]
    assert names[:2] == ["argument 0", "argument 1"] and names[-2:] == ["result 0", "result 1"]
    assert graph.ops == len(names) - 4 and not graph.is_grouped
    assert graph.edges and all(graph.boxes[a].layer < graph.boxes[b].layer for a, b in graph.edges)
    tanh = names.index("tanh")
    assert graph.boxes[tanh].detail == "f32[2,2]"
    assert [graph.boxes[a].name for a, b in graph.edges if b == tanh] == ["dot_general"]
    assert overlap(graph) == []


def test_a_constant_is_just_above_its_use() -> None:
    boxes = [
        Box("argument", "", "argument"),
        *[Box(f"{n}", "", "op") for n in range(3)],
        Box("c", "", "constant"),
        Box("last", "", "op"),
    ]
    placed = laid_out(boxes, [(0, 1), (1, 2), (2, 3), (3, 5), (4, 5)])
    assert placed[4].layer == placed[5].layer - 1 == 3


def test_many_ops_are_grouped_by_line_and_pass() -> None:
    def f(x: Any) -> Any:
        for _ in range(MOST_OPS // 2):
            x = xp.sin(x)
            x = x * x
        return x.sum()

    graph = graph_of(module_of(f, ShapeDtype((3,))))
    assert graph.is_grouped and graph.ops > MOST_OPS
    assert sorted(box.kind for box in graph.boxes) == ["argument", "op", "op", "op", "result"]
    assert f"{MOST_OPS // 2} ops" in graph.boxes[1].name
    assert overlap(graph) == []


def test_no_op_has_a_graph_too() -> None:
    graph = graph_of(module_of(lambda x: x, ShapeDtype((3,))))
    assert graph.ops == 0 and graph.edges == [(0, 1)]
    line = timeline(module_of(lambda x: x, ShapeDtype((3,))))
    assert line.moments == [] and line.peak == 0


@pytest.mark.parametrize("size", [4, ("n",)])
def test_the_timeline_sums_up_to_the_cost(size: Any) -> None:
    shape = (size, 8) if isinstance(size, int) else (*size, 8)
    traced = adze.trace(lambda x: xp.exp(x).sum() + (x @ xp.ones((8, 3), "float32")).sum(), ShapeDtype(shape))
    line = timeline(traced.program.module)
    assert line.cost == traced.cost()
    assert sum(moment.flops for moment in line.moments) == line.cost.flops
    assert max(moment.alive for moment in line.moments) == line.cost.peak_bytes
    assert line.moments[line.peak].alive == line.cost.peak_bytes
