"""The job that this process or thread belongs to: its rank, and how many there are.

Input: the environment that an MPI launcher leaves, through mpi4py. Output: the rank and the number of ranks,
and the communicator that answers collectives.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from ...dialects.communicator import Communicator, DistributedError, bind_process, bound
from .programs import job_from

LAUNCHERS: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS")
"""Variables by which a process knows that a launcher of MPI started it."""


def initialize(*, overlap: bool | None = None) -> None:
    """Join the MPI job that this process was started in; the extra `mpi` has what it needs.

    `overlap` says whether arrays travel while a compiled program computes what does not need them: a thread
    of each rank sends and receives. By default where a rank has more than one core to itself, since waiting
    threads of MPI take all of theirs. It may be said at a second call.

    Raises `DistributedError` where mpi4py cannot be imported. A rank that ends by an exception ends the job.
    """
    communicator = bound()
    if communicator is None:
        communicator = _process()
        bind_process(communicator)
    if overlap is not None:
        communicator.overlaps = overlap


def _process() -> Communicator:
    try:
        from .mpi import process_communicator
    except ImportError as error:
        raise DistributedError(
            f"no MPI for a job of several processes: {error}",
            hint="pip install 'adze-compiler[mpi]', or use adze.distributed.run for threads",
        ) from error
    return process_communicator()


def process_index() -> int:
    """The rank of this process, or thread of `run`; 0 outside a job."""
    communicator = bound()
    return 0 if communicator is None else communicator.rank


def process_count() -> int:
    """The number of ranks of the job."""
    communicator = bound()
    return 1 if communicator is None else communicator.size


def is_launched() -> bool:
    """Whether a launcher of MPI started this process."""
    return any(name in os.environ for name in LAUNCHERS)


@contextmanager
def ending_together(extra: Mapping[str, Any]) -> Iterator[None]:
    """The block calls a program with this in its manifest: join the job that the program is for, if this
    process was started for one, and end the whole job where the block fails."""
    if job_from(extra) is not None and is_launched():
        initialize()
    try:
        yield
    except BaseException:
        communicator = bound()
        if communicator is not None:
            communicator.fail()
        raise
