"""The engine of MPI: each rank is a process, and mpi4py carries the arrays.

Input: the job that a launcher started. Output: the communicator of this process. Idea: a group gets its MPI
communicator when it first meets, made by its members alone. Arrays travel as bytes; sums of dtypes that MPI
knows are MPI's, the others are added here in the order of the ranks. Before each collective the members of
the group compare what they are about to do, in 16 bytes: MPI would wait for ever, or add other numbers.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import sys
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final

import numpy as np
from mpi4py import MPI

from ...dialects.communicator import DistributedError
from .reductions import reduced

_HIDDEN: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Variables by which IREE would look for libmpi.so by itself, and open no device."""

_BY_MPI: Final = frozenset("bhilqBHILQfdFD")
"""The dtypes, by their character, whose sums are MPI's."""


class MpiCommunicator:
    """The rank of this process; see `Communicator` for the methods."""

    has_own_process = True

    def __init__(self, world: Any) -> None:
        self._world = world
        self.overlaps = _cores(world) > 1
        self.rank: int = world.Get_rank()
        self.size: int = world.Get_size()
        self._groups: dict[tuple[int, ...], Any] = {}

    def _group(self, ranks: tuple[int, ...], *what: object) -> Any:
        """The MPI communicator of these ranks, which all are about to do the same."""
        if ranks not in self._groups:
            members = self._world.Get_group().Incl(list(ranks))
            self._groups[ranks] = self._world.Create_group(members)
        group = self._groups[ranks]
        mine = np.frombuffer(hashlib.blake2b(repr(what).encode(), digest_size=16).digest(), np.uint8)
        every = np.empty((len(ranks), mine.size), np.uint8)
        group.Allgather(mine, every)
        others = [rank for rank, theirs in zip(ranks, every, strict=True) if (theirs != mine).any()]
        if others:
            raise DistributedError(
                f"ranks run different collectives: rank {self.rank} {what}, the ranks {others} others",
                hint="every rank must run the same program",
            )
        return group

    def all_reduce(self, group: tuple[int, ...], kind: str, x: np.ndarray) -> np.ndarray:
        if x.dtype.char not in _BY_MPI or (kind != "sum" and x.dtype.kind in "fc"):
            return reduced(kind, self.all_gather(group, x))  # halves, and maxima in which NaN stays NaN
        total = np.empty_like(x, order="C")
        op = {"sum": MPI.SUM, "max": MPI.MAX, "min": MPI.MIN}[kind]
        ranks = self._group(group, "all_reduce", kind, x.shape, x.dtype.name)
        ranks.Allreduce(np.ascontiguousarray(x), total, op)
        return total

    def all_gather(self, group: tuple[int, ...], x: np.ndarray) -> Sequence[np.ndarray]:
        every = np.empty((len(group), x.nbytes), np.uint8)
        self._group(group, "all_gather", x.shape, x.dtype.name).Allgather(_bytes(x), every)
        return [_array(row, x.shape, x.dtype) for row in every]

    def all_to_all(self, group: tuple[int, ...], parts: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        sent = np.stack([_bytes(part) for part in parts])
        received = np.empty_like(sent)
        self._group(group, "all_to_all", parts[0].shape, parts[0].dtype.name).Alltoall(sent, received)
        return [_array(row, parts[0].shape, parts[0].dtype) for row in received]

    def permute(
        self, group: tuple[int, ...], x: np.ndarray, target: int | None, source: int | None
    ) -> np.ndarray | None:
        received = np.empty(x.nbytes, np.uint8)
        self._group(group, "ppermute", x.shape, x.dtype.name).Sendrecv(
            _bytes(x),
            MPI.PROC_NULL if target is None else target,
            recvbuf=received,
            source=MPI.PROC_NULL if source is None else source,
        )
        return None if source is None else _array(received, x.shape, x.dtype)

    def fail(self) -> None:
        """End the job when this process ends, after its last message; MPI would wait for the other ranks."""
        atexit.register(self._world.Abort, 1)


def _cores(world: Any) -> int:
    """The cores that this rank has to itself. MPI's threads do not sleep while they wait: with one core, a
    thread that exchanges arrays takes it from the one that computes."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores < (os.cpu_count() or 1):
        return cores  # the launcher gave each rank its own
    return cores // int(world.Split_type(MPI.COMM_TYPE_SHARED).Get_size())


def _bytes(x: np.ndarray) -> np.ndarray:
    return np.frombuffer(x.tobytes(), np.uint8)


def _array(data: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.frombuffer(data.tobytes(), dtype).reshape(shape).copy()


def process_communicator() -> MpiCommunicator:
    """The communicator of this process; from now on an exception that ends it ends the whole job."""
    for name in _HIDDEN:
        os.environ.pop(name, None)
    world = MPI.COMM_WORLD
    communicator = MpiCommunicator(world.Dup())
    if world.Get_size() > 1:
        sys.excepthook = _ending_the_job(communicator.rank)
    return communicator


def _ending_the_job(rank: int) -> Any:
    def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        lines = "".join(traceback.format_exception(kind, error, where))
        sys.stderr.write(f"rank {rank} ends the job:\n{lines}")
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)

    return hook
