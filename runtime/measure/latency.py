"""The latency of calls, of one program or of two side by side.

Input: functions that make one call and return when its results are there. Output: the time of each call, in
nanoseconds. Idea: two programs are called in turn, a few calls each, so that whatever else the machine does
meets both, and they are compared round by round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final

import numpy as np

from ...dialects.dataclass import dataclass

Call = Callable[[], object]

_ROUND_NS: Final = 2_000_000  # of one program in one round, where a call takes less
_WARM_UP_NS: Final = 50_000_000
_MOST_CALLS: Final = 1_000_000


@dataclass(frozen=True)
class Latency:
    """Times of calls in nanoseconds, in the order of the calls."""

    times: np.ndarray

    @property
    def calls(self) -> int:
        return len(self.times)

    def quantile(self, share: float) -> float:
        """The time in seconds that `share` of the calls take at most."""
        return float(np.quantile(self.times, share, method="higher")) / 1e9

    @property
    def mean(self) -> float:
        """The mean time of a call in seconds."""
        return float(self.times.mean()) / 1e9

    @property
    def throughput(self) -> float:
        """Calls a second, one after the other, from one thread."""
        return 1 / self.mean if self.mean else float("inf")

    def to_json(self) -> dict[str, float | int]:
        """The distribution, in seconds."""
        quantiles = {f"p{round(share * 100)}": self.quantile(share) for share in (0.5, 0.9, 0.99)}
        extremes = {"min": self.quantile(0), "max": self.quantile(1), "mean": self.mean}
        return {"calls": self.calls, **quantiles, **extremes, "calls_per_second": self.throughput}


@dataclass(frozen=True)
class Comparison:
    """How the times of a second program relate to those of the first, round by round."""

    ratios: np.ndarray = field(repr=False)

    @property
    def median(self) -> float:
        """Time of the second program over time of the first."""
        return float(np.median(self.ratios))

    @property
    def middle_half(self) -> tuple[float, float]:
        """Between which ratios half of the rounds are."""
        low, high = np.quantile(self.ratios, (0.25, 0.75))
        return float(low), float(high)

    def to_json(self) -> dict[str, object]:
        return {"ratio": self.median, "middle_half": list(self.middle_half), "rounds": len(self.ratios)}


def measure(programs: Sequence[Call], seconds: float, calls: int | None = None) -> list[Latency]:
    """The latency of each of `programs`, called in turn for `seconds` each, or `calls` times.

    Each is called a few times before any time counts. At least ten calls of each are timed.
    """
    return [Latency(np.concatenate(rounds)) for rounds in _rounds(programs, seconds, calls)]


def compare(
    first: Call, second: Call, seconds: float, calls: int | None = None
) -> tuple[list[Latency], Comparison]:
    """The latency of both programs, and how they compare."""
    rounds = _rounds([first, second], seconds, calls)
    ratios = [float(np.median(b) / max(np.median(a), 1)) for a, b in zip(*rounds, strict=True)]
    return [Latency(np.concatenate(times)) for times in rounds], Comparison(np.array(ratios))


def _rounds(programs: Sequence[Call], seconds: float, calls: int | None) -> list[list[np.ndarray]]:
    """For each program the times of its calls, in rounds that all programs have in common."""
    largest = 1000 if calls is None else max(1, calls // 10)  # so that there are some rounds to compare
    batches = [min(_batch(_warm_up(program)), largest) for program in programs]
    rounds: list[list[np.ndarray]] = [[] for _ in programs]
    least = 10 if calls is None else calls
    most = _MOST_CALLS if calls is None else calls
    counts, spent = [0] * len(programs), [0.0] * len(programs)
    while min(counts) < least or (calls is None and min(spent) < seconds * 1e9):
        if max(counts) >= most and min(counts) >= least:
            break
        for position, program in enumerate(programs):
            size = min(batches[position], most - counts[position]) if calls is not None else batches[position]
            times = _timed(program, max(size, 1))
            rounds[position].append(times)
            counts[position] += len(times)
            spent[position] += float(times.sum())
    return rounds


def _timed(program: Call, calls: int) -> np.ndarray:
    clock = time.perf_counter_ns
    times = np.empty(calls, np.int64)
    for position in range(calls):
        started = clock()
        program()
        times[position] = clock() - started
    return times


def _warm_up(program: Call) -> int:
    """Call `program` at least twice, more often where it is quick; the time of its quickest call."""
    best, spent = _MOST_CALLS * 1000, 0
    for position in range(1000):
        taken = int(_timed(program, 1)[0])
        best, spent = min(best, taken) if position else taken, spent + taken
        if position and spent > _WARM_UP_NS:
            break
    return best


def _batch(quickest: int) -> int:
    return max(1, min(1000, _ROUND_NS // max(quickest, 1)))
