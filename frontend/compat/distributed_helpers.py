"""Names of `jax.experimental.multihost_utils`: values that all processes of a job agree on.

Input: trees of arrays that each process has. Output: what all have. In one process they are what they were.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import tree
from ..errors import UnsupportedError
from ..tracing.locations import user_location_text
from .devices import process_count


def _alone(name: str) -> None:
    if process_count() > 1:
        raise UnsupportedError(
            f"multihost_utils.{name} in a job of several processes",
            where=user_location_text(),
            hint="gather with adze.device_put(x, NamedSharding(mesh, P())), or a collective in shard_map",
        )


def sync_global_devices(name: str) -> None:
    """Wait until all processes are here."""
    _alone("sync_global_devices")


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The arrays of the first process, as NumPy arrays."""
    _alone("broadcast_one_to_all")
    return tree.map(np.asarray, in_tree)


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The arrays of all processes along a new axis, or joined along the first where `tiled`."""
    _alone("process_allgather")
    return tree.map(lambda x: np.asarray(x) if tiled else np.asarray(x)[None], in_tree)


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise where processes have different arrays: one process agrees with itself."""
    _alone("assert_equal")


__all__ = ["assert_equal", "broadcast_one_to_all", "process_allgather", "sync_global_devices"]
