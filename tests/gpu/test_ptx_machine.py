"""Programs for CUDA whose kernels run here, as C: IREE's CUDA code calls them on a driver without GPUs."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from .fake_cuda import needs_compiler, on_ptx_machine
from .ptx_machine import UnknownInstruction, build, translated

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


WRAPPED = """
.visible .entry wrapped(
	.param .u64 .ptr .global .align 4 wrapped_param_0
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<2>;

	ld.param.b64 	%rd1, [wrapped_param_0];
	mov.b32 	%r1, -2147483648;
	mov.b32 	%r2, 0;
$L__BB0_1:
	add.s32 	%r2, %r2, 1;
	add.s32 	%r3, %r1, 4;
	add.s32 	%r4, %r1, -2147483648;
	mov.b32 	%r1, %r3;
	setp.lt.u32 	%p1, %r4, 36;
	@%p1 bra 	$L__BB0_1;
	st.global.b32 	[%rd1], %r2;
	ret;

}
"""


INSERTED = """
.visible .entry inserted(
	.param .u64 .ptr .global .align 4 inserted_param_0
)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<2>;

	ld.param.b64 	%rd1, [inserted_param_0];
	mov.b32 	%r1, 2047;
	mov.b32 	%r2, 65536;
	bfi.b32 	%r3, %r1, %r2, 8, 4;
	st.global.b32 	[%rd1], %r3;
	ret;

}
"""


COMPARED = """
.visible .entry compared(
	.param .u64 .ptr .global .align 4 compared_param_0
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<6>;
	.reg .b64 	%rd<2>;

	ld.param.b64 	%rd1, [compared_param_0];
	mov.b32 	%r1, 1006648320;
	mov.b32 	%r2, 1006664704;
	setp.eq.f16x2 	%p1|%p2, %r1, %r2;
	selp.b32 	%r3, 1, 0, %p1;
	selp.b32 	%r4, 2, 0, %p2;
	add.s32 	%r5, %r3, %r4;
	st.global.b32 	[%rd1], %r5;
	ret;

}
"""  # the pairs (1, 1) and (infinity, 1), the low one first


@pytest.mark.parametrize(
    ("name", "ptx", "result"),
    [("wrapped", WRAPPED, 10), ("inserted", INSERTED, 0x10F00), ("compared", COMPARED, 2)],
)
def test_integers_are_those_of_a_gpu(name: str, ptx: str, result: int, tmp_path: Path) -> None:
    """They wrap around, as in IREE's loops over places whose sign is flipped: C would take such an overflow
    for impossible. Bits are put between others, and pairs of halves are compared."""
    (tmp_path / f"{name}.ptx").write_text(ptx)
    build(tmp_path / f"{name}.ptx", tmp_path / f"{name}.so")
    library = ctypes.CDLL(str(tmp_path / f"{name}.so"))
    count, one = ctypes.c_int32(-1), (ctypes.c_uint32 * 3)(1, 1, 1)
    place = ctypes.c_void_p(ctypes.addressof(count))
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(place))
    kernels = ctypes.c_char.in_dll(library, "kernels")
    library.launch(ctypes.byref(kernels), one, one, 0, parameters)
    assert count.value == result
