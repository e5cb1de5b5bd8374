"""What branches and loops have in common: bodies as calls that are inlined, and what is handed over.

What a loop carries it may write into, and IREE takes an argument of the program for its own: carried values
that may be a caller's array or a constant are copied first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects import mlir
from ....dialects.types import TensorType
from ..builder import DYNAMIC, Size
from ..iree.copied_loop_state import resident
from ..iree.overwritten_arguments import OwnershipForms
from .calls import ControlForms
from .movement import MovementForms


class BodyForms(MovementForms, OwnershipForms, ControlForms):
    """Calls of bodies, their state and its shapes."""

    def _result_tensors(self) -> list[Any]:
        types = []
        for declared in self.result_types:
            assert isinstance(declared, TensorType)
            types.append(self.tensor(declared.shape, declared.dtype))
        return types

    def _called(self, symbol: str, operands: Sequence[Any], types: Sequence[Any]) -> tuple[Any, ...]:
        """A call of a body; operands are cast to the types that its signature has."""
        signature = self._signature(symbol)
        given = [
            v if v.type == t else mlir.tensor.cast(t, v) for v, t in zip(operands, signature[0], strict=True)
        ]
        reference = mlir.ir.FlatSymbolRefAttr.get(symbol, self.context)
        results = mlir.func.CallOp(signature[1], reference, given).results
        return tuple(
            r if r.type == t else mlir.tensor.cast(t, r) for r, t in zip(results, types, strict=True)
        )

    def _signature(self, symbol: str) -> tuple[list[Any], list[Any]]:
        """The argument and result types of a function of the module."""
        for operation in self.module.body.operations:
            if operation.attributes["sym_name"].value == symbol:
                type_ = mlir.ir.FunctionType(operation.attributes["function_type"].value)
                return list(type_.inputs), list(type_.results)
        raise AssertionError(f"no function @{symbol}")

    def _body(self, symbol: str) -> list[Any]:
        """The ops of a function of the module."""
        return list(self._block(symbol).operations)

    def _arguments(self, symbol: str) -> list[Any]:
        """The arguments of a function of the module."""
        return list(self._block(symbol).arguments)

    def _block(self, symbol: str) -> Any:
        for operation in self.module.body.operations:
            if operation.attributes["sym_name"].value == symbol:
                return operation.regions[0].blocks[0]
        raise AssertionError(f"no function @{symbol}")

    def _state(self, value: Any, declared: Any) -> Any:
        """An initial value of a loop, in its declared type and in a buffer of its own."""
        wanted = self.tensor(declared.shape, declared.dtype)
        value = self.owned(value, declared.dtype)
        return value if value.type == wanted else mlir.tensor.cast(wanted, value)

    def _of_shapes(self, results: Sequence[Any], starts: Sequence[Any]) -> tuple[Any, ...]:
        """What a loop carries, of the shapes that it started with: IREE cannot find them out by itself."""
        return tuple(self._shaped(r, self.shape(v)) for r, v in zip(results, starts, strict=True))

    def _resident(self, arguments: Sequence[Any], starts: Sequence[Any]) -> list[Any]:
        """The arguments of the block of a loop, of the shapes that it started with, not to be copied."""
        shaped = self._of_shapes(arguments, starts)
        return [self.bind_shape(resident(v, self._dynamic(v, self.shape(v))), self.shape(v)) for v in shaped]

    def _shaped(self, value: Any, shape: Sequence[Size]) -> Any:
        """`value` of this shape."""
        dynamic = self._dynamic(value, shape)
        return self.bind_shape(mlir.flow.TensorTieShapeOp(value, dynamic).result if dynamic else value, shape)

    def _dynamic(self, value: Any, shape: Sequence[Size]) -> list[Any]:
        """Those entries of `shape` that the type of `value` leaves open."""
        sizes = zip(value.type.shape, shape, strict=True)
        return [self.size_value(n) for known, n in sizes if known == DYNAMIC]
