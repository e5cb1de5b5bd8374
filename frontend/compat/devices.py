"""What programs written for JAX ask about devices: the ranks of this process, or of the job, are theirs.

Input: `jax_num_cpu_devices`, or the variables by which JAX is told how many devices a CPU shall have. Output:
ranks by their numbers. Idea: all local ranks are computed by one program, so that a process has as many as it
asks for.
"""

from __future__ import annotations

import os
import re
from typing import Any

from ...dialects.communicator import bound
from ...runtime.errors import DeviceError
from ...runtime.execute.devices import DeviceInfo, DeviceKind
from ..sharding.ranks import Rank
from ..staging.jax_settings import config as settings
from ..staging.machine import devices as devices_of_machine
from ..tracing.locations import user_location_text

_FLAG = re.compile(r"--xla_force_host_platform_device_count=(\d+)")


def local_rank_count() -> int:
    """How many devices a program written for JAX finds on the CPU: what it asked for, or 1."""
    asked = settings.jax_num_cpu_devices
    if asked is None or asked < 1:
        asked = os.environ.get("JAX_NUM_CPU_DEVICES") or 0
    if not int(asked):
        flags = _FLAG.findall(os.environ.get("XLA_FLAGS", ""))
        asked = flags[-1] if flags else 1
    return max(int(asked), 1)


def devices(backend: str | None = None) -> list[Any]:
    """The ranks of the job, or of this process; `backend` may name the devices of another kind.

    Raises `DeviceError` for a kind of which this machine has none.
    """
    if backend in (None, "cpu"):
        communicator = bound()
        size = 1 if communicator is None else communicator.size
        return [Rank(n) for n in range(local_rank_count() if size == 1 else size)]
    found = of_kind(backend)
    if not found:
        raise DeviceError(
            f"unknown backend {backend!r}: this machine has no such device",
            where=user_location_text(),
            hint="adze.devices() lists those that it has",
        )
    return found


def of_kind(backend: str | None) -> list[DeviceInfo]:
    """The devices of this machine of one kind; JAX's `gpu` are those of CUDA."""
    kind = {"gpu": "cuda"}.get(str(backend), backend)
    return [d for d in devices_of_machine() if d.kind.value == kind and d.kind is not DeviceKind.CPU]


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """The devices of this process, or of another one of the job."""
    del host_id
    everything = devices(backend)
    communicator = bound()
    if communicator is None or communicator.size == 1 or backend not in (None, "cpu"):
        return everything
    return [everything[communicator.rank if process_index is None else process_index]]


def device_count(backend: str | None = None) -> int:
    """How many `devices` there are."""
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """How many `local_devices` there are."""
    return len(local_devices(backend=backend))


def process_count(backend: str | None = None) -> int:
    """The number of processes of the job."""
    communicator = bound()
    return 1 if communicator is None else int(communicator.size)


def process_index(backend: str | None = None) -> int:
    """The number of this process in the job."""
    communicator = bound()
    return 0 if communicator is None else int(communicator.rank)


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of the processes."""
    return list(range(process_count()))


host_id, host_count, host_ids = process_index, process_count, process_indices
