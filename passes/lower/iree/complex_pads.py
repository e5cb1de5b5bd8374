"""Arrays of complex elements between constant ones, without `tensor.pad`.

Input: the element type of a tensor. Output: whether IREE pads it; else it is inserted into a filled array.

Symptom: the compiler dies of a wrong address (SIGSEGV).
Seen in: IREE 3.13.
Smallest: `numpy.cumsum(x, 1)` of 4 x 300 complex64, whose sums of blocks are padded by a constant zero.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_complex_pads_still_crash` fails.
"""

from __future__ import annotations

from ....dialects import mlir
from ...ir.aliases import Type


def is_padded(element: Type) -> bool:
    """Whether IREE compiles a `tensor.pad` of elements of this type."""
    return not isinstance(element, mlir.ir.ComplexType)
