"""The collector of cycles waits while passes run, and is then as it was."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import adze
from adze.dialects.collector import paused_collector
from adze.passes.base import Pass
from adze.passes.pipeline import run_pipeline

IN_A_CHILD = """
import gc, os
from adze.dialects.collector import paused_collector
with paused_collector():
    child = os.fork()
    if child == 0:
        was_on = gc.isenabled()
        with paused_collector():
            is_off = not gc.isenabled()
        os._exit(0 if was_on and is_off and gc.isenabled() else 1)
    assert not gc.isenabled()
assert os.waitpid(child, 0)[1] == 0 and gc.isenabled()
"""
"""In a process of its own: a worker of the tests may have threads that do not bear a fork."""


@pytest.fixture(autouse=True)
def collector_is_on() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_blocks_within_blocks() -> None:
    with paused_collector():
        with paused_collector():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_ends_a_block() -> None:
    with pytest.raises(ValueError, match="no"), paused_collector():
        raise ValueError("no")
    assert gc.isenabled()


def test_it_stays_off_for_who_turned_it_off() -> None:
    gc.disable()
    with paused_collector():
        pass
    assert not gc.isenabled()


def test_the_last_thread_turns_it_on() -> None:
    entered, leave = threading.Event(), threading.Event()

    def run() -> None:
        with paused_collector():
            entered.set()
            assert leave.wait(10)

    thread = threading.Thread(target=run)
    with paused_collector():
        thread.start()
        assert entered.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_none_of_the_blocks() -> None:
    subprocess.run([sys.executable, "-c", IN_A_CHILD], check=True)


def test_passes_run_without_it() -> None:
    seen: list[bool] = []

    class Looks(Pass):
        name = "looks"

        def run(self, module: object) -> bool:
            seen.append(gc.isenabled())
            return False

    run_pipeline(adze.trace(lambda x: x + 1, np.ones(3, np.float32)).program.module, [Looks()])
    assert seen == [False]
    assert gc.isenabled()
