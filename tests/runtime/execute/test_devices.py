"""Devices: names, the one handle to each, the choice between the CPU drivers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adze
from adze.runtime.errors import DeviceError
from adze.runtime.execute import devices
from adze.runtime.execute.architectures import cuda_architecture_of, runs, vulkan_architecture_of
from adze.runtime.execute.devices import (
    PARALLEL_WORK,
    DeviceKind,
    get_device,
    list_devices,
)
from adze.runtime.threads import usable_cpus


def test_both_cpu_drivers_are_listed_first() -> None:
    first, second, *_ = list_devices()
    assert (first.name, first.kind, second.name) == ("local-sync", DeviceKind.CPU, "local-task")


def test_a_device_is_one_object_for_the_whole_process() -> None:
    assert get_device("local-sync") is get_device("local-sync")
    assert get_device(get_device("local-task")) is get_device("local-task")


def test_small_programs_stay_on_the_callers_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)), raising=False)
    assert get_device("cpu", work=100.0).name == "local-sync"
    assert get_device(None).name == "local-sync"
    assert get_device("cpu", work=2 * PARALLEL_WORK).name == "local-task"
    assert get_device("local-sync", work=2 * PARALLEL_WORK).name == "local-sync"
    monkeypatch.setenv("ADZE_THREADS", "1")
    assert get_device("cpu", work=2 * PARALLEL_WORK).name == "local-sync"
    monkeypatch.setenv("ADZE_THREADS", "4")
    assert get_device("cpu", work=2 * PARALLEL_WORK).name == "local-task"
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {3}, raising=False)
    assert get_device("cpu", work=2 * PARALLEL_WORK).name == "local-sync"


WORKERS = """
import os
from adze.runtime.execute.devices import get_device
before = len(os.listdir("/proc/self/task"))
get_device("local-task")
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
@pytest.mark.skipif(usable_cpus() == 1, reason="one CPU has one worker in any case")
def test_the_pool_has_as_many_threads_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for text in ("", "1"):
        monkeypatch.setenv("ADZE_THREADS", text)
        done = subprocess.run([sys.executable, "-c", WORKERS], capture_output=True, check=True, timeout=60)
        counts.append(int(done.stdout))
    assert counts[0] - counts[1] == usable_cpus() - 1


MEMORY = """
import numpy as np
import adze
from adze.runtime.execute.devices import new_device
from adze.runtime.execute.native import native

def resident():
    "The memory of this process that no file holds too, in megabytes."
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024 // 10**6

device, kind = new_device("local-sync"), int(native().HalElementType.UINT_8)
array = np.ones(40 * 10**6, np.uint8)  # the C library itself keeps no memory of this size
"""
IN_USE = """
from adze.runtime.execute import devices
from adze.runtime.execute.architectures import cuda_architecture_of, runs, vulkan_architecture_of
devices._DEVICES["another"] = device
before = resident()
arrays = [device.copy_in(array, kind) for _ in range(5)]
print(resident() - before)
del arrays
print(resident() - before)
adze.release_memory()
print(resident() - before)
"""


def megabytes(code: str, kept: str) -> list[int]:
    """What a process prints that does nothing else: others give back memory of their own meanwhile."""
    environment = {**os.environ, "ADZE_UNUSED_MAX_BYTES": kept}
    command = [sys.executable, "-c", MEMORY + code]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120, env=environment)
    return [int(line) for line in done.stdout.split()]


in_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is counted in /proc")


@in_proc
@pytest.mark.parametrize(("kept", "least", "most"), [("70MB", 75, 90), ("0", -5, 10), ("1GB", 195, 210)])
def test_memory_of_arrays_that_are_gone_is_kept_up_to_a_bound_and_given_back(
    kept: str, least: int, most: int
) -> None:
    in_use, gone, released = megabytes(IN_USE, kept)
    assert in_use >= 190
    assert least <= gone <= most
    assert released <= 10


NEW_SIZES = """
pieces = [device.copy_in(np.ones(100 + k, np.uint8), kind) for k in range(100)]
del pieces
before = resident()
device.copy_in(array, kind)
print(resident() - before)
device.forget_unused()
device.copy_in(array, kind)
print(resident() - before)
"""


@in_proc
def test_memory_of_new_sizes_is_kept_when_that_of_others_is_forgotten() -> None:
    """As many pieces as are kept fill up, and nothing pushes one out."""
    full, forgotten = megabytes(NEW_SIZES, "1GB")
    assert full <= 10
    assert forgotten >= 30


def test_a_program_that_is_loaded_has_unused_memory_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten: list[str] = []
    monkeypatch.setattr(devices.Device, "forget_unused", lambda self: forgotten.append(self.name))
    adze.trace(lambda x: x - 3, np.ones(3, np.float32)).lower().compile()(np.ones(3, np.float32))
    assert forgotten == ["local-sync"]


@pytest.mark.parametrize(
    "name", ["gpu", "vulkan:x", "local-sync:1", "cuda:-1", "cuda:", "cuda:²", "cpu:", "vulkan:1:2"]
)
def test_an_unknown_name_lists_what_is_here(name: str) -> None:
    with pytest.raises(DeviceError) as caught:
        get_device(name)
    assert caught.value.message == (
        f"unknown device {name!r}: expected cpu, local-sync, local-task, vulkan, vulkan:<number>, cuda or "
        "cuda:<number>"
    )
    assert re.match("here there are cpu, local-sync, local-task", caught.value.hint or "")


def test_a_missing_device_says_so() -> None:
    with pytest.raises(DeviceError, match="there is no device 'vulkan:99' on this machine"):
        get_device("vulkan:99")


def test_a_device_that_fails_to_open_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [{"device_id": 4711, "path": "", "name": "broken"}]
    monkeypatch.setattr("adze.runtime.execute.devices._driver_devices", lambda driver: entries)
    with pytest.raises(DeviceError, match="device 'cuda:0' is here but cannot be used: "):
        get_device("cuda")


@pytest.mark.parametrize(
    ("description", "architecture"),
    [
        ("llvmpipe (LLVM 15.0.6, 256 bits) (llvmpipe Mesa 22.3.6 (LLVM 15.0.6))", "lavapipe"),
        ("llvmpipe (LLVM 19.1.0, 128 bits)", "lavapipe4"),
        ("NVIDIA GeForce RTX 3080 Ti", "ampere"),
        ("NVIDIA GeForce RTX 4090", "ada"),
        ("NVIDIA H200", "ampere"),
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "rdna3"),
        ("Adreno (TM) 740", "adreno"),
        ("Mali-G715", "valhall4"),
        ("Some future device", None),
    ],
)
def test_vulkan_devices_are_recognised(description: str, architecture: str | None) -> None:
    assert vulkan_architecture_of(description) == architecture


@pytest.mark.parametrize(
    ("kind", "here", "wanted", "verdict"),
    [
        ("cuda", "sm_80", "sm_80", True),
        ("cuda", "sm_90", "sm_80", True),
        ("cuda", "sm_120", "sm_90", True),
        ("cuda", "sm_80", "sm_90", False),
        ("cuda", "sm_75", "sm_80", False),
        ("cuda", None, "sm_90", True),
        ("vulkan", "ampere", "ampere", True),
        ("vulkan", "ada", "ampere", False),
        ("vulkan", None, "ampere", False),
    ],
)
def test_cuda_compiles_code_for_older_gpus(kind: str, here: str | None, wanted: str, verdict: bool) -> None:
    assert runs(kind, here, wanted) is verdict


def test_a_compute_capability_is_an_architecture() -> None:
    assert cuda_architecture_of((12, 0)) == "sm_120" and cuda_architecture_of(None) is None
