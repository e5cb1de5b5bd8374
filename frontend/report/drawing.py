"""Drawings as SVG: the graph of a program, and its memory and operations over time.

Input: a `Graph` or a `Timeline`, and the number of each provenance. Output: SVG that takes its colours from
the page (`currentColor` and classes), so that it is readable in light and dark. Each shape that stands for
ops has the class `p<number>`, by which the page finds what belongs to a line.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final

from .cost import Timeline
from .graph import Box, Graph
from .provenance import Provenance

Number = Callable[[Provenance], int]

_WIDTH: Final = 148
_HEIGHT: Final = 36
_GAP_X: Final = 16
_GAP_Y: Final = 30
_CHART_WIDTH: Final = 960
_CHART_HEIGHT: Final = 150


def graph_svg(graph: Graph, number: Number) -> str:
    """The graph, with an edge for each value."""
    left = min((box.place for box in graph.boxes), default=0)
    right = max((box.place for box in graph.boxes), default=0)
    layers = max((box.layer for box in graph.boxes), default=0)
    width, height = (right - left + 1) * (_WIDTH + _GAP_X), (layers + 1) * (_HEIGHT + _GAP_Y)
    where = [(_x(box, left), box.layer * (_HEIGHT + _GAP_Y) + _GAP_Y / 2) for box in graph.boxes]
    edges = "".join(_edge(where[a], where[b]) for a, b in graph.edges)
    boxes = "".join(
        _box(box, *place, number(box.origin)) for box, place in zip(graph.boxes, where, strict=True)
    )
    label = f"Graph of {graph.ops} ops"
    return (
        f'<svg class="graph" role="img" aria-label="{label}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'data-width="{width:.0f}" data-height="{height:.0f}"><g class="edges">{edges}</g>{boxes}</svg>'
    )


def _x(box: Box, left: float) -> float:
    return (box.place - left) * (_WIDTH + _GAP_X) + _GAP_X / 2


def _edge(start: tuple[float, float], end: tuple[float, float]) -> str:
    x, y = start[0] + _WIDTH / 2, start[1] + _HEIGHT
    to_x, to_y = end[0] + _WIDTH / 2, end[1]
    bend = max(_GAP_Y / 2, abs(to_y - y) / 3)
    curve = f"C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}"
    return f'<path d="M{x:.0f} {y:.0f}{curve}"/>'


def _box(box: Box, x: float, y: float, number: int) -> str:
    title = escape(f"{box.name}: {box.detail}{described(box.origin)}")
    return (
        f'<g class="box {box.kind} p{number}" data-p="{number}" transform="translate({x:.0f} {y:.0f})">'
        f'<title>{title}</title><rect width="{_WIDTH}" height="{_HEIGHT}" rx="5"/>'
        f'<text x="8" y="15">{escape(_cut(box.name, 20))}</text>'
        f'<text class="detail" x="8" y="29">{escape(_cut(box.detail, 19))}</text></g>'
    )


def memory_svg(timeline: Timeline, number: Number) -> str:
    """Bytes alive while each op runs, with the peak marked; a bar for each op, or for the most of several."""
    values = [moment.alive for moment in timeline.moments]
    return _chart(values, timeline, number, "bytes alive", readable_bytes, marked=timeline.peak)


def flops_svg(timeline: Timeline, number: Number) -> str:
    """Operations of each op."""
    values = [moment.flops for moment in timeline.moments]
    return _chart(values, timeline, number, "operations", readable_count, marked=None)


def _chart(
    values: list[int],
    timeline: Timeline,
    number: Number,
    unit: str,
    readable: Callable[[int], str],
    marked: int | None,
) -> str:
    most = max(values, default=0) or 1
    bars = []
    for first, last in _bins(len(values)):
        position = max(range(first, last), key=lambda n: values[n])
        moment, value = timeline.moments[position], values[position]
        x, width = first / len(values) * _CHART_WIDTH, (last - first) / len(values) * _CHART_WIDTH
        height = value / most * _CHART_HEIGHT
        title = f"op {position}, {moment.name}: {readable(value)}{described(moment.origin)}"
        kind = "backward" if moment.origin.is_backward else "forward"
        peak = " peak" if marked is not None and first <= marked < last else ""
        p = number(moment.origin)
        bars.append(
            f'<rect class="bar {kind}{peak} p{p}" data-p="{p}" x="{x:.2f}" y="{_CHART_HEIGHT - height:.2f}" '
            f'width="{max(width - 0.3, 0.4):.2f}" height="{height:.2f}"><title>{escape(title)}</title></rect>'
        )
    label = f"{unit} op by op, {readable(most)} at most"
    return (
        f'<svg class="chart" role="img" aria-label="{label}" preserveAspectRatio="none" '
        f'viewBox="0 0 {_CHART_WIDTH} {_CHART_HEIGHT + 4}">{"".join(bars)}</svg>'
    )


def _bins(count: int) -> list[tuple[int, int]]:
    """At most as many bins as a chart has pixels."""
    bins = min(count, _CHART_WIDTH)
    return [(count * n // bins, count * (n + 1) // bins) for n in range(bins)]


def described(origin: Provenance) -> str:
    """` (transpose of linearize of line 4)`, or nothing where no line is known."""
    if not origin.lines:
        return ""
    lines = ", ".join(str(line) for _, line in origin.lines)
    via = "".join(f"{name} of " for name in origin.via)
    return f" ({via}line {lines})"


def readable_bytes(count: int) -> str:
    """`1536` as `1.5 KiB`."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f}"


def readable_count(count: int) -> str:
    """`1536000` as `1.54 M`."""
    for factor, prefix in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if count >= factor:
            return f"{count / factor:.3g}{prefix}"
    return str(count)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
