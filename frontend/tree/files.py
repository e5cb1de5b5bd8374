"""Structures of trees in files: as JSON, and back.

Input: structures. Output: JSON of dicts, lists and the names of classes, trees of leaves by it, and its text.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

from .functions import children, leaves, structure, unflatten
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


def describe_json(data: Any) -> str:
    """What `to_json` wrote as short text, dataclasses and named tuples by name: `State(w=*, b=*)`."""
    if data is None or data == "*":
        return str(data)
    if "dict" in data:
        return f"{{{', '.join(f'{k!r}: {describe_json(v)}' for k, v in data['dict'].items())}}}"
    if "list" in data:
        return f"[{', '.join(describe_json(v) for v in data['list'])}]"
    if "tuple" in data:
        items = ", ".join(describe_json(v) for v in data["tuple"])
        return f"({items},)" if len(data["tuple"]) == 1 else f"({items})"
    name = data.get("dataclass") or data.get("namedtuple") or data.get("node")
    return f"{name}({', '.join(f'{k}={describe_json(v)}' for k, v in data.get('fields', []))})"


def describe_json_arguments(data: Any) -> str:
    """As `describe_arguments`, of what `to_json` wrote for `(args, kwargs)`."""
    args, kwargs = data["tuple"]
    positional = [describe_json(v) for v in args["tuple"]]
    named = [f"{k}={describe_json(v)}" for k, v in kwargs["dict"].items()]
    return f"({', '.join([*positional, *named])})"


def leaves_as_json(data: Any, value: Any) -> list[Any] | None:
    """The leaves of `value` where the tree that `to_json` wrote has them, None if it is another tree.

    What stands at a leaf is the leaf, a list too; for a dataclass or a named tuple there may be a dict, which
    is what `from_json` makes of it.
    """
    if data == "*":
        return [value]
    if data is None or "node" in data:
        return leaves(value) if to_json(structure(value)) == data else None
    if "list" in data or "tuple" in data:
        (entries,) = data.values()
        is_same = isinstance(value, list if "list" in data else tuple) and len(value) == len(entries)
        return _leaves_of_all(entries, value) if is_same else None
    named = data["dict"] if "dict" in data else dict(data["fields"])
    if isinstance(value, dict):
        entries_by_name = {str(key): entry for key, entry in value.items()}
    elif "dict" in data or type(value).__name__ != (data.get("dataclass") or data.get("namedtuple")):
        return None
    else:
        entries_by_name = {name: getattr(value, name) for name in named if hasattr(value, name)}
    if entries_by_name.keys() != named.keys():
        return None
    return _leaves_of_all(named.values(), [entries_by_name[name] for name in named])


def _leaves_of_all(nodes: Iterable[Any], values: Iterable[Any]) -> list[Any] | None:
    collected: list[Any] = []
    for node, value in zip(nodes, values, strict=True):
        some = leaves_as_json(node, value)
        if some is None:
            return None
        collected += some
    return collected


def from_json(data: Any, leaves: Iterable[Any]) -> Any:
    """The tree that `to_json` wrote, with these leaves; dataclasses and user nodes come back as dicts."""
    return _node_from_json(data, iter(leaves))


def _node_from_json(data: Any, leaves: Any) -> Any:
    if data is None:
        return None
    if data == "*":
        return next(leaves)
    if "dict" in data:
        return {k: _node_from_json(v, leaves) for k, v in data["dict"].items()}
    if "list" in data:
        return [_node_from_json(v, leaves) for v in data["list"]]
    if "tuple" in data:
        return tuple(_node_from_json(v, leaves) for v in data["tuple"])
    fields = {name: _node_from_json(v, leaves) for name, v in data.get("fields", [])}
    if "namedtuple" in data:
        return collections.namedtuple(data["namedtuple"], list(fields))(**fields)
    return fields
