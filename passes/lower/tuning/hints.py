"""What is decided once for a module: an estimate of its work, and IREE's options that follow from it.

Input: the class, the types and the attributes of each op. Output: `ModuleHints`, for the lowering and for the
compile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.op import Op
from ....dialects.ops.constants import Constant
from ....dialects.types import FLOAT32, TensorType, ValueType
from ....runtime.targets import Target, TargetKind

FLOPS_A_BYTE: Final = 2  # operations that one core does in the time in which it moves a byte


@dataclass(frozen=True, slots=True)
class ModuleHints:
    """What the lowering knows of a module that its compile wants to know.

    `data_tiling`: pack the operands of matrix products (IREE's option of that name). `flops` and
    `bytes_moved` estimate the work of one call, dynamic sizes counted as 1; `is_static` says whether there
    were none. `largest_work` is that of its largest kernel in operations, as far as it can be told before
    there are kernels: of its largest op, a byte that it moves counted as `FLOPS_A_BYTE`, or of a chain of
    elementwise functions between two products. Threads pay by the kernel, which ends with all of them waiting
    for the last. Of an op with dynamic sizes it is what grows with them.
    """

    data_tiling: bool = False
    flops: int = 0
    bytes_moved: int = 0
    is_static: bool = True
    largest_work: int = 0


@dataclass(frozen=True, slots=True)
class OpWork:
    """What one application of an op costs, as far as it can be told before there are kernels."""

    flops: int
    bytes_moved: int
    is_static: bool
    is_matrix_product: bool
    dtype: np.dtype
    growing_bytes: int = 0  # those of arrays with dynamic sizes
    element_work: int = 0  # of a function of single elements that is more than a multiplication


def estimate_work(
    op: type[Op],
    operands: Sequence[ValueType],
    results: Sequence[ValueType],
    attributes: Mapping[str, Any],
) -> OpWork:
    """Estimate one application: products of matrices exactly, other ops as one operation an element touched.

    So a product with a vector, which waits for memory, counts as little as a sum of the same matrix.
    Constants are made before the call.
    """
    arrays = [t for t in (*operands, *results) if isinstance(t, TensorType)]
    counts = [prod(1 if n is None else n for n in t.static_shape) for t in arrays if op is not Constant]
    flops = max(counts, default=0)
    reuses = op.reuses_operands(arrays, attributes)
    if reuses:
        flops = op.flops(arrays[:-1], arrays[-1:], attributes)
    sizes = [n * t.dtype.itemsize for n, t in zip(counts, arrays, strict=False)]
    return OpWork(
        flops,
        sum(sizes),
        all(t.is_static for t in arrays),
        reuses and op.is_product,
        arrays[0].dtype if arrays else FLOAT32,
        sum(size for size, t in zip(sizes, arrays, strict=False) if not t.is_static),
        op.element_cost * max(counts, default=0) if op.element_cost > 1 else 0,
    )


def module_hints(target: Target, ops: Iterable[OpWork], *, has_square: bool = False) -> ModuleHints:
    """The hints for a module that consists of ops of this work.

    Data tiling packs both operands of every product of the module: right where sizes are not known, but not
    beside square arguments of dynamic size (`has_square`), on which IREE 3.13 crashes. Beside it products
    carry no tiles of their own, since IREE refuses some mixtures.
    """
    flops = moved = largest = products = chained = 0
    is_static, data_tiling = True, False
    for each in ops:
        flops += each.flops
        bytes_moved = each.bytes_moved if each.is_static else each.growing_bytes
        largest = max(largest, each.flops, FLOPS_A_BYTE * bytes_moved)
        products += each.is_matrix_product
        chained += each.element_work
        moved += each.bytes_moved
        is_static &= each.is_static
        data_tiling |= each.is_matrix_product and not each.is_static
    largest = max(largest, chained // (1 + products))
    data_tiling &= target.kind is TargetKind.CPU and not has_square
    return ModuleHints(data_tiling, flops, moved, is_static, largest)
