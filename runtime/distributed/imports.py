"""The functions that a compiled program imports for its collectives.

Input: the name of an import. Output: the `HostSite` that answers it, and those of its halves. Idea: the name
is the whole site (`all_reduce.axis-0.kind-sum.mesh-2x4.float32.2d`), so that a file needs no table, all
ranks run the same bytes, and a program that was loaded needs no compiler.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ...dialects.collective_calls import EXCHANGES, along, called
from ...dialects.types import INT32, INT64, as_dtype
from ..errors import ArtifactError
from ..execute.host_calls import HostSite
from .queues import finish, in_turn, start

MODULE: Final = "adze_dist"
INDEX: Final = "mesh_index"
START: Final = "start"
FINISH: Final = "finish"
"""What follows the name of a collective in those of its halves (`passes/lower/overlap_collectives.py`)."""
_LEFT_OUT: Final = ("axis_name", "is_invariant")


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return "x".join(map(_written, value)) or "none"
    return str(value)


def import_name(op: str, attributes: Mapping[str, Any], dtype: np.dtype, rank: int) -> str:
    """The name of the function that computes a collective of arrays of a dtype and a number of axes."""
    stated = sorted((n, v) for n, v in attributes.items() if n not in _LEFT_OUT)
    return ".".join([op, *(f"{n}-{_written(v)}" for n, v in stated), dtype.name, f"{rank}d"])


def sites_of(name: str, where: str | None = None) -> tuple[HostSite, ...]:
    """The function of that name and its halves, as the runtime calls them; `ArtifactError` for what no
    compile writes."""
    try:
        op, attributes, dtype = _taken_apart(name)
    except (ValueError, KeyError, TypeError):
        raise ArtifactError(f"its collective {name!r} is none that this adze knows") from None
    mesh, axis = attributes["mesh"], attributes["axis"]
    if op == INDEX:
        index = lambda _: [np.asarray(along(op, mesh, axis)[2], INT32)]  # noqa: E731
        return (HostSite(name, index, (), 1, where, MODULE),)

    def exchange(x: np.ndarray) -> np.ndarray:
        return called(op, x, attributes)

    return (
        HostSite(name, lambda a: [in_turn(lambda: exchange(a[0]))], (dtype,), 1, where, MODULE),
        HostSite(f"{name}.{START}", lambda a: [start(lambda: exchange(a[0]))], (dtype,), 1, where, MODULE),
        HostSite(f"{name}.{FINISH}", lambda a: [finish(a[0])], (INT64,), 1, where, MODULE),
    )


def ranks_of(name: str) -> int:
    """The number of ranks of the mesh of a collective, by the name of its import."""
    return math.prod(_taken_apart(name)[1]["mesh"])


def _taken_apart(name: str) -> tuple[str, dict[str, Any], np.dtype]:
    op, *stated, dtype_name, _ = name.split(".")
    attributes: dict[str, Any] = {}
    for entry in stated:
        key, _, value = entry.partition("-")
        attributes[key] = _parsed(key, value)
    mesh = attributes["mesh"]
    if op not in (*EXCHANGES, INDEX) or min(mesh) < 1 or not 0 <= attributes["axis"] < len(mesh):
        raise ValueError(name)
    return op, attributes, as_dtype(dtype_name)


def _parsed(key: str, value: str) -> Any:
    if key == "kind":
        return value
    numbers = tuple(int(n) for n in value.split("x")) if value != "none" else ()
    if key == "perm":
        return tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return numbers if key == "mesh" else numbers[0]
