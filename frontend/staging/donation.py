"""Donated arguments of jitted functions: arrays that a call may use up.

Input: the arguments of a call and its results. Output: arrays that are deleted, so that their memory is free
once the call returns. Idea: as in JAX, an argument is used up where a result of as many bytes takes its
place; the others stay. What is NumPy's or a Python number is copied on the way in and is never used up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ...dialects.dataclass import dataclass
from .. import tree
from ..errors import ArgumentError, DeletedArrayError
from ..tracing.array import Array
from ..tracing.deleted import delete
from ..tracing.locations import user_location_text


@dataclass(frozen=True)
class Donation:
    """The donated arguments of one function, each by its position and by its name."""

    function: str
    positions: tuple[int, ...]
    names: tuple[str, ...]

    def arrays(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Array]:
        """The arrays of a call that it may use up; raises when one of them occurs twice in the call."""
        count = len(args)
        if not kwargs and _are_arrays(args) and len(set(map(id, args))) == count:
            return [args[n] for n in {n % count for n in self.positions if -count <= n < count}]
        places = sorted({n + count if n < 0 else n for n in self.positions})
        given = [args[n] for n in places if 0 <= n < count]
        if kwargs:
            given += [arg for name, arg in kwargs.items() if name in self.names]
        donated = [leaf for leaf in _leaves(given) if isinstance(leaf, Array)]
        for array in donated:
            if array.is_deleted():
                array.numpy()  # raises, and says why it was deleted
        leaves = list(map(id, _leaves((*args, *kwargs.values()) if kwargs else args)))
        if len(set(leaves)) < len(leaves) and any(leaves.count(id(array)) > 1 for array in donated):
            raise DonatedTwiceError(
                f"{self.function}() was given one array twice, and may use it up once",
                where=user_location_text(),
                hint="pass a copy, x.copy(), or take the argument out of donate_argnums",
            )
        return donated

    def use_up(self, donated: Sequence[Array], results: Any) -> None:
        """Delete the arrays whose places results have taken."""
        arrays = _leaves(results)
        if not _are_arrays(arrays):
            arrays = [leaf for leaf in arrays if isinstance(leaf, Array)]
        sizes: dict[int, int] = {}
        for array in arrays:
            size = _size(array)
            sizes[size] = sizes.get(size, 0) + 1
        kept, reason = set(map(id, arrays)), f"donated to {self.function}()"
        for array in donated:
            size = _size(array)
            left = sizes.get(size, 0)
            if left > 0 and id(array) not in kept:
                sizes[size] = left - 1
                delete(array, reason)


def _leaves(arguments: Any) -> Sequence[Any]:
    """The leaves of a tree, which is often one array, or a list or tuple of arrays."""
    if type(arguments) is Array:
        return (arguments,)
    if type(arguments) in (list, tuple) and _are_arrays(arguments):
        return cast(Sequence[Any], arguments)
    return tree.leaves(arguments)


def _are_arrays(leaves: Sequence[Any]) -> bool:
    """Whether all leaves are arrays with all their elements, which is so of most."""
    return set(map(type, leaves)) == _ARRAYS


_ARRAYS: Final = {Array}


class DonatedTwiceError(ArgumentError, DeletedArrayError):
    """A donated array occurs twice in a call."""


def _size(array: Array) -> int:
    kind = array.kind
    if kind is not None:
        return kind.nbytes
    return math.prod(array.shape, start=array.dtype.itemsize)
