"""The policy of a thread that waits for the pool: it takes no CPU from the pool, and leaves no trace."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze.runtime.execute.waits import patient

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the policy SCHED_BATCH is Linux's")


def policies(device: str) -> tuple[int, int]:
    """The policies of a thread while a program asks the host for something, and behind its call."""
    seen: list[int] = []

    def note(x: np.ndarray) -> np.ndarray:
        seen.append(os.sched_getscheduler(0))
        return x

    def program(x: Any) -> Any:
        return adze.pure_callback(note, adze.ShapeDtypeStruct((3,), np.float32), x + 1)

    adze.jit(program, device=device)(np.zeros(3, np.float32))
    return seen[-1], os.sched_getscheduler(0)


def in_a_thread(work: Callable[[], Any]) -> Any:
    """What `work` gives in a thread of its own, whose policy ends with it."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def test_a_call_on_the_pool_waits_patiently() -> None:
    assert in_a_thread(lambda: policies("local-task")) == (os.SCHED_BATCH, os.SCHED_OTHER)


def test_a_call_on_its_own_thread_changes_nothing() -> None:
    assert in_a_thread(lambda: policies("local-sync")) == (os.SCHED_OTHER, os.SCHED_OTHER)


def test_a_policy_that_the_user_chose_stays() -> None:
    def batch() -> tuple[int, int]:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        return policies("local-task")

    assert in_a_thread(batch) == (os.SCHED_BATCH, os.SCHED_BATCH)


def test_a_call_that_fails_ends_the_policy() -> None:
    def failing(*arguments: Any) -> None:
        assert os.sched_getscheduler(0) == os.SCHED_BATCH
        raise ValueError("the program failed")

    def call() -> int:
        with pytest.raises(ValueError, match="the program failed"):
            patient(failing)(None, None, None)
        return os.sched_getscheduler(0)

    assert in_a_thread(call) == os.SCHED_OTHER


def test_a_system_that_refuses_the_policy_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    called: list[tuple[Any, ...]] = []
    monkeypatch.setattr(os, "sched_setscheduler", refused)
    patient(lambda *arguments: called.append(arguments))(1, 2, 3)
    assert called == [(1, 2, 3)]
