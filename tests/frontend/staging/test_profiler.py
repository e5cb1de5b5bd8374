"""`adze.profiler`: the spans of a trace are the calls that ran within it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import profiler
from adze.frontend.errors import TraceError


def spans(folder: Path) -> list[dict[str, Any]]:
    (file,) = folder.glob("plugins/profile/*/*.trace.json.gz")
    found: list[dict[str, Any]] = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    return found


def test_calls_and_annotations_are_spans(tmp_path: Path) -> None:
    @adze.jit
    def double(x: Any) -> Any:
        return x * 2

    @profiler.annotate_function
    def work() -> None:
        for step in range(2):
            with profiler.StepTraceAnnotation("step", step_num=step):
                double(np.ones(3))

    work()
    double.clear_cache()
    with profiler.trace(tmp_path):
        work()
    work()
    found = spans(tmp_path)
    assert [s["name"] for s in found] == ["double", "step", "double", "step", "work"]
    first, step, second, _, whole = found
    assert "compiled" in first["args"] and second["args"]["compiled"] == "before" != first["args"]["compiled"]
    assert step["args"] == {"step_num": "0"}
    assert whole["ts"] <= step["ts"] <= first["ts"]
    assert first["ts"] + first["dur"] <= step["ts"] + step["dur"] <= whole["ts"] + whole["dur"]


def test_one_trace_at_a_time(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no trace was started"):
        profiler.stop_trace()
    profiler.start_trace(tmp_path)
    with pytest.raises(TraceError, match="a trace goes on already"):
        profiler.start_trace(tmp_path)
    profiler.stop_trace()
    assert spans(tmp_path) == []


def test_a_server_is_warned_of_and_options_are_kept() -> None:
    with pytest.warns(UserWarning, match="nothing listens on port 9999"):
        adze.profiler.start_server(9999)
    adze.profiler.stop_server()
    options = adze.profiler.ProfileOptions()
    options.python_tracer_level = 1
    assert (options.host_tracer_level, options.python_tracer_level) == (2, 1)
