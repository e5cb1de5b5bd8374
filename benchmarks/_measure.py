"""Timing for the benchmark scripts: interleaved rounds, and the peak rates of this machine.

Input: functions without arguments that return when their work is done.
Output: seconds per call.

Other programs and changing clock rates disturb measurements. So every round measures all candidates, the
fastest burst of calls counts, and the peak rates are measured in the same run.
"""

import os
import platform
import random
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata

import numpy as np

Call = Callable[[], object]

BURST_SECONDS = 0.001  # short enough to fit between two disturbances by other programs
SETTLE_SECONDS = 0.03  # after this time, the threads of an idle library have stopped spinning


def interleaved(calls: Mapping[str, Call], rounds: int, slice_seconds: float = 0.02) -> dict[str, float]:
    """Seconds per call of each candidate: the fastest burst of `rounds` interleaved slices.

    Each round has a new random order, and each slice begins with a pause and an untimed call. Without the
    pause, worker threads of the previous candidate would still use a core (those of OpenBLAS spin for about
    25 ms).
    """
    repeats = {name: repeats_for(call, BURST_SECONDS) for name, call in calls.items()}
    best = dict.fromkeys(calls, float("inf"))
    order, shuffled = list(calls.items()), random.Random(0)
    for _ in range(rounds):
        shuffled.shuffle(order)
        for name, call in order:
            time.sleep(SETTLE_SECONDS)
            call()
            end = time.perf_counter() + slice_seconds
            while time.perf_counter() < end:
                best[name] = min(best[name], seconds_per_call(call, repeats[name]))
    return best


def repeats_for(call: Call, seconds: float) -> int:
    """The number of calls that take `seconds`; the two calls here also warm up the candidate."""
    call()
    return max(1, min(100_000, int(seconds / max(seconds_per_call(call, 1), 1e-7))))


def seconds_per_call(call: Call, repeats: int) -> float:
    """The mean time of a call over `repeats` calls in a row."""
    began = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - began) / repeats


@dataclass(frozen=True)
class Peak:
    """The highest rates of this machine in this run, with all cores."""

    flops_per_second: float
    bytes_per_second: float

    def seconds(self, flops: float, size: float) -> float:
        """The least time for `flops` float32 operations and `size` bytes, by the roofline model."""
        return max(flops / self.flops_per_second, size / self.bytes_per_second)


def machine_peak(rounds: int) -> Peak:
    """Measure NumPy's float32 matrix product, and reads and copies of 16 MB by one thread and by all."""
    a = np.ones((1024, 1024), np.float32)
    product = np.empty_like(a)
    source = np.ones(2 * 1024 * 1024, np.float32)
    target = np.empty_like(source)
    long_source = np.ones(4 * 1024 * 1024, np.float32)
    workers = os.cpu_count() or 1
    slices = [slice(i * source.size // workers, (i + 1) * source.size // workers) for i in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        best = interleaved(
            {
                "product": lambda: np.matmul(a, a, out=product),
                "copy": lambda: np.copyto(target, source),
                "copies": lambda: list(pool.map(lambda part: np.copyto(target[part], source[part]), slices)),
                "read": lambda: np.dot(long_source, long_source),
            },
            rounds,
        )
    streams = {"copy": 2 * source.nbytes, "copies": 2 * source.nbytes, "read": long_source.nbytes}
    return Peak(
        flops_per_second=2 * 1024**3 / best["product"],
        bytes_per_second=max(size / best[name] for name, size in streams.items()),
    )


def higher(first: Peak, second: Peak) -> Peak:
    """The higher of two measurements, for each rate."""
    return Peak(
        max(first.flops_per_second, second.flops_per_second),
        max(first.bytes_per_second, second.bytes_per_second),
    )


def circumstances() -> dict[str, str]:
    """The processor and the versions that a result belongs to."""
    packages = ("adze-compiler", "iree-base-compiler", "iree-base-runtime", "jax", "numpy")
    return {
        "processor": processor_name(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
    }


def processor_name() -> str:
    """The processor's name in /proc/cpuinfo, or the machine type if there is none."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
