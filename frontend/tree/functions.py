"""Functions of trees: leaves and structure, maps, reductions, and how structures are written as text.

Input: trees and functions of leaves. Output: leaves, structures, trees. Names and conventions are those of
`jax.tree`: in maps of several trees the first one says what a leaf is.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import optree

from ..errors import ArgumentError, ArgumentTypeError
from .key_order import KeyOrder, with_sorted_keys
from .registry import ARRAY_NODES, NAMESPACE, Structure

IsLeaf = Callable[[Any], bool] | None
_NOTHING: Final = object()


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], Structure]:
    """The leaves of `tree` and its structure; what `is_leaf` is true of is a leaf."""
    values, spec = optree.tree_flatten(tree, is_leaf, namespace=NAMESPACE)
    return (values, with_sorted_keys(spec)) if KeyOrder.is_sorted else (values, spec)


def unflatten(treedef: Structure, leaves: Iterable[Any]) -> Any:
    """The tree of `treedef` with these leaves."""
    return optree.tree_unflatten(treedef, leaves)


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of `tree`, left to right."""
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> Structure:
    """The structure of `tree`: its nodes without its leaves."""
    return flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """`f` applied to each leaf of `tree` and to what the trees of `rest` have in its place."""
    first, spec = flatten(tree, is_leaf)
    others = [_up_to(spec, other) for other in rest]
    return unflatten(spec, [f(*xs) for xs in zip(first, *others, strict=True)])


def _up_to(spec: Structure, other: Any) -> list[Any]:
    try:
        return spec.flatten_up_to(other)
    except ValueError:
        shown = f"{describe(spec)} and {describe(structure(other))}"
        raise ArgumentError(f"trees differ in structure: {shown}") from None


def all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether every leaf is true."""
    return builtins.all(leaves(tree, is_leaf))


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether each of some objects is a leaf."""
    return builtins.all(flatten(x, is_leaf)[1].is_leaf() and x is not None for x in iterable)


def reduce(
    function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _NOTHING, is_leaf: IsLeaf = None
) -> Any:
    """`function(function(a, b), c)` and so on over the leaves, from `initializer` on where there is one."""
    first = () if initializer is _NOTHING else (initializer,)
    return functools.reduce(function, leaves(tree, is_leaf), *first)


def reduce_associative(
    operation: Callable[[Any, Any], Any], tree: Any, *, identity: Any = _NOTHING, is_leaf: IsLeaf = None
) -> Any:
    """The reduction of the leaves in a balanced order; `identity` is the one of no leaves."""
    values = leaves(tree, is_leaf)
    if not values:
        if identity is _NOTHING:
            raise ArgumentTypeError("reduce_associative: a tree without leaves needs identity=")
        return identity
    while len(values) > 1:
        pairs = [operation(*values[i : i + 2]) for i in range(0, len(values) - 1, 2)]
        values = pairs + values[2 * len(pairs) :]
    return values[0]


def transpose(outer_treedef: Structure, inner_treedef: Structure | None, pytree_to_transpose: Any) -> Any:
    """A tree of trees with inner and outer structure exchanged.

    Without `inner_treedef` the structure is that of the first inner tree. Raises `ArgumentError` when the
    tree is not of the two structures.
    """
    inner_trees = _up_to(outer_treedef, pytree_to_transpose)
    inner = inner_treedef if inner_treedef is not None else structure(inner_trees[0])
    columns = [_up_to(inner, x) for x in inner_trees]
    rows = zip(*columns, strict=True) if columns else ([],) * inner.num_leaves
    return unflatten(inner, [unflatten(outer_treedef, row) for row in rows])


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree like `full_tree`, in which each leaf of `prefix_tree` stands for all below its place."""
    values, spec = flatten(prefix_tree, is_leaf)
    parts = _up_to(spec, full_tree)
    counts = [structure(part).num_leaves for part in parts]
    repeated = [value for value, n in zip(values, counts, strict=True) for _ in range(n)]
    return unflatten(structure(full_tree), repeated)


def one_level(tree: Any) -> tuple[tuple[Any, ...], Any] | None:
    """The children of the root and its static data, None for a leaf."""
    if structure(tree).is_leaf() and tree is not None:
        return None
    nodes, static, _, _ = optree.tree_flatten_one_level(tree, namespace=NAMESPACE)
    return tuple(nodes), static


def flatten_one_level(tree: Any) -> tuple[tuple[Any, ...], Any]:
    """The children of the root and its static data; raises `ArgumentError` for a leaf."""
    level = one_level(tree)
    if level is None:
        raise ArgumentError(f"{type(tree).__name__} is a leaf of trees, it has no children")
    return level


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

    A leaf in the place of a node that is one array stands for the leaves of that. Returns None where `tree`
    does not fit the structure.
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
    elif type(full) in ARRAY_NODES and beside is None:
        yield from (tree for _ in leaves(full))
    elif below is None or beside is None or type(full) is not type(tree) or below.keys() != beside.keys():
        raise ValueError
    else:
        for key in below:
            yield from _along(below[key], beside[key])
