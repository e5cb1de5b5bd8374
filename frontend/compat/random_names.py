"""Names of `jax.random` whose functions take `out_sharding`."""

from __future__ import annotations

from typing import Any

from .out_shardings import OF_RANDOM, function_of

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name not in OF_RANDOM:
        raise AttributeError(name)
    return function_of("random", name)
