"""Forms of control flow: `scf.if`, `scf.while` and `scf.for` over tensors, bodies as calls that are inlined.

What a loop carries it may write into, and IREE takes an argument of the program for its own: carried values
that may be a caller's array or a constant are copied first.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.types import BOOL, TensorType
from .barriers import resident
from .control import ControlForms
from .core import DYNAMIC, Size
from .movement import MovementForms
from .ownership import OwnershipForms

UNROLLED_STEPS: Final = 8
SMALL_BODY: Final = 30
MOST_REPEATED: Final = 6  # loops of a module whose bodies are repeated: more take minutes to compile
AHEAD: Final = 1 << 20  # bytes that inner loops give in a turn: with more, the host waits for each turn
NOT_REPEATED: Final = frozenset({"adze.cond", "adze.while", "adze.scan", "scf.if", "scf.while", "scf.for"})


@dataclass(frozen=True)
class _Steps:
    """What every step of a scan is made of."""

    body: str
    constants: tuple[Any, ...]
    arrays: tuple[Any, ...]
    carry_count: int
    steps: Size
    reverse: bool


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
        # Branches give their dynamic sizes too, which IREE cannot find out inside of loops.
        index = mlir.ir.IndexType.get()
        dynamic = [index for t in types for axis in range(t.rank) if t.is_dynamic_dim(axis)]
        choice = mlir.scf.IfOp(is_this, [*types, *dynamic], has_else=True)
        with mlir.ir.InsertionPoint(choice.then_block):
            mlir.scf.YieldOp(self._with_sizes(self._called(branches[position], operands, types)))
        with mlir.ir.InsertionPoint(choice.else_block):
            found = self._choose(chosen, position + 1, operands, branches, types)
            mlir.scf.YieldOp(self._with_sizes(found))
        results, sizes = list(choice.results)[: len(types)], iter(list(choice.results)[len(types) :])
        shapes = [
            [next(sizes) if t.is_dynamic_dim(axis) else t.get_dim_size(axis) for axis in range(t.rank)]
            for t in types
        ]
        return tuple(self._shaped(r, shape) for r, shape in zip(results, shapes, strict=True))

    def _with_sizes(self, values: Sequence[Any]) -> list[Any]:
        """The values, then all of their sizes that are dynamic."""
        return [*values, *(n for v in values for n in self._dynamic(v, self.shape(v)))]

    def _dynamic(self, value: Any, shape: Sequence[Size]) -> list[Any]:
        """Those entries of `shape` that the type of `value` leaves open."""
        sizes = zip(value.type.shape, shape, strict=True)
        return [self.size_value(n) for known, n in sizes if known == DYNAMIC]

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
        state = [self._state(v, t) for v, t in zip(operands[n:], self.result_types, strict=True)]
        # Observed: IREE crashes on some of these loops where what they carry has dynamic sizes.
        if all(isinstance(t, TensorType) and t.is_static for t in self.result_types):
            return self._loop_on_a_flag(condition, ask, body, constants, state)
        types = self._result_tensors()
        loop = mlir.scf.WhileOp(types, state)
        before = mlir.ir.Block.create_at_start(loop.before, types)
        with mlir.ir.InsertionPoint(before):
            known = self._resident(before.arguments, state)
            (left,) = self._called(condition, [*ask, *known], [self.tensor((), BOOL)])
            mlir.scf.ConditionOp(mlir.tensor.extract(left, []), list(before.arguments))
        after = mlir.ir.Block.create_at_start(loop.after, types)
        with mlir.ir.InsertionPoint(after):
            known = self._resident(after.arguments, state)
            mlir.scf.YieldOp(list(self._called(body, [*constants, *known], types)))
        return self._of_shapes(loop.results, state)

    def _loop_on_a_flag(
        self,
        condition: str,
        ask: Sequence[Any],
        body: str,
        constants: Sequence[Any],
        state: Sequence[Any],
    ) -> tuple[Any, ...]:
        """`scf.while` on the state and whether to go on.

        A turn computes the next state and its condition together, so that it is one list of commands. What
        only the condition reads is not carried.
        """
        flag, types = self.tensor((), BOOL), self._result_tensors()
        uses = zip(self.operation.results, self._arguments(body)[len(constants) :], strict=True)
        is_carried = [_is_used(result) or _is_used(argument) for result, argument in uses]
        (first,) = self._called(condition, [*ask, *state], [flag])
        carried = [*itertools.compress(state, is_carried), first]
        carried_types = [*itertools.compress(types, is_carried), flag]
        loop = mlir.scf.WhileOp(carried_types, carried)
        before = mlir.ir.Block.create_at_start(loop.before, carried_types)
        with mlir.ir.InsertionPoint(before):
            # Not `_resident`: "streamable op expected to be in an execution region" where it alone is read.
            mlir.scf.ConditionOp(mlir.tensor.extract(before.arguments[-1], []), list(before.arguments))
        after = mlir.ir.Block.create_at_start(loop.after, carried_types)
        with mlir.ir.InsertionPoint(after):
            (*known, went_on) = self._resident(after.arguments, carried)
            given = _filled(state, known, is_carried)
            new = self._called(body, [*constants, *given], types)
            (left,) = self._called(condition, [*ask, *new], [flag])
            # IREE wants the body to read all that is carried (`whiles.py`): the flag is true in it.
            go_on = self.elementwise_as(BOOL, lambda s, _, a, b: s.and_(BOOL, a, b), left, went_on)
            mlir.scf.YieldOp([*itertools.compress(new, is_carried), go_on])
        (*found, _) = self._of_shapes(loop.results, carried)
        return tuple(_filled(state, found, is_carried))

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
        if steps == 0:
            # A loop that is never taken would slice rows of arrays without rows, which MLIR refuses.
            return self._never(body, constants, carry, arrays, types)
        state = [self._state(v, t) for v, t in zip(carry, self.result_types[:n], strict=True)]
        call = _Steps(body, tuple(constants), tuple(arrays), n, steps, reverse)
        columns = list(self.result_types[n:])
        known = [t.shape[1:] for t in columns if isinstance(t, TensorType)]
        if any(None in shape for shape in known):
            known = self._row_shapes(call, state, types)
        stacks = [self._stack_for(t, steps, shape) for t, shape in zip(columns, known, strict=True)]
        carried = [*state, *stacks]
        whole: Size = 0
        if isinstance(steps, int) and steps >= 2 * UNROLLED_STEPS and self._is_repeated(body):
            # IREE copies what a loop carries once a turn, so a turn does several steps.
            whole = steps - steps % UNROLLED_STEPS
            carried = self._repeat(call, carried, types, 0, whole, UNROLLED_STEPS)
        if whole != steps:
            carried = self._repeat(call, carried, types, whole, steps, 1)
        return tuple(carried)

    def _never(
        self,
        body: str,
        constants: Sequence[Any],
        carry: Sequence[Any],
        arrays: Sequence[Any],
        types: Sequence[Any],
    ) -> tuple[Any, ...]:
        """A scan of no steps: the carry as it is, and results without rows."""
        n = len(carry)
        kept = [v if v.type == t else mlir.tensor.cast(t, v) for v, t in zip(carry, types[:n], strict=True)]
        columns = list(self.result_types[n:])
        shapes = [t.shape[1:] for t in columns if isinstance(t, TensorType)]
        if any(None in shape for shape in shapes):
            walked = [t for t in self.operand_types[len(self.operand_types) - len(arrays) :]]
            slices = [
                self.empty(self.shape(x)[1:], t.dtype)
                for x, t in zip(arrays, walked, strict=True)
                if isinstance(t, TensorType)
            ]
            rows = [self._row_type(t) for t in types[n:]]
            found = self._called(body, [*constants, *kept, *slices], [*types[:n], *rows])
            shapes = [self.shape(row) for row in found[n:]]
        return (*kept, *(self._stack_for(t, 0, shape) for t, shape in zip(columns, shapes, strict=True)))

    def _repeat(
        self, call: _Steps, carried: Sequence[Any], types: Sequence[Any], first: Size, last: Size, width: int
    ) -> list[Any]:
        """The loop from step `first` to `last`, `width` of them in one turn."""
        start, stop, step = (self.size_value(v) for v in (first, last, width))
        loop = mlir.scf.ForOp(start, stop, step, list(carried))
        with mlir.ir.InsertionPoint(loop.body):
            inner = self._resident(loop.inner_iter_args, carried)
            if self._bytes_inside(call.body) >= AHEAD:
                self._wait_for(inner[: call.carry_count])
            for offset in range(width):
                time = self.size_arithmetic("size_add", loop.induction_variable, offset)
                inner = self._one_step(call, inner, types, time)
            mlir.scf.YieldOp(inner)
        return list(self._of_shapes(loop.results, carried))

    def _wait_for(self, carry: Sequence[Any]) -> None:
        """Let the host read a number of the carry: then it starts no turn before the one before is done."""
        for value in carry:
            shape, element = self.shape(value), mlir.ir.RankedTensorType(value.type).element_type
            if all(isinstance(n, int) and n for n in shape) and str(element) in ("f32", "f64", "i32", "i64"):
                number = mlir.tensor.extract(value, [self.size_value(0)] * len(shape))
                mlir.util.OptimizationBarrierOp([element], [number])
                return

    def _bytes_inside(self, symbol: str) -> int:
        """What the loops and branches in a body give, in bytes."""
        results = [r for o in self._body(symbol) if o.operation.name in NOT_REPEATED for r in o.results]
        types = [
            mlir.ir.RankedTensorType(r.type) for r in results if isinstance(r.type, mlir.ir.RankedTensorType)
        ]
        return sum(prod(t.shape) * _width(t.element_type) for t in types if DYNAMIC not in t.shape)

    def _one_step(self, call: _Steps, carried: Sequence[Any], types: Sequence[Any], step: Size) -> list[Any]:
        n = call.carry_count
        time = step
        if call.reverse:
            last = self.size_arithmetic("size_sub", call.steps, 1)
            time = self.size_arithmetic("size_sub", last, step)
        slices = [self._row(x, time) for x in call.arrays]
        rows = [self._row_type(t) for t in types[n:]]
        found = self._called(call.body, [*call.constants, *carried[:n], *slices], [*types[:n], *rows])
        written = [self._write(y, whole, time) for y, whole in zip(found[n:], carried[n:], strict=True)]
        return [*found[:n], *written]

    def _is_repeated(self, symbol: str) -> bool:
        """Whether a body is worth repeating: few ops, no loops or branches inside, few loops in all."""
        if self._scan_count > MOST_REPEATED:
            return False
        inside = self._body(symbol)
        names = {str(o.operation.name) for o in inside}
        return len(inside) <= SMALL_BODY and names.isdisjoint(NOT_REPEATED)

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

    @cached_property
    def _scan_count(self) -> int:
        """How many loops of known length the module has."""
        blocks = [f.regions[0].blocks[0] for f in self.module.body.operations]
        return sum(o.operation.name == "adze.scan" for block in blocks for o in block.operations)

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

    def _row_shapes(self, call: _Steps, state: Sequence[Any], types: Sequence[Any]) -> list[Any]:
        """The shapes of what a step gives, from a step before the loop: only its shapes are computed."""
        n = call.carry_count
        slices = [self._row(x, self.size_value(0)) for x in call.arrays]
        rows = [self._row_type(t) for t in types[n:]]
        found = self._called(call.body, [*call.constants, *state, *slices], [*types[:n], *rows])
        return [self.shape(row) for row in found[n:]]

    def _stack_for(self, declared: Any, steps: Size, row: Sequence[Size]) -> Any:
        """Where the rows of a result are written: an array of its own, where equal empty ones become one."""
        shape = (steps, *row)
        type_ = self.tensor(shape, declared.dtype)
        dynamic = [n for n in shape if not isinstance(n, int)]
        whole = mlir.ir.Operation.create("flow.tensor.alloca", results=[type_], operands=dynamic).result
        self.bind_shape(whole, shape)
        wanted = self.tensor(declared.shape, declared.dtype)
        return whole if whole.type == wanted else mlir.tensor.cast(wanted, whole)

    def _row_type(self, type_: Any) -> Any:
        ranked = mlir.ir.RankedTensorType(type_)
        return mlir.ir.RankedTensorType.get(ranked.shape[1:], ranked.element_type)

    def _row(self, x: Any, time: Any) -> Any:
        """`x[time]`."""
        shape = self.shape(x)
        if 0 in shape[1:]:  # MLIR refuses to slice what has no elements
            return self.empty_like_element(mlir.ir.RankedTensorType(x.type).element_type, shape[1:])
        part = self.window(x, [time, *[0] * (len(shape) - 1)], [1, *shape[1:]], [1] * len(shape))
        return self.reshape(part, shape[1:])

    def _write(self, row: Any, whole: Any, time: Any) -> Any:
        """`whole` with `whole[time] = row`."""
        shape = self.shape(row)
        if 0 in shape:
            return whole
        part = self.reshape(row, (1, *shape))
        return self.insert(part, whole, [time, *[0] * len(shape)], [1] * (len(shape) + 1))


def _filled(values: Sequence[Any], changed: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """`values`, those whose flag is set replaced in order by `changed`."""
    remaining = iter(changed)
    return [next(remaining) if flag else v for v, flag in zip(values, flags, strict=True)]


def _is_used(value: Any) -> bool:
    return next(iter(value.uses), None) is not None


def _width(element: Any) -> int:
    """The bytes of an element."""
    if isinstance(element, mlir.ir.ComplexType):
        return 2 * _width(element.element_type)
    return max(int(element.width) // 8, 1)
