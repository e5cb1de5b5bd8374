"""Arrays that turn out empty: Vulkan's driver binds none, CUDA's launches no kernel without workgroups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.runtime.compile import compiler
from adze.runtime.errors import FailedCallError

from .drivers import needs_vulkan
from .fake_cuda import needs_compiler, on_fake_cuda

ROWS = ShapeDtype(("n", 3))


def of_rows(x: Any) -> Any:
    """Results that are empty with their operand, and such that are not."""
    total = xp.sum(x, axis=0)
    return x + total, total, x.T @ x, xp.concatenate([x, xp.ones((2, 3), np.float32)]), x[x.shape[0] :]


@pytest.mark.vulkan
@needs_vulkan
def test_empty_arrays_are_computed_with() -> None:
    compiled = adze.trace(of_rows, ROWS).lower("vulkan").compile()
    for rows in (0, 1, 4):
        x = np.arange(3.0 * rows, dtype=np.float32).reshape(rows, 3)
        want = [x + x.sum(0), x.sum(0), x.T @ x, np.concatenate([x, np.ones((2, 3), np.float32)]), x[rows:]]
        got = compiled(x)
        for one, other in zip(want, got, strict=True):
            np.testing.assert_array_equal(one, np.asarray(other))
        again = compiled(got[4])  # a result without elements is an argument like any other
        np.testing.assert_array_equal(again[1], np.zeros(3, np.float32))


@pytest.mark.vulkan
@needs_vulkan
def test_unfenced_they_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "changes_device_calls", lambda target: False)
    monkeypatch.setenv("ADZE_CACHE", "off")
    compiled = adze.trace(lambda x: x + 1, ROWS).lower("vulkan").compile()
    with pytest.raises(FailedCallError, match="resolved to an empty buffer range"):
        compiled(np.zeros((0, 3), np.float32))


EMPTY_ON_CUDA = """
rows = adze.ShapeDtype(("n", 3))
program = adze.trace(lambda x: [x + 1, x.T @ x, x * 2], rows).lower("cuda:sm_80").compile()
for n in (0, 4, 0):
    attempt(f"{n} rows", lambda: [list(y.shape) for y in program(np.ones((n, 3), np.float32))])
"""


@needs_compiler
def test_cuda_launches_no_kernel_without_workgroups() -> None:
    """The driver of the tests refuses such a launch, and memory of no bytes, as NVIDIA's does."""
    said = on_fake_cuda(EMPTY_ON_CUDA)
    assert said["4 rows"] == [[4, 3], [3, 3], [4, 3]]
    assert said["0 rows"] == [[0, 3], [3, 3], [0, 3]]


UNFENCED = """
from adze.runtime.compile import compiler
compiler.changes_device_calls = lambda target: False
os.environ["ADZE_CACHE"] = "off"
"""


KNOWN_EMPTY_ON_CUDA = """
none, some = (adze.ShapeDtype((n, 3)) for n in (0, 2))
both = lambda x, y: [x + 1, x.T, x.reshape(-1), adze.numpy.concatenate([x, y]), x.sum(0), y[2:]]
program = adze.trace(both, none, some).lower("cuda:sm_80").compile()
x, y = (np.ones((n, 3), np.float32) for n in (0, 2))
alone = adze.trace(lambda x: x.T + 1, none).lower("cuda:sm_80").compile()
for call in ("first", "second"):
    attempt(call, lambda: [list(z.shape) for z in program(x, y)])
    attempt(f"{call} alone", lambda: list(alone(x).shape))
"""


@needs_compiler
def test_cuda_has_results_that_are_known_to_be_empty() -> None:
    said = on_fake_cuda(KNOWN_EMPTY_ON_CUDA)
    assert said["first"] == said["second"] == [[0, 3], [3, 0], [0], [2, 3], [3], [0, 3]]
    assert said["first alone"] == said["second alone"] == [3, 0]


@needs_compiler
def test_unfenced_cuda_allocates_no_memory_of_no_bytes() -> None:
    kind, message, _ = on_fake_cuda(UNFENCED + KNOWN_EMPTY_ON_CUDA)["first alone"]
    assert kind == "FailedCallError" and "CUDA_ERROR_INVALID_VALUE" in message


@needs_compiler
def test_unfenced_cuda_refuses_kernels_without_workgroups() -> None:
    kind, message, _ = on_fake_cuda(UNFENCED + EMPTY_ON_CUDA)["0 rows"]
    assert kind == "FailedCallError" and "CUDA_ERROR_INVALID_VALUE" in message
