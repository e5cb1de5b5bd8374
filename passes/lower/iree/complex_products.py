"""Products and reductions on GPUs that complex numbers are made of: IREE would compute both in one kernel.

Input: adze IR with a plan. Output: those whose results go behind a barrier (`mark-barriers` marks them).

Symptom: a crash of the compiler (SIGSEGV in `deriveLinalgOpThreadTileSizes`): IREE divides the elementwise op
    behind a product among threads by the bits of its elements, and counts those of complex numbers wrongly.
    Of products of f32 with few rows or columns, and of reductions of rows, each thread would keep a result of
    its own, which adze refuses (`runtime/compile/faults/private_results.py`). For Vulkan and Metal "failed to
    legalize operation 'memref.subview'": each thread copies one complex number, and SPIR-V has no such view.
Seen in: IREE 3.13.
Smallest: `complex(x @ w, x @ v)` of f32[n,8] and f32[8,8]; so did `fft` of c64[n,8], and of known sizes
    `rfft` of f64[3,64]. Other products of known sizes have tiles for all of their kernel. On lavapipe `fft`
    of c64[8], and on all Vulkan devices `complex(x.sum(1), x.max(1))` of f32[3,64].
Goes when: `tests/gpu/test_fences.py::test_iree_still_dies_of_complex_numbers_behind_products` fails.
"""

from __future__ import annotations

from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.ops.contraction.convolution import ConvGeneral
from ....dialects.ops.contraction.dot_general import DotGeneral, operand_axes
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.reduction import ArgumentExtremum, Reduction
from ....dialects.ops.shape.rearrange import Movement
from ....runtime.targets import TargetKind
from ...ir.aliases import Operation, Value
from ...ir.functions import functions, split_body
from ..plan import target_of

_SPIRV_KINDS: Final = (TargetKind.VULKAN, TargetKind.METAL)
_KINDS: Final = (TargetKind.CUDA, TargetKind.ROCM, *_SPIRV_KINDS)
_REDUCTIONS: Final = (Reduction, ArgumentExtremum)
_FEW: Final = 4
"""Products of up to so many rows or columns IREE computes as those of vectors."""


def complex_products(module: mlir.ir.Module, reader: Reader) -> set[Value]:
    """The real results of products and reductions that must go behind a barrier."""
    values: set[Value] = set()
    for function in functions(module).values():
        products: dict[Value, frozenset[Value]] = {}
        for operation in split_body(function)[0]:
            values |= _read(reader, operation.operation, products)
    if not values or target_of(module).kind not in _KINDS:
        return set()
    if target_of(module).kind in _SPIRV_KINDS:
        return values
    return {value for value in values if _is_of_few_or_unknown(reader, value)}


def _read(reader: Reader, operation: Operation, products: dict[Value, frozenset[Value]]) -> frozenset[Value]:
    """The products that an op makes complex numbers of; `products` are those that a value is made of."""
    op = reader.declaration(operation.name)
    if op is None:
        return frozenset()
    if op in (DotGeneral, ConvGeneral) or issubclass(op, _REDUCTIONS):
        result = operation.results[0]
        if not _is_complex(result):
            products[result] = frozenset((result,))
    elif products and issubclass(op, (Elementwise, Movement)):
        sources = frozenset[Value]().union(*(products.get(v, ()) for v in operation.operands))
        if not sources:
            return frozenset()
        if _is_complex(operation.results[0]):
            return sources
        products[operation.results[0]] = sources
    return frozenset()


def _is_of_few_or_unknown(reader: Reader, product: Value) -> bool:
    """Whether the sizes of a product are unknown, or its rows or columns few, as those of a sum are."""
    type_ = mlir.ir.ShapedType(product.type)
    application = reader.read(product.owner)
    if (
        application is None
        or not type_.has_static_shape
        or issubclass(application.op, (Reduction, ArgumentExtremum))
    ):
        return True
    if application.op is ConvGeneral:
        return False
    rank = mlir.ir.ShapedType(product.owner.operands[0].type).rank
    axes = operand_axes(rank, 0, application.attributes["contracting"], application.attributes["batch"])
    begin, end = len(axes.batch), len(axes.batch) + len(axes.free)
    return min(prod(type_.shape[begin:end]), prod(type_.shape[end:])) <= _FEW


def _is_complex(value: Value) -> bool:
    return isinstance(mlir.ir.ShapedType(value.type).element_type, mlir.ir.ComplexType)
