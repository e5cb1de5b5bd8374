"""Functions that stand for functions of the user: they have their names, documentation and signature.

Input: a callable, of any kind. Output: a decorator, as `functools.wraps`. Idea: an object that is called may
have attributes of these names that are none (`__name__` of equinox's modules is no text); those are left out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def wraps(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that gives a function the name, documentation and attributes of `function`."""
    named = [n for n in functools.WRAPPER_ASSIGNMENTS if n not in _TEXTS or _is_text(function, n)]
    return functools.wraps(function, assigned=named)


_TEXTS = ("__module__", "__name__", "__qualname__")


def _is_text(function: Callable[..., Any], name: str) -> bool:
    return isinstance(getattr(function, name, None), str)
