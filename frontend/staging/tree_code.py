"""Trees of a known structure taken apart and put together by code written for that structure.

Input: the structure of a tree. Output: a function from the arguments of a call to their leaves, which returns
None for arguments of another structure, and a function from leaves to a tree. Both are a tenth of optree's
work on small trees.

Idea: an example tree, whose leaves are their own numbers, is walked once; each node becomes one line of
Python. Dicts, lists, tuples, named tuples, None and nodes that were registered here have code: for others
there is none, and optree does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .. import tree
from ..tree.registry import DATA_FIELDS, OWN_NODES, STATIC_FIELDS, functions_of_node

Leaves = tuple[Any, ...]
Flatten = Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Leaves, Leaves | None] | None]
Unflatten = Callable[[Sequence[Any]], Any]

MOST_LEAVES: Final = 1000
"""Beyond this the code takes tenths of a second to compile."""


def flatten_code(structure: tree.Structure) -> Flatten | None:
    """A function of positional and keyword arguments that are, as a pair, of this structure.

    It returns their leaves, in order, and the `call_kind` of each, where each has one; None for others. None
    instead of a function where there is no code for a node.
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
        text = writer.node(_example(structure))
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
        self.names |= {"Exception": Exception, "AttributeError": AttributeError}

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
        kinds = [f"{leaf}.call_kind" for leaf in leaves]
        lines = "\n  ".join(self.lines)
        return self.function(
            f"def run(args, kwargs):\n try:\n  {lines}\n except Exception:\n  return None\n"
            f" try:\n  return {_tuple(leaves)}, {_tuple(kinds)}\n"
            f" except AttributeError:\n  return {_tuple(leaves)}, None\n"
        )

    def node(self, example: Any, name: str, leaves: list[str]) -> None:
        """Lines that check the node called `name` and name its children."""
        if type(example) is int:
            leaves.append(name)
            return
        if example is None:
            self.lines.append(f"if {name} is not None: return None")
            return
        if type(example) in OWN_NODES:
            self.own(example, name, leaves)
            return
        if type(example) is not dict and not _is_sequence(example):
            raise _NoCode
        kind = self.constant(type(example))
        self.lines.append(f"if type({name}) is not {kind} or len({name}) != {len(example)}: return None")
        self.children(example, name, leaves)

    def own(self, example: Any, name: str, leaves: list[str]) -> None:
        """As `node`, for a node of a class that was registered: dataclasses by their fields."""
        cls = type(example)
        children, static = _parts(example)
        self.lines.append(f"if type({name}) is not {self.constant(cls)}: return None")
        if cls in DATA_FIELDS:
            parts = _tuple([f"{name}.{field}" for field in DATA_FIELDS[cls]])
            found = _tuple([f"{name}.{field}" for field in STATIC_FIELDS[cls]])
        else:
            flat, _ = functions_of_node(cls)
            self.lines.append(f"{name}_n = {self.constant(flat)}({name})")
            parts, found = f"{name}_n[0]", f"{name}_n[1]"
            self.lines.append(f"if len({parts}) != {len(children)}: return None")
        self.lines.append(f"if {found} != {self.constant(static)}: return None")
        self.children(children, parts, leaves, name)

    def children(self, example: Any, name: str, leaves: list[str], prefix: str = "") -> None:
        """Lines that name the children of the node called `name`, or `prefix`, and check them."""
        children = [f"{prefix or name}_{position}" for position in range(len(example))]
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
        if type(example) in OWN_NODES:
            return self.own(example)
        if not _is_sequence(example):
            raise _NoCode
        children = "".join(f"{self.node(value)}, " for value in example)
        if type(example) is list:
            return f"[{children}]"
        return f"({children})" if type(example) is tuple else f"{self.constant(type(example))}({children})"

    def own(self, example: Any) -> str:
        """As `node`, for a node of a class that was registered."""
        cls = type(example)
        children, static = _parts(example)
        written = list(map(self.node, children))
        if cls not in DATA_FIELDS:
            _, build = functions_of_node(cls)
            return f"{self.constant(build)}({self.constant(static)}, {_tuple(written)})"
        fields = [*zip(DATA_FIELDS[cls], written, strict=True)]
        fields += [(n, self.constant(v)) for n, v in zip(STATIC_FIELDS[cls], static, strict=True)]
        return f"{self.constant(cls)}({', '.join(f'{field}={text}' for field, text in fields)})"


def _compiled(structure: tree.Structure, writer: type[_Flattening] | type[_Unflattening]) -> Any:
    if structure.num_leaves > MOST_LEAVES:
        return None
    try:
        return writer().write(_example(structure))
    except _NoCode:
        return None


def _example(structure: tree.Structure) -> Any:
    """The tree whose leaves are their own numbers, which not every class can hold."""
    try:
        return tree.unflatten(structure, range(structure.num_leaves))
    except Exception:
        raise _NoCode from None


def _parts(node: Any) -> tuple[Sequence[Any], Any]:
    """The children of a node of a registered class, and its static data."""
    flat, _ = functions_of_node(type(node))
    try:
        children, static, *_ = flat(node)
    except Exception:
        raise _NoCode from None
    return children, static


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
