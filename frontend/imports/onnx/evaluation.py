"""Runs a model's graph on adze arrays or tracers, node by node.

Input: a `Model`, values of its inputs and initializers. Output: values of its outputs.
Idea: a node whose operands all have elements is computed at once with NumPy, also while tracing (so that
shapes which a model computes are known); any other appends the ops of its rule to the trace. An op without a
rule is expanded by its function: the model's own, or the one that defines it in the standard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final

from ....dialects.errors import AdzeError
from ...tracing.array import Array
from ...tracing.frames import Tracer
from ...tracing.interludes import outside_traces
from ..errors import ModelError
from .calls import Call, constant, has_elements
from .expansions import standard_function
from .graph import Function, Graph, Model, Node
from .sizes import Sizes, on_sizes
from .table import KEEPS_SIZES, RULES, VOLATILE

_LARGEST_FOLDED: Final = 2**27
"""Bytes of operands above which a node is traced even if its operands have elements."""


class Evaluation:
    """One run of a model: the scopes of its graphs, and how deep functions are nested."""

    DEEPEST: Final = 48
    MOST_CALLS: Final = 100_000

    def __init__(self, model: Model, constants: Mapping[str, Any]) -> None:
        self.model = model
        self.constants = constants
        self.depth = 0
        self.calls = 0

    def run(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The outputs of the model's graph."""
        scope = {**self.constants, **inputs}
        return self._nodes(self.model.graph, scope, self.model.opsets)

    def _nodes(self, graph: Graph, scope: dict[str, Any], opsets: Mapping[str, int]) -> list[Any]:
        scope[""] = None
        for node in graph.nodes:
            self._step(node, node.attributes, scope, opsets)
        return [_lookup(scope, value.name, "the graph's outputs") for value in graph.outputs]

    def _step(
        self, node: Node, attributes: Mapping[str, Any], scope: dict[str, Any], opsets: Mapping[str, int]
    ) -> None:
        try:
            inputs = [_lookup(scope, name, "its inputs") for name in node.inputs]
            outputs = self._call(node, attributes, inputs, scope, opsets)
        except AdzeError as error:
            raise _at(node, error) from None
        except (ValueError, TypeError, IndexError, KeyError, ArithmeticError, AttributeError) as error:
            raise ModelError(f"{node}: {type(error).__name__}: {error}") from error
        except MemoryError as error:
            raise ModelError(f"{node}: there is no memory for what it computes: {error}") from None
        for name, value in zip(node.outputs, outputs, strict=False):
            scope[name] = value
        scope[""] = None

    def _call(
        self,
        node: Node,
        attributes: Mapping[str, Any],
        inputs: list[Any],
        scope: Mapping[str, Any],
        opsets: Mapping[str, int],
    ) -> Sequence[Any]:
        function = self.model.functions.get((node.domain, node.op))
        if function is not None:
            return self._function(function, attributes, inputs)
        key = f"{node.domain}.{node.op}" if node.domain else node.op
        if any(isinstance(value, Sizes) for value in inputs):
            result = None if node.domain else on_sizes(node.op, attributes, inputs)
            if result is not None:
                return [result]
            if key not in KEEPS_SIZES:
                inputs = [v.traced() if isinstance(v, Sizes) else v for v in inputs]
        version = opsets.get(node.domain, 1)
        rule = RULES.get(key)
        if rule is None:
            expanded = standard_function(node, attributes, inputs, version)
            return self._function(expanded, attributes, inputs)

        def run(graph: Graph, values: Sequence[Any]) -> list[Any]:
            return self._subgraph(graph, values, scope, opsets)

        call = Call(node, version, run, attributes, opsets)
        fold = key not in VOLATILE and _is_small(inputs)
        with outside_traces() if fold else nullcontext():
            result = rule(call, *inputs)
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def _subgraph(
        self, graph: Graph, values: Sequence[Any], scope: Mapping[str, Any], opsets: Mapping[str, int]
    ) -> list[Any]:
        inner = dict(scope)
        inner.update({name: constant(array) for name, array in graph.initializers.items()})
        names = [value.name for value in graph.inputs]
        if len(names) < len(values):
            raise ModelError(f"the graph {graph.name!r} takes {len(names)} inputs, and gets {len(values)}")
        inner.update(zip(names, values, strict=False))
        return self._nodes(graph, inner, opsets)

    def _function(
        self, function: Function, attributes: Mapping[str, Any], inputs: Sequence[Any]
    ) -> Sequence[Any]:
        if self.depth >= self.DEEPEST:
            raise ModelError(f"functions are nested in more than {self.DEEPEST} others: is one recursive?")
        self.calls += 1
        if self.calls > self.MOST_CALLS:
            raise ModelError(f"functions are called more than {self.MOST_CALLS} times, each inlined")
        given = {**function.defaults, **attributes}
        scope: dict[str, Any] = {"": None}
        scope.update(dict.fromkeys(function.inputs))
        scope.update(zip(function.inputs, inputs, strict=False))
        self.depth += 1
        try:
            for node in function.nodes:
                referred = {k: given[name] for k, name in node.references.items() if name in given}
                own = {k: _filled(v, given) for k, v in node.attributes.items()}
                self._step(node, {**own, **referred}, scope, function.opsets)
        finally:
            self.depth -= 1
        # A function that the standard derives from a node leaves out what the node does not ask for.
        return [scope.get(name) for name in function.outputs]


def _filled(attribute: Any, given: Mapping[str, Any]) -> Any:
    """A graph of a function's node with the attributes of the call in place of references to them."""
    if not isinstance(attribute, Graph) or not _refers(attribute):
        return attribute
    nodes = []
    for node in attribute.nodes:
        referred = {k: given[name] for k, name in node.references.items() if name in given}
        own = {k: _filled(v, given) for k, v in node.attributes.items()}
        nodes.append(Node(node.op, node.domain, node.name, node.inputs, node.outputs, {**own, **referred}))
    inputs, outputs = attribute.inputs, attribute.outputs
    return Graph(attribute.name, tuple(nodes), inputs, outputs, attribute.initializers)


def _refers(graph: Graph) -> bool:
    return any(
        node.references or any(isinstance(a, Graph) and _refers(a) for a in node.attributes.values())
        for node in graph.nodes
    )


def _is_small(inputs: Sequence[Any]) -> bool:
    """Whether all operands have elements that are there, and not too many to compute with now."""
    if not has_elements(*inputs):
        return False
    return sum(v.size * v.dtype.itemsize for v in inputs if isinstance(v, (Array, Tracer))) <= _LARGEST_FOLDED


def _lookup(scope: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in scope:
        raise ModelError(f"{name!r} is one of {what}, and nothing before it computes it")
    return scope[name]


def _at(node: Node, error: AdzeError) -> AdzeError:
    """`error`, which says at which node it was; one of a graph within a node names the inner node."""
    if not getattr(error, "names_node", False):
        error.message = f"{node}: {error.message}"
        error.args = (error._text(),)
        error.names_node = True  # type: ignore[attr-defined]
    return error
