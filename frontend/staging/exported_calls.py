"""Calls of an exported function: its arguments by position and by name, as the leaves of its inputs.

Input: what a manifest says of a function, and the arguments of a call. Output: one leaf for each input, in
order; a tree of results. Arguments that do not fit are an error that shows the function's signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime.artifact.manifest import ExportedFunction
from .. import written_trees
from ..errors import ArgumentTypeError
from ..tracing.locations import user_location_text


class ExportedCall:
    """How the function of a program is called with trees of arrays."""

    def __init__(self, function: ExportedFunction) -> None:
        self.function = function

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.signature.name

    def leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The leaves of the arguments of a call, in the order of the inputs."""
        if self.function.input_tree is None:  # no tree was written down: one argument an input
            names: list[str | None] = [spec.name for spec in self.function.signature.inputs]
            return self._in_order(names, args, kwargs)
        positional, named = self.function.input_tree["tuple"]
        names = self.names(len(positional["tuple"]))
        own = {name: value for name, value in kwargs.items() if name in named["dict"]}
        rest = {name: value for name, value in kwargs.items() if name not in own}
        missing = [name for name in named["dict"] if name not in own]
        values = self._in_order(names, args, rest, missing, keywords=list(named["dict"]))
        leaves = written_trees.leaves_as_json(self.function.input_tree, (tuple(values), own))
        if leaves is None:
            raise self.error(
                f"takes arguments {written_trees.describe_json_arguments(self.function.input_tree)}, "
                f"got {written_trees.describe_value_arguments(tuple(values), own)}"
            )
        return leaves

    def results(self, leaves: Sequence[Any]) -> Any:
        """The tree of the results with these leaves."""
        if self.function.output_tree is None and leaves:
            return tuple(leaves)  # no tree was written down
        return written_trees.from_json(self.function.output_tree, leaves)

    def expression(self, results: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """An expression of the tree of the results that are called so, and the names in it."""
        if self.function.output_tree is None and results:
            return f"({''.join(f'{result}, ' for result in results)})", {}
        return written_trees.expression(self.function.output_tree, results)

    @property
    def is_flat(self) -> bool:
        """Whether each argument by position is a leaf, and the function takes no others."""
        tree = self.function.input_tree
        if tree is None:
            return True
        positional, named = tree["tuple"]
        return not named["dict"] and all(entry == "*" for entry in positional["tuple"])

    def names(self, count: int) -> list[str | None]:
        """The names of the positional arguments, where the program tells them."""
        names = self.function.arguments
        return list(names) if len(names) == count else [None] * count

    def _in_order(
        self,
        names: list[str | None],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        missing: list[str] | None = None,
        keywords: list[str] | None = None,
    ) -> list[Any]:
        """Positional arguments and those given by name, in the order of `names`."""
        known = [name for name in names if name is not None]
        if len(args) > len(names):
            raise self.error(f"takes {len(names)} positional arguments, got {len(args)}")
        for name in kwargs:
            if name not in known:
                legal = ", ".join([*known, *(keywords or [])]) or "none"
                raise self.error(f"has no argument {name!r}: it has {legal}")
            if names.index(name) < len(args):
                raise self.error(f"got argument {name!r} twice: by position and by name")
        absent = [n for n, name in enumerate(names) if n >= len(args) and name not in kwargs]
        lacking = [repr(names[n]) if names[n] else f"number {n}" for n in absent]
        lacking += [repr(name) for name in missing or []]
        if lacking:
            raise self.error(f"lacks argument {', '.join(lacking)}")
        return [args[n] if n < len(args) else kwargs[name or ""] for n, name in enumerate(names)]

    def error(self, problem: str) -> ArgumentTypeError:
        """The error for a call that the function does not take."""
        return ArgumentTypeError(
            f"{self.name}() {problem}",
            where=user_location_text(),
            hint=f"it is {self.function.signature}",
        )
