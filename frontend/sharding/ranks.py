"""Ranks as programs written for JAX see them: devices with numbers.

Input: the number of a rank. Output: an object that is equal to the number and has what JAX says of a device.
Idea: adze numbers ranks where JAX lists devices, so that one object is both.
"""

from __future__ import annotations

from functools import total_ordering
from typing import Final

import numpy as np

from ...dialects.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Client:
    """What devices of JAX belong to; programs ask it which runtime it is."""

    platform: str = "cpu"
    runtime_type: str = "iree"


@dataclass(frozen=True, slots=True)
class Memory:
    """A kind of memory that arrays of a device may lie in."""

    kind: str = "device"


_CLIENT: Final = Client()
_MEMORY: Final = Memory()


@total_ordering
@dataclass(frozen=True, eq=False, slots=True)
class Rank:
    """The rank of this number, which programs written for JAX take for a device of a CPU."""

    id: int

    @property
    def platform(self) -> str:
        """`cpu`: ranks hold arrays in the memory of a process."""
        return "cpu"

    @property
    def client(self) -> Client:
        """The one of all ranks."""
        return _CLIENT

    @property
    def device_kind(self) -> str:
        """The same: a rank is no machine of its own."""
        return self.platform

    @property
    def process_index(self) -> int:
        """The process that it is: the only one, or that of its number in a job."""
        from ...dialects.communicator import bound

        return 0 if bound() is None else self.id

    @property
    def host_id(self) -> int:
        """Another name of `process_index`."""
        return self.process_index

    @property
    def local_hardware_id(self) -> int:
        """Which of its process's ranks it is."""
        return self.id - self.process_index

    def default_memory(self) -> Memory:
        """The memory of the process."""
        return _MEMORY

    def addressable_memories(self) -> list[Memory]:
        """That one alone."""
        return [_MEMORY]

    def memory_stats(self) -> None:
        """None: nobody counts the bytes of a rank."""

    def __index__(self) -> int:
        return self.id

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Rank, int, np.integer)):
            return self.id == int(other)
        return NotImplemented

    def __lt__(self, other: object) -> bool:
        if isinstance(other, (Rank, int, np.integer)):
            return self.id < int(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"CpuDevice(id={self.id})"

    def __str__(self) -> str:
        return f"cpu:{self.id}"


def device_of_jax() -> Rank:
    """The device on which an array that is not divided lies, in the memory of a CPU."""
    from ...dialects.communicator import bound

    communicator = bound()
    return Rank(0 if communicator is None else communicator.rank)
