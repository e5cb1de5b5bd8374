"""How a thread waits for a pool of threads: it takes no CPU from them.

Input: IREE's `invoke`, which returns when the pool has finished. Output: the same under Linux's policy
SCHED_BATCH, of which sched(7) says that its threads preempt nobody when they wake.
Idea: IREE wakes the thread that waits before the thread that wakes it has finished its bookkeeping, and the
first spins until the second has. Where both share a CPU, and the first pushed the second off it, that takes
until the scheduler's next tick, some milliseconds (docs/iree_notes.md).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

Invoke = Callable[[Any, Any, Any], None]


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
