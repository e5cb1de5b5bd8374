"""Transforms of jitted functions outside a trace, in programs written for JAX: compiled, as JAX's are.

Input: a function, and a transform of it. Output: a jitted function of the transform where the function is a
jitted one, None elsewhere. Idea: JAX compiles what is jitted wherever it is called, so no value is asked for
while f is traced for `vmap(f)` or `grad(f)` of a jitted f, and a loop of them runs compiled programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tracing.frames import current_frame
from ..tracing.interludes import suspended_frame
from ..tracing.jax_rules import Installed

Transform = Callable[[Callable[..., Any]], Callable[..., Any]]


def compiled_transform(
    function: Callable[..., Any], key: tuple[Any, ...], transform: Transform
) -> Callable[..., Any] | None:
    """`transform(function)` as a jitted function, one for each `key`; None for one that is not compiled."""
    make = getattr(type(function), "transformed", None)
    if make is None or not Installed.is_on or current_frame() is not None or suspended_frame() is not None:
        return None
    compiled: Callable[..., Any] | None = make(function, tuple(map(_hashable, key)), transform)
    return compiled


def _hashable(value: Any) -> Any:
    """Lists of axes as tuples."""
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value
