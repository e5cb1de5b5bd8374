"""What happens inside a call: every kernel that runs, and every allocation, with its time.

Input: a compiled module, a device and arguments. Output: events, as IREE's own profiler records them
(`iree-benchmark-module --device_profiling_mode`, of its runtime package), in nanoseconds since the first.
A kernel's time is from the start of its first workgroup to the end of its last: of a CPU on the host's clock,
of a GPU by the timestamps that the device itself writes, where there are kernels alone. `iree-profile` writes
the bundle of events as lines of JSON; both commands are processes of their own, since IREE's Python bindings
have no profiler. CUDA's kernels are timed in this process, by NVIDIA's CUPTI (`cupti.py`).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.types import dtype_name
from ..artifact.weights import Source
from ..errors import DeviceError, FailedCallError
from ..execute.array import from_host
from ..execute.devices import device_uri, get_device
from ..execute.program import Executable
from . import cupti

_HOST_MODES: Final = "queue-events,host-execution,memory-events"
_DEVICE_MODES: Final = "queue-events,dispatch-events"
_CPUS: Final = ("local-sync", "local-task")


@dataclass(frozen=True, slots=True)
class Event:
    """A kernel (`dispatch`) or an operation of the queue: start and duration in nanoseconds.

    `tiles` are the workgroups of a kernel, `tile_time` is the sum of their times on all threads, `bytes` what
    an allocation asks for.
    """

    kind: str
    name: str
    start: int
    duration: int
    workgroups: tuple[int, ...] = ()
    tiles: int = 0
    tile_time: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Kernel:
    """All runs of one kernel: times in seconds, and its share of the time of all kernels.

    `time` is the median time of a run times the number of runs, which one slow run does not change.
    """

    name: str
    runs: int
    median: float
    least: float
    time: float
    share: float
    workgroups: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "runs": self.runs,
            "median": self.median,
            "min": self.least,
            "time": self.time,
            "share": self.share,
            "workgroups": list(self.workgroups),
        }


def record(
    module: bytes,
    device: str,
    function: str,
    arguments: Sequence[np.ndarray],
    calls: int,
    parameters: str | None = None,
) -> list[Event]:
    """The events of `calls` calls, ordered by their start; `parameters`: `<scope>=<file>` of weights outside.

    Raises `DeviceError` for a device or an installation without a profiler, `FailedCallError` where the
    program cannot be run so.
    """
    if _is_cuda(device):
        return _of_cuda(module, device, function, arguments, calls, parameters)
    if not has_profiles(device):
        raise DeviceError(
            f"there are no profiles of {device}: there are of {', '.join(_CPUS)}, vulkan and cuda",
            hint="name one of these by --device",
        )
    with tempfile.TemporaryDirectory(prefix="adze-profile-") as folder:
        place = Path(folder)
        (place / "program.vmfb").write_bytes(module)
        _run(
            "iree-benchmark-module",
            f"--module={place / 'program.vmfb'}",
            f"--device={device_uri(device)}",
            f"--function={function}",
            *([] if parameters is None else [f"--parameters={parameters}"]),
            *_inputs(arguments, place),
            f"--benchmark_min_time={calls}x",
            f"--device_profiling_mode={_HOST_MODES if device in _CPUS else _DEVICE_MODES}",
            f"--device_profiling_output={place / 'events.ireeprof'}",
        )
        text = _run(
            "iree-profile", "export", "--format=ireeperf-jsonl", "--output=-", place / "events.ireeprof"
        )
    return parse(text.splitlines())


def has_profiles(device: str) -> bool:
    """Whether there are profiles of `device`: IREE's, or of CUDA CUPTI's, where that works."""
    return device in _CPUS or device.partition(":")[0] == "vulkan" or (_is_cuda(device) and cupti.works())


def _is_cuda(device: str) -> bool:
    return device.partition(":")[0] == "cuda"


def _of_cuda(
    module: bytes,
    device: str,
    function: str,
    arguments: Sequence[np.ndarray],
    calls: int,
    parameters: str | None,
) -> list[Event]:
    """As `record`, of a CUDA device. The first call is not recorded: it loads the kernels."""
    scope, _, path = (parameters or "").partition("=")
    weights = [Source(scope, Path(path), {}).module] if parameters is not None else []
    held = get_device(device)
    called = Executable(module, held, modules=weights).function(function)
    views = [from_host(argument, held).view for argument in arguments]
    called.call_views(views)
    runs = cupti.kernel_runs(lambda: [called.call_views(views) for _ in range(calls)])
    _, number = held.dlpack_device
    return [
        Event("dispatch", run.name, run.start, run.duration, run.workgroups)
        for run in runs
        if run.device == number
    ]


def parse(lines: Iterable[str]) -> list[Event]:
    """The events in the lines that `iree-profile export` writes."""
    records = [json.loads(line) for line in lines if line.startswith("{")]
    valid = [r for r in records if r.get("valid", True)]
    spans = [_of_host(r) for r in valid if r.get("record_type") == "host_execution_event"]
    spans += [_of_device(r) for r in valid if r.get("record_type") == "dispatch_event"]
    first = min((event.start for event in spans), default=0)
    return sorted(
        (replace(event, start=event.start - first) for event in spans),
        key=lambda event: (event.start, -event.duration),
    )


def kernels(events: Iterable[Event]) -> list[Kernel]:
    """The kernels of the events, those that take most time first."""
    runs: dict[str, list[Event]] = {}
    for event in events:
        if event.kind == "dispatch":
            runs.setdefault(event.name, []).append(event)
    medians = {name: float(np.median([event.duration for event in each])) for name, each in runs.items()}
    whole = sum(medians[name] * len(each) for name, each in runs.items()) or 1.0
    result = []
    for name, each in runs.items():
        time = medians[name] * len(each)
        least = min(event.duration for event in each) / 1e9
        grid = each[-1].workgroups
        result.append(Kernel(name, len(each), medians[name] / 1e9, least, time / 1e9, time / whole, grid))
    return sorted(result, key=lambda kernel: -kernel.time)


def _of_device(data: dict[str, Any]) -> Event:
    """A kernel by the timestamps of the device, whose ticks IREE has translated where it can."""
    return Event(
        kind="dispatch",
        name=data["key"] or "kernel",
        start=data.get("start_driver_host_cpu_time_ns", data["start_tick"]),
        duration=data.get("duration_ns", data["duration_ticks"]),
        workgroups=tuple(data["workgroup_count"]),
    )


def _of_host(data: dict[str, Any]) -> Event:
    return Event(
        kind=data["op"],
        name=data["key"] or data["op"],
        start=data["start_host_time_ns"],
        duration=data["duration_ns"],
        workgroups=tuple(data["workgroup_count"]) if data["op"] == "dispatch" else (),
        tiles=data["tile_count"],
        tile_time=data["tile_duration_sum_ns"],
        bytes=data["payload_length"],
    )


def _inputs(arguments: Sequence[np.ndarray], place: Path) -> list[str]:
    """The arguments as files, and the options that name them.

    Bytes with a type, since IREE compares signs in `.npy` files, and that format has no bfloat16; complex
    numbers as `.npy`, since IREE's options have no word for them.
    """
    options = []
    for position, array in enumerate(arguments):
        if array.dtype.kind == "c":
            np.save(place / f"{position}.npy", array)
            options.append(f"--input=@{place / f'{position}.npy'}")
            continue
        kind = "x".join([*map(str, array.shape), dtype_name(array.dtype).removeprefix("u")])
        path = place / f"{position}.bin"
        path.write_bytes(np.ascontiguousarray(array).tobytes())
        options.append(f"--input={kind}=@{path}" if array.size else f"--input={kind}")
    return options


def _run(tool: str, *arguments: str | Path) -> str:
    command = [str(_tool(tool)), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = next((line for line in lines if ".c:" in line or ".cc:" in line), lines[-1] if lines else "")
        raise FailedCallError(f"{tool} cannot run the program: {reason.partition(';')[2].strip() or reason}")
    return done.stdout


def _tool(name: str) -> Path:
    """A command of IREE's runtime package, wherever that is installed."""
    from iree import _runtime_libs

    path = Path(_runtime_libs.__path__[0]) / name
    if not path.exists():
        raise DeviceError(
            f"IREE's runtime was installed here without {name}, which measures kernels",
            hint="install the package iree-base-runtime as it is",
        )
    return path
