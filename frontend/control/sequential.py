"""`sequential_vmap`: functions that `vmap` applies to one element after the other.

The batching rule that every function has: a loop, for a body that takes too much memory at once or that has
effects whose order matters. It is a `custom_vmap` like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..transforms.custom_batching import custom_vmap
from .scans import map as one_by_one


def sequential_vmap(function: Callable[..., Any]) -> custom_vmap:
    """A function that `vmap` applies to one element after the other, by `adze.map`."""
    wrapped = custom_vmap(function)

    @wrapped.def_vmap
    def rule(axis_size: Any, in_batched: Any, *args: Any) -> Any:
        leaves, structure = tree.flatten(args)
        flags = tree.leaves(in_batched)
        mapped = [leaf for leaf, has in zip(leaves, flags, strict=True) if has]

        def element(own: Sequence[Any]) -> Any:
            slices = iter(own)
            full = [next(slices) if has else leaf for leaf, has in zip(leaves, flags, strict=True)]
            return wrapped(*tree.unflatten(structure, full))

        out = one_by_one(element, mapped)
        return out, tree.map(lambda _: True, out)

    return wrapped
