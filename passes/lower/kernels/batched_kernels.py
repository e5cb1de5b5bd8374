"""Kernels of one item of a batch, called for as many items as show at the call.

Input: a kernel of flat arrays of known sizes, and operands of which some have an axis for the batch in front.
Output: the results, with such an axis. Idea: the workgroups have the batch as a second dimension; each sees
its part of the arrays, and its code knows nothing of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from .executable import Kernel, Kernels, Size, workgroup_id


@dataclass(frozen=True, slots=True)
class BatchedKernels:
    """The kernels of a module, for each item of a batch; `batch` is how many there are."""

    kernels: Kernels
    batch: Value

    def call(self, kernel: Kernel, operands: Sequence[Value]) -> tuple[Value, ...]:
        """The results `[batch, n]` of a kernel of arrays `[n]`; operands are either or."""
        (count,) = kernel.workgroups
        are_batched = [mlir.ir.RankedTensorType(value.type).rank == 2 for value in operands]

        def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
            parts = [
                _part(array) if is_batched else array
                for array, is_batched in zip(given, are_batched, strict=True)
            ]
            kernel.emit(parts, [_part(array) for array in written])

        batched = replace(
            kernel,
            results=tuple(replace(r, type=_batched(r.type), sizes=(self.batch,)) for r in kernel.results),
            emit=emit,
            key=("each of a batch", kernel.key),
            workgroups=(count, self.batch),
        )
        return self.kernels.call(batched, operands, sizes=self._sizes)

    def _sizes(self, value: Value) -> list[Size]:
        shape = [int(size) for size in mlir.ir.RankedTensorType(value.type).shape]
        return [self.batch, shape[1]] if len(shape) == 2 else list(shape)


def _batched(type_: Type) -> Type:
    tensor = mlir.ir.RankedTensorType(type_)
    dynamic = mlir.ir.ShapedType.get_dynamic_size()
    return mlir.ir.RankedTensorType.get([dynamic, *tensor.shape], tensor.element_type)


def _part(array: Value) -> Value:
    """The flat array of the item of this workgroup."""
    type_ = mlir.ir.MemRefType(array.type)
    (_, size), somewhere = type_.shape, mlir.ir.ShapedType.get_dynamic_stride_or_offset()
    part = mlir.ir.MemRefType.get([size], type_.element_type, mlir.ir.StridedLayoutAttr.get(somewhere, [1]))
    integers = mlir.ir.DenseI64ArrayAttr.get
    return mlir.ir.Operation.create(
        "memref.subview",
        results=[part],
        operands=[array, workgroup_id(1)],
        attributes={
            "static_offsets": integers([mlir.ir.ShapedType.get_dynamic_size(), 0]),
            "static_sizes": integers([1, size]),
            "static_strides": integers([1, 1]),
            "operandSegmentSizes": mlir.ir.DenseI32ArrayAttr.get([1, 1, 0, 0]),
        },
    ).result
