"""Trees of arguments and results as JSON that has a user's own nodes too, by names that he registered.

Input: structures of trees. Output: JSON, and from JSON the structure again, in a process that has registered
the same names. Idea: a node is written as its name, its static data in bytes, and its children; a structure
is read by building an object of it.
"""

from __future__ import annotations

import base64
import collections
import json
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from ...dialects.dataclass import dataclass
from .. import tree
from ..errors import ArgumentError
from ..tracing.locations import user_location_text

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class _Form:
    """How the nodes of a class are written: their name, and their static data as bytes and back."""

    cls: type
    name: str
    write: Callable[[Any], bytes | bytearray]
    read: Callable[[bytes], Any]
    build: Callable[[Any, Sequence[Any]], Any] | None


_BY_CLASS: Final[dict[type, _Form]] = {}
_BY_NAME: Final[dict[str, _Form]] = {}


def register_pytree_node_serialization(
    nodetype: Class,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes | bytearray],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Sequence[Any]], Any] | None = None,
) -> Class:
    """Let trees with nodes of this class be part of what `serialize` writes, under `serialized_name`.

    Static data, as the class was registered with for trees, becomes bytes and comes back from them;
    `from_children` builds a node from that and its children, by default as the class was registered. Raises
    `ArgumentError` for a class or a name that is taken, or a class that is no node.
    """
    for taken, key in ((_BY_CLASS.get(nodetype), nodetype), (_BY_NAME.get(serialized_name), serialized_name)):
        if taken is not None:
            raise ArgumentError(
                f"duplicate serialization registration: {key!r} is {taken.cls.__name__} under the name "
                f"{taken.name!r} already",
                where=user_location_text(),
            )
    if from_children is None and not tree.is_registered(nodetype):
        raise ArgumentError(
            f"{nodetype.__name__} is no node of trees",
            where=user_location_text(),
            hint="call jax.tree_util.register_pytree_node (adze.tree_util) before, or pass from_children",
        )
    form = _Form(nodetype, serialized_name, serialize_auxdata, deserialize_auxdata, from_children)
    _BY_CLASS[nodetype] = _BY_NAME[serialized_name] = form
    return nodetype


def register_namedtuple_serialization(nodetype: Class, *, serialized_name: str) -> Class:
    """Let named tuples of this class be part of what `serialize` writes. Raises `ArgumentError`."""
    fields = getattr(nodetype, "_fields", None)
    if not issubclass(nodetype, tuple) or fields is None:
        raise ArgumentError(
            f"{nodetype.__name__} is no class of named tuples",
            where=user_location_text(),
            hint="use register_pytree_node_serialization",
        )
    return register_pytree_node_serialization(
        nodetype,
        serialized_name=serialized_name,
        serialize_auxdata=lambda _: json.dumps(fields).encode(),
        deserialize_auxdata=lambda data: json.loads(data),
        from_children=lambda names, children: nodetype(**dict(zip(names, children, strict=True))),
    )


def to_json(structure: tree.Structure) -> Any:
    """A structure as JSON. Raises `ArgumentError` for a node of a class that is not registered for it."""
    return _written(tree.unflatten(structure, [_LEAF] * structure.num_leaves))


def from_json(data: Any) -> tree.Structure:
    """The structure that `to_json` wrote. Raises `ArgumentError` for a name that is not registered."""
    return tree.structure(_built(data))


_LEAF: Final = object()


def _written(node: Any) -> Any:
    if node is _LEAF:
        return "*"
    if node is None:
        return None
    if type(node) in (list, tuple):
        return {type(node).__name__: [_written(child) for child in node]}
    if type(node) is dict:
        return {"dict": [[_key(key), _written(child)] for key, child in node.items()]}
    form = _BY_CLASS.get(type(node))
    if form is None:
        raise ArgumentError(
            f"cannot serialize a tree with nodes of {type(node).__name__}: no serialization is registered",
            where=user_location_text(),
            hint="call export.register_pytree_node_serialization, or register_namedtuple_serialization",
        )
    if form.build is None or not hasattr(type(node), "_fields"):
        children, static = tree.flatten_one_level(node)
    else:
        children, static = tuple(node), None
    data = base64.b64encode(bytes(form.write(static))).decode()
    return {"node": form.name, "data": data, "children": [_written(child) for child in children]}


def _key(key: Any) -> str | int:
    if isinstance(key, (str, int)):
        return key
    raise ArgumentError(
        f"cannot serialize a dict with the key {key!r}: keys are texts or integers",
        where=user_location_text(),
    )


def _built(data: Any) -> Any:
    if data is None:
        return None
    if data == "*":
        return _LEAF
    if "list" in data:
        return [_built(child) for child in data["list"]]
    if "tuple" in data:
        return tuple(_built(child) for child in data["tuple"])
    if "dict" in data:
        return {key: _built(child) for key, child in data["dict"]}
    form = _BY_NAME.get(data["node"])
    if form is None:
        raise ArgumentError(
            f"cannot deserialize a tree with nodes of {data['node']!r}: no serialization of that name is "
            "registered here",
            where=user_location_text(),
            hint="call export.register_pytree_node_serialization as the process did that wrote it",
        )
    children = [_built(child) for child in data["children"]]
    static = form.read(base64.b64decode(data["data"]))
    if form.build is not None:
        return form.build(static, children)
    return tree.build_node(form.cls, static, children)


register_pytree_node_serialization(
    collections.OrderedDict,
    serialized_name="collections.OrderedDict",
    serialize_auxdata=lambda keys: json.dumps([_key(key) for key in keys]).encode(),
    deserialize_auxdata=json.loads,
    from_children=lambda keys, children: collections.OrderedDict(zip(keys, children, strict=True)),
)
