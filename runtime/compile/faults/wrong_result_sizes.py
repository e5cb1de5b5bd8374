"""Kernels that store a result with other sizes than it has.

The axes of a kernel with several results may be joined (`[n, n, m]` to `[n, n * m]`); IREE then takes the
dynamic sizes of the first result for those of each.

Symptom: a result is stored with sizes of another one: memory is used that nothing was written to, silently.
Seen in: IREE 3.13.
Smallest: `s[:, None, None] * y` and its sum over two axes, of dynamic sizes (`planes` in the test).
Goes when: `tests/runtime/compile/test_kernels.py::test_wrong_sizes_of_joined_axes_are_named` fails.
"""

from __future__ import annotations

from typing import Any


def stores_a_wrong_size(operations: list[Any]) -> bool:
    """Whether a result that a kernel computes is stored with other sizes than it has."""
    for child in operations:
        operation = child.operation
        if operation.name == "iree_tensor_ext.dispatch.tensor.store":
            has = _dynamic_sizes(operation.operands[0])
            if has is not None and has != _stored_sizes(operation):
                return True
    return False


def _stored_sizes(store: Any) -> list[Any]:
    """The dynamic ones of the sizes: its operands are value, target, sizes of the target, offsets, sizes."""
    counts = list(store.attributes["operandSegmentSizes"])
    first = sum(counts[:4])
    return list(store.operands)[first : first + counts[4]]


def _dynamic_sizes(value: Any) -> list[Any] | None:
    """The dynamic sizes of what linalg computes, as the `tensor.empty` that it is written to has them."""
    while getattr(value.owner, "name", "").startswith("linalg."):
        operation = value.owner
        results = list(operation.results)
        value = list(operation.operands)[len(operation.operands) - len(results) + results.index(value)]
    return list(value.owner.operands) if getattr(value.owner, "name", "") == "tensor.empty" else None
