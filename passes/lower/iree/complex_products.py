"""Products of unknown sizes on GPUs that complex numbers are made of: IREE would compute both in one kernel.

Input: adze IR with a plan. Output: those whose results go behind a barrier (`mark-barriers` marks them).

Symptom: a crash of the compiler (SIGSEGV in `deriveLinalgOpThreadTileSizes`): IREE divides the elementwise op
    behind a product among threads by the bits of its elements, and counts those of complex numbers wrongly.
Seen in: IREE 3.13.
Smallest: `complex(x @ w, x @ v)` of f32[n,8] and f32[8,8]; so did `fft` of c64[n,8]. Products of known sizes
    have tiles for all of their kernel.
Goes when: `tests/gpu/test_fences.py::test_iree_still_dies_of_complex_numbers_behind_products` fails.
"""

from __future__ import annotations

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.ops.contraction.convolution import ConvGeneral
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.shape.rearrange import Movement
from ....runtime.targets import TargetKind
from ...ir.aliases import Operation, Value
from ...ir.functions import functions, split_body
from ..plan import target_of

_KINDS = (TargetKind.CUDA, TargetKind.ROCM)


def complex_products(module: mlir.ir.Module, reader: Reader) -> set[Value]:
    """The real results of products of unknown sizes that must go behind a barrier."""
    values: set[Value] = set()
    for function in functions(module).values():
        products: dict[Value, frozenset[Value]] = {}
        for operation in split_body(function)[0]:
            values |= _read(reader, operation.operation, products)
    return values if values and target_of(module).kind in _KINDS else set()


def _read(reader: Reader, operation: Operation, products: dict[Value, frozenset[Value]]) -> frozenset[Value]:
    """The products that an op makes complex numbers of; `products` are those that a value is made of."""
    op = reader.declaration(operation.name)
    if op in (DotGeneral, ConvGeneral):
        result = operation.results[0]
        if not _is_complex(result) and not mlir.ir.ShapedType(result.type).has_static_shape:
            products[result] = frozenset((result,))
    elif products and op is not None and issubclass(op, (Elementwise, Movement)):
        sources = frozenset[Value]().union(*(products.get(v, ()) for v in operation.operands))
        if not sources:
            return frozenset()
        if _is_complex(operation.results[0]):
            return sources
        products[operation.results[0]] = sources
    return frozenset()


def _is_complex(value: Value) -> bool:
    return isinstance(mlir.ir.ShapedType(value.type).element_type, mlir.ir.ComplexType)
