"""Several threads: one compiled function called by many, many functions traced at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

THREADS = 8


def on_threads(work: Any) -> list[Any]:
    """`work(number)` on eight threads that begin together; its results in order."""
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> Any:
        barrier.wait(timeout=30)
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_one_function_is_called_by_many_threads(device: str) -> None:
    f = adze.jit(lambda x, s: anp.sin(x) * s + x.sum(), device=device)
    x = np.linspace(0, 1, 1000)
    expected = [np.sin(x) * n + x.sum() for n in range(THREADS)]

    def work(number: int) -> bool:
        s = np.float64(number)
        return all(np.allclose(f(x, s), expected[number], rtol=1e-12) for _ in range(50))

    assert all(on_threads(work))


def test_the_first_call_from_many_threads_compiles_once() -> None:
    traced = []

    @adze.jit
    def f(x: Any) -> Any:
        traced.append(threading.get_ident())
        return x * 11

    assert all(np.array_equal(r, [11, 11]) for r in on_threads(lambda _: f(np.ones(2))))
    assert len(traced) == 1 and f.cache_size() == 1


def test_threads_trace_different_functions_at_once() -> None:
    def work(number: int) -> str:
        def chain(x: Any) -> Any:
            for _ in range(20):
                x = x * number + 1
            return x

        return "\n".join(str(adze.trace(chain, np.ones((number + 1, 2)))) for _ in range(3))

    for number, text in enumerate(on_threads(work)):
        assert text.count(f"tensor<{number + 1}x2xf64>) -> tensor<{number + 1}x2xf64> {{") == 3
        assert text == work(number)


def test_a_trace_on_one_thread_is_no_trace_on_another() -> None:
    inside, done = threading.Event(), threading.Event()

    def slow(x: Any) -> Any:
        inside.set()
        assert done.wait(timeout=30)
        return x

    with ThreadPoolExecutor(1) as pool:
        tracing = pool.submit(adze.trace, slow, np.ones(2))
        assert inside.wait(timeout=30)
        assert isinstance(anp.ones(2) + 1, adze.Array)
        done.set()
        assert "return %arg0" in str(tracing.result(timeout=30))


def test_a_tracer_of_another_thread_is_refused() -> None:
    kept: list[Any] = []

    def share(x: Any) -> Any:
        kept.append(x)
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: kept[0] + 1).result(timeout=30)

    with pytest.raises(adze.AdzeError, match="a traced value of type f64"):
        adze.trace(share, np.ones(2))
