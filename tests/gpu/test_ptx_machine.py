"""Programs for CUDA whose kernels run here, as C: IREE's CUDA code calls them on a driver without GPUs."""

from __future__ import annotations

import pytest

from .fake_cuda import needs_compiler, on_ptx_machine
from .ptx_machine import UnknownInstruction, translated

pytestmark = [pytest.mark.gpu, needs_compiler]

PRODUCTS = """
rng = np.random.default_rng(0)
for name in ("float32", "float64", "float16", "int8"):
    x, y = ((rng.standard_normal(shape) * 4).astype(name) for shape in ((160, 96), (96, 130)))
    sums = np.int32 if name == "int8" else np.dtype(name)
    multiply = adze.jit(lambda x, y: adze.lax.dot(x, y, preferred_element_type=sums), device="cuda:0")
    want = x.astype(np.float64) @ y.astype(np.float64)
    said[name] = float(abs(np.asarray(multiply(x, y)) - want).max() / abs(want).max())
"""


@pytest.mark.thorough
def test_products_are_products() -> None:
    """In the tiles of shared memory, and by tensor cores."""
    off = on_ptx_machine(PRODUCTS)
    assert off["int8"] == 0.0 and off["float64"] < 1e-14
    assert off["float32"] < 1e-6 and off["float16"] < 1e-3


PROGRAMS = """
x = np.random.default_rng(0).standard_normal((7, 33)).astype(np.float32)
lib = adze.numpy
for name, function in {
    "softmax": lambda x: lib.exp(x - x.max(axis=1, keepdims=True)) / lib.exp(x - x.max()).sum(),
    "cumsum": lambda x: lib.cumsum(x, axis=1),
    "sort": lambda x: lib.sort(x, axis=1),
    "several results": lambda x: (x.sum(axis=0), lib.tanh(x), x.argmax(axis=1)),
}.items():
    got, want = (adze.jit(function, device=device)(x) for device in ("cuda:0", "cpu"))
    pairs = zip(got, want) if isinstance(got, tuple) else [(got, want)]
    said[name] = max(float(abs(np.asarray(a) - np.asarray(b)).max()) for a, b in pairs)
"""


@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_programs_give_what_they_give_on_a_cpu(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever thread of a block goes first."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    off = on_ptx_machine(PROGRAMS)
    assert max(off.values()) < 1e-5, off


def test_an_unknown_instruction_is_named() -> None:
    kernel = ".visible .entry k()\n{\n\t.reg .b32 \t%r<3>;\n\tfrobnicate.b32 \t%r1, %r2;\n\tret;\n\n}\n"
    with pytest.raises(UnknownInstruction, match=r"frobnicate\.b32"):
        translated(kernel)
