"""The policy of a thread that waits for the pool: it takes no CPU from the pool, and leaves no trace."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze.runtime.execute import waits
from adze.runtime.execute.waits import DeviceLock, patient

from ...gpu.drivers import needs_vulkan

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


FOREIGN = """
import ctypes, os, threading
from adze.runtime.execute.waits import nice_waiting

libc = ctypes.CDLL(None)
tasks, end = [], threading.Event()

@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def foreign(_):
    tasks.append(threading.get_native_id())
    while not end.is_set():
        sum(range(1000))

def own():
    tasks.append(threading.get_native_id())
    while not end.is_set():
        sum(range(1000))

def begin(work, is_on_cpu):
    with nice_waiting(is_on_cpu):
        work()
        while not tasks:
            pass
    niceness = os.getpriority(os.PRIO_PROCESS, tasks.pop())
    end.set()
    return niceness

def run_foreign():
    thread = ctypes.c_ulong()
    assert libc.pthread_create(ctypes.byref(thread), None, foreign, None) == 0

base = os.getpriority(os.PRIO_PROCESS, 0)
found = [begin(run_foreign, True) - base]
end.clear()
found.append(begin(run_foreign, False) - base)
end.clear()
found.append(begin(threading.Thread(target=own, daemon=True).start, True) - base)
found.append(os.getpriority(os.PRIO_PROCESS, 0) - base)
print(found)
"""


def test_threads_of_others_that_ask_without_a_pause_are_nice() -> None:
    """Not those of Python, nor where the device is no CPU; in a process of its own, whose niceness may be any
    up to 9."""
    done = subprocess.run([sys.executable, "-c", FOREIGN], capture_output=True, text=True, timeout=60)
    niced, *others = ast.literal_eval(done.stdout)
    assert niced > 0 and others == [0, 0, 0], done.stderr


def test_threads_cannot_be_listed_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "_TASKS", "/nowhere")
    with waits.nice_waiting(True):
        pass


@pytest.mark.vulkan
@needs_vulkan
def test_no_thread_of_lavapipe_takes_a_cpu_from_others() -> None:
    code = """
import os, threading
import adze
from adze.runtime.execute.waits import restless_tasks
before = restless_tasks()
adze.jit(lambda x: x + 1, device="vulkan:0")(1.0)
own = {thread.native_id for thread in threading.enumerate()}
print([os.getpriority(os.PRIO_PROCESS, task) for task in restless_tasks() - before - own])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert all(niceness > 0 for niceness in ast.literal_eval(done.stdout)), done.stderr


def test_a_lock_that_is_released_is_taken_as_often_again() -> None:
    lock, order = DeviceLock(), []

    def other() -> None:
        with lock, lock:
            order.append("other")

    with lock, lock:
        thread = threading.Thread(target=other)
        with lock.released():
            thread.start()
            thread.join(20)
            with lock, lock.released():
                order.append("within")
        late = threading.Thread(target=other)
        late.start()
        late.join(0.05)
        order.append("held")
    late.join(20)
    assert order == ["other", "within", "held", "other"]


def test_a_lock_is_released_where_the_function_raises() -> None:
    lock = DeviceLock()
    with pytest.raises(ValueError, match="not today"), lock, lock.released():
        raise ValueError("not today")
    taken = in_a_thread(lambda: lock.__enter__() or lock.__exit__() or "taken")
    assert taken == "taken"


RANKS_ON_ONE_DEVICE = """
import threading
import numpy as np
import adze

both = threading.Barrier(2, timeout=60)

def meet(x):
    both.wait()
    return x + np.float32(1)

def calling(function, before, after):
    spec = adze.ShapeDtype((3,), "float32")
    program = lambda x: adze.pure_callback(function, spec, x * before) * after
    return adze.jit(program, device="vulkan")

met = calling(meet, 2, 3)
met_within = calling(lambda x: np.asarray(met(x)), 1, 1)
results = []

def call(program):
    results.append(np.asarray(program(np.ones(3, np.float32))))

for program in (met, met_within):
    threads = [threading.Thread(target=call, args=[program]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print([[float(x) for x in result] for result in results])
"""


@pytest.mark.vulkan
@needs_vulkan
def test_functions_of_two_threads_meet_while_their_programs_run_on_one_device() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RANKS_ON_ONE_DEVICE], capture_output=True, text=True, timeout=120
    )
    assert ast.literal_eval(done.stdout) == [[9.0] * 3] * 4, done.stderr
