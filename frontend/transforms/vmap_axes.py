"""The axes of `vmap`: what `in_axes`, `out_axes` and `axis_size` say for each leaf, and what is wrong.

An entry is an int or None; a tree of entries is a prefix of the tree that it speaks of, as everywhere in JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import tree
from ..errors import ArgumentError, ArgumentTypeError, ShapeError
from ..tracing.interpreter import ops
from ..tracing.locations import user_location_text
from ..tracing.sizes import Dim
from ..tracing.trace import function_name

Axes = Any  # int, None, or a tree of them that is a prefix of the arguments' tree


class MappedAxis(NamedTuple):
    """An axis of an argument, over which a function is mapped."""

    name: str
    axis: int
    size: Any

    def __str__(self) -> str:
        return f"axis {self.axis} of '{self.name}' is {self.size}"


def leaf_axes(
    function: Callable[..., Any], in_axes: Axes, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[int | None]:
    """The mapped axis of each leaf of `(args, kwargs)`."""
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if isinstance(in_axes, tuple):
        if len(in_axes) != len(args):
            raise ArgumentError(
                f"in_axes has {len(in_axes)} entries, {function_name(function)} was called with {len(args)} "
                "positional arguments",
                where=user_location_text(),
                hint="give one entry for each argument: an int, None or a tree of them",
            )
    elif not _is_entry(in_axes):
        raise ArgumentTypeError(
            f"in_axes is {type(in_axes).__name__}, expected an int, None or a tuple",
            where=user_location_text(),
        )
    per_argument = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    axes: list[int | None] = []
    for prefix, arg in zip(per_argument, args, strict=True):
        axes += _spread(prefix, arg, "in_axes")
    for key in sorted(kwargs):
        axes += [0] * len(tree.leaves(kwargs[key]))
    return axes


def result_axes(function: Callable[..., Any], out_axes: Axes, structure: Any) -> list[int | None]:
    """The place of the mapped axis in each leaf of the results."""
    full = tree.unflatten(structure, range(structure.num_leaves))
    return _spread(out_axes, full, f"out_axes of {function_name(function)}")


def _is_entry(value: Any) -> bool:
    return value is None or (isinstance(value, (int, np.integer)) and not isinstance(value, bool))


def _spread(prefix: Axes, full: Any, what: str) -> list[int | None]:
    """For each leaf of `full` the axis that the tree prefix states."""
    if _is_entry(prefix):
        return [None if prefix is None else int(prefix)] * len(tree.leaves(full))
    children = tree.children(full)
    entries = tree.children(prefix)
    if entries is None:
        raise ArgumentTypeError(
            f"{what} {prefix!r} is {type(prefix).__name__}, expected an int, None or a tree of them",
            where=user_location_text(),
        )
    if children is None or children.keys() != entries.keys():
        raise ArgumentError(
            f"{what} {prefix!r} is not a prefix of the tree {tree.describe(tree.structure(full))}",
            where=user_location_text(),
        )
    return [axis for key in children for axis in _spread(entries[key], children[key], what)]


def checked_axis(axis: int, name: str, value: Any) -> int:
    """A mapped axis of the argument `name`, counted from the front."""
    if not -value.ndim <= axis < value.ndim:
        raise ArgumentError(
            f"in_axes maps axis {axis} of '{name}', which is {ops.type_of(value)} of rank {value.ndim}",
            where=user_location_text(),
            hint="give None for an argument that is not mapped",
        )
    return axis % int(value.ndim)


def common_size(function: Callable[..., Any], sizes: Sequence[MappedAxis], axis_size: Any) -> Any:
    """The size of the mapped axes, which must be one; of dynamic ones the program checks it."""
    name = function_name(function)
    is_size = isinstance(axis_size, Dim) or (_is_entry(axis_size) and (axis_size is None or axis_size >= 0))
    if not is_size:
        raise ArgumentError(
            f"axis_size is {axis_size!r}, expected a size: an int that is not negative",
            where=user_location_text(),
        )
    stated = [] if axis_size is None else [axis_size if isinstance(axis_size, Dim) else int(axis_size)]
    if not sizes and not stated:
        raise ArgumentError(
            f"vmap of {name}: no argument is mapped",
            where=user_location_text(),
            hint="give an axis in in_axes, or axis_size",
        )
    distinct: dict[str, Any] = {str(n): n for n in (*stated, *(entry.size for entry in sizes))}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    static = [n for n in distinct.values() if isinstance(n, int)]
    shown = [e for e in sizes if len(static) < 2 or isinstance(e.size, int)]
    listed = ", ".join([*(f"axis_size is {n}" for n in stated), *map(str, shown)])
    if len(static) > 1:
        raise ShapeError(
            f"vmap of {name}: mapped axes differ in size: {listed}",
            where=user_location_text(),
        )
    size: Any = (static or list(distinct.values()))[0]
    for other in distinct.values():
        if isinstance(other, Dim) and other is not size:
            _check_equal(size, other, f"vmap of {name}: mapped axes differ in size: {listed}")
    return size


def _check_equal(size: Any, other: Any, message: str) -> None:
    """Have the program stop with `message` unless two sizes are equal."""
    int64 = np.dtype(np.int64)
    left, right = (
        ops.size_to_array(n, dtype=int64) if isinstance(n, Dim) else ops.full(n, (), int64)
        for n in (size, other)
    )
    ops.check(ops.compare(left, right, direction="EQ"), message=message)
