"""Products of named sizes, transposed, that meet positions: IREE would compute both on packed arrays.

Input: adze IR. Output: the products whose results go behind a barrier (`mark-barriers` marks them).

Symptom: a crash of the compiler (in `MaterializeDeviceEncodingPass`): IREE moves the unpacking of a product
    behind the elementwise op that uses its transpose, and has no form of `linalg.index` on packed arrays.
Seen in: IREE 3.13.
Smallest: `arange(k) * einsum('bnm,bmk->nbk', x, y)` of i32 and named sizes, in products with both operands.
    For products of floats there are kernels of adze.
Goes when: `tests/passes/lower/iree/test_indexed_products.py::test_iree_still_needs_the_barrier` fails.
"""

from __future__ import annotations

from dataclasses import field

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.dataclass import dataclass
from ....dialects.ops.constants import Iota
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.shape.rearrange import Movement, Transpose
from ...ir.aliases import Operation, Value
from ...ir.functions import functions, split_body


def indexed_products(module: mlir.ir.Module, reader: Reader) -> set[Value]:
    """The results of products of named sizes that must go behind a barrier."""
    values: set[Value] = set()
    for function in functions(module).values():
        followed = _Followed(reader)
        for operation in split_body(function)[0]:
            followed.read(operation.operation)
        values |= followed.indexed
    return values


@dataclass
class _Followed:
    """Products and positions of one function, followed through movements and elementwise ops.

    `products` are, of each value, those that it is computed from, and `transposed` those of them with axes in
    another order; `positions` are the values that are computed from an iota.
    """

    reader: Reader
    products: dict[Value, frozenset[Value]] = field(default_factory=dict)
    transposed: dict[Value, frozenset[Value]] = field(default_factory=dict)
    positions: set[Value] = field(default_factory=set)
    indexed: set[Value] = field(default_factory=set)

    def read(self, operation: Operation) -> None:
        op = self.reader.declaration(operation.name)
        if op is Iota:
            self.positions.add(operation.results[0])
        elif op is DotGeneral and not mlir.ir.ShapedType(operation.results[0].type).has_static_shape:
            self.products[operation.results[0]] = frozenset((operation.results[0],))
        elif not self.products and not self.positions:
            return  # as most functions have neither, it pays not to look at the operands of all their ops
        elif op is not None and issubclass(op, (Elementwise, Movement)):
            self._follow(operation, is_transpose=issubclass(op, Transpose))

    def _follow(self, operation: Operation, *, is_transpose: bool) -> None:
        operands, result = list(operation.operands), operation.results[0]
        if any(v in self.positions for v in operands):
            self.positions.add(result)
        sources = frozenset[Value]().union(*(self.products.get(v, ()) for v in operands))
        if not sources:
            return
        self.products[result] = sources
        moved = frozenset[Value]().union(*(self.transposed.get(v, ()) for v in operands))
        self.transposed[result] = sources if is_transpose else moved
        if result in self.positions:
            self.indexed |= self.transposed[result]
