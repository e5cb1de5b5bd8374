"""Pytrees under the names of `jax.tree_util`: registration of classes, keys and paths, structures."""

from collections.abc import Iterable as _Iterable
from typing import Any as _Any

import optree as _optree

from .frontend.library.names import public_names as _public_names
from .frontend.tree import NAMESPACE as _NAMESPACE
from .frontend.tree import DictKey as DictKey
from .frontend.tree import FlattenedIndexKey as FlattenedIndexKey
from .frontend.tree import GetAttrKey as GetAttrKey
from .frontend.tree import KeyPath as KeyPath
from .frontend.tree import Partial as Partial
from .frontend.tree import SequenceKey as SequenceKey
from .frontend.tree import Structure as PyTreeDef
from .frontend.tree import all_leaves as all_leaves
from .frontend.tree import flatten_one_level as flatten_one_level
from .frontend.tree import flatten_one_level_with_keys as flatten_one_level_with_keys
from .frontend.tree import keystr as keystr
from .frontend.tree import register_dataclass as register_dataclass
from .frontend.tree import register_pytree_node_class as register_pytree_node_class
from .frontend.tree import register_pytree_with_keys as register_pytree_with_keys
from .frontend.tree import register_pytree_with_keys_class as register_pytree_with_keys_class
from .frontend.tree import register_static as register_static

KeyEntry = DictKey | FlattenedIndexKey | GetAttrKey | SequenceKey


def is_tree_node(x: _Any) -> bool:
    """Whether `x` is a node: a container, None or an instance of a registered class."""
    return not all_leaves([x])


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the root."""
    return list(treedef.children())


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure is that of a leaf."""
    return treedef.is_leaf()


def treedef_tuple(treedefs: _Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees."""
    return _optree.treespec_tuple(treedefs, namespace=_NAMESPACE)


__all__ = _public_names(globals())
