"""Scatters of few elements: what IREE's compilers died of on Vulkan, and refused for CUDA."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax
from adze.passes.lower.forms import scatter
from adze.runtime.compile import strategy
from adze.runtime.errors import CompileError

from .drivers import needs_vulkan
from .fake_cuda import needs_compiler, on_ptx_machine
from .test_fences import compiled_apart

pytestmark = pytest.mark.gpu

ROWS, X, PLACES = np.zeros((3, 1), np.float32), np.float32([3, 1, 2]), np.int32([2, 1, 0])
UPDATES: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda x: xp.flip(x * 2)[0],
    "sorted": lambda x: xp.sort(x)[0],
    "summed": lambda x: xp.cumsum(xp.flip(x))[1],
    "taken": lambda x: x[PLACES][0],
    "rolled": lambda x: xp.roll(x, 1)[0],
    "widened": lambda x: x.astype("int32").astype("float32")[2],
}


def scattered(rows: Any, x: Any, place: Any) -> list[Any]:
    """The rows with each update put into the place, and added there."""
    changed = [rows.at[place].set(update(x)) for update in UPDATES.values()]
    return changed + [rows.at[place].add(update(x)) for update in UPDATES.values()]


@pytest.mark.parametrize("target", ["vulkan:lavapipe", "vulkan:ampere", "metal"])
def test_single_elements_are_scattered(target: str) -> None:
    script = f"""
import adze
from tests.gpu.test_scattered_elements import ROWS, X, scattered
adze.trace(scattered, ROWS, X, adze.ShapeDtype((), "int32")).lower({target!r}).compile(cache=False)
"""
    assert compiled_apart(script) == 0


@pytest.mark.vulkan
@needs_vulkan
def test_scattered_elements_are_numpys() -> None:
    got = adze.jit(scattered, device="vulkan")(ROWS, X, np.int32(1))
    assert [float(rows[1, 0]) for rows in map(np.asarray, got)] == [4, 1, 3, 2, 2, 2] * 2
    assert all(not np.asarray(rows)[[0, 2]].any() for rows in got)


BEGUN: dict[str, Callable[[Any], Any]] = {
    "sorted": lambda x: xp.sort(x[0]).at[PLACES].add(x[1, :3]) * x[0],
    "greatest": lambda x: xp.sort(x[0]).at[PLACES].max(x[1, :3]) * x[0],
    "rows": lambda x: xp.sort(x, axis=0).at[PLACES].add(x[:3]) * x,
    "gradient": adze.grad(lambda x: (x * lax.cummax(x, axis=1)).sum()),
}
"""What goes on with a scatter into what another kernel made, or into zeros."""


@pytest.mark.parametrize("name", BEGUN)
def test_scatters_into_other_kernels_arrays_compile_in_their_first_form(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strategy, "FORMS", tuple(form for form in strategy.FORMS if form.name == "tuned"))
    x = adze.ShapeDtype((64, 64))
    assert adze.trace(BEGUN[name], x).lower("cuda:sm_80").compile(cache=False).vmfb


def test_iree_still_refuses_to_begin_with_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scatter, "copied", lambda ctx, x, dtype: x)
    monkeypatch.setattr(strategy, "FORMS", tuple(form for form in strategy.FORMS if form.name == "tuned"))
    lowered = adze.trace(BEGUN["sorted"], adze.ShapeDtype((64, 64))).lower("cuda:sm_80")
    with pytest.raises(CompileError, match="failed to bufferize op"):
        lowered.compile(cache=False)


@needs_compiler
def test_scatters_into_other_kernels_arrays_compute() -> None:
    said = on_ptx_machine("""
from tests.gpu.test_scattered_elements import BEGUN
x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
for name, function in BEGUN.items():
    got, want = (np.asarray(adze.jit(function, device=device)(x)) for device in ("cuda:0", "cpu"))
    said[name] = float(abs(got - want).max() / abs(want).max())
""")
    assert list(said) == list(BEGUN)
    assert max(said.values()) < 1e-5


@pytest.mark.thorough
def test_iree_still_dies_of_rows_of_one_element() -> None:
    script = """
import adze
from adze.passes.lower.forms import scatter
from tests.gpu.test_scattered_elements import ROWS, UPDATES, X
scatter._axes_of_rows = lambda row, columns: row
place = adze.ShapeDtype((), "int32")
traced = adze.trace(lambda rows, x, place: rows.at[place].set(UPDATES["reversed"](x)), ROWS, X, place)
traced.lower("vulkan:lavapipe").compile(cache=False)
"""
    assert compiled_apart(script) == -signal.SIGSEGV
