"""The primitives of `jax.lax`, `exp_p` and others: those of `adze.lax`, and names that get rules."""

from __future__ import annotations

import functools
from typing import Any

from ..library.lax import primitives as lax
from ..staging.equations import primitive_of_functions
from .core import Primitive
from .out_shardings import OF_LAX, function_of
from .typed_keys import MOVING, moving_keys

__all__: list[str] = []


@functools.cache
def _primitive(name: str) -> lax.Primitive:
    known = lax.PRIMITIVES.get(f"{name}_p") or lax.LINEAR_ALGEBRA_PRIMITIVES.get(f"{name}_p")
    return known or primitive_of_functions(name) or Primitive(name)


def __getattr__(name: str) -> Any:
    if name in OF_LAX | MOVING["lax"]:
        function = function_of("lax", name)
        return moving_keys(function) if name in MOVING["lax"] else function
    if not name.endswith("_p"):
        raise AttributeError(name)
    return _primitive(name.removesuffix("_p"))
