"""Jobs that run elsewhere: programs for several ranks, built in a process that is none of them.

Input: a number of ranks. Output: a communicator that says how many there are, and of everything else that it
is known only where the program runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ...dialects.communicator import DistributedError, bind


class PlannedCommunicator:
    """The ranks of a job that is only built for; see `Communicator` for the methods."""

    overlaps = False
    has_own_process = True

    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def rank(self) -> int:
        """Not known here."""
        raise self._elsewhere()

    def all_reduce(self, group: tuple[int, ...], kind: str, x: np.ndarray) -> np.ndarray:
        raise self._elsewhere()

    def all_gather(self, group: tuple[int, ...], x: np.ndarray) -> Sequence[np.ndarray]:
        raise self._elsewhere()

    def all_to_all(self, group: tuple[int, ...], parts: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        raise self._elsewhere()

    def permute(
        self, group: tuple[int, ...], x: np.ndarray, target: int | None, source: int | None
    ) -> np.ndarray | None:
        raise self._elsewhere()

    def fail(self) -> None:
        """Nobody waits."""

    def _elsewhere(self) -> DistributedError:
        return DistributedError(
            f"a program for {self.size} ranks is only built here: no rank of it runs",
            hint=f"save it, and run it by mpirun -n {self.size} adze run FILE",
        )


@contextmanager
def planned(ranks: int) -> Iterator[None]:
    """Let meshes that are made in the block be of a job of `ranks` ranks, which runs elsewhere.

    What is traced there can be compiled and saved; a call raises `DistributedError`. `adze build --ranks N`
    is this.
    """
    if isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1:
        raise DistributedError(f"planned({ranks!r}): expected a number of ranks, 1 or more")
    before = bind(PlannedCommunicator(ranks))
    try:
        yield
    finally:
        bind(before)
