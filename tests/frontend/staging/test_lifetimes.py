"""Memory that leaves adze stays valid as long as someone can read it, and memory that enters is not aliased.

The CPU allocator reuses freed memory for the next result of that size at once, so that a view of freed memory
shows the numbers of a later call.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

from ...selection import quick_first

SIZE = 60_000

doubled = adze.jit(lambda x: x * 2)
parts = adze.jit(lambda x: (x * 2, (x * 2)[1:], (x * 2).reshape(2, -1), x))

EXITS: dict[str, Callable[[Any], np.ndarray]] = {
    "asarray": np.asarray,
    "numpy": lambda result: result.numpy(),
    "slice": lambda result: np.asarray(result)[3:7],
    "strided": lambda result: np.asarray(result)[::1000],
    "reshape": lambda result: np.asarray(result).reshape(3, -1).T,
    "view": lambda result: np.asarray(result).view(np.int64).view(np.float64),
    "__array__": lambda result: result.__array__(),
    "dlpack": np.from_dlpack,
    "dlpack of the buffer": lambda result: np.from_dlpack(result.buffer),
    "memoryview": lambda result: np.asarray(memoryview(np.asarray(result))),
    "iterator": lambda result: next(iter(np.asarray(result).reshape(4, -1))),
    "ufunc": lambda result: np.broadcast_to(np.asarray(result), (2, SIZE)),
}


def overwrite_freed_memory(device: str) -> None:
    gc.collect()
    other = np.full(SIZE, -7.0)
    kept = [doubled(other) for _ in range(4)]
    kept += [parts(other) for _ in range(2)]
    assert float(kept[0][0]) == -14.0, device


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", EXITS)
def test_a_view_keeps_the_memory_of_a_result(name: str) -> None:
    views = [EXITS[name](doubled(np.full(SIZE, float(i)))) for i in range(8)]
    overwrite_freed_memory("cpu")
    assert [float(v.min()) for v in views] == [2.0 * i for i in range(8)]
    assert [float(v.max()) for v in views] == [2.0 * i for i in range(8)]


def test_views_of_results_that_share_a_buffer() -> None:
    views = [[np.asarray(part) for part in parts(np.full(SIZE, float(i)))] for i in range(8)]
    overwrite_freed_memory("cpu")
    for i, (whole, tail, folded, argument) in enumerate(views):
        assert (whole == 2 * i).all() and (tail == 2 * i).all() and (folded == 2 * i).all()
        assert (argument == i).all()
        assert tail.shape == (SIZE - 1,) and folded.shape == (2, SIZE // 2)


def test_an_argument_is_kept_by_the_results_that_are_it() -> None:
    """Large arguments are shared with the program for the call."""
    results = []
    for i in range(8):
        argument = np.full(SIZE, float(i))
        results.append(parts(argument)[3])
        argument[:] = -1  # the caller's own array, his to change
        del argument
    overwrite_freed_memory("cpu")
    assert [float(np.asarray(r).max()) for r in results] == [float(i) for i in range(8)]


def test_a_view_made_of_a_result_is_read_only_for_good() -> None:
    view = np.asarray(doubled(np.ones(SIZE)))
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True


@pytest.mark.parametrize(
    "dtype", quick_first(["bool", "bfloat16", "complex128", "int8", "uint16", "float16", "complex64"], 3)
)
def test_views_of_every_width(dtype: str) -> None:
    identity = adze.jit(lambda x, y: anp.concat([x, y]))
    one = anp.ones(20_000, dtype=dtype)
    views = [np.asarray(identity(one, one)) for _ in range(3)]
    gc.collect()
    zero = anp.zeros(20_000, dtype=dtype)
    again = [identity(zero, zero) for _ in range(6)]
    assert all((v == 1).all() for v in views) and len(again) == 6


def test_views_under_threads() -> None:
    barrier = threading.Barrier(4)

    def work(number: int) -> bool:
        barrier.wait(timeout=60)
        right = True
        for i in range(30):
            value = float(100 * number + i)
            view = np.asarray(doubled(np.full(SIZE, value)))[5:9]
            doubled(np.full(SIZE, -1.0))
            right &= bool((view == 2 * value).all())
        return right

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


# -- memory that enters --------------------------------------------------------------------------------------

ENTRANCES: dict[str, Callable[[np.ndarray], Any]] = {
    "asarray": anp.asarray,
    "array": anp.array,
    "transpose": anp.transpose,
    "reshape": lambda x: anp.reshape(x, (-1,)),
    "slice": lambda x: anp.flip(x),
    "broadcast": lambda x: anp.broadcast_to(x, (2, *x.shape)),
    "astype": lambda x: anp.astype(x, x.dtype),
    "real": anp.real,
    "squeeze": lambda x: anp.squeeze(x[None]),
    "method": lambda x: anp.asarray(x).T,
    "read-only view": lambda x: anp.asarray(np.broadcast_to(x, x.shape)),
    "dlpack": anp.from_dlpack,
    "device_put": adze.device_put,
    "jit": adze.jit(lambda x: x),
    "tree": lambda x: adze.tree.map(anp.asarray, [x])[0],
}


@pytest.mark.parametrize("name", ENTRANCES)
@pytest.mark.parametrize("size", [3, SIZE])
def test_an_array_does_not_change_with_the_users_memory(name: str, size: int) -> None:
    users = np.ones(size)
    ours = ENTRANCES[name](users)
    users[:] = 5
    assert (np.asarray(ours) == 1).all()


def test_a_pullback_keeps_the_point_at_which_it_was_made() -> None:
    weights = np.ones(3)
    _, pullback = adze.vjp(lambda w: (w * w).sum(), weights)
    _, tangent = adze.linearize(lambda w: (w * w).sum(), weights)
    weights -= 0.5
    assert pullback(1.0)[0].tolist() == [2.0, 2.0, 2.0]
    assert float(tangent(np.ones(3))) == 6.0


def test_a_buffer_that_is_filled_again_while_tracing() -> None:
    def f(x: Any) -> Any:
        row, rows = np.empty(2), []
        for i in range(3):
            row[:] = i
            rows.append(anp.asarray(row))
        return x + anp.stack(rows).sum(axis=1)

    assert adze.jit(f)(np.zeros(3)).tolist() == [0.0, 2.0, 4.0]


def test_sharing_is_had_by_asking_for_it() -> None:
    users = np.ones(3)
    ours = anp.asarray(users, copy=False)
    assert np.shares_memory(np.asarray(ours), users)
    with pytest.raises(adze.AdzeError, match="float64 cannot become float32 without a copy"):
        anp.asarray(users, np.float32, copy=False)


def test_what_nobody_can_write_to_is_not_copied() -> None:
    first = anp.asarray(np.ones(3))
    assert np.shares_memory(np.asarray(anp.asarray(np.asarray(first))), np.asarray(first))


MEMORY = Path("/proc/self/statm")


def resident() -> int:
    """Bytes of this process that are in memory."""
    gc.collect()
    return int(MEMORY.read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not MEMORY.exists(), reason="memory is counted in /proc")
def test_many_calls_and_arrays_of_many_sizes_leave_no_memory_behind_compiled() -> None:
    x = np.ones(8, np.float32)
    jitted = adze.jit(lambda x: anp.sin(x) + 1)
    sized = adze.trace(lambda x: anp.sin(x) + 1, adze.ShapeDtype(("n",))).lower().compile()

    def work(calls: int) -> None:
        for _ in range(10 * calls):
            jitted(x)
        for k in range(calls):
            array = np.full(k % 997 + 1, k, np.float32)
            sized(array)
            adze.device_put(array)
            anp.asarray(array) + 1

    work(1000)
    before = resident()
    work(5000)
    grown = resident() - before
    assert grown < 2 << 20, f"{grown} bytes more"  # 50 bytes a call would be 2.5 MB


@pytest.mark.skipif(not MEMORY.exists(), reason="memory is counted in /proc")
def test_compiles_leave_no_memory_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one left its MLIR context, of 4 MB."""
    monkeypatch.setenv("ADZE_CACHE", "off")
    x = np.ones(8, np.float32)
    for number in range(3):
        adze.jit(lambda x, number=number: x * number + 1)(x)
    before = resident()
    for number in range(10):
        adze.jit(lambda x, number=number: x * number + 2)(x)
    assert resident() - before < 20 << 20
