"""`jax.tree` and `jax.tree_util` over `adze.tree`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import adze.tree


def _reduce(function: Callable[[Any, Any], Any], tree: Any, *initial: Any) -> Any:
    return functools.reduce(function, adze.tree.leaves(tree), *initial)


def _all(tree: Any) -> bool:
    return all(adze.tree.leaves(tree))


def register_node(cls: type, flatten: Callable[[Any], Any], unflatten: Callable[[Any, Any], Any]) -> None:
    """A class of nodes, by two functions."""
    adze.tree.register(cls, flatten, unflatten)


def register_class(cls: type) -> type:
    """A class of nodes, by its methods."""
    adze.tree.register(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)
    return cls


def register_with_keys(cls: type, flatten: Callable[[Any], Any], unflatten: Any, *_: Any) -> None:
    """A class of nodes whose children come with keys, which adze has no use for."""

    def without_keys(x: Any) -> tuple[Any, Any]:
        pairs, static = flatten(x)
        return [child for _, child in pairs], static

    adze.tree.register(cls, without_keys, unflatten)


class Partial(functools.partial):  # type: ignore[type-arg]
    """A partial application whose arguments are children."""


adze.tree.register(
    Partial,
    lambda p: ((p.args, p.keywords), p.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)

SHORT: Final[dict[str, Any]] = {
    "map": adze.tree.map,
    "leaves": adze.tree.leaves,
    "structure": adze.tree.structure,
    "flatten": adze.tree.flatten,
    "unflatten": adze.tree.unflatten,
    "reduce": _reduce,
    "all": _all,
}
NAMES: Final[dict[str, Any]] = {
    **{f"tree_{name}": function for name, function in SHORT.items()},
    "Partial": Partial,
    "register_pytree_node": register_node,
    "register_pytree_node_class": register_class,
    "register_pytree_with_keys": register_with_keys,
}
