"""What the collectives over an axis of a mesh exchange, on NumPy arrays.

Input: the communicator, the ranks along the axis, the position of this one, an array, and the attributes of
the op. Output: this rank's result, a new array. The ops evaluate with these functions, and compiled programs
import them (`runtime/distributed/imports.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from .communicator import Communicator, bound, group_of, rank_of

Exchange = Callable[[Communicator, tuple[int, ...], int, np.ndarray, Mapping[str, Any]], np.ndarray]


def along(name: str, mesh: tuple[int, ...], axis: int) -> tuple[Communicator | None, tuple[int, ...], int]:
    """The communicator, the ranks along the axis, and this one's position; None for an axis of one."""
    group, position = group_of(rank_of(name, mesh), mesh, axis)
    return (bound() if len(group) > 1 else None), group, position


def called(name: str, x: np.ndarray, attributes: Mapping[str, Any]) -> np.ndarray:
    """The result of the collective called `name` in this rank."""
    engine, group, position = along(name, attributes["mesh"], attributes["axis"])
    if engine is not None:
        return EXCHANGES[name](engine, group, position, x, attributes)
    return x.copy() if attributes.get("perm", True) else np.zeros_like(x)


def _all_reduce(
    engine: Communicator, group: tuple[int, ...], position: int, x: np.ndarray, attributes: Mapping[str, Any]
) -> np.ndarray:
    return engine.all_reduce(group, attributes["kind"], x)


def _all_gather(
    engine: Communicator, group: tuple[int, ...], position: int, x: np.ndarray, attributes: Mapping[str, Any]
) -> np.ndarray:
    return np.concatenate(engine.all_gather(group, x), axis=attributes["dim"])


def _reduce_scatter(
    engine: Communicator, group: tuple[int, ...], position: int, x: np.ndarray, attributes: Mapping[str, Any]
) -> np.ndarray:
    total = engine.all_reduce(group, "sum", x)
    return np.split(total, len(group), axis=attributes["dim"])[position].copy()


def _all_to_all(
    engine: Communicator, group: tuple[int, ...], position: int, x: np.ndarray, attributes: Mapping[str, Any]
) -> np.ndarray:
    parts = np.split(x, len(group), axis=attributes["split"])
    return np.concatenate(engine.all_to_all(group, parts), axis=attributes["concat"])


def _permute(
    engine: Communicator, group: tuple[int, ...], position: int, x: np.ndarray, attributes: Mapping[str, Any]
) -> np.ndarray:
    targets = dict(attributes["perm"])
    sources = {target: source for source, target in attributes["perm"]}
    received = engine.permute(group, x, targets.get(position), sources.get(position))
    return np.zeros_like(x) if received is None else received


EXCHANGES: Final[dict[str, Exchange]] = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "ppermute": _permute,
}
"""The exchange of each collective, by the name of its op."""
