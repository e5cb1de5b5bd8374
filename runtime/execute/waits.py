"""How threads wait for others: they take no CPU from them.

Input: IREE's `invoke`, which returns when the pool has finished. Output: the same under Linux's policy
SCHED_BATCH, of which sched(7) says that its threads preempt nobody when they wake.
Idea: IREE wakes the thread that waits before the thread that wakes it has finished its bookkeeping, and the
first spins until the second has. Where both share a CPU, and the first pushed the second off it, that takes
until the scheduler's next tick, some milliseconds (docs/iree_notes.md). Mesa's lavapipe, which runs Vulkan
on the CPU, has two threads of each device ask without a pause whether there is something to do: they get
what other threads leave.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Final

Invoke = Callable[[Any, Any, Any], None]

_LEFT_OVER: Final = 10
"""The niceness of threads that ask without a pause: a tenth of the CPU of a thread that works beside them."""
_WATCHED: Final = 0.01  # seconds
_TASKS: Final = "/proc/self/task"


def patient(invoke: Invoke) -> Invoke:
    """`invoke` for the calling thread's policy SCHED_BATCH, which ends with the call.

    A thread whose policy the user has chosen keeps it, and so do all threads where the system has no such
    policy or refuses it.
    """
    if sys.platform != "linux":
        return invoke
    usual = os.sched_param(0)

    def invoke_patiently(function: Any, inputs: Any, results: Any) -> None:
        if os.sched_getscheduler(0) != os.SCHED_OTHER:
            return invoke(function, inputs, results)
        try:
            os.sched_setscheduler(0, os.SCHED_BATCH, usual)
        except OSError:
            return invoke(function, inputs, results)
        try:
            return invoke(function, inputs, results)
        finally:
            os.sched_setscheduler(0, os.SCHED_OTHER, usual)

    return invoke_patiently


class DeviceLock:
    """What a thread holds while a program of its runs on a device that runs one at a time.

    The thread may take it again, as a Python function does that a program calls and that runs another one.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = 0  # how often its holder has taken it

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1

    def __exit__(self, *exception: object) -> None:
        self._depth -= 1
        self._lock.release()

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """Let other threads have the lock, which the calling thread holds, until the statement has ended."""
        depth, self._depth = self._depth, 0
        for _ in range(depth):
            self._lock.release()
        try:
            yield
        finally:
            self._take(depth)

    def _take(self, depth: int) -> None:
        """Take the lock `depth` times, also where Ctrl-C ends the wait for it: the program still runs."""
        interrupt = None
        while depth:  # others have changed `_depth` until this thread holds the lock
            try:
                self._lock.acquire()
                depth, self._depth = depth - 1, self._depth + 1
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt


class NoLock:
    """As `DeviceLock`, of a device that runs programs side by side."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass

    def released(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()


def locked(invoke: Invoke, lock: DeviceLock | NoLock) -> Invoke:
    """`invoke` for a thread that holds `lock` until the call has ended."""

    def invoke_locked(function: Any, inputs: Any, results: Any) -> None:
        with lock:
            return invoke(function, inputs, results)

    return invoke_locked


@contextlib.contextmanager
def nice_waiting(is_on_cpu: bool) -> Iterator[None]:
    """Make threads that begin in the statement and ask without a pause nice, if `is_on_cpu`, on Linux.

    They are known by their being on a CPU, or waiting for one, all the time after the statement. Python's
    own threads are not changed.
    """
    before = _busy_seconds() if is_on_cpu and sys.platform == "linux" else None
    yield
    if before is None:
        return
    began = {task: busy for task, busy in _busy_seconds().items() if task not in before}
    time.sleep(_WATCHED)
    own = {thread.native_id for thread in threading.enumerate()}
    for task, busy in _busy_seconds().items():
        if task not in own and busy - began.get(task, busy) > _WATCHED / 2:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, task, _LEFT_OVER)


def _busy_seconds() -> dict[int, float]:
    """The seconds that each thread of this process was on a CPU or waited for one."""
    busy: dict[int, float] = {}
    with contextlib.suppress(OSError):
        for task in os.listdir(_TASKS):
            with contextlib.suppress(OSError, ValueError), open(f"{_TASKS}/{task}/schedstat") as file:
                running, waiting, _ = file.read().split()
                busy[int(task)] = (int(running) + int(waiting)) / 1e9
    return busy
