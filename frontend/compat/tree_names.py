"""`jax.tree` and `jax.tree_util` where they differ: structures are `PyTreeDef`s, arrays of keys are leaves.

Input: trees, structures of either kind. Output: leaves, trees, `PyTreeDef`s. Idea: a `PyTreeDef` holds the
structure that adze has everywhere else; it is equal to it, and writes itself as JAX's. Elsewhere in adze an
array of keys is a node, whose words are what is traced.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final

import optree

from .. import tree as _tree
from ..errors import ArgumentError
from ..tree import NAMESPACE, Structure
from ..tree import register as _register
from .typed_keys import KeyArray

_NOTHING: Final = object()


class PyTreeDef:
    """The structure of a tree: its nodes without its leaves."""

    __slots__ = ("spec",)

    def __init__(self, spec: Structure | PyTreeDef) -> None:
        self.spec: Structure = _spec(spec)

    @property
    def num_leaves(self) -> int:
        return self.spec.num_leaves

    @property
    def num_nodes(self) -> int:
        return self.spec.num_nodes

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of this structure with these leaves."""
        return _tree.unflatten(self.spec, leaves)

    def flatten_up_to(self, xs: Any) -> list[Any]:
        """What the tree `xs` has in the place of each leaf."""
        return self.spec.flatten_up_to(xs)

    def children(self) -> list[PyTreeDef]:
        """The structures of the children of the root."""
        return [PyTreeDef(child) for child in self.spec.children()]

    def node_data(self) -> tuple[type, Any] | None:
        """The class of the root and its static data; None for a leaf."""
        if self.spec.is_leaf():
            return None
        kind, keys = self.spec.type or type(None), self.spec.entries()
        if kind is dict:
            return kind, list(keys)
        if kind is OrderedDict:
            return kind, tuple(keys)
        if kind is defaultdict:
            return kind, (self.unflatten([0] * self.num_leaves).default_factory, tuple(keys))
        if _is_named(kind):
            return kind, None
        level = _tree.one_level(self.unflatten([0] * self.num_leaves))
        return kind, None if level is None else level[1]

    def is_leaf(self) -> bool:
        """Whether it is the structure of a leaf."""
        return self.spec.is_leaf()

    def compose(self, inner: Any) -> PyTreeDef:
        """This structure with `inner` in the place of each leaf."""
        return PyTreeDef(self.spec.compose(_spec(inner)))

    def __eq__(self, other: object) -> bool:
        known = _spec(other)
        return self.spec == known if isinstance(known, Structure) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return f"PyTreeDef({_text(self.spec)})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "spec":
            raise AttributeError(name)
        return getattr(self.spec, name)


def _is_named(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _spec(structure: Any) -> Any:
    return structure.spec if isinstance(structure, PyTreeDef) else structure


def _text(spec: Structure) -> str:
    """A structure as JAX writes it."""
    if spec.is_leaf():
        return "*"
    kind, children = spec.type, [_text(child) for child in spec.children()]
    inner = ", ".join(children)
    if kind is None or kind is type(None):
        return "None"
    if kind is tuple:
        return f"({inner},)" if len(children) == 1 else f"({inner})"
    if kind is list:
        return f"[{inner}]"
    if kind is dict:
        pairs = zip(spec.entries(), children, strict=True)
        return "{" + ", ".join(f"{key!r}: {text}" for key, text in pairs) + "}"
    if _is_named(kind):
        return f"CustomNode(namedtuple[{kind.__name__}], [{inner}])"
    data = PyTreeDef(spec).node_data()
    return f"CustomNode({kind.__name__}[{data[1] if data else None}], [{inner}])"


def _is_keys(node: Any) -> bool:
    return type(node) is KeyArray


def _leaves(is_leaf: Callable[..., bool] | None, takes_path: bool = False) -> Callable[..., bool]:
    """What is a leaf: arrays of keys, and what `is_leaf` is true of."""
    if takes_path and is_leaf is not None:
        return lambda path, node: type(node) is KeyArray or is_leaf(path, node)
    return _is_keys if is_leaf is None else lambda node: type(node) is KeyArray or is_leaf(node)


def flatten(tree: Any, is_leaf: Any = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree and its structure."""
    values, spec = _tree.flatten(tree, _leaves(is_leaf))
    return values, PyTreeDef(spec)


def flatten_with_path(
    tree: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False
) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, each with its path, and the structure."""
    takes_path = is_leaf_takes_path and is_leaf is not None
    pairs, spec = _tree.flatten_with_path(tree, _leaves(is_leaf, takes_path), takes_path)
    return pairs, PyTreeDef(spec)


def leaves(tree: Any, is_leaf: Any = None) -> list[Any]:
    """The leaves of a tree, left to right."""
    return _tree.leaves(tree, _leaves(is_leaf))


def leaves_with_path(tree: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False) -> list[Any]:
    """Pairs of a path and a leaf."""
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def structure(tree: Any, is_leaf: Any = None) -> PyTreeDef:
    """The structure of a tree."""
    return PyTreeDef(_tree.structure(tree, _leaves(is_leaf)))


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """`f` applied to each leaf of `tree` and to what the trees of `rest` have in its place."""
    return _tree.map(f, tree, *rest, is_leaf=_leaves(is_leaf))


def map_with_path(
    f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False
) -> Any:
    """`f(path, leaf, ...)` for each leaf of `tree` and what the trees of `rest` have in its place."""
    takes_path = is_leaf_takes_path and is_leaf is not None
    chosen = _leaves(is_leaf, takes_path)
    return _tree.map_with_path(f, tree, *rest, is_leaf=chosen, is_leaf_takes_path=takes_path)


def all(tree: Any, *, is_leaf: Any = None) -> bool:
    """Whether every leaf is true."""
    return _tree.all(tree, is_leaf=_leaves(is_leaf))


def all_leaves(iterable: Iterable[Any], is_leaf: Any = None) -> bool:
    """Whether each of some objects is a leaf."""
    return _tree.all_leaves(iterable, _leaves(is_leaf))


def reduce(
    function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _NOTHING, is_leaf: Any = None
) -> Any:
    """`function(function(a, b), c)` and so on over the leaves, from `initializer` on where there is one."""
    first = () if initializer is _NOTHING else (initializer,)
    return functools.reduce(function, leaves(tree, is_leaf), *first)


def reduce_associative(
    operation: Callable[[Any, Any], Any], tree: Any, *, identity: Any = _NOTHING, is_leaf: Any = None
) -> Any:
    """The reduction of the leaves in a balanced order; `identity` is the one of no leaves."""
    known = {} if identity is _NOTHING else {"identity": identity}
    return _tree.reduce_associative(operation, tree, is_leaf=_leaves(is_leaf), **known)


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: Any = None) -> Any:
    """A tree like `full_tree`, in which each leaf of `prefix_tree` stands for all below its place."""
    return _tree.broadcast(prefix_tree, map(lambda _: 0, full_tree), _leaves(is_leaf))


def flatten_one_level(tree: Any) -> tuple[tuple[Any, ...], Any]:
    """The children of the root and its static data; raises `ArgumentError` for a leaf."""
    if type(tree) is KeyArray:
        raise ArgumentError("an array of keys is a leaf of trees, it has no children")
    return _tree.flatten_one_level(tree)


def is_tree_node(typ: type) -> bool:
    """Whether instances of a class are nodes: of a container, NoneType or a registered class."""
    return typ is not KeyArray and _tree.is_registered(typ)


def unflatten(treedef: Any, leaves: Iterable[Any]) -> Any:
    """The tree of a structure with these leaves."""
    return _tree.unflatten(_spec(treedef), leaves)


def transpose(outer_treedef: Any, inner_treedef: Any, pytree_to_transpose: Any) -> Any:
    """A tree of trees with inner and outer structure exchanged."""
    return _tree.transpose(_spec(outer_treedef), _spec(inner_treedef), pytree_to_transpose)


def treedef_children(treedef: Any) -> list[PyTreeDef]:
    """The structures of the children of the root."""
    return PyTreeDef(treedef).children()


def treedef_is_leaf(treedef: Any) -> bool:
    """Whether a structure is that of a leaf."""
    return bool(_spec(treedef).is_leaf())


def treedef_tuple(treedefs: Iterable[Any]) -> PyTreeDef:
    """The structure of a tuple of trees."""
    return PyTreeDef(optree.treespec_tuple([_spec(t) for t in treedefs], namespace=NAMESPACE))


def register_pytree_node(
    nodetype: type, flatten_func: Any, unflatten_func: Any, flatten_with_keys_func: Any = None
) -> None:
    """Make instances of a class nodes: see `adze.tree.register`, which returns the class."""
    _register(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


class _Registry:
    """The classes of nodes; arrays of keys are leaves to those who ask."""

    def __contains__(self, kind: object) -> bool:
        if not isinstance(kind, type) or kind is KeyArray:
            return False
        return optree.register_pytree_node.get(kind, namespace=NAMESPACE) is not None


_registry = _Registry()
"""JAX's private name, which flax.nnx imports."""

tree_all, tree_broadcast, tree_leaves, tree_leaves_with_path = all, broadcast, leaves, leaves_with_path
tree_flatten, tree_flatten_with_path, tree_structure = flatten, flatten_with_path, structure
tree_map, tree_map_with_path, tree_reduce = map, map_with_path, reduce
tree_reduce_associative, tree_transpose, tree_unflatten = reduce_associative, transpose, unflatten

__all__: list[str] = []
