"""Kernels for GPUs in which each thread keeps a result of its own that all threads compute together.

Input: a program as far as IREE's phase `executable-configurations`, in which its kernels are assigned to
threads, and as far as `executable-targets`, in which they are LLVM's dialect. Output: the first kernel that
has vectors distributed to its threads and allocates an array in the private memory of a thread, or None. IREE
does that with rows of a result that the kernel reads again: each thread stores its part there, and reads all.

Symptom: on CUDA, sums of squares come out too small, silently: a thread reads what it has not written. ROCm's
    code has the same arrays (gfx942, gfx1100, gfx1201; not run).
Seen in: IREE 3.13.
Smallest: norms of both gradients of `sum((tanh(x @ a) @ b) ** 2)` for each of 8 examples, all sizes 8.
Goes when: `tests/gpu/test_fences.py::test_iree_still_shares_private_memory` fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

WAY_IS_CHOSEN: Final = "executable-configurations"

_ALLOCATES: Final = b"\0alloca\0"
"""In bytecode the names of operations stand without their dialect, each with a zero behind it."""
_DISTRIBUTED: Final = "#iree_gpu.pipeline<VectorDistribute>"
_NESTS: Final = ("hal.executable", "hal.executable.variant", "builtin.module")


def kernel_with_private_results(chosen: bytes, lowered: bytes) -> str | None:
    """The name of a kernel that would compute wrongly; bytecode of the two phases."""
    if _ALLOCATES not in lowered:
        return None
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        begun = ir.Module.parse(chosen, context)
        distributed = {_name_of(ir, f) for f in _kernels(begun.operation, "func.func") if _is_distributed(f)}
        ended = ir.Module.parse(lowered, context)
        for kernel in _kernels(ended.operation, "llvm.func"):
            if _name_of(ir, kernel) in distributed and _allocates(kernel):
                return _name_of(ir, kernel)
    return None


def _kernels(operation: Any, kind: str) -> Iterator[Any]:
    """The functions of executables, which are operations of the name `kind`."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name == kind:
                    yield inner
                elif inner.name in _NESTS:
                    yield from _kernels(inner, kind)


def _is_distributed(kernel: Any) -> bool:
    attributes = kernel.attributes
    return "translation_info" in attributes and _DISTRIBUTED in str(attributes["translation_info"])


def _allocates(operation: Any) -> bool:
    return operation.name == "llvm.alloca" or any(
        _allocates(child.operation)
        for region in operation.regions
        for block in region.blocks
        for child in block.operations
    )


def _name_of(ir: Any, function: Any) -> str:
    return str(ir.StringAttr(function.attributes["sym_name"]).value)
