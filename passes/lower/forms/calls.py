"""The form of a call: `func.call`; IREE inlines it or keeps it.

The callee is a function of the same module, lowered beside its caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects import mlir
from ....dialects.types import TensorType
from ..builder import LoweringCore


class ControlForms(LoweringCore):
    """Calls of functions by symbol."""

    def call(self, callee: str, operands: Sequence[Any]) -> tuple[Any, ...]:
        """`func.call` with the declared result types, signedness erased."""
        types = []
        for type_ in self.result_types:
            assert isinstance(type_, TensorType)
            types.append(self.tensor(type_.shape, type_.dtype))
        values = []
        for value, declared in zip(operands, self.operand_types, strict=True):
            assert isinstance(declared, TensorType)
            values.append(self._as_argument(value, declared))
        symbol = mlir.ir.FlatSymbolRefAttr.get(callee, self.context)
        return tuple(mlir.func.CallOp(types, symbol, values).results)

    def _as_argument(self, value: Any, declared: TensorType) -> Any:
        """`value` in the type that the callee's signature has."""
        expected = self.tensor(declared.shape, declared.dtype)
        return value if value.type == expected else mlir.tensor.cast(expected, value)
