"""Trees as a manifest writes them: arguments taken apart and results put together without optree.

Input: the JSON that `tree.to_json` wrote (leaves are `"*"`, nodes one-key objects naming their kind). Output:
the leaves of a value of that tree, and from leaves the tree. Programs are loaded where there is no tracer:
only a user's own registered nodes, of which a manifest knows the name alone, need optree.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .errors import ArgumentError


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
    if data is None:
        return [] if value is None else None
    if "node" in data:
        return _leaves_of_own_node(data, value)
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


def _leaves_of_own_node(data: Any, value: Any) -> list[Any] | None:
    """The leaves of a node that a user has registered for his class."""
    try:
        from . import tree
    except ModuleNotFoundError:
        raise ArgumentError(
            f"the program takes a node of the user's own class {data['node']!r}, and optree, which takes it "
            "apart, is not installed",
            hint="pip install adze-compiler, or build the program for a dict or a dataclass",
        ) from None
    return tree.leaves(value) if tree.to_json(tree.structure(value)) == data else None


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


def expression(data: Any, leaves: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """An expression of the tree that `from_json` makes of leaves that are called so, and the names in it."""
    names: dict[str, Any] = {}
    return _node_expression(data, iter(leaves), names), names


def _node_expression(data: Any, leaves: Iterator[str], names: dict[str, Any]) -> str:
    if data is None:
        return "None"
    if data == "*":
        return next(leaves)
    if "list" in data or "tuple" in data:
        (entries,) = data.values()
        parts = "".join(f"{_node_expression(entry, leaves, names)}, " for entry in entries)
        return f"[{parts}]" if "list" in data else f"({parts})"
    fields = list(data["dict"].items()) if "dict" in data else data.get("fields", [])
    written = [(name, _node_expression(entry, leaves, names)) for name, entry in fields]
    if "namedtuple" in data:
        kind = f"class{len(names)}"
        names[kind] = collections.namedtuple(data["namedtuple"], [name for name, _ in fields])
        return f"{kind}({''.join(f'{text}, ' for _, text in written)})"
    return f"{{{''.join(f'{name!r}: {text}, ' for name, text in written)}}}"


def describe_value_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Arguments of a call as `describe_json_arguments` describes those that a program takes."""
    return describe_json_arguments(_written((args, kwargs)))


def _written(value: Any) -> Any:
    """The JSON of a value's tree, as `tree.to_json` writes it of nodes that need no registering."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {"dict": {str(key): _written(entry) for key, entry in _by_key(value)}}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = [[name, _written(entry)] for name, entry in zip(value._fields, value, strict=True)]
        return {"namedtuple": type(value).__name__, "fields": items}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_written(entry) for entry in value]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        fields = [[name, _written(getattr(value, name))] for name in names]
        return {"dataclass": type(value).__name__, "fields": fields}
    return "*"


def _by_key(value: dict[Any, Any]) -> list[tuple[Any, Any]]:
    try:
        return sorted(value.items(), key=lambda item: item[0])
    except TypeError:  # keys of several classes
        return list(value.items())
