"""What is counted in the code of a kernel."""

from __future__ import annotations

from ....dialects.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class KernelCounts:
    """A kernel and the instructions of its code that decide its speed.

    Instructions are counted where they stand, once each, however often a loop repeats them. `matrix_products`
    are instructions of the matrix units (`mma.sync`, `OpCooperativeMatrixMulAddKHR`, `v_mfma`, `v_wmma`,
    `simdgroup_multiply_accumulate`), `wide` loads and stores of global memory are those of several elements.
    `shared_bytes` is the memory of a group of `threads`. `registers` of a thread and `spilled_bytes` are None
    where the code does not state them.
    """

    name: str
    code: str
    target: str
    threads: tuple[int, ...]
    shared_bytes: int
    stack_bytes: int
    matrix_products: int
    fused_multiply_adds: int
    loads: int
    wide_loads: int
    stores: int
    wide_stores: int
    async_copies: int
    matrix_loads: int
    barriers: int
    instructions: int
    registers: int | None = None
    spilled_bytes: int | None = None
