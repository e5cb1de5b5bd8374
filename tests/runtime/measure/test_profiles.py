"""Profiles: what IREE's profiler writes, as events, kernels and a trace; and the memory of a call."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import ShapeDtype
from adze.dialects.types import ANY
from adze.frontend.staging.compiled import Compiled
from adze.runtime.errors import DeviceError, FailedCallError
from adze.runtime.execute.devices import Device
from adze.runtime.execute.program import Executable
from adze.runtime.measure import perfetto, profiles
from adze.runtime.measure.memory import memory_of_a_call
from adze.runtime.measure.profiles import Event

from ...gpu.drivers import needs_vulkan

RECORD = {
    "record_type": "host_execution_event",
    "op": "dispatch",
    "key": "f_dispatch_0",
    "start_host_time_ns": 1000,
    "duration_ns": 50,
    "valid": True,
    "workgroup_count": [8, 1, 1],
    "tile_count": 8,
    "tile_duration_sum_ns": 90,
    "payload_length": 0,
}
ALLOCATION = {**RECORD, "op": "alloca", "key": None, "start_host_time_ns": 900, "payload_length": 64}


def lines(*records: dict[str, object]) -> list[str]:
    return [json.dumps(record) for record in records]


def test_events_begin_at_0_and_are_in_order() -> None:
    other = {"record_type": "queue_event", "op": "execute"}
    invalid = {**RECORD, "valid": False, "start_host_time_ns": 0}
    events = profiles.parse(["not JSON", *lines(RECORD, other, invalid, ALLOCATION)])
    assert events == [
        Event("alloca", "alloca", 0, 50, (), 8, 90, 64),
        Event("dispatch", "f_dispatch_0", 100, 50, (8, 1, 1), 8, 90, 0),
    ]


def test_kernels_are_sorted_by_their_time_without_outliers() -> None:
    slow = [Event("dispatch", "slow", 0, 300), Event("dispatch", "slow", 0, 300)]
    once = [Event("dispatch", "quick", 0, duration) for duration in (10, 100_000, 10)]
    first, second = profiles.kernels([*once, *slow, Event("alloca", "alloca", 0, 10)])
    assert (first.name, first.runs, first.median, first.time) == ("slow", 2, 3e-7, 6e-7)
    assert (second.name, second.least) == ("quick", 1e-8)
    assert abs(first.share - 600 / 630) < 1e-12 and abs(first.share + second.share - 1) < 1e-12


def test_no_events_have_no_kernels() -> None:
    assert profiles.kernels([]) == [] and profiles.parse([]) == []


def test_the_trace_has_what_the_chrome_format_asks_for() -> None:
    events = profiles.parse(lines(RECORD, ALLOCATION))
    document = json.loads(json.dumps(perfetto.trace_document(events, "f", "local-sync")))
    spans = [entry for entry in document["traceEvents"] if entry["ph"] == "X"]
    assert [(s["name"], s["ts"], s["dur"], s["tid"]) for s in spans] == [
        ("alloca", 0, 0.05, 1),
        ("f_dispatch_0", 0.1, 0.05, 2),
    ]
    assert spans[1]["args"]["workgroups"] == "8x1x1"
    counters = [entry for entry in document["traceEvents"] if entry["ph"] == "C"]
    assert [counter["args"]["bytes"] for counter in counters] == [64]
    names = {entry["args"]["name"] for entry in document["traceEvents"] if entry["ph"] == "M"}
    assert names == {"f on local-sync", "queue", "kernels"}


@pytest.fixture(scope="module")
def every_dtype() -> Compiled:
    """A function of an argument of each dtype, which returns all of them."""
    specs = [ShapeDtype(("n", 2), dtype) for dtype in ANY]

    def f(*arrays: object) -> list[object]:
        return [
            array | True if spec.dtype == bool else array + array
            for array, spec in zip(arrays, specs, strict=True)
        ]

    return adze.trace(f, *specs).lower("cpu").compile()


def arguments(n: int) -> list[np.ndarray]:
    return [np.ones((n, 2)).astype(dtype) for dtype in ANY]


@pytest.mark.parametrize("n", [0, 3])
def test_every_dtype_reaches_the_profiler(every_dtype: Compiled, n: int) -> None:
    assert ml_dtypes.bfloat16 in {array.dtype.type for array in arguments(n)}
    events = profiles.record(every_dtype.vmfb, "local-sync", "f", arguments(n), 3)
    runs = [kernel.runs for kernel in profiles.kernels(events)]
    assert all(count % 3 == 0 for count in runs) and (runs or n == 0)


def test_a_program_that_fails_says_why(every_dtype: Compiled) -> None:
    with pytest.raises(FailedCallError, match=r"iree-benchmark-module cannot run the program: .+"):
        profiles.record(every_dtype.vmfb, "local-sync", "f", arguments(3)[1:], 3)


def test_other_devices_have_no_profiles() -> None:
    with pytest.raises(DeviceError, match="there are no profiles of hip:0: there are of local-sync"):
        profiles.record(b"", "hip:0", "f", [], 3)


def test_kernels_of_a_gpu_have_the_times_of_the_device() -> None:
    kernel = {
        "record_type": "dispatch_event",
        "key": "f_dispatch_0",
        "workgroup_count": [16, 1, 1],
        "valid": True,
        "start_tick": 7,
        "duration_ticks": 3,
        "start_driver_host_cpu_time_ns": 700,
        "duration_ns": 300,
    }
    untranslated = {key: value for key, value in kernel.items() if not key.endswith("_ns")}
    assert profiles.parse(lines(kernel)) == [Event("dispatch", "f_dispatch_0", 0, 300, (16, 1, 1))]
    assert profiles.parse(lines({**kernel, "valid": False})) == []
    assert profiles.parse(lines(untranslated)) == [Event("dispatch", "f_dispatch_0", 0, 3, (16, 1, 1))]


@pytest.mark.vulkan
@needs_vulkan
def test_kernels_of_vulkan_are_recorded() -> None:
    x = np.ones((64, 64), np.float32)

    def f(a: object) -> object:
        return a @ a  # type: ignore[operator]

    program = adze.trace(f, x).lower("vulkan").compile()
    [kernel] = profiles.kernels(profiles.record(program.vmfb, "vulkan:0", "f", [x], 3))
    assert kernel.runs == 3 and 0 < kernel.least <= kernel.median


def test_memory_is_counted_from_nothing_each_time(every_dtype: Compiled) -> None:
    signatures = every_dtype.manifest.signatures

    def load(device: Device) -> Executable:
        return Executable(every_dtype.vmfb, device, signatures)

    held = [memory_of_a_call(load, "local-sync", "f", arguments(300)) for _ in range(2)]
    size = sum(array.nbytes for array in arguments(300))
    assert held[0] == held[1] and held[0].arguments == held[0].results == size
    assert held[0] == memory_of_a_call(load, "local-task", "f", arguments(300))
    assert held[0].peak is not None and 2 * size <= held[0].peak < 4 * size


def test_no_folder_is_left(every_dtype: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    profiles.record(every_dtype.vmfb, "local-sync", "f", arguments(1), 1)
    assert list(tmp_path.iterdir()) == []
