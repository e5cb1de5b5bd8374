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
from ...dialects.communicator import DistributedError
from ...dialects.types import INT32, INT64, as_dtype
from ..errors import ArtifactError
from ..execute.host_calls import BYTES, INTEGER, HostSite
from .nccl import ID_BYTES, unique_id
from .queues import finish, in_turn, start

MODULE: Final = "adze_dist"
INDEX: Final = "mesh_index"
CHANNEL: Final = "channel"
"""What the names of channels between devices begin with (`passes/lower/hold_channels.py`)."""
CHANNEL_ID: Final = "channel_id"
CHANNEL_RANK: Final = "channel_rank"
"""What a program asks when it is loaded, to make a channel: NCCL's name of it, and which rank asks."""
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


def channel_group(mesh: tuple[int, ...], axis: int) -> str:
    """The name of the channel between the ranks along an axis of a mesh."""
    return f"{CHANNEL}.axis-{axis}.mesh-{_written(mesh)}"


def channel_imports(group: str) -> tuple[str, str, int]:
    """The functions that a program asks to make a channel, for NCCL's name of it and for the own rank in it,
    and how many ranks it has. `ValueError` for what names no channel."""
    name, *stated = group.split(".")
    attributes = {key: _parsed(key, value) for key, _, value in (entry.partition("-") for entry in stated)}
    if name != CHANNEL or set(attributes) != {"axis", "mesh"}:
        raise ValueError(f"{group!r} is no channel")
    mesh, axis = attributes["mesh"], attributes["axis"]
    return (*channel_names(mesh, axis), mesh[axis])


def channel_names(mesh: tuple[int, ...], axis: int) -> tuple[str, str]:
    """The functions that a program asks to make the channel of these ranks."""
    place = {"mesh": mesh, "axis": axis}
    return import_name(CHANNEL_ID, place, np.dtype(np.uint8), 1), import_name(CHANNEL_RANK, place, INT32, 0)


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
    if op == CHANNEL_ID:
        return (HostSite(name, lambda _: [_channel_id(mesh, axis)], (), 1, where, MODULE, BYTES),)
    if op == CHANNEL_RANK:
        rank = lambda _: [np.asarray(along(op, mesh, axis)[2], INT32)]  # noqa: E731
        return (HostSite(name, rank, (), 1, where, MODULE, INTEGER),)

    def exchange(x: np.ndarray) -> np.ndarray:
        return called(op, x, attributes)

    return (
        HostSite(name, lambda a: [in_turn(lambda: exchange(a[0]))], (dtype,), 1, where, MODULE),
        HostSite(f"{name}.{START}", lambda a: [start(lambda: exchange(a[0]))], (dtype,), 1, where, MODULE),
        HostSite(f"{name}.{FINISH}", lambda a: [finish(a[0])], (INT64,), 1, where, MODULE),
    )


def _channel_id(mesh: tuple[int, ...], axis: int) -> np.ndarray:
    """The name of a new communicator of NCCL between the ranks along an axis: made by the first of them."""
    engine, group, position = along(CHANNEL_ID, mesh, axis)
    assert engine is not None, "a channel of one rank"
    if not engine.has_own_process:
        raise DistributedError(
            "devices exchange arrays between processes, and the ranks are threads of this one",
            hint="start the ranks with adze launch or mpirun, or compile for cuda without +nccl",
        )
    mine = unique_id() if position == 0 else np.zeros(ID_BYTES, np.uint8)
    return engine.all_gather(group, mine)[0]


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
    if (
        op not in (*EXCHANGES, INDEX, CHANNEL_ID, CHANNEL_RANK)
        or min(mesh) < 1
        or not 0 <= attributes["axis"] < len(mesh)
    ):
        raise ValueError(name)
    return op, attributes, as_dtype(dtype_name)


def _parsed(key: str, value: str) -> Any:
    if key == "kind":
        return value
    numbers = tuple(int(n) for n in value.split("x")) if value != "none" else ()
    if key == "perm":
        return tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return numbers if key == "mesh" else numbers[0]
