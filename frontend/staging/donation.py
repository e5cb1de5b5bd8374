"""Donated arguments of jitted functions: arrays that a call may use up.

Input: the arguments of a call and its results. Output: arrays that are deleted, so that their memory is free
once the call returns. Idea: as in JAX, an argument is used up where a result of as many bytes takes its
place; the others stay. What is NumPy's or a Python number is copied on the way in and is never used up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

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
        places = {n + len(args) if n < 0 else n for n in self.positions}
        given = [arg for i, arg in enumerate(args) if i in places]
        given += [arg for name, arg in kwargs.items() if name in self.names]
        donated = [leaf for leaf in tree.leaves(given) if isinstance(leaf, Array)]
        for array in donated:
            if array.is_deleted():
                array.numpy()  # raises, and says why it was deleted
        seen = Counter(id(leaf) for leaf in tree.leaves((tuple(args), dict(kwargs))))
        if any(seen[id(array)] > 1 for array in donated):
            raise DonatedTwiceError(
                f"{self.function}() was given one array twice, and may use it up once",
                where=user_location_text(),
                hint="pass a copy, x.copy(), or take the argument out of donate_argnums",
            )
        return donated

    def use_up(self, donated: Sequence[Array], results: Any) -> None:
        """Delete the arrays whose places results have taken."""
        arrays = [leaf for leaf in tree.leaves(results) if isinstance(leaf, Array)]
        sizes = Counter(map(_size, arrays))
        kept = {id(array) for array in arrays}
        for array in donated:
            size = _size(array)
            if sizes[size] > 0 and id(array) not in kept:
                sizes[size] -= 1
                delete(array, f"donated to {self.function}()")


class DonatedTwiceError(ArgumentError, DeletedArrayError):
    """A donated array occurs twice in a call."""


def _size(array: Array) -> int:
    size = array.dtype.itemsize
    for extent in array.shape:
        size *= extent
    return size
