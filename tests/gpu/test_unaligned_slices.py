"""Parts of arrays that begin within a vector: what Vulkan's kernels read and write of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax, nn
from adze.dialects.mlir import ir, new_context
from adze.runtime.compile import compiler
from adze.runtime.compile.faults.unaligned_slices import with_unaligned_slices

from .drivers import needs_vulkan

pytestmark = pytest.mark.gpu

FORMS: dict[str, Callable[[Any, int, int], Any]] = {
    "elementwise": lambda x, o, n: x[:, o : o + n] * 2,
    "sum": lambda x, o, n: x[:, o : o + n].sum(1),
    "sum of all": lambda x, o, n: x[:, o : o + n].sum(),
    "softmax": lambda x, o, n: nn.softmax(x[:, o : o + n]),
    "product": lambda x, o, n: x[:, o : o + n] @ x[:n, :24],
    "product by a part": lambda x, o, n: x @ x.T[:, o : o + 16] if n > 16 else x.T @ x[:, o : o + n],
    "updated": lambda x, o, n: x.at[:, o : o + n].add(1),
    "padded": lambda x, o, n: xp.pad(x[:, :n] * 2, ((0, 0), (o, 3))),
    "two parts": lambda x, o, n: x[:, o : o + n] + x[:, o + 1 : o + n + 1],
    "in steps": lambda x, o, n: x[:, o::2][:, :20] * 2 + x[:, o : o + 20],
    "dynamic": lambda x, o, n: lax.dynamic_slice(x, (0, xp.argmax(x[0] * 0) + o), (x.shape[0], n)) * 2,
    "gradient": lambda x, o, n: adze.grad(lambda x: (x[:, o : o + n].sum(1) ** 2).sum())(x),
}


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("form", FORMS)
def test_parts_begin_where_they_should(form: str) -> None:
    x = np.random.default_rng(0).standard_normal((24, 64)).astype(np.float32)
    compute = FORMS[form]
    for offset, length in ((1, 2), (3, 4), (2, 8), (1, 16), (3, 24)):
        got = adze.jit(lambda x, o=offset, n=length: compute(x, o, n), device="vulkan")(x)
        want = adze.jit(lambda x, o=offset, n=length: compute(x, o, n), device="cpu")(x)
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5, err_msg=f"{offset}, {length}")


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "float16", "int32", "int64", "float64"])
def test_elements_of_any_width(dtype: str) -> None:
    x = np.random.default_rng(0).integers(0, 99, (8, 64)).astype(dtype)
    for offset in (1, 2, 4, 6, 8):
        got = adze.jit(lambda x, o=offset: xp.where(x[:, o : o + 16] > 50, 1, 2), device="vulkan")(x)
        np.testing.assert_array_equal(got, np.where(x[:, offset : offset + 16] > 50, 1, 2))


@pytest.mark.vulkan
@needs_vulkan
def test_iree_still_begins_with_a_whole_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "with_unaligned_slices", lambda program: program)
    monkeypatch.setenv("ADZE_CACHE", "off")
    x = np.arange(16 * 64, dtype=np.float32).reshape(16, 64)
    got = adze.jit(lambda x: x[:, 1:5] * 2, device="vulkan")(x)
    np.testing.assert_array_equal(got, x[:, :4] * 2)


def test_aligned_parts_keep_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = []

    def mended(program: bytes) -> bytes:
        programs.extend((program, with_unaligned_slices(program)))
        return programs[-1]

    monkeypatch.setattr(compiler, "with_unaligned_slices", mended)
    monkeypatch.setenv("ADZE_CACHE", "off")
    for offset in (1, 4):
        spec = ShapeDtype((16, 64))
        adze.trace(lambda x, o=offset: x[:, o : o + 8] * 2, spec).lower("vulkan:rdna3").compile()
    before, after, aligned, unchanged = programs
    assert (hidden_lengths(before), hidden_lengths(after)) == (0, 1)
    assert unchanged is aligned


def hidden_lengths(program: bytes) -> int:
    """How many arrays of kernels have rows of an unknown length."""
    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        text = str(ir.Module.parse(program, context))
    return sum("binding.subspan" in line and "x?xf32" in line for line in text.splitlines())
