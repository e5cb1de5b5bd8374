"""The traced values that functions hold: in closures, defaults, attributes, partial arguments.

Input: Python functions. Output: the traced values and sizes of open traces that they can use, those of the
functions that they hold included.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from .. import tree
from .frames import Tracer
from .sizes import Dim


def closed_over(*functions: Callable[..., Any]) -> list[Any]:
    """The traced values and sizes of open traces that functions reach without global variables."""
    traced: list[Any] = []
    seen: set[int] = set()
    pending: list[Any] = [*functions]
    while pending:
        value = pending.pop()
        if isinstance(value, (Tracer, Dim)):
            traced += [value] if value.frame.open else []
        elif callable(value) and id(value) not in seen:
            seen.add(id(value))
            pending += [leaf for part in held_by(value) for leaf in tree.leaves(part)]
    return traced


def held_by(function: Any) -> Iterator[Any]:
    """What a function holds: closure, defaults, the arguments of a partial application, attributes."""
    if isinstance(function, functools.partial):
        yield from (function.func, *function.args, *function.keywords.values())
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    yield from getattr(function, "__defaults__", None) or ()
    yield from (getattr(function, "__kwdefaults__", None) or {}).values()
    if not isinstance(function, type):
        yield from getattr(function, "__dict__", {}).values()
    yield from filter(callable, [getattr(function, "__func__", None)])
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, type):
        yield from getattr(owner, "__dict__", {}).values()
