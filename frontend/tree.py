"""Pytrees: nested dicts, lists, tuples, named tuples, dataclasses and None, with arrays as leaves.

A thin layer over optree in a namespace of our own. Dataclasses are nodes without being registered (their
fields in order); `register` adds a user's own class.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import optree

from .errors import ArgumentError

NAMESPACE: Final = "adze"
Structure = optree.PyTreeSpec
_registered: Final[set[type]] = set()
_leaf_classes: Final[set[type]] = set()  # seen among leaves, and no dataclasses
_lock: Final = threading.Lock()


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """The leaves of `tree` and its structure."""
    leaves, structure = optree.tree_flatten(tree, namespace=NAMESPACE)
    if _register_dataclasses(leaves):
        return flatten(tree)
    return leaves, structure


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """The tree of `structure` with these leaves."""
    return optree.tree_unflatten(structure, leaves)


def leaves(tree: Any) -> list[Any]:
    """The leaves of `tree`, left to right."""
    return flatten(tree)[0]


def structure(tree: Any) -> Structure:
    """The structure of `tree`: its nodes without its leaves."""
    return flatten(tree)[1]


def map(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """`function` applied to corresponding leaves of trees of one structure."""
    first, spec = flatten(tree)
    others = []
    for other in rest:
        more, other_spec = flatten(other)
        if other_spec != spec:
            raise ArgumentError(f"trees differ in structure: {describe(spec)} and {describe(other_spec)}")
        others.append(more)
    return unflatten(spec, [function(*xs) for xs in zip(first, *others, strict=True)])


def paths(spec: Structure) -> list[str]:
    """How each leaf is reached from the root, as Python text: `['w'][0]`, `.bias`."""
    return [accessor.codify("") for accessor in spec.accessors()]


def describe(spec: Structure) -> str:
    """The structure as short text: `{'b': *, 'w': *}`."""
    text = str(spec)
    return text.removeprefix("PyTreeSpec(").removesuffix(")").replace(f", namespace='{NAMESPACE}'", "")


def describe_arguments(spec: Structure) -> str:
    """The structure of `(args, kwargs)` as a call is written: `(*, {'w': *}, scale=*)`."""
    args, kwargs = spec.children()
    positional = [describe(c) for c in args.children()]
    named = [f"{k}={describe(c)}" for k, c in zip(kwargs.entries(), kwargs.children(), strict=True)]
    return f"({', '.join([*positional, *named])})"


def children(tree: Any) -> dict[Any, Any] | None:
    """The children of the root of `tree` by their key in order, None for a leaf; None itself has none."""
    _, spec = flatten(tree)
    if spec.is_leaf():
        return None
    nodes, _, entries, _ = optree.tree_flatten_one_level(tree, namespace=NAMESPACE)
    return dict(zip(entries, nodes, strict=True))


def leaves_along(spec: Structure, tree: Any) -> list[Any] | None:
    """The leaves of `tree` by the structure `spec`, None for each leaf that a None in `tree` stands for.

    Returns None where `tree` does not fit the structure.
    """
    leaves, tree_spec = flatten(tree)
    if tree_spec == spec:
        return leaves
    try:
        return list(_along(unflatten(spec, range(spec.num_leaves)), tree))
    except ValueError:
        return None


def _along(full: Any, tree: Any) -> Iterator[Any]:
    if tree is None:
        yield from (None for _ in leaves(full))
        return
    below, beside = children(full), children(tree)
    if below is None and beside is None:
        yield tree
    elif below is None or beside is None or type(full) is not type(tree) or below.keys() != beside.keys():
        raise ValueError
    else:
        for key in below:
            yield from _along(below[key], beside[key])


def register(
    cls: type,
    flatten_function: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_function: Callable[[Any, Iterable[Any]], Any],
) -> type:
    """Make instances of `cls` nodes: `flatten_function(x)` returns (children, static data) and the other
    function, called with (static data, children), puts them together again."""

    def flat(x: Any) -> tuple[Iterable[Any], Any]:
        children, static = flatten_function(x)
        return tuple(children), static

    optree.register_pytree_node(cls, flat, unflatten_function, namespace=NAMESPACE)
    _registered.add(cls)
    return cls


def _register_dataclasses(leaves: list[Any]) -> bool:
    """Register the classes of dataclass instances among the leaves; whether there were any."""
    classes = {type(x) for x in leaves}
    if classes <= _leaf_classes:
        return False
    new = {cls for cls in classes if dataclasses.is_dataclass(cls) and not _is_own(cls)}
    _leaf_classes.update(classes - new)
    with _lock:  # another thread may be registering the same class
        for cls in new - _registered:
            _register_dataclass(cls)
    return bool(new)


def _is_own(cls: type) -> bool:
    return getattr(cls, "__module__", "").startswith("adze.")


def _register_dataclass(cls: type) -> None:
    names = tuple(f.name for f in dataclasses.fields(cls) if f.init)

    def flat(x: Any) -> tuple[tuple[Any, ...], tuple[str, ...], tuple[str, ...]]:
        return tuple(getattr(x, n) for n in names), names, names

    def build(_: Any, children: Iterable[Any]) -> Any:
        return cls(**dict(zip(names, children, strict=True)))

    optree.register_pytree_node(cls, flat, build, path_entry_type=optree.GetAttrEntry, namespace=NAMESPACE)
    _registered.add(cls)


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
    if dataclasses.is_dataclass(node):
        fields = [[f.name, _node_to_json(getattr(node, f.name))] for f in dataclasses.fields(node) if f.init]
        return {"dataclass": type(node).__name__, "fields": fields}
    return "*" if isinstance(node, int) else {"node": type(node).__name__}
