"""`KnownCalls`: the short ways from the arguments of a call to a compiled program.

Input: the arguments of a call. Output: its results, where a program was called with such arguments before.

Idea: an array on a device carries its `Kind`, one object for shape, dtype and device. A tuple of kinds finds
the program and says at once that its checks have passed before, so that only the views of the arrays are
left to hand over. NumPy's arrays and numbers are known by their types (`call_arguments.py`), trees are taken
apart by code for their structure (`tree_code.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...dialects.dataclass import dataclass
from .. import tree
from ..tracing.array import Array
from .call_arguments import UNKNOWN
from .ready_functions import MOST_KINDS, KnownLeaves, ReadyFunction
from .tree_code import Flatten, flatten_code

MOST_TREES: Final = 4
"""Structures of arguments that have a short way, of one function: each is tried in turn."""


@dataclass(frozen=True, slots=True)
class _KnownTree:
    """Arguments of one structure: their leaves, and the programs for leaves."""

    structure: tree.Structure
    flatten: Flatten
    leaves: KnownLeaves


class KnownCalls:
    """The programs of one function by the kinds of its arguments."""

    def __init__(self) -> None:
        self.direct = KnownLeaves()
        """The calls of which each argument is a leaf."""
        self._trees: list[_KnownTree] = []

    def forget(self) -> None:
        """Know no calls any more."""
        self.direct.forget()
        self._trees = []

    def __len__(self) -> int:
        return sum(map(len, (self.direct, *(each.leaves for each in self._trees))))

    def call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The results of a call: of arrays, numbers, and trees of them."""
        if not kwargs and args and type(args[0]) is Array:
            try:
                run = self.direct.arrays.get(tuple([arg.call_kind for arg in args]))
            except (AttributeError, TypeError):  # no array, or a stranger whose `call_kind` has no hash
                run = None
            if run is not None:
                return run(*args)
        return self.call_others(args, kwargs)

    def call_others(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """As `call`, where the arguments are not all arrays of `arrays`."""
        if not kwargs:
            results = self.direct.call(args)
            if results is not UNKNOWN:
                return results
        for known in self._trees:
            found = known.flatten(args, kwargs)
            if found is not None:
                leaves, kinds = found
                try:
                    run = None if kinds is None else known.leaves.arrays.get(kinds)
                except TypeError:
                    return UNKNOWN
                return known.leaves.call(leaves) if run is None else run(*leaves)
        return UNKNOWN

    def add(
        self,
        structure: tree.Structure,
        key: tuple[Any, ...] | None,
        leaves: Sequence[Any],
        is_direct: bool,
        ready: ReadyFunction,
    ) -> None:
        """Know a function for arguments like these, which had this `call_key` before the call.

        They are direct where each of them is a leaf.
        """
        if key is None:
            return
        if not ready.is_static and len(self) >= MOST_KINDS:
            self.forget()
        if is_direct:
            self.direct.add(key, leaves, ready)
            return
        for known in self._trees:
            if known.structure == structure:
                known.leaves.add(key, leaves, ready)
                return
        if len(self._trees) < MOST_TREES:
            flatten = flatten_code(structure) or _flatten_by_optree(structure)
            self._trees.append(_KnownTree(structure, flatten, KnownLeaves()))
            self._trees[-1].leaves.add(key, leaves, ready)


def are_leaves(args: Sequence[Any], kwargs: Mapping[str, Any], leaves: Sequence[Any]) -> bool:
    """Whether each argument is a leaf: `[x, None]` and `y` have two leaves, too."""
    is_same = not kwargs and len(args) == len(leaves)
    return is_same and all(arg is leaf for arg, leaf in zip(args, leaves, strict=True))


def _flatten_by_optree(expected: tree.Structure) -> Flatten:
    """As `flatten_code`, for structures with nodes that no code is written for."""

    def flatten(
        args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...] | None] | None:
        leaves, structure = tree.flatten((args, dict(kwargs)))
        if structure != expected:
            return None
        try:
            return tuple(leaves), tuple([leaf.call_kind for leaf in leaves])
        except AttributeError:
            return tuple(leaves), None

    return flatten
