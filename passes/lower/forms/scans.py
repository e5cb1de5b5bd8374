"""Loops of known length: `scf.for` that carries the state, and the results, written a slice a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final

from ....dialects import mlir
from ....dialects.types import TensorType
from ..builder import DYNAMIC, Size
from .bodies import BodyForms

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


class ScanForms(BodyForms):
    """Loops of known length."""

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

    @cached_property
    def _scan_count(self) -> int:
        """How many loops of known length the module has."""
        blocks = [f.regions[0].blocks[0] for f in self.module.body.operations]
        return sum(o.operation.name == "adze.scan" for block in blocks for o in block.operations)

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


def _width(element: Any) -> int:
    """The bytes of an element."""
    if isinstance(element, mlir.ir.ComplexType):
        return 2 * _width(element.element_type)
    return max(int(element.width) // 8, 1)
