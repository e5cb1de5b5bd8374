"""Passes run without Python's collector of cycles.

Input: a block of code that makes many objects, all of which it still needs. Output: the same, in which the
collector does not look at them again and again, which took an eighth of lowering a large program. It is one
for all threads: the first block that is entered turns it off, the last one that is left turns it on again,
unless whoever uses adze had turned it off.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


class _Paused:
    """How many blocks run in all threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.blocks = 0
        self.was_on = False

    def enter(self) -> None:
        with self.lock:
            if self.blocks == 0:
                self.was_on = gc.isenabled()
                gc.disable()
            self.blocks += 1

    def leave(self) -> None:
        with self.lock:
            if self.blocks == 1 and self.was_on:
                gc.enable()
            self.blocks = max(self.blocks - 1, 0)  # a child that was forked in a block has left it

    def forget(self) -> None:
        """In a forked child: the threads whose blocks ran are not there."""
        self.lock = threading.Lock()
        if self.blocks and self.was_on:
            gc.enable()
        self.blocks = 0


_PAUSED: Final = _Paused()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_PAUSED.forget)


@contextmanager
def paused_collector() -> Iterator[None]:
    """Let the collector wait until the block ends."""
    _PAUSED.enter()
    try:
        yield
    finally:
        _PAUSED.leave()
