"""Programs of dynamic sizes: each call runs where its sizes make it faster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.runtime.errors import CallError
from adze.runtime.execute.program import Function

SMALL, LARGE = np.ones((4, 16), np.float32), np.ones((200_000, 16), np.float32)


@pytest.fixture(autouse=True)
def eight_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)), raising=False)
    monkeypatch.setenv("ADZE_THREADS", "2")
    monkeypatch.delenv("ADZE_DEVICE", raising=False)


@pytest.fixture
def pooled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The devices that calls ran on."""
    seen: list[str] = []
    call_views = Function.call_views

    def noted(self: Function, views: Any) -> list[Any]:
        views = list(views)
        if self.large_calls is None or not self.large_calls.has(views):
            seen.append(self.device.name)
        return call_views(self, views)

    monkeypatch.setattr(Function, "call_views", noted)
    return seen


def scaled(x: Any) -> Any:
    return x * 2 + anp.sum(x, axis=0)


def of(*sizes: int | str) -> Any:
    return adze.trace(scaled, adze.ShapeDtype(sizes, np.float32)).lower()


def test_large_calls_run_on_the_pool(pooled: list[str]) -> None:
    compiled = of("n", 16).compile()
    for x in (SMALL, LARGE, adze.device_put(LARGE), SMALL):
        np.testing.assert_array_equal(compiled(x), scaled(np.asarray(x)))
    assert pooled == ["local-sync", "local-task", "local-task", "local-sync"]


def test_results_of_known_sizes(pooled: list[str]) -> None:
    compiled = adze.trace(lambda x: anp.sum(x), adze.ShapeDtype(("n", 16), np.float32)).lower().compile()
    arrays = adze.device_put(LARGE), adze.device_put(SMALL)
    assert [float(compiled(x)) for x in (*arrays, *arrays)] == [LARGE.size, SMALL.size] * 2
    # The second small call is code of its own, of the caller's thread.
    assert pooled == ["local-task", "local-sync", "local-task"]


def test_small_calls_that_come_again_have_code_of_their_own(pooled: list[str]) -> None:
    compiled = of("n", 16).compile()
    arrays = [adze.device_put(x) for x in (SMALL, LARGE, SMALL + 1)]
    for x in arrays * 4:
        np.testing.assert_array_equal(compiled(x), scaled(np.asarray(x)))
    # The first small calls check their arguments and write the code; large ones ask where to run each time.
    assert pooled.count("local-sync") <= 3
    assert pooled.count("local-task") == 4
    with pytest.raises(CallError, match="axis"):
        compiled(adze.device_put(np.ones((4, 15), np.float32)))


def test_a_device_that_was_asked_for_stays(pooled: list[str]) -> None:
    np.testing.assert_array_equal(of("n", 16).compile(device="local-sync")(LARGE), scaled(LARGE))
    np.testing.assert_array_equal(of("n", 16).compile(device="local-task")(SMALL), scaled(SMALL))
    assert pooled == ["local-sync", "local-task"]


def test_one_thread_has_no_pool(pooled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_THREADS", "1")
    of("n", 16).compile()(LARGE)
    assert pooled == ["local-sync"]


def test_calls_of_known_sizes_take_the_same() -> None:
    assert of(4, 16).compile().function.large_calls is None


def test_a_file(pooled: list[str], tmp_path: Path) -> None:
    of("n", 16).compile().save(tmp_path / "scaled.vmfb")
    program = adze.load(tmp_path / "scaled.vmfb")
    np.testing.assert_array_equal(program(LARGE), scaled(LARGE))
    np.testing.assert_array_equal(
        adze.load(tmp_path / "scaled.vmfb", device="local-sync")(LARGE), scaled(LARGE)
    )
    assert pooled == ["local-task", "local-sync"]


FORKS = """
import os
import numpy as np
import adze

os.sched_getaffinity = lambda process: set(range(8))
x = np.ones((200_000, 16), np.float32)
compiled = adze.trace(lambda x: x * 2, adze.ShapeDtype(("n", 16), np.float32)).lower().compile()
assert compiled(x)[0, 0] == 2 and compiled.function.large_calls.function.device.name == "local-task"
child = os.fork()
if child == 0:
    os._exit(0 if compiled(x)[0, 0] == 2 and compiled(x[:1])[0, 0] == 2 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_child_has_a_pool_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_error_names_the_function() -> None:
    with pytest.raises(CallError, match=r"scaled\(\)"):
        of("n", 16).compile()(np.ones((200_000, 15), np.float32))
