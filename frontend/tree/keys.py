"""Paths to the leaves of a tree as tuples of keys, which say how each node is entered.

Input: trees. Output: pairs of a path and a leaf, or a tree of what a function made of them. The classes of
keys are named as JAX's, so that programs that match on them work; a registered class may have keys of its
own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import optree

from ...dialects.dataclass import dataclass
from .functions import flatten, flatten_one_level, one_level, unflatten
from .registry import Key, Structure

KeyPath = tuple[Any, ...]
IsLeaf = Callable[..., bool] | None


@dataclass(frozen=True)
class SequenceKey:
    """The position in a list or a tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclass(frozen=True)
class DictKey:
    """The key in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute, or of a field of a named tuple."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclass(frozen=True)
class FlattenedIndexKey:
    """The position among the children of a registered class that has no keys."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


def _key(entry: optree.PyTreeEntry) -> Any:
    if isinstance(entry, Key):
        return entry.entry
    if isinstance(entry, (optree.NamedTupleEntry, optree.StructSequenceEntry)):
        return GetAttrKey(entry.field)
    if isinstance(entry, optree.GetAttrEntry):
        return GetAttrKey(entry.entry)
    if isinstance(entry, optree.MappingEntry):
        return DictKey(entry.entry)
    if isinstance(entry, optree.SequenceEntry):
        return SequenceKey(entry.entry)
    return FlattenedIndexKey(entry.entry)


def _paths(spec: Structure) -> list[KeyPath]:
    return [tuple(_key(entry) for entry in accessor) for accessor in spec.accessors()]


def flatten_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], Structure]:
    """Pairs of a path and a leaf, and the structure; `is_leaf(path, x)` with `is_leaf_takes_path`."""
    if is_leaf is not None and is_leaf_takes_path:
        return _flatten_by_path(tree, is_leaf)
    leaves, spec = flatten(tree, is_leaf)
    return list(zip(_paths(spec), leaves, strict=True)), spec


def _flatten_by_path(tree: Any, is_leaf: Callable[..., bool]) -> tuple[list[tuple[KeyPath, Any]], Structure]:
    """Level by level, since optree tells `is_leaf` of no path."""
    chosen: set[int] = set()
    kept: list[Any] = []  # so that no two of the objects have one address

    def choose(path: KeyPath, node: Any) -> None:
        if is_leaf(path, node):
            chosen.add(id(node))
            kept.append(node)
            return
        level = one_level(node)
        if level is None:
            return
        for key, child in flatten_one_level_with_keys(node)[0]:
            choose((*path, key), child)

    choose((), tree)
    leaves, spec = flatten(tree, lambda node: id(node) in chosen)
    return list(zip(_paths(spec), leaves, strict=True)), spec


def flatten_one_level_with_keys(tree: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """Pairs of a key and a child of the root, and its static data; raises `ArgumentError` for a leaf."""
    children, static = flatten_one_level(tree)
    spec = flatten(tree, lambda node: node is not tree)[1]
    return list(zip([path[0] for path in _paths(spec)], children, strict=True)), static


def leaves_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """Pairs of a path and a leaf."""
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: IsLeaf = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """`f(path, leaf, ...)` for each leaf of `tree` and what the trees of `rest` have in its place."""
    pairs, spec = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [spec.flatten_up_to(other) for other in rest]
    values = [f(path, leaf, *xs) for (path, leaf), *xs in zip(pairs, *others, strict=True)]
    return unflatten(spec, values)


def keystr(keys: Sequence[Any], *, simple: bool = False, separator: str = "") -> str:
    """A path as text: `['w'][0].bias`, or with `simple` and a separator `w/0/bias`."""
    return separator.join(map(_simple if simple else str, keys))


def _simple(key: Any) -> str:
    for kind, field in (
        (SequenceKey, "idx"),
        (DictKey, "key"),
        (GetAttrKey, "name"),
        (FlattenedIndexKey, "key"),
    ):
        if isinstance(key, kind):
            return str(getattr(key, field))
    return str(key)
