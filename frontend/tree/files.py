"""Structures of trees as JSON of dicts, lists and the names of classes; `written_trees.py` takes it up."""

from __future__ import annotations

from typing import Any

from .functions import children, unflatten
from .registry import DATA_FIELDS, Structure


def to_json(spec: Structure) -> Any:
    """The structure as JSON: leaves are `"*"`, nodes one-key objects naming their kind."""
    return _node_to_json(unflatten(spec, range(spec.num_leaves)))


def _node_to_json(node: Any) -> Any:
    if node is None:
        return None
    if isinstance(node, dict):
        ordered = children(node) or {}  # as the leaves are ordered, which is by key
        return {"dict": {str(k): _node_to_json(v) for k, v in ordered.items()}}
    if isinstance(node, tuple) and hasattr(node, "_fields"):
        items = [[f, _node_to_json(v)] for f, v in zip(node._fields, node, strict=True)]
        return {"namedtuple": type(node).__name__, "fields": items}
    if isinstance(node, (list, tuple)):
        return {"list" if isinstance(node, list) else "tuple": [_node_to_json(v) for v in node]}
    if type(node) in DATA_FIELDS:
        fields = [[name, _node_to_json(getattr(node, name))] for name in DATA_FIELDS[type(node)]]
        return {"dataclass": type(node).__name__, "fields": fields}
    return "*" if isinstance(node, int) else {"node": type(node).__name__}
