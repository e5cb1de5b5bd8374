"""What is counted in the machine code of AMD's GPUs, and in Metal's source."""

from __future__ import annotations

import re
import struct
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import adze
from adze import ShapeDtype, lax
from adze.runtime.artifact.device_code.amdgpu import amd_counts
from adze.runtime.artifact.device_code.executables import AmdCode, executables_of
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.artifact.device_code.metal import metal_counts
from adze.runtime.compile import compiler
from adze.runtime.errors import ArtifactError
from adze.runtime.targets import parse_target

from .programs import PROGRAMS

NOTE = (
    b"\x82\xaeamdhsa.kernels\x91\x87\xa5.name\xa1f\xab.vgpr_count\x20\xb1.vgpr_spill_count\x02"
    b"\xb9.group_segment_fixed_size\xcd\x04\x00\xbb.private_segment_fixed_size\x08"
    b"\xb4.reqd_workgroup_size\x93\xcc\x80\x01\x01\xab.agpr_count\x04"
    b"\xadamdhsa.target"
)
CODE = {
    # s_load_dwordx2; s_mov_b32 with a literal; v_fmac_f32; v_mfma_f32_32x32x8_f16; v_accvgpr_read;
    # global_load_dwordx4; scratch_load_dword; buffer_store_dword; s_barrier; s_nop; s_endpgm
    942: (
        *(0xC0060000, 0, 0xBE8000FF, 1234, 0x76000001, 0xD3CC0000, 0x04000000, 0xD3D80000, 0x18000100),
        *(0xDC5C8000, 0, 0xDC504000, 0, 0xE0700000, 0, 0xBF8A0000, 0xBF800000, 0xBF810000),
    ),
    # v_wmma_f32_16x16x16_f16; v_dual_fmac_f32 beside v_dual_mul_f32; v_fma_f32 with a literal;
    # global_load_b128; global_store_b64; s_barrier; s_endpgm
    1100: (
        *(0xCC404000, 0x1C020300, 0xC8060100, 0x00000000, 0xD6130000, 0x03FC0300, 0x3F800000),
        *(0xDC5E0000, 0, 0xDC6E0000, 0, 0xBFBD0000, 0xBFB00000),
    ),
}


def code_object(architecture: int, words: tuple[int, ...]) -> bytes:
    """An ELF file of a kernel `f`: its note, a symbol with its code, and the tables of these."""
    triple = b"amdgcn-amd-amdhsa--gfx%d:x+" % architecture
    note = NOTE + bytes([0xA0 + len(triple)]) + triple
    note = struct.pack("<III", 7, len(note), 32) + b"AMDGPU\0\0" + note + b"\0" * (-len(note) % 4)
    text = struct.pack(f"<{len(words)}I", *words)
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0, 3, 0x1000, len(text))
    parts = [b"", note, symbol, text, b"\0f\0"]
    starts = [64 + sum(len(part) for part in parts[:n]) for n in range(len(parts))]
    kinds = [(0, 0, 0), (7, 0, 0), (2, 0, 4), (1, 0x1000, 0), (3, 0, 0)]
    sections = b"".join(
        struct.pack("<IIQQQQIIQQ", 0, kind, 0, address, start, len(part), link, 0, 0, 0)
        for (kind, address, link), start, part in zip(kinds, starts, parts, strict=True)
    )
    table = 64 + sum(map(len, parts))
    header = (
        b"\x7fELF" + bytes(36) + struct.pack("<Q", table) + bytes(10) + struct.pack("<HH", 64, len(parts))
    )
    return header + bytes(64 - len(header)) + b"".join(parts) + sections


def test_instructions_of_cdna_are_counted() -> None:
    (kernel,) = amd_counts(code_object(942, CODE[942]))
    assert (kernel.name, kernel.code, kernel.target, kernel.threads) == ("f", "amdgpu", "gfx942", (128, 1, 1))
    assert (kernel.registers, kernel.spilled_bytes, kernel.shared_bytes) == (36, 8, 1024)
    assert (kernel.stack_bytes, kernel.matrix_products, kernel.fused_multiply_adds) == (8, 1, 1)
    assert (kernel.loads, kernel.wide_loads, kernel.stores, kernel.wide_stores) == (1, 1, 1, 0)
    assert (kernel.barriers, kernel.instructions) == (1, 10)


def test_instructions_of_rdna_are_counted() -> None:
    (kernel,) = amd_counts(code_object(1100, CODE[1100]))
    assert (kernel.matrix_products, kernel.fused_multiply_adds, kernel.instructions) == (1, 2, 7)
    assert (kernel.loads, kernel.wide_loads, kernel.stores, kernel.wide_stores) == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "0 bytes that are to be a code object do not begin as an ELF file"),
        (b"\x7fELF", "a code object of 4 bytes points to 8 at 40"),
        (code_object(942, (0xBE8000FF,)), "the last instruction, 0xbe8000ff, is cut off"),
        (code_object(942, (0xFFFFFFFF,)), "the word 0xffffffff at 0 begins no instruction"),
        (code_object(700, ()), "code for gfx700: expected gfx9, gfx11 or gfx12"),
    ],
)
def test_damaged_code_objects_are_named(content: bytes, reason: str) -> None:
    with pytest.raises(ArtifactError, match=re.escape(f"the code object is damaged: {reason}")):
        amd_counts(content)


def test_no_damage_is_another_error() -> None:
    whole = code_object(942, CODE[942])
    for place in range(0, len(whole), 3):
        for damaged in (whole[:place], whole[:place] + b"\xff" + whole[place + 1 :]):
            try:
                amd_counts(damaged)
            except ArtifactError as error:
                assert error.message


METAL = """#include <metal_stdlib>
struct _7
{
    float4 _m0[1];
};
struct _8
{
    float _m0[1];
};
struct spvDescriptorSetBuffer0
{
    const device _7* a [[id(0)]];
    device _8* b [[id(1)]];
};
kernel void f(constant spvDescriptorSetBuffer0& spvDescriptorSet0 [[buffer(0)]], uint3 x [[threads]])
{
    threadgroup float4 _20[64];
    threadgroup half _21[3];
    float4 _3 = fma((*spvDescriptorSet0.a)._m0[x.x + 1u], (*spvDescriptorSet0.b)._m0[2], 0.0);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    (*spvDescriptorSet0.b)._m0[x.y] = (*spvDescriptorSet0.a)._m0[3].x;
}
"""


def test_the_source_for_metal_is_counted() -> None:
    (kernel,) = metal_counts(METAL)
    assert (kernel.name, kernel.fused_multiply_adds, kernel.barriers) == ("f", 1, 1)
    assert (kernel.loads, kernel.wide_loads, kernel.stores, kernel.wide_stores) == (3, 2, 1, 0)
    assert (kernel.shared_bytes, kernel.instructions, kernel.registers) == (1030, 5, None)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("target", "matrix_products"), [("rocm:gfx942", 16), ("rocm:gfx1100", 16), ("metal", 0)]
)
def test_kernels_of_compiled_programs_are_counted(target: str, matrix_products: int) -> None:
    spec = ShapeDtype((64, 64), np.float16)
    (kernel,) = gpu_kernels(adze.trace(lambda x, y: x @ y, spec, spec).lower(target).compile().vmfb)
    assert kernel.matrix_products >= matrix_products and kernel.loads >= kernel.wide_loads > 0
    assert kernel.spilled_bytes in (0, None) and kernel.stores > 0
    assert kernel.fused_multiply_adds or kernel.matrix_products


F16, I8 = np.dtype(np.float16), np.dtype(np.int8)
RDNA3 = {
    "float32": (lambda x, y: x @ y, np.float32, (128, 128), {"fused_multiply_adds": 256, "loads": 4}),
    "float32, sizes that no tile divides": (
        lambda x, y: x @ y,
        np.float32,
        (250, 250),
        {"fused_multiply_adds": 256, "loads": 8},
    ),
    "float16": (lambda x, y: x @ y, F16, (256, 256), {"matrix_products": 16, "loads": 8}),
    "float16, large tiles": (
        lambda x, y: x @ y,
        F16,
        (1024, 1024),
        {"matrix_products": 32, "loads": 12},
    ),
    "int8": (
        lambda x, y: lax.dot(x, y, preferred_element_type=np.int32),
        I8,
        (128, 128),
        {"matrix_products": 16, "loads": 8},
    ),
}
"""Products for RDNA3, and what the kernel that multiplies has: multiplications at least, loads at most."""


@pytest.mark.gpu
@pytest.mark.parametrize("name", RDNA3)
def test_products_of_rdna3_have_tiles_without_spills(name: str) -> None:
    """IREE's tiles of float32 load each factor again, those of halves spill 404 bytes of each thread."""
    function, dtype, shape, wanted = RDNA3[name]
    specs = [ShapeDtype(shape, dtype)] * 2
    kernels = gpu_kernels(adze.trace(function, *specs).lower("rocm:gfx1100").compile().vmfb)
    product = max(kernels, key=lambda kernel: kernel.matrix_products + kernel.fused_multiply_adds)
    assert product.loads <= wanted["loads"] and product.shared_bytes > 0
    assert product.matrix_products >= wanted.get("matrix_products", 0)
    assert product.fused_multiply_adds >= wanted.get("fused_multiply_adds", 0)
    assert [kernel.spilled_bytes for kernel in kernels] == [0] * len(kernels)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("name", "kernels", "counted", "least"),
    [
        ("product_f32_any_rows", 2, "fused_multiply_adds", 256),
        ("product_f16_any_rows", 2, "matrix_products", 64),
        ("convolution_strided_f32", 2, "fused_multiply_adds", 256),
        pytest.param("convolution_f16", 3, "matrix_products", 16, marks=pytest.mark.thorough),
        pytest.param("convolution_gradients_f32", 7, "fused_multiply_adds", 768, marks=pytest.mark.thorough),
    ],
)
def test_blocks_and_windows_of_rdna3_are_those_of_cuda(
    name: str, kernels: int, counted: str, least: int
) -> None:
    """Without, products of any number of rows have 4 multiply-adds in a loop, convolutions none."""
    program = PROGRAMS[name]
    compiled = adze.trace(program.function, *program.specs).lower("rocm:gfx1100").compile()
    found = gpu_kernels(compiled.vmfb)
    assert len(found) <= kernels and sum(getattr(kernel, counted) for kernel in found) >= least
    assert sum(kernel.spilled_bytes or 0 for kernel in found) == 0


def of_listing(text: str) -> Counter[str]:
    """The same counts in the assembler's text of a kernel."""
    counts: Counter[str] = Counter()
    for line in re.findall(r"^\t([a-z]\w+.*)$", text, re.M):
        name = line.split()[0]
        counts["instructions"] += name != "s_nop"
        counts["matrix_products"] += bool(re.match(r"v_(mfma|wmma)", name))
        counts["fused_multiply_adds"] += len(re.findall(r"\bv_(?:dual_|pk_)?fma(?:c|mk|ak)?_(?:f|mix)", line))
        counts["loads"] += bool(re.match(r"(global|buffer)_load", name))
        counts["wide_stores"] += bool(re.match(r"(global|buffer)_store_(dwordx|b64|b96|b128)", name))
        counts["barriers"] += name in ("s_barrier", "s_barrier_wait")
    return counts


@pytest.mark.thorough
@pytest.mark.gpu
@pytest.mark.parametrize("target", ["rocm:gfx942", "rocm:gfx90a", "rocm:gfx1100", "rocm:gfx1201"])
@pytest.mark.parametrize("name", ["attention_f16", "fft_f32", "product_f64"])
def test_the_counts_are_those_of_the_assembler(name: str, target: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    module, written = tmp_path / "in.mlirbc", tmp_path / "out.vmfb"
    module.write_bytes(adze.trace(program.function, *program.specs).lower(target).bytecode())
    flags = [*parse_target(target).flags, *compiler.CompileOptions().flags()]
    flags.append(f"--iree-hal-dump-executable-intermediates-to={tmp_path}")
    subprocess.run(["iree-compile", str(module), *flags, "-o", str(written)], check=True, capture_output=True)
    found: Counter[str] = Counter()
    for code in executables_of(written.read_bytes()):
        assert isinstance(code, AmdCode)
        for kernel in (kernel for one in code.code_objects for kernel in amd_counts(one)):
            found.update({name: getattr(kernel, name) for name in of_listing("\ts_nop 0")})
    assert found == sum((of_listing(path.read_text()) for path in tmp_path.glob("*.rocmasm")), Counter())
