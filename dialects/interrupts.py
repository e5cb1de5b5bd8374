"""Ctrl-C in code that must not be left halfway, or that makes another error of it.

Input: a block of code. Output: the same, in which what the handler of SIGINT raises comes at the end, or
comes out as it is. Only the main thread runs handlers: in others the blocks are left alone.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeAlias

Handler: TypeAlias = Callable[[int, FrameType | None], Any]
Come: TypeAlias = Callable[[], None]
"""Lets an interrupt that waits come now."""

_ON_THE_WAY: Final = frozenset((__name__, "contextlib", "signal", "enum"))
"""The modules whose functions replace a handler and put it back."""


@contextmanager
def deferred_interrupts() -> Iterator[Come]:
    """Let a block run to its end first, but for the places where it calls what it is given.

    Extension modules that an interrupt leaves half imported abort the process when they are imported again.
    """
    pending: list[tuple[int, FrameType | None]] = []
    handler = _replaced(lambda handler: lambda *signalled: pending.append(signalled))

    def come() -> None:
        if handler is not None and pending:
            signalled = pending[0]
            pending.clear()
            handler(*signalled)

    try:
        yield come
    finally:
        _restore(handler)
        come()


@contextmanager
def kept_interrupts() -> Iterator[None]:
    """Let an interrupt leave a block as what the handler raises.

    Where MLIR calls Python, as in a walk, it makes a RuntimeError of it; callbacks of ctypes drop it.
    """
    with noted_interrupts() as raised:
        try:
            yield
        except BaseException as error:
            if raised and error is not raised[-1]:
                raise raised[-1] from error
            raise
    if raised:
        raise raised[-1]


@contextmanager
def noted_interrupts() -> Iterator[list[BaseException]]:
    """What the handler raises in a block, also where code that is called in between hides it.

    An interrupt on the way into the block or out of it waits until the handler is in its place again.
    """
    raised: list[BaseException] = []
    pending: list[tuple[int, FrameType | None]] = []

    def remembering(handler: Handler) -> Handler:
        def call(number: int, frame: FrameType | None) -> Any:
            if frame is not None and frame.f_globals.get("__name__") in _ON_THE_WAY:
                return pending.append((number, frame))
            try:
                return handler(number, frame)
            except BaseException as error:
                raised.append(error)
                raise

        return call

    handler = _replaced(remembering)
    try:
        yield raised
    finally:
        _restore(handler)
        if handler is not None and pending:
            handler(*pending[0])


def _replaced(change: Callable[[Handler], Handler]) -> Handler | None:
    """The handler of SIGINT, in whose place there is another one now; None where it stays."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        return None
    try:
        signal.signal(signal.SIGINT, change(handler))
    except ValueError:  # not in the main interpreter
        return None
    return handler


def _restore(handler: Handler | None) -> None:
    if handler is not None:
        signal.signal(signal.SIGINT, handler)
