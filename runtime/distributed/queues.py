"""Collectives under way: each rank has a thread that exchanges arrays while its program computes.

Input: the exchanges of a program, in its order. Output: their results, when they are asked for. Idea: one
thread a communicator, so that the exchanges of a rank happen in the order in which they were started, as on
every other rank; what runs in the thread of the program itself waits for its turn.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np

from ...dialects.communicator import Communicator, bind, bound

Exchange = Callable[[], np.ndarray]


class _Queue:
    """The exchanges of one rank."""

    def __init__(self, communicator: Communicator) -> None:
        self._thread = ThreadPoolExecutor(
            1, f"rank {communicator.rank}", initializer=_bind, initargs=(weakref.ref(communicator),)
        )
        self._numbers = itertools.count()
        self._started: dict[int, Future[np.ndarray]] = {}
        self._last: Future[np.ndarray] | None = None

    def start(self, exchange: Exchange) -> int:
        number = next(self._numbers)
        self._last = self._started[number] = self._thread.submit(exchange)
        return number

    def make(self, exchange: Exchange) -> int:
        """Exchange at once, in this thread."""
        done: Future[np.ndarray] = Future()
        done.set_result(self.in_turn(exchange))
        number = next(self._numbers)
        self._started[number] = done
        return number

    def finish(self, number: int) -> np.ndarray:
        return self._started.pop(number).result()

    def in_turn(self, exchange: Exchange) -> np.ndarray:
        if self._last is None or self._last.done():
            return exchange()
        return self.finish(self.start(exchange))


_queues: Final[weakref.WeakKeyDictionary[Communicator, _Queue]] = weakref.WeakKeyDictionary()


def _bind(communicator: weakref.ref[Communicator]) -> None:
    bind(communicator())


def _queue() -> _Queue | None:
    communicator = bound()
    if communicator is None:
        return None
    queue = _queues.get(communicator)
    if queue is None:
        queue = _queues.setdefault(communicator, _Queue(communicator))
    return queue


def start(exchange: Exchange) -> np.ndarray:
    """Let the thread of this rank exchange arrays, or do so at once where the communicator does not overlap;
    the number to ask for the result by."""
    communicator, queue = bound(), _queue()
    if communicator is None or queue is None:
        exchange()  # says that the program is for several ranks
        raise AssertionError("a collective of one rank")
    return np.asarray((queue.start if communicator.overlaps else queue.make)(exchange), np.int64)


def finish(number: np.ndarray) -> np.ndarray:
    """The result of what was started, when it is there; raises what the exchange raised."""
    queue = _queue()
    assert queue is not None
    return queue.finish(int(number))


def in_turn(exchange: Exchange) -> np.ndarray:
    """The result of an exchange in the thread that asks, behind those that were started before."""
    queue = _queue()
    return exchange() if queue is None else queue.in_turn(exchange)
