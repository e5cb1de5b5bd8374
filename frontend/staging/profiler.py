"""`adze.profiler`: what a program does over time, as a trace for Perfetto and Chrome.

Input: a folder, and what runs between `start_trace` and `stop_trace`. Output: a file of the Chrome trace
event format. Idea: spans are calls of jitted functions, with the reasons of compiles within them, and what
`TraceAnnotation` and `annotate_function` name; `adze profile` shows the kernels of one program.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from pathlib import Path
from typing import Any, Self

from ..errors import TraceError
from ..tracing.locations import user_location_text
from ..tracing.trace import function_name
from .jitted import Jitted


class _Recording:
    """One trace: its folder, and the spans so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.begun = time.perf_counter_ns()
        self.spans: list[dict[str, Any]] = []

    def add(self, name: str, kind: str, start: int, details: dict[str, Any]) -> None:
        """A span from `start` until now."""
        now = time.perf_counter_ns()
        self.spans.append(
            {
                "name": name,
                "cat": kind,
                "ph": "X",
                "ts": (start - self.begun) / 1000,
                "dur": (now - start) / 1000,
                "pid": os.getpid(),
                "tid": threading.get_ident(),
                "args": {key: str(value) for key, value in details.items()},
            }
        )

    def write(self) -> Path:
        """The file, where tools for traces of JAX look for it."""
        folder = self.folder / "plugins" / "profile" / time.strftime("%Y_%m_%d_%H_%M_%S")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{os.getpid()}.trace.json.gz"
        with gzip.open(path, "wt", encoding="utf-8") as file:
            json.dump({"traceEvents": self.spans, "displayTimeUnit": "ns"}, file)
        return path


class _Current:
    """The trace that goes on, in all threads."""

    recording: _Recording | None = None
    original: Callable[..., Any] | None = None


def start_trace(
    log_dir: os.PathLike[str] | str,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> None:
    """Record from now on, for a file in the folder `log_dir`. The other options are JAX's and change nothing.

    Raises `TraceError` where a trace goes on already.
    """
    if _Current.recording is not None:
        raise TraceError(
            "a trace goes on already", where=user_location_text(), hint="call stop_trace() first"
        )
    _Current.recording = _Recording(Path(log_dir))
    original = _Current.original = Jitted.__call__

    def call(self: Jitted, *args: Any, **kwargs: Any) -> Any:
        traces = len(self.retraces)
        with TraceAnnotation(function_name(self.function)) as span:
            span.kind = "call"
            try:
                return original(self, *args, **kwargs)
            finally:
                span.details["compiled"] = "; ".join(r.reason for r in self.retraces[traces:]) or "before"

    Jitted.__call__ = call  # type: ignore[method-assign]


def stop_trace() -> None:
    """Write the trace that `start_trace` began. Raises `TraceError` where there is none."""
    recording, _Current.recording = _Current.recording, None
    if recording is None or _Current.original is None:
        raise TraceError(
            "no trace was started", where=user_location_text(), hint="call start_trace(folder) first"
        )
    Jitted.__call__ = _Current.original  # type: ignore[method-assign]
    recording.write()


@contextmanager
def trace(
    log_dir: os.PathLike[str] | str,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> Iterator[None]:
    """A context that is recorded: `start_trace` and `stop_trace`."""
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


class ProfileOptions:
    """What JAX's profiler is asked to record; `start_trace` records the same whatever it says."""

    host_tracer_level: int = 2
    device_tracer_level: int = 1
    python_tracer_level: int = 0


class _Server:
    """What `start_server` returns."""


def start_server(port: int) -> _Server:
    """Warn that there is no server to which a viewer connects, and go on: traces are files of `trace`."""
    warnings.warn(
        f"adze has no server for profiles, so that nothing listens on port {port}: write a file with "
        "adze.profiler.trace(folder)",
        stacklevel=2,
    )
    return _Server()


def stop_server() -> None:
    """Nothing: `start_server` started none."""


class TraceAnnotation(ContextDecorator):
    """A context, or a decorator, that is a span of its name in the trace; `details` are shown with it."""

    def __init__(self, name: str, **details: Any) -> None:
        self.name = name
        self.kind = "annotation"
        self.details = details
        self._started: list[int] = []

    def _recreate_cm(self) -> Self:
        return type(self)(self.name, **self.details)

    def __enter__(self) -> Self:
        self._started.append(time.perf_counter_ns())
        return self

    def __exit__(self, *_: object) -> None:
        start, recording = self._started.pop(), _Current.recording
        if recording is not None:
            recording.add(self.name, self.kind, max(start, recording.begun), self.details)


class StepTraceAnnotation(TraceAnnotation):
    """A step of a training loop, with its number: `StepTraceAnnotation("train", step_num=i)`."""


def annotate_function(
    func: Callable[..., Any], name: str | None = None, **details: Any
) -> Callable[..., Any]:
    """`func`, whose calls are spans of the trace under `name`, or its own name."""
    shown = name or function_name(func)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        with TraceAnnotation(shown, **details):
            return func(*args, **kwargs)

    return call
