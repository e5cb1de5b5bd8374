"""Trees of a known structure taken apart and put together by code written for that structure.

Input: the structure of a tree. Output: a function from the arguments of a call to their leaves, which returns
None for arguments of another structure, and a function from leaves to a tree. Both are a tenth of optree's
work on small trees.

Idea: an example tree, whose leaves are their own numbers, is walked once; each node becomes one line of
Python. Only dicts, lists, tuples, named tuples and None have code: for other nodes, such as dataclasses,
there is none, and optree does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .. import tree

Leaves = tuple[Any, ...]
Flatten = Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Leaves, Leaves] | None]
Unflatten = Callable[[Sequence[Any]], Any]

MOST_LEAVES: Final = 300
"""Beyond this the code takes longer to compile than it saves in a thousand calls."""


def flatten_code(structure: tree.Structure) -> Flatten | None:
    """A function of positional and keyword arguments that are, as a pair, of this structure.

    It returns their leaves, in order, and the `kind` of each; None for others, and where a leaf has no kind.
    None instead of a function where there is no code for a node.
    """
    return _compiled(structure, _Flattening)


def unflatten_code(structure: tree.Structure) -> Unflatten | None:
    """The tree of this structure with given leaves; None where there is no code for a node."""
    return _compiled(structure, _Unflattening)


def tree_expression(structure: tree.Structure, leaves: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """An expression of the tree of this structure whose leaves are expressions, and the names that it uses.

    None where there is no code for a node.
    """
    if structure.num_leaves > MOST_LEAVES:
        return None
    writer = _Unflattening(leaves)
    try:
        text = writer.node(tree.unflatten(structure, range(structure.num_leaves)))
    except _NoCode:
        return None
    return text, writer.names


class _NoCode(Exception):
    """A node that code is not written for."""


class _Writer:
    """Lines of a function, and the objects that they name."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"__builtins__": {}, "type": type, "len": len}
        self.names |= {"KeyError": KeyError, "AttributeError": AttributeError}

    def constant(self, value: Any) -> str:
        """A name for `value` in the code."""
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def function(self, source: str) -> Any:
        """The function `run` that `source` defines."""
        exec(compile(source, "<code of a tree>", "exec"), self.names)
        return self.names["run"]


class _Flattening(_Writer):
    def write(self, example: Any) -> Any:
        args, kwargs = example
        leaves: list[str] = []
        self.lines.append(f"if len(args) != {len(args)} or len(kwargs) != {len(kwargs)}: return None")
        self.children(args, "args", leaves)
        self.children(kwargs, "kwargs", leaves)
        kinds = [f"{leaf}.kind" for leaf in leaves]
        self.lines.append(f"return {_tuple(leaves)}, {_tuple(kinds)}")
        lines = "\n  ".join(self.lines)
        names = "(KeyError, AttributeError)"
        return self.function(f"def run(args, kwargs):\n try:\n  {lines}\n except {names}:\n  return None\n")

    def node(self, example: Any, name: str, leaves: list[str]) -> None:
        """Lines that check the node called `name` and name its children."""
        if type(example) is int:
            leaves.append(name)
            return
        if example is None:
            self.lines.append(f"if {name} is not None: return None")
            return
        if type(example) is not dict and not _is_sequence(example):
            raise _NoCode
        kind = self.constant(type(example))
        self.lines.append(f"if type({name}) is not {kind} or len({name}) != {len(example)}: return None")
        self.children(example, name, leaves)

    def children(self, example: Any, name: str, leaves: list[str]) -> None:
        """Lines that name the children of the node called `name`, and check them."""
        children = [f"{name}_{position}" for position in range(len(example))]
        if type(example) is dict:
            for child, key in zip(children, example, strict=True):
                self.lines.append(f"{child} = {name}[{self.constant(key)}]")
            # The leaves of a dict come in the order of its keys, which the numbers of the example know.
            for child, value in sorted(zip(children, example.values(), strict=True), key=_first):
                self.node(value, child, leaves)
            return
        if children:
            self.lines.append(f"{', '.join(children)}, = {name}")
        for child, value in zip(children, example, strict=True):
            self.node(value, child, leaves)


class _Unflattening(_Writer):
    def __init__(self, leaves: Sequence[str] | None = None) -> None:
        super().__init__()
        self.leaves = leaves

    def write(self, example: Any) -> Any:
        return self.function(f"def run(leaves):\n return {self.node(example)}\n")

    def node(self, example: Any) -> str:
        """An expression of the node."""
        if type(example) is int:
            return f"leaves[{example}]" if self.leaves is None else self.leaves[example]
        if example is None:
            return "None"
        if type(example) is dict:
            entries = (f"{self.constant(key)}: {self.node(value)}" for key, value in example.items())
            return f"{{{', '.join(entries)}}}"
        if not _is_sequence(example):
            raise _NoCode
        children = "".join(f"{self.node(value)}, " for value in example)
        if type(example) is list:
            return f"[{children}]"
        return f"({children})" if type(example) is tuple else f"{self.constant(type(example))}({children})"


def _compiled(structure: tree.Structure, writer: type[_Flattening] | type[_Unflattening]) -> Any:
    if structure.num_leaves > MOST_LEAVES:
        return None
    try:
        return writer().write(tree.unflatten(structure, range(structure.num_leaves)))
    except _NoCode:
        return None


def _tuple(items: Sequence[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items)})"


def _is_sequence(node: Any) -> bool:
    """Whether a node is a list, a tuple or a named tuple, and of no class derived from one."""
    kind = type(node)
    return kind in (list, tuple) or (kind.__bases__ == (tuple,) and hasattr(kind, "_fields"))


def _first(child: tuple[str, Any]) -> int:
    """The number of the first leaf in a child of the example; children without leaves come last."""
    leaves = tree.leaves(child[1])
    return leaves[0] if leaves else MOST_LEAVES + 1
