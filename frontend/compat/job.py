"""Names of `jax.distributed` and its private module, by which clients ask whether a program is of a job."""

from __future__ import annotations

from typing import Any, Final

from ...dialects.communicator import bound
from .devices import process_count, process_index


class _State:
    """What JAX knows of a job. There is no service that its processes talk to: they are joined otherwise."""

    client: Any = None
    service: Any = None
    coordinator_address: str | None = None

    @property
    def process_id(self) -> int:
        """The number of this process."""
        return process_index()

    @property
    def num_processes(self) -> int:
        """How many processes the job has."""
        return process_count()


global_state: Final = _State()


def is_initialized() -> bool:
    """Whether this process has joined a job."""
    return bound() is not None


def shutdown() -> None:
    """Nothing: a process leaves its job when it ends."""


__all__ = ["global_state", "is_initialized", "shutdown"]
