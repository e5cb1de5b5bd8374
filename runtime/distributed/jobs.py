"""The job that this process or thread belongs to: its rank, and how many there are.

Input: the environment that an MPI launcher leaves, through mpi4py. Output: the rank and the number of ranks,
and the communicator that answers collectives.
"""

from __future__ import annotations

from ...dialects.communicator import DistributedError, bind_process, bound


def initialize() -> None:
    """Join the MPI job that this process was started in; the extra `mpi` has what it needs.

    Raises `DistributedError` where mpi4py cannot be imported. A rank that ends by an exception ends the job.
    """
    if bound() is not None:
        return
    try:
        from .mpi import process_communicator
    except ImportError as error:
        raise DistributedError(
            f"no MPI for a job of several processes: {error}",
            hint="pip install 'adze-compiler[mpi]', or use adze.distributed.run for threads",
        ) from error
    bind_process(process_communicator())


def process_index() -> int:
    """The rank of this process, or thread of `run`; 0 outside a job."""
    communicator = bound()
    return 0 if communicator is None else communicator.rank


def process_count() -> int:
    """The number of ranks of the job."""
    communicator = bound()
    return 1 if communicator is None else communicator.size
