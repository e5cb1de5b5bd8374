"""Interludes of a trace: what runs while a function is traced and is no part of what is recorded.

Input: code that calls ops. Output: the same code outside the traces of this thread, which go on afterwards.

Idea: the stack of frames is put aside. `at_compile_time` remembers the frame it left, since an op on a value
of that frame has nothing to compute with and is recorded there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .frames import STACK, Frame, Tracer, current_frame


@contextmanager
def outside_traces() -> Iterator[None]:
    """Let what runs here be no part of what this thread traces: a function that a program calls."""
    frames, STACK.frames = STACK.frames, []
    try:
        yield
    finally:
        STACK.frames = frames


@contextmanager
def at_compile_time() -> Iterator[None]:
    """Compute at once, inside a trace, what is known: `jax.ensure_compile_time_eval`.

    An op on a traced value has no value yet, and is recorded as it is without this context.
    """
    suspended, STACK.suspended = STACK.suspended, current_frame() or STACK.suspended
    try:
        with outside_traces():
            yield
    finally:
        STACK.suspended = suspended


def suspended_frame() -> Frame | None:
    """The frame that ops on traced values are recorded in although none is current, or None."""
    return STACK.suspended


@contextmanager
def trace_of(values: Iterable[Any]) -> Iterator[None]:
    """Go on, inside `at_compile_time`, with the trace that it left, if one of the values is traced there."""
    frame = STACK.suspended
    resumed = frame is not None and not STACK.frames and any(isinstance(v, Tracer) for v in values)
    if resumed and frame is not None:
        STACK.frames = [frame]
    try:
        yield
    finally:
        if resumed:
            STACK.frames = []
