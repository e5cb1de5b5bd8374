"""Searches in ascending vectors on CUDA: elements are taken where they are used, so no step is a launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype

from .fake_cuda import needs_compiler, on_ptx_machine
from .table import counts_of

pytestmark = pytest.mark.gpu


def in_running_sums(x: Any, wanted: Any) -> Any:
    return xp.searchsorted(xp.cumsum(x * x), wanted)


VECTORS = ShapeDtype((1000,)), ShapeDtype((500,))
MOST: dict[str, tuple[Callable[..., Any], int]] = {
    "an argument": (lambda x, wanted: xp.searchsorted(x, wanted), 1),
    "running sums": (in_running_sums, 3),
    "a histogram": (lambda x, wanted: xp.histogram(x, bins=10)[0], 6),
    "places": (lambda x, wanted: xp.nonzero(x, size=100), 4),
    "interpolation": (lambda x, wanted: xp.interp(x, wanted * 2, wanted + 1), 4),
}


@pytest.mark.parametrize("name", MOST)
def test_a_search_is_few_kernels(name: str) -> None:
    function, most = MOST[name]
    assert counts_of(adze.trace(function, *VECTORS).lower("cuda:sm_80").compile().vmfb)["kernels"] <= most


RUN = """
import adze.numpy as xp
from tests.passes.autodiff.test_indexing_conventions import cross_entropy
from tests.gpu.test_searches import in_running_sums

rng = np.random.default_rng(0)
sizes = (1, 2, 3, 7, 8, 9, 33)
tables = [np.sort(rng.integers(0, 9, n).astype(t)) for n in sizes for t in (np.float32, np.int64, np.float16)]
for table in tables:
    if len(table) > 3 and table.dtype.kind == "f":
        table[[0, -2, -1]] = -np.inf, np.inf, np.nan
wanted = np.float32([0, -0.0, 3, 4.5, 9, np.inf, -np.inf, np.nan])
for side in ("left", "right"):
    found = adze.jit(lambda *a: [xp.searchsorted(x, xp.asarray(wanted, x.dtype), side=side) for x in a],
                     device="cuda:0")(*tables)
    wants = [np.searchsorted(x, wanted.astype(x.dtype), side=side) for x in tables if x.dtype.kind == "f"]
    of_floats = [np.asarray(got) for x, got in zip(tables, found) if x.dtype.kind == "f"]
    said[side] = all(map(np.array_equal, of_floats, wants))
x, y = rng.standard_normal((64, 100)).astype(np.float32), rng.integers(0, 100, 64)
for name, function, arguments in (
    ("cross entropy", adze.value_and_grad(cross_entropy), (x, y)),
    ("running sums", in_running_sums, (x[0], np.float32([0, 1, 50, 70, 1e9]))),
    ("interpolation", lambda x, i: xp.interp(x[0], xp.sort(x[1]) * 2, x[2] + 1), (x, y)),
    ("columns", lambda x, i: xp.tanh(x.sum(axis=1))[i % 64], (x, y)),
    ("sums of columns", lambda x, i: (x * 2).sum(axis=0)[i].sum(), (x, y)),
    ("products", lambda x, i: xp.take_along_axis(xp.exp(x), i[:, None], axis=1).T @ x, (x, y)),
    ("quantiles", lambda x, i: xp.quantile(x, xp.linspace(0, 1, 5), axis=1), (x, y)),
):
    got, want = (adze.jit(function, device=device)(*arguments) for device in ("cuda:0", "cpu"))
    pairs = zip(got, want) if isinstance(got, tuple) else [(got, want)]
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in pairs]
    said[name] = max(float(np.max(abs(a - b)) / max(np.max(abs(b)), 1)) for a, b in pairs)
"""


@pytest.mark.thorough
@needs_compiler
def test_elements_are_taken_of_what_was_computed_before() -> None:
    said = on_ptx_machine(RUN)
    assert said.pop("left") is said.pop("right") is True
    assert max(said.values()) < 1e-5, said
