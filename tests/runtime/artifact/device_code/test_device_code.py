"""What is counted in PTX and SPIR-V, on texts written by hand, and in damaged bytes."""

from __future__ import annotations

import struct
import zipfile
from io import BytesIO

import pytest

from adze.runtime.artifact.device_code.counts import KernelCounts
from adze.runtime.artifact.device_code.executables import executables_of
from adze.runtime.artifact.device_code.flatbuffers import root_of
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.artifact.device_code.ptx import ptx_counts
from adze.runtime.artifact.device_code.spirv import spirv_counts
from adze.runtime.errors import ArtifactError

PTX = """\
.version 7.6
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[256];
.shared .align 4 .b32 one;
.extern .shared .align 16 .b8 dynamic[];

.visible .entry first(
\t.param .u64 first_param_0
)
.maxntid 128, 1, 1
{
\t.local .align 4 .b8 __local_depot0[16];
\t.reg .pred %p<2>;
\tld.param.b64 %rd1, [first_param_0];
\tld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
\tld.global.f32 %f1, [%rd1];
@%p1 fma.rn.f32 %f1, %f1, %f1, %f1;
\t@%p1 fma.rn.f32 %f1, %f1, %f1, %f1;
\tcp.async.cg.shared.global [tile], [%rd1], 16;
\tbar.sync 0;
$L__BB0_1:
\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};
\tst.global.v2.f32 [%rd1], {%f1, %f1};
\tret;
}

.visible .entry second()
{
\tst.shared.b32 [one], 1;
\tret;
}
"""


def test_the_instructions_of_ptx_are_counted_by_kernel() -> None:
    first, second = ptx_counts(PTX, {"first": 1024})
    assert first == KernelCounts(
        name="first",
        code="ptx",
        target="sm_80",
        threads=(128, 1, 1),
        shared_bytes=1024 + 256,
        stack_bytes=16,
        matrix_products=1,
        fused_multiply_adds=1,
        loads=2,
        wide_loads=1,
        stores=1,
        wide_stores=1,
        async_copies=1,
        matrix_loads=0,
        barriers=1,
        instructions=9,
    )
    assert (second.name, second.threads, second.shared_bytes, second.instructions) == ("second", (), 4, 2)


def words(*instructions: tuple[int, ...], version: int = 0x10600) -> bytes:
    """A SPIR-V module of these instructions: a number and its operands each."""
    body = [
        word for opcode, *operands in instructions for word in (opcode | len(operands) + 1 << 16, *operands)
    ]
    return struct.pack(f"<{5 + len(body)}I", 0x07230203, version, 0, 100, 0, *body)


NAME = struct.unpack("<2I", b"kernel\0\0")
SPIRV = (
    (15, 5, 1, *NAME),  # the entry point %1
    (16, 1, 17, 64, 2, 1),  # its local size
    (22, 2, 32),  # %2 = f32
    (23, 3, 2, 4),  # %3 = vector of four
    (21, 4, 32, 0),  # %4 = u32
    (43, 4, 5, 10),  # %5 = 10
    (28, 6, 3, 5),  # %6 = array of ten %3
    (32, 7, 4, 6),  # %7 = pointer to it in shared memory
    (59, 7, 8, 4),  # %8 = the array
    (32, 9, 12, 3),  # %9, %10: pointers into buffers, to a vector and to a number
    (32, 10, 12, 2),
    (54, 99, 1, 0, 99),
    (65, 9, 20, 99),  # access chains
    (65, 10, 21, 99),
    (65, 7, 22, 8),
    (61, 3, 30, 20),  # a wide load, a load, and one that is not from a buffer
    (61, 2, 31, 21),
    (61, 6, 32, 22),
    (62, 20, 30),
    (12, 2, 33, 98, 50, 31, 31, 31),  # fma
    (12, 2, 34, 98, 31, 31),  # sqrt
    (4459, 3, 35, 30, 30, 30),
    (224, 5, 5, 5),
    (56,),
)


def test_the_instructions_of_spirv_are_counted_by_kernel() -> None:
    [kernel] = spirv_counts(words(*SPIRV))
    assert (kernel.name, kernel.target, kernel.threads) == ("kernel", "spirv1.6", (64, 2, 1))
    assert (kernel.shared_bytes, kernel.stack_bytes) == (160, 0)
    assert (kernel.loads, kernel.wide_loads, kernel.stores, kernel.wide_stores) == (2, 1, 1, 1)
    assert (kernel.fused_multiply_adds, kernel.matrix_products, kernel.barriers) == (1, 1, 1)


@pytest.mark.parametrize(
    "damaged", [b"", b"\x03\x02\x23\x07", words((15, 5, 1))[:-1], words((0,))[:-4] + b"\0" * 4]
)
def test_damaged_spirv_is_an_error(damaged: bytes) -> None:
    with pytest.raises(ArtifactError, match="SPIR-V"):
        spirv_counts(damaged)


def module(content: bytes) -> bytes:
    """A module with one executable."""
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("kernels.fb", content)
    return written.getvalue()


@pytest.mark.parametrize("content", [b"CDA1", b"CDA1" + b"\xff" * 100, b"VKE1" + b"\x10" * 61])
def test_a_damaged_executable_is_an_error(content: bytes) -> None:
    with pytest.raises(ArtifactError, match=r"the executable 'kernels\.fb' is damaged"):
        executables_of(module(content))


def test_bytes_that_are_no_module_are_an_error() -> None:
    with pytest.raises(ArtifactError, match="holds no executables that can be read"):
        gpu_kernels(b"no module")
    assert gpu_kernels(module(b"\x7fELF")) == []


def test_a_table_without_a_field_has_its_default() -> None:
    table = root_of(struct.pack("<IHHi", 8, 4, 4, 4), 0)
    assert (table.u32(3), table.u32s(0, 3), table.text(0), table.tables(1)) == (0, (0, 0, 0), "", [])
