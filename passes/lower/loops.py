"""Forms of control flow: `scf.if`, `scf.while` and `scf.for` over tensors, bodies as calls that are inlined.

What a loop carries it may write into, and IREE takes an argument of the program for its own: carried values
that may be a caller's array or a constant are copied first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects import mlir
from ...dialects.errors import AdzeError
from ...dialects.types import TensorType
from .control import ControlForms
from .core import Size
from .movement import MovementForms
from .ownership import OwnershipForms


class LoopForms(MovementForms, OwnershipForms, ControlForms):
    """Branches and loops."""

    def cond(self, index: Any, operands: Sequence[Any], branches: Sequence[str]) -> tuple[Any, ...]:
        """A chain of `scf.if`, the last branch taken when no other is."""
        chosen = mlir.tensor.extract(index, [])
        types = self._result_tensors()
        return self._choose(chosen, 0, operands, branches, types)

    def _choose(
        self, chosen: Any, position: int, operands: Sequence[Any], branches: Sequence[str], types: list[Any]
    ) -> tuple[Any, ...]:
        if position == len(branches) - 1:
            return self._called(branches[position], operands, types)
        limit = self.scalars.constant(np.dtype(np.int32), position)
        is_this = mlir.arith.cmpi(mlir.arith.CmpIPredicate.sle, chosen, limit)
        choice = mlir.scf.IfOp(is_this, types, has_else=True)
        with mlir.ir.InsertionPoint(choice.then_block):
            mlir.scf.YieldOp(list(self._called(branches[position], operands, types)))
        with mlir.ir.InsertionPoint(choice.else_block):
            mlir.scf.YieldOp(list(self._choose(chosen, position + 1, operands, branches, types)))
        return tuple(choice.results)

    def while_loop(
        self,
        operands: Sequence[Any],
        condition: str,
        body: str,
        condition_constants: int,
        body_constants: int,
    ) -> tuple[Any, ...]:
        """`scf.while` on the state; the constants are read from outside."""
        n = condition_constants + body_constants
        ask, constants = operands[:condition_constants], operands[condition_constants:n]
        types = self._result_tensors()
        state = [self._state(v, t) for v, t in zip(operands[n:], self.result_types, strict=True)]
        loop = mlir.scf.WhileOp(types, state)
        before = mlir.ir.Block.create_at_start(loop.before, types)
        with mlir.ir.InsertionPoint(before):
            flag = self.tensor((), np.dtype(np.bool_))
            (left,) = self._called(condition, [*ask, *before.arguments], [flag])
            mlir.scf.ConditionOp(mlir.tensor.extract(left, []), list(before.arguments))
        after = mlir.ir.Block.create_at_start(loop.after, types)
        with mlir.ir.InsertionPoint(after):
            mlir.scf.YieldOp(list(self._called(body, [*constants, *after.arguments], types)))
        return tuple(loop.results)

    def scan(
        self,
        body: str,
        constants: Sequence[Any],
        carry: Sequence[Any],
        arrays: Sequence[Any],
        length: Size,
        reverse: bool,
    ) -> tuple[Any, ...]:
        """`scf.for` that carries the state and the results, which are written a slice a step."""
        types = self._result_tensors()
        n = len(carry)
        steps = self.size(length)
        for x in arrays:
            self.require_equal(self.shape(x)[0], steps, "adze: scan walks over arrays of unequal length")
        state = [self._state(v, t) for v, t in zip(carry, self.result_types[:n], strict=True)]
        columns = [self._stack_for(t, steps) for t in self.result_types[n:]]
        start, stop, step = (self.size_value(v) for v in (0, steps, 1))
        loop = mlir.scf.ForOp(start, stop, step, [*state, *columns])
        with mlir.ir.InsertionPoint(loop.body):
            time = loop.induction_variable
            if reverse:
                last = mlir.arith.subi(stop, self.size_value(1))
                time = mlir.arith.subi(last, time)
            inner = list(loop.inner_iter_args)
            slices = [self._row(x, time) for x in arrays]
            given = [*constants, *inner[:n], *slices]
            rows = [self._row_type(t) for t in types[n:]]
            found = self._called(body, given, [*types[:n], *rows])
            written = [self._write(y, whole, time) for y, whole in zip(found[n:], inner[n:], strict=True)]
            mlir.scf.YieldOp([*found[:n], *written])
        return tuple(loop.results)

    # -- pieces --------------------------------------------------------------------------------

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

    def _state(self, value: Any, declared: Any) -> Any:
        """An initial value of a loop, in its declared type and in a buffer of its own."""
        wanted = self.tensor(declared.shape, declared.dtype)
        value = self.owned(value, declared.dtype)
        return value if value.type == wanted else mlir.tensor.cast(wanted, value)

    def _stack_for(self, declared: Any, steps: Size) -> Any:
        """Where the rows of a result are written."""
        if None in declared.shape[1:]:
            raise AdzeError(
                f"scan: what a step gives has type {declared.with_shape(declared.shape[1:])}, whose dynamic "
                "sizes are not known before the loop starts",
                hint="give that dimension a static size",
            )
        whole = self.empty((steps, *declared.shape[1:]), declared.dtype)
        wanted = self.tensor(declared.shape, declared.dtype)
        return whole if whole.type == wanted else mlir.tensor.cast(wanted, whole)

    def _row_type(self, type_: Any) -> Any:
        ranked = mlir.ir.RankedTensorType(type_)
        return mlir.ir.RankedTensorType.get(ranked.shape[1:], ranked.element_type)

    def _row(self, x: Any, time: Any) -> Any:
        """`x[time]`."""
        shape = self.shape(x)
        part = self.window(x, [time, *[0] * (len(shape) - 1)], [1, *shape[1:]], [1] * len(shape))
        return self.reshape(part, shape[1:])

    def _write(self, row: Any, whole: Any, time: Any) -> Any:
        """`whole` with `whole[time] = row`."""
        shape = self.shape(row)
        part = self.reshape(row, (1, *shape))
        return self.insert(part, whole, [time, *[0] * len(shape)], [1] * (len(shape) + 1))
