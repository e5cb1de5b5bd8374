"""What is checked of a model before it is run: each op is known, each input is computed by what is before it.

Input: a `Model`. Output: nothing, or an error that names the node; and the names of initializers that decide
shapes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from ..errors import ModelError, ModelUnsupportedError
from .expansions import is_expandable
from .graph import Graph, Model, Node
from .table import KNOWN, RULES

NEWEST: Final = 28
"""The newest version of the op set whose ops are known here."""
OLDEST: Final = 1


_MAY_LEAVE_OUT: Final = frozenset({"Loop", "Scan"})
"""Ops whose first inputs may have the name ''."""


def check_model(model: Model) -> None:
    """Raises `ModelError` where a node has an op that is unknown, or inputs that nothing computes."""
    version = model.opsets.get("", OLDEST)
    if not OLDEST <= version <= NEWEST:
        raise ModelUnsupportedError(
            f"the model is for version {version} of the op set ai.onnx, and adze knows {OLDEST} to {NEWEST}",
            hint="convert it: onnx.version_converter.convert_version(model, 21)",
        )
    _check_graph(model, model.graph, set())
    for (domain, name), function in model.functions.items():
        try:
            _check_nodes(model, function.nodes, set(function.inputs), {**model.opsets, **function.opsets})
        except ModelError as error:
            error.message = f"function {domain + '.' if domain else ''}{name}: {error.message}"
            error.args = (error._text(),)
            raise


def _check_graph(
    model: Model, graph: Graph, outer: set[str], opsets: Mapping[str, int] | None = None
) -> None:
    names = outer | {v.name for v in graph.inputs} | graph.initializers.keys()
    defined = _check_nodes(model, graph.nodes, names, opsets or model.opsets)
    for value in graph.outputs:
        if value.name not in defined:
            raise ModelError(f"the graph {graph.name!r} returns {value.name!r}, which nothing computes")


def _check_nodes(model: Model, nodes: Iterable[Node], names: set[str], opsets: Mapping[str, int]) -> set[str]:
    defined = {*names, ""}
    for node in nodes:
        missing = [name for name in node.inputs if name not in defined]
        if missing:
            raise ModelError(f"{node} takes {missing[0]!r}, which nothing before it computes")
        _check_op(model, node, opsets)
        for attribute in node.attributes.values():
            for graph in attribute if isinstance(attribute, tuple) else (attribute,):
                if isinstance(graph, Graph):
                    _check_graph(model, graph, defined, opsets)
        defined |= set(node.outputs)
    return defined


def _check_op(model: Model, node: Node, opsets: Mapping[str, int]) -> None:
    key = f"{node.domain}.{node.op}" if node.domain else node.op
    if (node.domain, node.op) in model.functions:
        return
    if key not in RULES:
        if not is_expandable(node, opsets.get(node.domain, OLDEST)):
            raise ModelUnsupportedError(
                f"{node}: adze has no rule for this op",
                hint="export the model with other ops; docs/imports.md says which ops are missing, and why",
            )
        return
    least, most = _arity(key)
    needed = node.inputs[: 0 if key in _MAY_LEAVE_OUT else least]
    if not least <= len(node.inputs) <= most or not all(needed):
        raise ModelError(f"{node} has {len(node.inputs)} inputs, expected {_between(least, most)}")


@cache
def _arity(key: str) -> tuple[int, float]:
    """How many inputs a rule takes, at least and at most."""
    parameters: list[Any] = list(inspect.signature(RULES[key]).parameters.values())[1:]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return sum(p.kind is not p.VAR_POSITIONAL for p in parameters), float("inf")
    return sum(p.default is p.empty for p in parameters), len(parameters)


def _between(least: int, most: float) -> str:
    if most == float("inf"):
        return f"{least} or more"
    return str(least) if least == most else f"{least} to {int(most)}"


def static_names(model: Model) -> set[str]:
    """Names of values that decide shapes where they are used."""
    found: set[str] = set()
    _collect(model.graph, found)
    return found


def _collect(graph: Graph, found: set[str]) -> None:
    for node in graph.nodes:
        for position in KNOWN.get(node.op, ()) if not node.domain else ():
            if position < len(node.inputs):
                found.add(node.inputs[position])
        for attribute in node.attributes.values():
            if isinstance(attribute, Graph):
                _collect(attribute, found)
