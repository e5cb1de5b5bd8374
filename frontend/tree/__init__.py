"""Pytrees: nested dicts, lists, tuples, named tuples, None and registered classes, with arrays as leaves.

A thin layer over optree in a namespace of our own, under the names of `jax.tree`. A class is a node when it
is registered, a dataclass too (`register_dataclass`); every other object is a leaf.
"""

from .files import to_json as to_json
from .functions import all as all
from .functions import all_leaves as all_leaves
from .functions import broadcast as broadcast
from .functions import children as children
from .functions import describe as describe
from .functions import describe_arguments as describe_arguments
from .functions import flatten as flatten
from .functions import flatten_one_level as flatten_one_level
from .functions import leaves as leaves
from .functions import leaves_along as leaves_along
from .functions import map as map
from .functions import one_level as one_level
from .functions import paths as paths
from .functions import reduce as reduce
from .functions import reduce_associative as reduce_associative
from .functions import structure as structure
from .functions import transpose as transpose
from .functions import unflatten as unflatten
from .keys import DictKey as DictKey
from .keys import FlattenedIndexKey as FlattenedIndexKey
from .keys import GetAttrKey as GetAttrKey
from .keys import KeyPath as KeyPath
from .keys import SequenceKey as SequenceKey
from .keys import flatten_one_level_with_keys as flatten_one_level_with_keys
from .keys import flatten_with_path as flatten_with_path
from .keys import keystr as keystr
from .keys import leaves_with_path as leaves_with_path
from .keys import map_with_path as map_with_path
from .mapped_nodes import before_slicing as before_slicing
from .mapped_nodes import before_stacking as before_stacking
from .registry import ARRAY_NODES as ARRAY_NODES
from .registry import NAMESPACE as NAMESPACE
from .registry import Partial as Partial
from .registry import Structure as Structure
from .registry import build_node as build_node
from .registry import is_registered as is_registered
from .registry import register as register
from .registry import register_dataclass as register_dataclass
from .registry import register_pytree_node_class as register_pytree_node_class
from .registry import register_pytree_with_keys as register_pytree_with_keys
from .registry import register_pytree_with_keys_class as register_pytree_with_keys_class
from .registry import register_static as register_static
from .registry import static as static
