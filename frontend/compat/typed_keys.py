"""Typed keys: what `jax.random.key` makes in programs written for JAX, arrays whose elements are keys.

Input: words of keys, uint32 of shape (..., 2), as `adze.random` has them. Output: arrays of shape (...) and
of the dtype `key<fry>`. Idea: such an array is a node of trees with the words as its child, so that every
transform takes it; functions that only move elements are mapped over the words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .. import tree
from ..library.random import keys as raw
from ..staging.inspection import typeof as typeof_array
from ..tracing.array import Array, ArrayMethods
from ..tracing.jax_rules import FLOAT0
from ..tracing.specs import ShapeDtype
from ..transforms.vmap import vmap


class KeyType:
    """The dtype of typed keys."""

    name = "key<fry>"
    itemsize = 8

    def spec(self, shape: Sequence[Any], **options: Any) -> KeyArray:
        """Keys that are known by their shape only."""
        return KeyArray(ShapeDtype((*shape, 2), np.uint32, **options))

    def __repr__(self) -> str:
        return self.name


KEY: Final = KeyType()


class KeyAval(NamedTuple):
    """The type of an array of keys."""

    shape: tuple[Any, ...]
    dtype: KeyType = KEY
    weak_type: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"ShapedArray({self})"

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


class KeyArray(ArrayMethods):
    """An array of keys: `key_words` has the shape (*shape, 2). Its elements are for `jax.random` alone."""

    __slots__ = ("__weakref__", "key_words")
    __hash__ = None

    def __init__(self, key_words: Any) -> None:
        self.key_words = key_words

    dtype = KEY  # type: ignore[assignment]
    itemsize = KEY.itemsize
    weak_type = False

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(getattr(self.key_words, "shape", ())[:-1])  # trees of axes have other words

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def aval(self) -> KeyAval:
        """Its type."""
        return KeyAval(self.shape)

    @property
    def at(self) -> _At:
        """Arrays of keys with other elements."""
        return _At(self)

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_ANY_ARRAY:
            raise AttributeError(f"an array of keys has no attribute {name!r}")
        return getattr(self.key_words, name)

    def __getitem__(self, index: Any) -> KeyArray:
        return KeyArray(self.key_words[_with_words(index)])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, KeyArray):
            return NotImplemented
        return (self.key_words == other.key_words).all(axis=-1)

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, KeyArray):
            return NotImplemented
        return (self.key_words != other.key_words).any(axis=-1)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("an array of keys has no elements that NumPy knows; jax.random.key_data(key) has")

    def reshape(self, *shape: Any, order: str = "C", out_sharding: Any = None) -> KeyArray:
        """The keys in another shape; they have one order, and lie on one device."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
        known = int(np.prod([n for n in sizes if n != -1], dtype=int))
        whole = [self.size // known if n == -1 else n for n in sizes]
        return KeyArray(self.key_words.reshape((*whole, 2)))

    def ravel(self) -> KeyArray:
        """The keys along one axis."""
        return self.reshape(self.size)

    flatten = ravel

    def squeeze(self, axis: Any = None) -> KeyArray:
        """The keys without axes of size 1."""
        return self.reshape(np.squeeze(np.empty(self.shape, bool), axis).shape)

    def copy(self) -> KeyArray:
        """The same keys."""
        return self

    def block_until_ready(self) -> KeyArray:
        """The keys, once they are computed."""
        self.key_words.block_until_ready()
        return self

    def __repr__(self) -> str:
        if isinstance(self.key_words, ShapeDtype):
            return f"ShapeDtypeStruct(shape={self.shape}, dtype={KEY})"
        if not isinstance(self.key_words, Array):
            return f"JitTracer({self.aval})"
        return f"Array({self.shape}, dtype={KEY}) overlaying:\n{self.key_words.numpy()}"

    __str__ = __repr__


_OF_ANY_ARRAY: Final = frozenset(
    (
        *("device", "devices", "sharding", "is_deleted", "delete", "is_fully_addressable", "committed"),
        *("is_fully_replicated", "copy_to_host_async", "addressable_shards"),
    )
)
"""Attributes of arrays that say nothing of elements."""


def _with_words(index: Any) -> Any:
    """An index of keys as one of their words."""
    entries = index if isinstance(index, tuple) else (index,)
    return (*entries, slice(None)) if any(e is Ellipsis for e in entries) else index


class _At:
    """`keys.at[index].set(key)`, as arrays have it."""

    def __init__(self, keys: KeyArray, index: Any = ...) -> None:
        self._keys, self._index = keys, index

    def __getitem__(self, index: Any) -> _At:
        return _At(self._keys, index)

    def set(self, values: KeyArray, **options: Any) -> KeyArray:
        """The keys with `values` at the index."""
        words = self._keys.key_words.at[_with_words(self._index)].set(values.key_words, **options)
        return KeyArray(words)


def _of_words(_: None, children: Any) -> Any:
    """The keys of their words; of words that are zeros of no size (cotangents of integers), such zeros."""
    (words,) = children
    if isinstance(words, np.ndarray) and words.dtype == FLOAT0:
        return np.zeros(words.shape[:-1], FLOAT0)
    return KeyArray(words)


tree.register(KeyArray, lambda keys: ((keys.key_words,), None), _of_words)
tree.ARRAY_NODES.add(KeyArray)


def key(seed: Any, *, impl: Any = None) -> KeyArray:
    """The typed key of a seed, an integer: `adze.random.key` has its words."""
    return KeyArray(raw.key(seed, impl=impl))


def wrap_key_data(key_bits_array: Any, *, impl: Any = None) -> KeyArray:
    """Typed keys of their words."""
    return KeyArray(raw.wrap_key_data(key_bits_array, impl=impl))


def key_data(keys: Any) -> Any:
    """The words of keys, typed or not."""
    return keys.key_words if isinstance(keys, KeyArray) else raw.key_data(keys)


def key_impl(keys: Any) -> str:
    """The name of the generator that keys are for."""
    key_data(keys)
    return "threefry2x32"


def _as_given(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a key that returns keys: typed ones for a typed one."""

    @functools.wraps(function)
    def call(key: Any, *args: Any, **kwargs: Any) -> Any:
        result = function(key, *args, **kwargs)
        return KeyArray(result) if isinstance(key, KeyArray) else result

    return call


split = _as_given(raw.split)
fold_in = _as_given(raw.fold_in)
clone = _as_given(raw.clone)


MOVING: Final = {
    "numpy": frozenset(
        (
            *(
                "array",
                "asarray",
                "broadcast_to",
                "concatenate",
                "expand_dims",
                "moveaxis",
                "ravel",
                "repeat",
            ),
            *("reshape", "roll", "squeeze", "stack", "swapaxes", "take", "tile", "transpose", "where"),
            *("atleast_1d", "copy", "empty_like", "flip", "hstack", "vstack", "zeros_like"),
        )
    ),
    "lax": frozenset(
        (
            *("broadcast", "broadcast_in_dim", "concatenate", "dynamic_index_in_dim", "dynamic_slice"),
            *("dynamic_slice_in_dim", "dynamic_update_index_in_dim", "dynamic_update_slice", "expand_dims"),
            *("dynamic_update_slice_in_dim", "index_in_dim", "reshape", "rev", "select", "slice"),
            *("slice_in_dim", "squeeze", "stop_gradient", "transpose"),
        )
    ),
}
"""Functions of JAX's modules that move elements and compute none, which keys may be."""


def moving_keys(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that moves elements, also of arrays of keys: it is mapped over the words of these."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not any(map(_has_keys, args)) and not any(map(_has_keys, kwargs.values())):
            return function(*args, **kwargs)
        leaves, structure = tree.flatten((args, kwargs), is_leaf=_is_typed)
        places = [i for i, leaf in enumerate(leaves) if _is_typed(leaf)]

        def of_columns(*columns: Any) -> Any:
            for place, column in zip(places, columns, strict=True):
                leaves[place] = column
            args, kwargs = tree.unflatten(structure, leaves)
            return function(*args, **kwargs)

        return KeyArray(vmap(of_columns, in_axes=-1, out_axes=-1)(*[leaves[i].key_words for i in places]))

    return call


def _is_typed(value: Any) -> bool:
    return type(value) is KeyArray


def _has_keys(argument: Any) -> bool:
    return _is_typed(argument) or (type(argument) in (list, tuple) and any(map(_is_typed, argument[:1])))


def words(value: Any) -> Any:
    """The words of keys; what is none stays."""
    return value.key_words if _is_typed(value) else value


def typeof(x: Any) -> Any:
    """The type of an array, a tracer, a number or an array of keys."""
    return x.aval if _is_typed(x) else typeof_array(x)


__all__ = ["clone", "fold_in", "key", "key_data", "key_impl", "split", "wrap_key_data"]
