"""Loops until a condition fails: `scf.while`, in two forms.

A turn computes the next state and its condition together where no size is dynamic, and one after the other
where one is.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ....dialects import mlir
from ....dialects.types import BOOL, TensorType
from .bodies import BodyForms


class WhileForms(BodyForms):
    """Loops of unknown length."""

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
            # The body has to use all that is carried (`iree/dropped_loop_state.py`): the flag is true in it.
            go_on = self.elementwise_as(BOOL, lambda s, _, a, b: s.and_(BOOL, a, b), left, went_on)
            mlir.scf.YieldOp([*itertools.compress(new, is_carried), go_on])
        (*found, _) = self._of_shapes(loop.results, carried)
        return tuple(_filled(state, found, is_carried))


def _filled(values: Sequence[Any], changed: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """`values`, those whose flag is set replaced in order by `changed`."""
    remaining = iter(changed)
    return [next(remaining) if flag else v for v, flag in zip(values, flags, strict=True)]


def _is_used(value: Any) -> bool:
    return next(iter(value.uses), None) is not None
