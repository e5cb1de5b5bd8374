"""Functions that stand for functions of the user: they have their names, documentation and signature.

Input: a callable, of any kind. Output: a decorator, as `functools.wraps`. Idea: an object that is called may
have attributes of these names that are something else (`__name__` of an equinox module that was taken apart
is no text); those are left out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

_KINDS: Final = {"__module__": str, "__name__": str, "__qualname__": str, "__annotations__": dict}
"""What Python lets a function have under these names."""


def wraps(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that gives a function the name, documentation and attributes of `function`."""
    assigned = [n for n in functools.WRAPPER_ASSIGNMENTS if _fits(function, n)]
    return functools.wraps(function, assigned=assigned)


def _fits(function: Callable[..., Any], name: str) -> bool:
    return isinstance(getattr(function, name, None), _KINDS.get(name, object))
