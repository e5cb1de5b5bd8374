"""The graph of a program: ops and the values between them, or its source lines where there are many ops.

Input: a simplified module. Output: a `Graph` of boxes in layers. Idea: an op is one layer below its lowest
operand, and a constant one above its first use; in a layer, boxes are sorted by where their neighbours are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, Final

from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...passes.ir.functions import body, functions, is_private, split_body
from ...runtime.artifact.signature import FunctionSignature
from .cost import location_text
from .provenance import NOWHERE, Locations, Provenance

MOST_OPS: Final = 400
"""Of a graph that shows each op; a larger one shows a box for the ops of each line and transform."""


@dataclass(frozen=True)
class Box:
    """One op, argument or result, or all ops of a line; `layer` and `place` are its row and column."""

    name: str
    detail: str
    kind: str
    origin: Provenance = NOWHERE
    layer: int = 0
    place: float = 0.0


@dataclass(frozen=True)
class Graph:
    """Boxes, and edges as pairs of positions of boxes; `ops` is how many ops there are."""

    boxes: list[Box]
    edges: list[tuple[int, int]]
    ops: int
    is_grouped: bool = False

    def named(self, signature: FunctionSignature) -> Graph:
        """The graph with the names of arguments and results; the arrays of a program stand before them."""
        held, changed = (
            sum(box.kind == kind for box in self.boxes) - len(specs)
            for kind, specs in (("argument", signature.inputs), ("result", signature.outputs))
        )
        names = {
            **{f"argument {n}": f"state {n}" for n in range(held)},
            **{f"argument {n + held}": spec.name for n, spec in enumerate(signature.inputs)},
            **{f"result {n}": f"new state {n}" for n in range(changed)},
            **{f"result {n + changed}": spec.name for n, spec in enumerate(signature.outputs)},
        }
        return replace(self, boxes=[replace(box, name=names.get(box.name, box.name)) for box in self.boxes])


@dataclass
class _Draft:
    boxes: list[Box] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)


def graphs_of(module: Any) -> dict[str, Graph]:
    """The graph of each public function of a module, by its name, laid out."""
    return {
        symbol: _graph_of(module, operation)
        for symbol, operation in functions(module).items()
        if not is_private(operation)
    }


def _graph_of(module: Any, main: Any) -> Graph:
    codec, locations = Codec(module.context), Locations(())
    draft = _Draft()
    source: dict[Any, int] = {}
    for position, argument in enumerate(body(main).arguments):
        source[argument] = len(draft.boxes)
        draft.boxes.append(Box(f"argument {position}", str(codec.read_type(argument.type)), "argument"))
    operations, terminator = split_body(main)
    for operation in operations:
        number = len(draft.boxes)
        origin = locations.of(location_text(operation))
        types = ", ".join(str(codec.read_type(result.type)) for result in operation.results)
        name = operation.operation.name.removeprefix("adze.")
        kind = "backward" if origin.is_backward else "constant" if name == "constant" else "op"
        draft.boxes.append(Box(name, types, kind, origin))
        draft.edges += [
            (source[value], number) for value in dict.fromkeys(operation.operands) if value in source
        ]
        source.update((result, number) for result in operation.results)
    for position, value in enumerate(terminator.operands):
        draft.edges.append((source[value], len(draft.boxes)))
        draft.boxes.append(Box(f"result {position}", str(codec.read_type(value.type)), "result"))
    is_grouped = len(operations) > MOST_OPS
    boxes, edges = _grouped(draft) if is_grouped else (draft.boxes, draft.edges)
    return Graph(laid_out(boxes, edges), edges, len(operations), is_grouped)


def _grouped(draft: _Draft) -> tuple[list[Box], list[tuple[int, int]]]:
    """A box for the ops of each line and pass, one for all arguments and one for all results."""
    groups: dict[Any, list[int]] = {}
    for number, box in enumerate(draft.boxes):
        is_end = box.kind in ("argument", "result")
        key = box.kind if is_end else (box.origin.lines, box.origin.is_backward)
        groups.setdefault(key, []).append(number)
    where = {number: position for position, members in enumerate(groups.values()) for number in members}
    boxes = [_group([draft.boxes[number] for number in members]) for members in groups.values()]
    edges = dict.fromkeys((where[a], where[b]) for a, b in draft.edges if where[a] != where[b])
    return boxes, list(edges)


def _group(members: Sequence[Box]) -> Box:
    first = members[0]
    if len(members) == 1:
        return first
    if first.kind in ("argument", "result"):
        return Box(f"{len(members)} {first.kind}s", ", ".join(box.detail for box in members), first.kind)
    line = f"line {first.origin.lines[0][1]}" if first.origin.lines else "no line"
    kind = "backward" if first.origin.is_backward else "op"
    names = dict.fromkeys(box.name for box in members if box.kind != "constant")
    return Box(f"{line}: {len(members)} ops", ", ".join(names), kind, first.origin)


def laid_out(boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> list[Box]:
    """The boxes with their layers and places; an edge to an earlier box (between groups) moves nothing."""
    down = [(a, b) for a, b in edges if a < b]
    layers = _layers(boxes, down)
    rows: dict[int, list[int]] = {}
    for number, layer in enumerate(layers):
        rows.setdefault(layer, []).append(number)
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for a, b in down:
        above.setdefault(b, []).append(a)
        below.setdefault(a, []).append(b)
    place = {number: float(i) for row in rows.values() for i, number in enumerate(row)}
    for neighbours, order in (
        (above, sorted(rows)),
        (below, sorted(rows, reverse=True)),
        (above, sorted(rows)),
    ):
        for layer in order:
            _sort(rows[layer], neighbours, place)
    return [replace(box, layer=layers[n], place=place[n]) for n, box in enumerate(boxes)]


def _layers(boxes: Sequence[Box], down: Sequence[tuple[int, int]]) -> list[int]:
    layers = [0] * len(boxes)
    for a, b in sorted(down, key=lambda edge: edge[1]):
        layers[b] = max(layers[b], layers[a] + 1)
    uses: dict[int, int] = {}
    for a, b in down:
        uses[a] = min(uses.get(a, layers[b]), layers[b])
    for number, box in enumerate(boxes):
        if box.kind == "constant" and number in uses:
            layers[number] = uses[number] - 1
    return layers


def _sort(row: list[int], neighbours: dict[int, list[int]], place: dict[int, float]) -> None:
    """Sort a row by the mean place of each box's neighbours, around the middle of the drawing."""

    def wish(number: int) -> float:
        near = neighbours.get(number)
        return sum(place[n] for n in near) / len(near) if near else place[number]

    row.sort(key=wish)
    start = sum(map(wish, row)) / len(row) - (len(row) - 1) / 2
    for position, number in enumerate(row):
        place[number] = start + position
