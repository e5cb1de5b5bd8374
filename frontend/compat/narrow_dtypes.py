"""Dtypes of 64 bits that programs written for JAX state while `jax_enable_x64` is off: JAX narrows them.

Input: a function of `jax.numpy`, `jax.lax`, `jax.random` or `jax.nn`, of which parameters are dtypes. Output:
the same, where dtypes of 64 bits as these parameters mean those of 32, with JAX's warning.
Idea: adze's own functions never narrow, so this is done at the names that such a program calls.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from ..tracing.default_dtypes import is_narrow_program, narrow_stated

MODULES: Final = ("jax.numpy", "jax.lax", "jax.random", "jax.nn")
OF_BITS: Final = ("bitcast_convert_type", "frombuffer", "fromfile", "fromstring")
"""Functions that read the bits of a dtype, which another dtype has not."""

NAMES: Final = frozenset(("dtype", "index_dtype", "new_dtype", "out_dtype", "preferred_element_type"))


def with_narrow_dtypes(module: str, value: Any) -> Any:
    """What JAX's `module` has, where it takes dtypes with those of 64 bits narrowed."""
    if not module.startswith(MODULES) or not isinstance(value, FunctionType) or value.__name__ in OF_BITS:
        return value
    parameters = inspect.signature(value).parameters
    places = [(place, name) for place, name in enumerate(parameters) if name in NAMES]
    return _narrowing(value, places) if places else value


def _narrowing(function: Callable[..., Any], places: list[tuple[int, str]]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_narrow_program():
            return function(*args, **kwargs)
        for place, name in places:
            if place < len(args):
                args = (*args[:place], narrow_stated(args[place], function.__name__), *args[place + 1 :])
            elif name in kwargs:
                kwargs[name] = narrow_stated(kwargs[name], function.__name__)
        return function(*args, **kwargs)

    return call
