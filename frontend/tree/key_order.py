"""The order of keys of dicts that are made of leaves: as their owner wrote them, or sorted as JAX has it.

Input: a structure. Output: the same with sorted keys. Idea: leaves are in the order of sorted keys anyway,
and structures that differ in the order alone are equal, so that one look-up finds the sorted one.
"""

from __future__ import annotations

import atexit
from collections import defaultdict
from typing import Any, Final

import optree

from ..errors import ArgumentError
from .registry import NAMESPACE, Structure

_MOST: Final = 1000
_sorted: Final[dict[Structure, Structure]] = {}
# Structures that live until modules are torn down made two of six processes crash there (optree 0.20).
atexit.register(_sorted.clear)


class KeyOrder:
    """Whether dicts are made with sorted keys: in processes where `adze.compat.install()` was called."""

    is_sorted: bool = False


def with_sorted_keys(structure: Structure) -> Structure:
    """The structure whose dicts are made with sorted keys."""
    found = _sorted.get(structure)
    if found is None:
        if len(_sorted) >= _MOST:
            _sorted.clear()
        found = _sorted[structure] = optree.treespec_transform(structure, _node)
    return found


def _node(node: Structure) -> Structure:
    """One node of a structure."""
    if node.type is not dict and node.type is not defaultdict:
        return node
    keys = node.entries()
    try:
        sorted(keys)
    except TypeError:
        shown = ", ".join(map(repr, keys))
        raise ArgumentError(
            f"a dict in a tree has keys that have no order: {shown}",
            hint="JAX sorts the keys of dicts: give them one type",
        ) from None
    made: Any = dict.fromkeys(keys, 0)
    if node.type is defaultdict:
        like: Any = optree.tree_unflatten(node, made.values())
        made = defaultdict(like.default_factory, made)
    return optree.tree_structure(made, namespace=NAMESPACE)
