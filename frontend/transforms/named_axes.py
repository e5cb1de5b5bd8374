"""The named axes that are bound on this thread: each is the axis of a `vmap(axis_name=...)`.

Idea: `vmap` binds the name while it traces its function. The position of the element is one more mapped
argument, which the collectives take as an operand, so that they refer to the right batch from inside loops,
calls and other vmaps.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from ...dialects.dataclass import dataclass
from ..errors import ArgumentError, ArgumentTypeError, AxisNameError
from ..tracing.locations import user_location_text
from ..tracing.varying import MeshAxis, mesh_axes


@dataclass(frozen=True)
class BoundAxis:
    """A named axis while the function that is mapped over it is traced."""

    name: str
    size: Any
    index: Any


class _Axes(threading.local):
    def __init__(self) -> None:
        self.bound: list[BoundAxis] = []


_axes = _Axes()


@contextmanager
def bound_axis(name: str, size: Any, index: Any) -> Iterator[None]:
    """Let `name` mean an axis of `size` elements, of which `index` is the one at hand."""
    _axes.bound.append(BoundAxis(name, size, index))
    try:
        yield
    finally:
        _axes.bound.pop()


@contextmanager
def hidden_axes(names: Collection[str]) -> Iterator[None]:
    """Let these names mean no axis of a `vmap` outside: something nearer has them."""
    before = _axes.bound
    _axes.bound = [axis for axis in before if axis.name not in names]
    try:
        yield
    finally:
        _axes.bound = before


def bound_axes() -> tuple[BoundAxis, ...]:
    """The axes that functions are mapped over here, the outermost first."""
    return tuple(_axes.bound)


def axis_of(name: Any) -> BoundAxis | MeshAxis:
    """The innermost axis that a name means."""
    if not isinstance(name, str):
        raise ArgumentTypeError(
            f"axis_name is {type(name).__name__}: {name!r}, expected one name, a str",
            where=user_location_text(),
        )
    for axis in reversed(_axes.bound):
        if axis.name == name:
            return axis
    if name in mesh_axes():
        return mesh_axes()[name]
    bound = ", ".join(map(repr, (*(axis.name for axis in _axes.bound), *mesh_axes()))) or "none"
    raise AxisNameError(
        f"axis name {name!r} is not bound here (bound: {bound})",
        where=user_location_text(),
        hint=f"map the function with adze.vmap(..., axis_name={name!r})",
    )


def axes_of(axis_name: Any) -> list[BoundAxis | MeshAxis]:
    """The axes that a name or a tuple of names means."""
    names = axis_name if isinstance(axis_name, (tuple, list)) else (axis_name,)
    if not names:
        raise ArgumentError(
            "axis_name is an empty tuple, expected at least one name", where=user_location_text()
        )
    return [axis_of(name) for name in names]
