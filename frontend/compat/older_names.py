"""`jax.experimental.shard_map` and `jax.experimental.pjit`: the names that today's have replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..sharding.shard_map import shard_map as mapped
from ..staging.jit import jit as pjit


def shard_map(
    f: Callable[..., Any], mesh: Any, in_specs: Any, out_specs: Any, check_rep: bool = True
) -> Callable[..., Any]:
    """`jax.shard_map` with the arguments that it had before."""
    result: Callable[..., Any] = mapped(
        f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep
    )
    return result


__all__ = ["pjit", "shard_map"]
