"""Timing for the benchmarks: interleaved rounds, best of many bursts.

Input: functions without arguments that return when their work is done.
Output: seconds per call.

Other programs and changing clock rates disturb measurements. So every round measures all candidates, the
fastest burst of calls counts.
"""

import os
import platform
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata

Call = Callable[[], object]

BURST_SECONDS = 0.001  # short enough to fit between two disturbances by other programs
SETTLE_SECONDS = 0.03  # after this time, the threads of an idle library have stopped spinning


@dataclass(frozen=True)
class Timing:
    """Seconds per call: by the clock, and of all threads of the process."""

    wall: float
    cpu: float

    def best_of(self, other: "Timing") -> "Timing":
        return Timing(min(self.wall, other.wall), min(self.cpu, other.cpu))


def timings(calls: Mapping[str, Call], seconds: float, rounds: int = 8) -> dict[str, Timing]:
    """The best wall and CPU time per call of each candidate, in interleaved rounds of `seconds` in all.

    A candidate whose call is longer than its slice of a round is called once a round, until its time is used,
    and one whose call takes ten times as long as all rounds is called once.
    """
    best = {name: burst(call, 1) for name, call in calls.items()}
    repeats = {name: min(100_000, int(BURST_SECONDS / max(best[name].wall, 1e-7)) + 1) for name in calls}
    spent = {name: seconds if best[name].wall > 10 * seconds else 0.0 for name in calls}
    order, shuffled = list(calls.items()), random.Random(0)
    for _ in range(rounds):
        shuffled.shuffle(order)
        for name, call in order:
            if spent[name] >= seconds:
                continue
            time.sleep(SETTLE_SECONDS)
            if best[name].wall < seconds / rounds:
                call()
            began = time.perf_counter()
            while True:
                best[name] = best[name].best_of(burst(call, repeats[name]))
                if time.perf_counter() - began >= seconds / rounds:
                    break
            spent[name] += time.perf_counter() - began
    return best


def burst(call: Call, repeats: int) -> Timing:
    """The mean times of a call over `repeats` calls in a row."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(repeats):
        call()
    return Timing((time.perf_counter() - wall) / repeats, (time.process_time() - cpu) / repeats)


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


def circumstances() -> dict[str, str]:
    """The processor and the versions that a result belongs to."""
    packages = ("adze-compiler", "iree-base-compiler", "iree-base-runtime", "jax", "numpy")
    return {
        "processor": processor_name(),
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        **{name: version_of(name) for name in packages},
    }


def version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def processor_name() -> str:
    """The processor's name in /proc/cpuinfo, or the machine type if there is none."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
