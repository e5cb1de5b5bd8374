"""Arrays that a kernel reads at computed positions, written to memory before.

Input: a lowered value. Output: the value as `tensor.extract` may read it. IREE moves some of what computes it
into the kernel that extracts from it, such as a strided slice, and loses its type there.

Symptom: "LLVM Translation failed for operation: builtin.unrealized_conversion_cast".
Seen in: IREE 3.13.
Smallest: `x[::2, ::3].T[::-1] + 1`.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_extracted_sources_are_still_lost` fails.
"""

from __future__ import annotations

from ....dialects import mlir
from ..builder import LinalgBuilder, Value


def extractable(b: LinalgBuilder, x: Value) -> Value:
    """`x` as `tensor.extract` may read it: an argument as it is, all else behind a barrier."""
    return x if isinstance(x.owner, mlir.ir.Block) else b.materialise(x)
