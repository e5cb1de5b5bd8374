"""The engine of one process: each rank is a thread, and arrays are exchanged in memory.

Input: a function and a number of ranks. Output: what it returned in each. Idea: the members of a group meet
at a barrier before and after each exchange. A rank that raises breaks every barrier, so that no other waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...dialects.communicator import DistributedError, bind
from .reductions import reduced

_TIMEOUT: Final = 300.0
"""Seconds that a rank waits for the others of its group."""


class _Group:
    """Where the members of one group meet."""

    def __init__(self, size: int) -> None:
        self.slots: list[Any] = [None] * size
        self.barrier = threading.Barrier(size)


class _World:
    """The ranks of one run."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.failed: int | None = None
        self._groups: dict[tuple[int, ...], _Group] = {}
        self._lock = threading.Lock()

    def group(self, ranks: tuple[int, ...]) -> _Group:
        """The meeting place of these ranks."""
        with self._lock:
            if ranks not in self._groups:
                self._groups[ranks] = _Group(len(ranks))
                if self.failed is not None:
                    self._groups[ranks].barrier.abort()
            return self._groups[ranks]

    def fail(self, rank: int) -> None:
        """Let nobody wait for a rank that is gone."""
        with self._lock:
            if self.failed is None:
                self.failed = rank
            for group in self._groups.values():
                group.barrier.abort()


class ThreadCommunicator:
    """One rank of a run of threads; see `Communicator` for the methods."""

    overlaps = True
    has_own_process = False

    def __init__(self, world: _World, rank: int) -> None:
        self._world = world
        self.rank = rank
        self.size = world.size

    def _exchange(self, ranks: tuple[int, ...], mine: Any) -> list[Any]:
        """What every member of the group puts there."""
        group = self._world.group(ranks)
        try:
            group.barrier.wait(_TIMEOUT)  # the slots of the exchange before are no longer needed
            group.slots[ranks.index(self.rank)] = mine
            group.barrier.wait(_TIMEOUT)
            shared = list(group.slots)
            group.barrier.wait(_TIMEOUT)
        except threading.BrokenBarrierError:
            failed = self._world.failed
            why = f"rank {failed} is gone" if failed is not None else f"no answer in {_TIMEOUT:.0f} s"
            raise DistributedError(
                f"rank {self.rank} waits for the ranks {list(ranks)}: {why}",
                hint="every rank must run the same collectives in the same order",
            ) from None
        return shared

    def _same(self, what: tuple[Any, ...], shared: Sequence[tuple[Any, Any]]) -> list[Any]:
        """The arrays of all, who must have asked for the same."""
        for position, (other, _) in enumerate(shared):
            if other != what:
                raise DistributedError(
                    f"ranks run different collectives: rank {self.rank} {what}, member {position} {other}",
                    hint="every rank must run the same program",
                )
        return [value for _, value in shared]

    def all_reduce(self, group: tuple[int, ...], kind: str, x: np.ndarray) -> np.ndarray:
        what = ("all_reduce", kind, x.shape, x.dtype.name)
        return reduced(kind, self._same(what, self._exchange(group, (what, x))))

    def all_gather(self, group: tuple[int, ...], x: np.ndarray) -> Sequence[np.ndarray]:
        what = ("all_gather", x.shape, x.dtype.name)
        return [a.copy() for a in self._same(what, self._exchange(group, (what, x.copy())))]

    def all_to_all(self, group: tuple[int, ...], parts: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        what = ("all_to_all", parts[0].shape, parts[0].dtype.name)
        position = group.index(self.rank)
        sent = (what, [p.copy() for p in parts])
        return [theirs[position] for theirs in self._same(what, self._exchange(group, sent))]

    def permute(
        self, group: tuple[int, ...], x: np.ndarray, target: int | None, source: int | None
    ) -> np.ndarray | None:
        what = ("ppermute", x.shape, x.dtype.name)
        everyone = self._same(what, self._exchange(group, (what, x.copy())))
        return None if source is None else np.array(everyone[source])

    def fail(self) -> None:
        self._world.fail(self.rank)


def run(function: Callable[[], Any], ranks: int) -> list[Any]:
    """Call `function` in `ranks` threads, each a rank of one program; what each returned, in order.

    Inside, `adze.make_mesh` arranges these ranks, and `adze.distributed.process_index()` says which one
    runs. Raises what the first rank that failed raised.
    """
    world = _World(ranks)
    results: list[Any] = [None] * ranks
    errors: list[tuple[int, BaseException]] = []

    def main(rank: int) -> None:
        before = bind(ThreadCommunicator(world, rank))
        try:
            results[rank] = function()
        except BaseException as error:
            errors.append((rank, error))
            world.fail(rank)
        finally:
            bind(before)

    threads = [threading.Thread(target=main, args=(i,), name=f"rank {i}") for i in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        rank, error = errors[0]
        error.add_note(f"in rank {rank} of {ranks}")
        raise error
    return results
