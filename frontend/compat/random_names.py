"""Names of `jax.random` whose functions take `out_sharding`, and those that make typed keys."""

from __future__ import annotations

from typing import Any

from .out_shardings import OF_RANDOM, SAMPLED, function_of
from .typed_keys import clone as clone
from .typed_keys import fold_in as fold_in
from .typed_keys import key as key
from .typed_keys import key_data as key_data
from .typed_keys import key_impl as key_impl
from .typed_keys import split as split
from .typed_keys import wrap_key_data as wrap_key_data

__all__ = ["key_impl"]


def __getattr__(name: str) -> Any:
    if name not in OF_RANDOM | SAMPLED:
        raise AttributeError(name)
    return function_of("random", name)
