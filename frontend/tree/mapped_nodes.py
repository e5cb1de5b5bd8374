"""Nodes of trees that know which of their axes may be mapped, such as sparse arrays.

Input: a tree, and the mapped axis of each leaf. Output: the tree as `vmap` and `scan` may slice it. Idea: the
children of such a node are no arrays of its own shape, so that axis 1 of a child need not be axis 1 of the
node; the node itself checks the axis, and the engines know nothing of its class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .functions import flatten, structure, unflatten

_METHODS = ("sliced_along", "stacked_along")


def before_slicing(tree: Any, axes: Sequence[int | None] | int) -> Any:
    """The tree, whose nodes of this kind are ready to lose an axis: one for each leaf, or for all."""
    return _asked(tree, axes, "sliced_along")


def before_stacking(tree: Any, axes: Sequence[int | None] | int) -> Any:
    """The tree, whose nodes of this kind are ready to get an axis: one for each leaf, or for all."""
    return _asked(tree, axes, "stacked_along")


def _is_node(value: Any) -> bool:
    return all(hasattr(type(value), name) for name in _METHODS)


def _asked(tree: Any, axes: Sequence[int | None] | int, method: str) -> Any:
    values, spec = flatten(tree, is_leaf=_is_node)
    if not any(map(_is_node, values)):
        return tree
    results, start = [], 0
    for value in values:
        if not _is_node(value):
            results.append(value)
            start += 1
            continue
        count = structure(value).num_leaves
        of_node = [axes] * count if isinstance(axes, int) else axes[start : start + count]
        results.append(getattr(value, method)(of_node))
        start += count
    return unflatten(spec, results)
