"""Forks wait while another thread imports adze or IREE.

Input: a fork. Output: a child in which every module is either whole or not there.

A child has none of its parent's other threads. A module that one of these was importing would be half there
(`linalg.fill` without `outs`), and the child's own import would wait for a lock that no thread holds. Much is
imported late, by the thread that first needs it: the bindings at the first trace, the compiler at the first
compile.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from types import FrameType
from typing import Final

LONGEST: Final = 30.0
"""Seconds: a fork goes on where an import takes longer, which may itself wait for the thread that forks."""
_STEP: Final = 0.002


@functools.cache
def let_forks_wait() -> None:
    """Let the forks of this process wait from now on.

    What is registered last is called first: `logging` and `concurrent.futures`, which the imports use, lock
    themselves at a fork too, and must not have done so yet. Nor may another thread import them first while a
    fork waits: Python would then call their unlocking after the fork without their locking before it.
    """
    import concurrent.futures.thread  # noqa: F401
    import logging  # noqa: F401

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_wait)


def _wait() -> None:
    last = time.monotonic() + LONGEST
    while _others_import() and time.monotonic() < last:
        time.sleep(_STEP)


def _others_import() -> bool:
    own = threading.get_ident()
    return any(_imports(frame) for thread, frame in sys._current_frames().items() if thread != own)


def _imports(innermost: FrameType) -> bool:
    """Whether a thread imports a module of ours, or another one for us: what its stack says."""
    frame: FrameType | None = innermost
    is_importing = False
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            is_importing = True
            if frame.f_code.co_name == "_find_and_load" and _is_ours(frame.f_locals.get("name")):
                return True
        elif is_importing and _is_ours(frame.f_globals.get("__name__")):
            return True
        frame = frame.f_back
    return False


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in ("adze", "iree")
