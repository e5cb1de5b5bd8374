"""How many threads this process may use, to run programs and to compile them.

Input: the affinity mask and the setting `threads`. Output: counts.
"""

from __future__ import annotations

import os

from .settings import read_setting


def usable_cpus() -> int:
    """How many CPUs this process may run on: those of its affinity mask, where the system has one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count() -> int:
    """How many threads work at once: what ADZE_THREADS says, else one a usable CPU."""
    threads: int | None = read_setting("threads")
    return threads or usable_cpus()
