"""Pytrees under the names of `jax.tree_util`: registration of classes, keys and paths, structures."""

from collections.abc import Iterable as _Iterable
from typing import Any as _Any

import optree as _optree

from .frontend import tree as _tree
from .frontend.library.names import public_names as _public_names
from .frontend.tree import DictKey as DictKey
from .frontend.tree import FlattenedIndexKey as FlattenedIndexKey
from .frontend.tree import GetAttrKey as GetAttrKey
from .frontend.tree import KeyPath as KeyPath
from .frontend.tree import Partial as Partial
from .frontend.tree import SequenceKey as SequenceKey
from .frontend.tree import all_leaves as all_leaves
from .frontend.tree import flatten_one_level as flatten_one_level
from .frontend.tree import flatten_one_level_with_keys as flatten_one_level_with_keys
from .frontend.tree import keystr as keystr
from .frontend.tree import register_dataclass as register_dataclass
from .frontend.tree import register_pytree_node_class as register_pytree_node_class
from .frontend.tree import register_pytree_with_keys as register_pytree_with_keys
from .frontend.tree import register_pytree_with_keys_class as register_pytree_with_keys_class
from .frontend.tree import register_static as register_static

PyTreeDef = _tree.Structure
register_pytree_node = _tree.register
tree_all = _tree.all
tree_broadcast = _tree.broadcast
tree_flatten = _tree.flatten
tree_flatten_with_path = _tree.flatten_with_path
tree_leaves = _tree.leaves
tree_leaves_with_path = _tree.leaves_with_path
tree_map = _tree.map
tree_map_with_path = _tree.map_with_path
tree_reduce = _tree.reduce
tree_reduce_associative = _tree.reduce_associative
tree_structure = _tree.structure
tree_transpose = _tree.transpose
tree_unflatten = _tree.unflatten

KeyEntry = DictKey | FlattenedIndexKey | GetAttrKey | SequenceKey


class PyTreeRegistry:
    """The classes that are nodes of trees; there is one registry, `default_registry`."""

    flatten = staticmethod(tree_flatten)
    """The leaves of a tree and its structure."""

    @staticmethod
    def flatten_one_level(x: _Any) -> tuple[tuple[_Any, ...], _Any] | None:
        """The children of the root and its static data, None for a leaf."""
        return _tree.one_level(x)


default_registry = PyTreeRegistry()


def is_tree_node(typ: type) -> bool:
    """Whether instances of a class are nodes: of a container, NoneType or a registered class."""
    return _tree.is_registered(typ)


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the root."""
    return list(treedef.children())


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure is that of a leaf."""
    return treedef.is_leaf()


def treedef_tuple(treedefs: _Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees."""
    return _optree.treespec_tuple(treedefs, namespace=_tree.NAMESPACE)


__all__ = _public_names(globals())
