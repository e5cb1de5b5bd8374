"""Kernels through SPIR-V whose threads load what other ones store, and wait for none of them.

Input: a compiled program. Output: the first kernel of Vulkan in which a workgroup of several threads loads
from its shared memory what no thread stores there for itself, without a barrier in the kernel, or None.

Symptom: on Vulkan, silently and not in every call, results are of what was in shared memory before: IREE's
    pipeline `BaseDistribute` spreads what a kernel computes first over its threads, and has none wait.
Seen in: IREE 3.13.
Smallest: ``where(i == j, x, 0).sum(0)`` of 32 x 32 elements, `i` and `j` counted by one `iota`, with a thread
    for each column (`runtime/compile/unshared_rows.py`, which lets no such kernel have one).
Goes when: `tests/gpu/test_fences.py::test_iree_still_lets_threads_run_ahead` fails.
"""

from __future__ import annotations


def kernel_with_unawaited_threads(program: bytes) -> str | None:
    """The name of a kernel that may compute wrongly."""
    from ...artifact.device_code.kernels import spirv_of  # loads what is known of all GPUs
    from ...artifact.device_code.spirv import unawaited_kernels

    return next((name for code in spirv_of(program) for name in unawaited_kernels(code)), None)
