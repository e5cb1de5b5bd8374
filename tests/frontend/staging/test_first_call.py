"""First calls that do not wait: evaluated while a thread compiles, then compiled; failures come later."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.staging import jitted
from adze.runtime.errors import CompileError

X = np.arange(4, dtype=np.float32)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Compiles wait until the event is set."""
    event = threading.Event()
    compile_now = jitted.compiled_entry

    def wait(*arguments: Any) -> Any:
        assert event.wait(60)
        return compile_now(*arguments)

    monkeypatch.setattr(jitted, "compiled_entry", wait)
    yield event
    event.set()


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether the condition holds within a minute."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_calls_are_evaluated_until_the_program_is_there(gate: threading.Event) -> None:
    f = adze.jit(lambda x, *, scale: {"y": x * scale, "n": None}, first_call="evaluate")
    for _ in range(2):
        result = f(X, scale=2.0)
        assert np.asarray(result["y"]).tolist() == (2 * X).tolist()
        assert result["n"] is None and result["y"].device == "host"
    assert f.cache_size() == 0
    assert len(f.retraces) == 1
    gate.set()
    assert eventually(lambda: f.cache_size() == 1)
    compiled = f(X, scale=2.0)["y"]
    assert compiled.device != "host"
    assert np.asarray(compiled).tolist() == (2 * X).tolist()
    assert len(f.retraces) == 1


def test_an_evaluated_result_is_not_the_argument(gate: threading.Event) -> None:
    f = adze.jit(lambda x: x, first_call="evaluate")
    argument = X.copy()
    result = f(argument)
    argument[:] = -1
    assert np.asarray(result).tolist() == X.tolist()


def test_dtypes_and_transforms_are_those_of_the_program(gate: threading.Event) -> None:
    def loss(w: Any, x: Any) -> Any:
        return anp.sum(anp.where(x > 1, x * w, 0))

    f = adze.jit(adze.value_and_grad(loss), first_call="evaluate")
    value, slope = f(np.float64(2), X)
    assert (value.dtype, slope.dtype) == (np.float64, np.float64)
    assert (float(value), float(slope)) == (10.0, 5.0)


def test_threads_share_what_is_being_compiled(gate: threading.Event) -> None:
    f = adze.jit(lambda x: x + 1, first_call="evaluate")
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(np.asarray(f(X)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [r.tolist() for r in results] == [(X + 1).tolist()] * 4
    assert len(f.retraces) == 1


def test_a_failure_is_raised_by_a_later_call(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = threading.Event()

    def fail(*_: Any, **__: Any) -> None:
        failed.set()
        raise CompileError("IREE refused the program")

    monkeypatch.setattr(jitted, "compiled_entry", fail)
    f = adze.jit(lambda x: x + 1, first_call="evaluate")
    assert np.asarray(f(X)).tolist() == (X + 1).tolist()
    assert failed.wait(60)

    def raises() -> bool:
        try:
            f(X)
        except CompileError as error:
            assert error.where is not None and "test_first_call.py" in error.where
            return True
        return False

    assert eventually(raises)


def test_forgotten_programs_do_not_come_back(gate: threading.Event) -> None:
    f = adze.jit(lambda x: x + 1, first_call="evaluate")
    f(X)
    f.clear_cache()
    gate.set()
    assert eventually(lambda: not any("adze compiles" in t.name for t in threading.enumerate()))
    assert f.cache_size() == 0


def test_the_setting_decides_where_jit_does_not(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADZE_FIRST_CALL", "evaluate")
    assert adze.jit(lambda x: x + 1)(X).device == "host"
    gate.set()
    assert adze.jit(lambda x: x + 1, first_call="compile")(X).device != "host"


def test_an_unknown_first_call_is_an_error() -> None:
    with pytest.raises(adze.AdzeError, match="first_call is 'later': expected 'compile' or 'evaluate'"):
        adze.jit(lambda x: x, first_call="later")
