"""Kernels through SPIR-V whose lanes share a sum of what the kernel itself computes first, for fewer loops.

Input: a program as far as IREE's phase `executable-configurations`, in which its kernels have pipelines.
Output: the first kernel in which lanes share a reduction (`SubgroupReduce`) of an elementwise result that
each of its iterations along another axis uses again, or whose columns it reduces and stores; or None.

Symptom: on Vulkan, silently, results are NaN or sums of other elements: of the result that is used again each
    lane has computed a part, and stores what is not its own. Metal's code is made by the same passes.
Seen in: IREE 3.13.
Smallest: `y = x * 2; y, y.sum(0)` of f32[64,3]; norms of both gradients of `sum(tanh(tanh(x @ a) @ b) ** 2)`
    for each of 4 examples, all sizes 8.
Goes when: `tests/gpu/test_fences.py::test_iree_still_sums_parts_of_rows` fails, and
    `tests/gpu/test_fences.py::test_iree_still_stores_parts_of_columns`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

SHARED: Final = b"SubgroupReduce"
_MAPS: Final = "indexing_maps"
_ITERATORS: Final = "iterator_types"
_STORE: Final = "iree_tensor_ext.dispatch.tensor.store"
_NESTS: Final = ("hal.executable", "hal.executable.variant", "builtin.module")


def kernel_with_repeated_rows(chosen: bytes) -> str | None:
    """The name of a kernel that would compute wrongly; bytecode of the phase."""
    if SHARED not in chosen:
        return None
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        module = ir.Module.parse(chosen, context)
        for kernel in kernels_of(module.operation):
            if is_shared(kernel) and has_repeated_rows(ir, kernel):
                return str(ir.StringAttr(kernel.attributes["sym_name"]).value)
    return None


def kernels_of(operation: Any) -> Iterator[Any]:
    """The functions of executables."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name == "func.func":
                    yield inner
                elif inner.name in _NESTS:
                    yield from kernels_of(inner)


def is_shared(kernel: Any) -> bool:
    """Whether lanes share what a kernel reduces."""
    attributes = kernel.attributes
    return "translation_info" in attributes and SHARED.decode() in str(attributes["translation_info"])


def has_repeated_rows(ir: Any, kernel: Any) -> bool:
    """Whether an op uses an elementwise result, which is not made of sums, for more loops than that has."""
    block = kernel.regions[0].blocks[0]
    loops: dict[Any, int] = {}
    for child in block.operations:
        operation = child.operation
        if _MAPS not in operation.attributes or _ITERATORS not in operation.attributes:
            continue
        count = len(ir.ArrayAttr(operation.attributes[_ITERATORS]))
        operands = list(operation.operands)
        if any(loops.get(value, count) < count for value in operands):
            return True
        if any(value in loops for value in _stored_columns(ir, operation)):
            return True
        if "reduction" not in str(operation.attributes[_ITERATORS]):
            is_of_arguments = all(_is_loaded(value) or value in loops for value in operands)
            loops |= {result: count for result in operation.results if is_of_arguments}
    return False


def _stored_columns(ir: Any, operation: Any) -> Iterator[Any]:
    """The operands of a reduction of columns that the kernel also stores."""
    kinds = [str(kind) for kind in ir.ArrayAttr(operation.attributes[_ITERATORS])]
    if "reduction" not in str(kinds):
        return
    maps = ir.ArrayAttr(operation.attributes[_MAPS])
    for value, attribute in zip(operation.operands, maps, strict=True):
        last = next(reversed(list(ir.AffineMapAttr(attribute).value.results)), None)
        is_of_rows = isinstance(last, ir.AffineDimExpr) and "reduction" in kinds[last.position]
        if not is_of_rows and any(use.owner.name == _STORE for use in value.uses):
            yield value


def _is_loaded(value: Any) -> bool:
    """Whether a value is no result of another op with loops."""
    owner = value.owner
    return not hasattr(owner, "operation") or _MAPS not in owner.operation.attributes
