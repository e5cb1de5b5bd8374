"""Ctrl-C comes at the end of blocks that must not be left halfway, and comes out of others as it is."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import adze
from adze.dialects import mlir
from adze.dialects.interrupts import deferred_interrupts, kept_interrupts
from adze.frontend.staging import lowering, traced
from adze.runtime.compile.cache import CompileCache

X = np.ones(3, np.float32)


@pytest.fixture(autouse=True)
def pythons_handler() -> Iterator[None]:
    """The handler that raises KeyboardInterrupt, which every test leaves where it was."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def press(*_: Any) -> Any:
    """What Ctrl-C does."""
    signal.raise_signal(signal.SIGINT)


def press_and_hide(*_: Any, **__: Any) -> Any:
    """As where code that Python's C API calls is interrupted."""
    try:
        press()
    except KeyboardInterrupt as error:
        raise RuntimeError("Exception raised in callback") from error


def test_a_block_ends_first() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), deferred_interrupts():
        press()
        press()
        done.append(1)
    assert done == [1]


def test_a_block_lets_it_come_where_that_is_safe() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), deferred_interrupts() as come:
        come()
        press()
        done.append(1)
        come()
        done.append(2)
    assert done == [1]


def test_an_error_of_the_block_stays_the_reason() -> None:
    with pytest.raises(KeyboardInterrupt) as caught, deferred_interrupts():
        press()
        raise ValueError("half")
    assert isinstance(caught.value.__context__, ValueError)


def test_a_walk_of_mlir_makes_another_error_of_it() -> None:
    """Without `kept_interrupts`: when this fails, walks need it no longer."""
    with mlir.new_context(is_light=True):
        module = mlir.ir.Module.parse("func.func @f() { return }")
        with pytest.raises(RuntimeError, match="Exception raised in callback"):
            module.operation.walk(press)
        with pytest.raises(KeyboardInterrupt), kept_interrupts():
            module.operation.walk(press)


def test_an_interrupt_that_was_dropped() -> None:
    with pytest.raises(KeyboardInterrupt), kept_interrupts(), pytest.raises(KeyboardInterrupt):
        press()
    with pytest.raises(ValueError, match="no interrupt"), kept_interrupts():
        raise ValueError("no interrupt")


def test_wherever_it_comes_the_handler_is_put_back() -> None:
    """Python calls handlers where functions begin and where those of C have returned: each such place."""
    place, is_over = 0, False
    while not is_over:
        place += 1
        left = place

        def profile(frame: Any, event: str, _: object) -> None:
            nonlocal left
            left -= event in ("call", "c_return")
            if left == 0:
                sys.setprofile(None)
                signal.getsignal(signal.SIGINT)(signal.SIGINT, frame)  # type: ignore[misc,operator]

        with pytest.raises((KeyboardInterrupt, StopIteration)):
            try:
                sys.setprofile(profile)
                with kept_interrupts():
                    max(1, 2)
            finally:
                sys.setprofile(None)
            assert left > 0, f"lost at place {place}"
            is_over = True
            raise StopIteration
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, f"place {place}"
    assert place > 20


@pytest.mark.parametrize("block", [deferred_interrupts, kept_interrupts])
def test_other_threads_and_other_handlers_are_left_alone(block: Any) -> None:
    seen: list[Any] = []

    def use() -> None:
        context: AbstractContextManager[object] = block()
        with context:
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    use()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert seen == [signal.default_int_handler, signal.SIG_IGN]


def test_lowering_and_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = adze.trace(lambda x: x + 1, X).lower()
    for step in ("localized", "run_pipeline"):
        with monkeypatch.context() as patch:
            patch.setattr(lowering, step, press_and_hide)
            with pytest.raises(KeyboardInterrupt):
                adze.trace(lambda x: x + 2, X).lower()
    with monkeypatch.context() as patch:
        patch.setattr(CompileCache, "get_or_compile", press_and_hide)
        with pytest.raises(KeyboardInterrupt):
            lowered.compile()
    assert lowered.compile()(X).tolist() == [2, 2, 2]


def test_a_look_at_what_a_program_does(monkeypatch: pytest.MonkeyPatch) -> None:
    program = adze.trace(lambda x: x + 1, X)
    with monkeypatch.context() as patch:
        patch.setattr(traced, "BY_NAME", SimpleNamespace(get=press))
        with pytest.raises(KeyboardInterrupt):
            program.does_anything()
    assert program.does_anything()
