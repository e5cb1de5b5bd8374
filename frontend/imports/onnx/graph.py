"""ONNX protobufs as plain values: models, graphs, nodes, attributes.

Input: a `ModelProto`. Output: frozen dataclasses whose attributes are Python values, arrays and graphs.
Idea: the protobuf is looked at once; what it states wrongly is said with the name of the node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ..errors import ModelError, ModelUnsupportedError
from .tensors import Tensors

DEFAULT: Final = ("", "ai.onnx")
"""Both names of the standard's own domain."""


@dataclass(frozen=True, eq=False)
class Node:
    """One application of an op; an input or output that is left out has the name ''."""

    op: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    references: Mapping[str, str] = field(default_factory=dict)
    """Attributes of a function's node that are attributes of the call of the function."""
    proto: Any = None

    def __str__(self) -> str:
        name = self.name or (f"-> {next(filter(None, self.outputs))}" if any(self.outputs) else "")
        domain = f"{self.domain}." if self.domain else ""
        return f"node {name!r} ({domain}{self.op})"


@dataclass(frozen=True)
class Value:
    """What a graph says of an input or output: the dtype, and sizes that are numbers, names or unknown."""

    name: str
    dtype: np.dtype | None
    shape: tuple[int | str | None, ...] | None
    kind: str = "tensor"


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes in an order in which each follows those that it needs."""

    name: str
    nodes: tuple[Node, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    initializers: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the model: nodes with formal inputs, outputs and attributes."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    opsets: Mapping[str, int]
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Model:
    """A graph, the versions of the op sets that it uses, and its own functions by domain and name."""

    graph: Graph
    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str], Function]
    producer: str = ""


def domain_of(text: str) -> str:
    """The standard's own domain has one name: ''."""
    return "" if text in DEFAULT else text


def parse_model(proto: Any, tensors: Tensors) -> Model:
    """The model that `proto` states; raises `ModelError`."""
    if not proto.HasField("graph"):
        raise ModelError("the model has no graph", hint="export it again, or check that the file is whole")
    opsets = _opsets(proto.opset_import)
    parser = _Parser(tensors)
    functions = {(domain_of(f.domain), f.name): parser.function(f, opsets) for f in proto.functions}
    if len(functions) != len(proto.functions):
        raise ModelUnsupportedError(
            "the model has several functions of one name (overloads)",
            hint="export it with its functions inlined",
        )
    return Model(parser.graph(proto.graph), opsets or {"": 1}, functions, proto.producer_name)


def parse_function(proto: Any) -> Function:
    """A function as the standard itself defines it."""
    return _Parser(Tensors()).function(proto, {})


def _opsets(imports: Any) -> dict[str, int]:
    return {domain_of(entry.domain): entry.version for entry in imports}


class _Parser:
    """Parses graphs, with the tensors' data at hand; graphs within graphs are counted."""

    DEEPEST: Final = 64

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.depth = 0

    def graph(self, proto: Any) -> Graph:
        if self.depth >= self.DEEPEST:
            raise ModelError(f"the graph {proto.name!r} is nested in more than {self.DEEPEST} graphs")
        self.depth += 1
        try:
            initializers = {
                t.name: self.tensors.array(t, f"initializer {t.name!r}") for t in proto.initializer
            }
            for sparse in proto.sparse_initializer:
                name = sparse.values.name
                initializers[name] = self.tensors.dense(sparse, f"initializer {name!r}")
            return Graph(
                proto.name,
                tuple(self.node(n) for n in proto.node),
                tuple(value_of(v) for v in proto.input),
                tuple(value_of(v) for v in proto.output),
                initializers,
            )
        finally:
            self.depth -= 1

    def function(self, proto: Any, opsets: Mapping[str, int]) -> Function:
        return Function(
            tuple(proto.input),
            tuple(proto.output),
            tuple(self.node(n) for n in proto.node),
            {**opsets, **_opsets(proto.opset_import)},
            {a.name: self.attribute(a, f"function {proto.name!r}") for a in proto.attribute_proto},
        )

    def node(self, proto: Any) -> Node:
        domain = domain_of(proto.domain)
        bare = Node(proto.op_type, domain, proto.name, tuple(proto.input), tuple(proto.output), {})
        attributes = {a.name: self.attribute(a, str(bare)) for a in proto.attribute if not a.ref_attr_name}
        references = {a.name: a.ref_attr_name for a in proto.attribute if a.ref_attr_name}
        return Node(bare.op, domain, bare.name, bare.inputs, bare.outputs, attributes, references, proto)

    def attribute(self, proto: Any, owner: str) -> Any:
        kind = proto.AttributeType.Name(proto.type)
        match kind:
            case "FLOAT":
                return float(proto.f)
            case "INT":
                return int(proto.i)
            case "STRING":
                return proto.s
            case "TENSOR":
                return self.tensors.array(proto.t, f"{owner}: attribute {proto.name!r}")
            case "SPARSE_TENSOR":
                return self.tensors.dense(proto.sparse_tensor, f"{owner}: attribute {proto.name!r}")
            case "GRAPH":
                return self.graph(proto.g)
            case "FLOATS":
                return tuple(map(float, proto.floats))
            case "INTS":
                return tuple(map(int, proto.ints))
            case "STRINGS":
                return tuple(proto.strings)
            case "GRAPHS":
                return tuple(map(self.graph, proto.graphs))
            case _:
                # A type, or a list of tensors: the one op that looks at it says so, if it matters.
                return proto


def value_of(proto: Any) -> Value:
    """Name, dtype and sizes of a `ValueInfoProto`."""
    kind = proto.type.WhichOneof("value") or "unknown"
    if kind != "tensor_type":
        return Value(proto.name, None, None, kind.removesuffix("_type"))
    tensor = proto.type.tensor_type
    dtype = Tensors.dtype(tensor.elem_type, f"value {proto.name!r}") if tensor.elem_type else None
    if not tensor.HasField("shape"):
        return Value(proto.name, dtype, None)
    return Value(proto.name, dtype, tuple(map(_size, tensor.shape.dim)))


def _size(dim: Any) -> int | str | None:
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return dim.dim_param or None
