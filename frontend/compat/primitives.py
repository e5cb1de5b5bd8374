"""The primitives of `jax.lax`, `exp_p` and others: names that clients register rules for."""

from __future__ import annotations

import functools
from typing import Any

from .core import Primitive

__all__: list[str] = []


@functools.cache
def _primitive(name: str) -> Primitive:
    return Primitive(name)


def __getattr__(name: str) -> Any:
    if not name.endswith("_p"):
        raise AttributeError(name)
    return _primitive(name.removesuffix("_p"))
