"""The plugin itself, with another Python of this machine as the one elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.tracing.interpreter import ops
from adze.runtime.cpu import host_cpu
from adze.runtime.errors import FailedCallError

from .plugin import Elsewhere, pytest_configure, run_elsewhere

NAME = "aarch64" if host_cpu().architecture == "aarch64" else "x86-64-v2"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    python = Elsewhere([sys.executable])
    run_elsewhere(monkeypatch, NAME, python)
    yield python
    python.close()


def test_programs_run_elsewhere(elsewhere: Elsewhere) -> None:
    asked: list[object] = []
    ask = elsewhere.ask
    elsewhere.ask = lambda *message: asked.append(message[0]) or ask(*message)  # type: ignore[func-returns-value, method-assign]
    arrays = [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([True, False]),
        np.array(2 - 3j),
        np.zeros((0, 4), np.int8),
        np.ones(3, ml_dtypes.bfloat16),
    ]

    def function(*arrays: adze.Array) -> list[adze.Array]:
        return [anp.logical_not(x) if x.dtype == bool else x + x for x in arrays]

    jitted = adze.jit(function)
    for _ in range(2):
        results = jitted(*arrays)
        for x, result in zip(arrays, results, strict=True):
            expected = ~x if x.dtype == bool else x + x
            np.testing.assert_array_equal(np.asarray(result), expected, strict=True)
    assert asked == ["has", "load", "call", "has", "call"]


def test_what_fails_there_fails_here(elsewhere: Elsewhere) -> None:
    with pytest.raises(RuntimeError, match="no such program"):
        elsewhere.ask("call", "no such program", "main", [])
    assert elsewhere.ask("has", "no such program") is False


def test_a_check_of_a_program_fails_there(elsewhere: Elsewhere) -> None:
    def function(x: adze.Array) -> adze.Array:
        ops.check(x[0] > 0, message="x[0] must be positive")
        return x

    jitted = adze.jit(function)
    np.testing.assert_array_equal(jitted(np.ones(2)), np.ones(2))
    with pytest.raises(FailedCallError, match=r"x\[0\] must be positive"):
        jitted(-np.ones(2))


def test_a_python_that_ends_is_named() -> None:
    python = Elsewhere([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(RuntimeError, match="ended with status 3"):
        python.ask("has", "a program")


def test_the_options_belong_together() -> None:
    class Config:
        def getoption(self, name: str) -> str | None:
            return "aarch64" if name == "--other-cpu" else None

    with pytest.raises(pytest.UsageError, match="belong together"):
        pytest_configure(Config())  # type: ignore[arg-type]
