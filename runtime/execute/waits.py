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
_LOOKS: Final = 8
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

    They are known by never sleeping after the statement: whenever one looks, they are on a CPU or wait for
    one. Python's own threads are not changed.
    """
    if not is_on_cpu or sys.platform != "linux":
        yield
        return
    before = _tasks()
    yield
    for task in restless_tasks() - before - {thread.native_id for thread in threading.enumerate()}:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, task, _LEFT_OVER)


def restless_tasks() -> set[int]:
    """The threads of this process that do not sleep for a hundredth of a second, by their numbers."""
    restless = {task for task in _tasks() if _is_awake(task)}
    for _ in range(_LOOKS):
        time.sleep(_WATCHED / _LOOKS)
        restless = {task for task in restless if _is_awake(task)}
    return restless


def _tasks() -> set[int]:
    """The threads of this process."""
    with contextlib.suppress(OSError):
        return {int(task) for task in os.listdir(_TASKS)}
    return set()


def _is_awake(task: int) -> bool:
    """Whether a thread is on a CPU or waits for one (state R of proc_pid_stat(5), behind the name)."""
    with contextlib.suppress(OSError), open(f"{_TASKS}/{task}/stat") as file:
        return file.read().rpartition(") ")[2].startswith("R")
    return False
