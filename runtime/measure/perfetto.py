"""Profiles for Perfetto (https://ui.perfetto.dev) and Chrome's tracing page.

Input: events of a profile. Output: a document of the Chrome trace event format: a track for kernels, one for
the operations of the queue that they belong to, and a counter of the bytes that calls allocated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .profiles import Event

_PROCESS = 1
_TRACKS = {1: "queue", 2: "kernels"}


def trace_document(events: Sequence[Event], program: str, device: str) -> dict[str, Any]:
    """The trace, with times in microseconds; `program` and `device` are its title."""
    entries: list[dict[str, Any]] = [_named("process_name", 0, f"{program} on {device}")]
    entries += [_named("thread_name", track, name) for track, name in _TRACKS.items()]
    entries += [_span(event) for event in events]
    entries += _allocated(events)
    about = {"program": program, "device": device, "clock": "host, nanoseconds since the first event"}
    return {"traceEvents": entries, "displayTimeUnit": "ns", "otherData": about}


def _named(kind: str, track: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": _PROCESS, "tid": track, "args": {"name": name}}


def _span(event: Event) -> dict[str, Any]:
    is_kernel = event.kind == "dispatch"
    details: dict[str, Any] = {}
    if is_kernel:
        details = {
            "workgroups": "x".join(map(str, event.workgroups)),
            "tiles": event.tiles,
            "time of all tiles (us)": event.tile_time / 1000,
        }
    elif event.bytes:
        details = {"bytes": event.bytes}
    return {
        "name": event.name,
        "cat": "kernel" if is_kernel else "queue",
        "ph": "X",
        "ts": event.start / 1000,
        "dur": event.duration / 1000,
        "pid": _PROCESS,
        "tid": 2 if is_kernel else 1,
        "args": details,
    }


def _allocated(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The sum of the bytes that programs asked for so far; IREE records no deallocation on the CPU."""
    entries, total = [], 0
    for event in events:
        if event.kind == "alloca":
            total += event.bytes
            values = {"bytes": total}
            entries.append(
                {
                    "name": "allocated so far",
                    "ph": "C",
                    "ts": event.start / 1000,
                    "pid": _PROCESS,
                    "args": values,
                }
            )
    return entries
