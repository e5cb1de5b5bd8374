"""Routines: calls of functions that a target may compute by a kernel of its own.

`adze.routine` computes what its `callee` computes, in ops; `kernel` names what that is. Derivatives and
batches are those of the callee, and a batched routine is a routine again: its kernel takes leading axes. The
inliner leaves routines alone; the pass `routine-kernels`, which knows the target, puts a kernel in the place
of a routine, or the body of its callee.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...op import Linear, Record, stated, symbol, text
from ...protocols import (
    Batched,
    Batching,
    Builder,
    Differentiation,
    Size,
    Tangent,
    Transposition,
    Values,
    WithTangents,
)
from ...types import TensorType
from ..custom_rules.derivatives import batched_arrays
from .call import RESULTS, PlainCall

KERNEL: Final = text("what the callee computes, by the name of its kernel")


class Routines(Record):
    """The attributes of `routine`."""

    callee: str = stated(symbol("the function's name"))
    kernel: str = stated(KERNEL)
    results: tuple[TensorType, ...] = stated(RESULTS)


class Routine(PlainCall):
    """``y... = callee(x...)``, which a target may compute by its kernel of the name `kernel`."""

    name = "routine"
    is_routine = True
    record = Routines

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: Routines,
    ) -> WithTangents:
        return engine.call(b, attributes.callee, primals, tangents)

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: Routines,
    ) -> Batched:
        inputs, everything = batched_arrays(b, size, operands, batched)
        body, _, types = engine.batched_callee(b, attributes.callee, everything, all_results=True)
        mapped = attributes.replaced(callee=body, results=types)
        return list(b.routine(*engine.leading(size), *inputs, **mapped.keywords)), [True] * len(types)


class LinearRoutines(Record):
    """The attributes of `linear_routine`."""

    callee: str = stated(symbol("the function's name"))
    kernel: str = stated(KERNEL)
    transposed: str = stated(symbol("maps the other operands and a cotangent to that of the last operand"))
    transposed_kernel: str = stated(text("what `transposed` computes, by the name of its kernel"))
    results: tuple[TensorType, ...] = stated(RESULTS)

    def back(self, type_: TensorType, callee: str) -> LinearRoutines:
        """Those of the transpose, whose result has the type of the last operand; `callee` is `transposed`."""
        return LinearRoutines(
            callee=callee,
            kernel=self.transposed_kernel,
            transposed=self.callee,
            transposed_kernel=self.kernel,
            results=(type_,),
        )


class LinearRoutine(PlainCall):
    """``y = callee(x..., z)``, linear in `z`, a routine whose transpose is a routine.

    `transposed` maps `x...` and a cotangent of `y` to that of `z`, and `transposed_kernel` is its kernel's
    name.
    """

    name = "linear_routine"
    is_routine = True
    has_own_transpose = True
    record = LinearRoutines

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: LinearRoutines,
    ) -> WithTangents:
        last = tangents[-1]
        if last is None or any(t is not None for t in tangents[:-1]):
            return engine.call(b, attributes.callee, primals, tangents)
        outputs = b.linear_routine(*primals, **attributes.keywords)
        return list(outputs), list(b.linear_routine(*primals[:-1], last, **attributes.keywords))

    @classmethod
    def transpose(
        cls,
        b: Builder,
        cotangents: Sequence[Tangent],
        operands: Values,
        engine: Transposition,
        *,
        attributes: LinearRoutines,
    ) -> Sequence[Tangent]:
        (cotangent,), *others, last = cotangents, *operands
        if cotangent is None or not isinstance(last, Linear) or any(isinstance(x, Linear) for x in others):
            return engine.call(b, attributes.callee, operands, cotangents)
        assert isinstance(last.type, TensorType)
        callee = engine.rule_for(attributes.transposed, (True,))
        outputs = b.linear_routine(*others, cotangent, **attributes.back(last.type, callee).keywords)
        return [*(None for _ in others), *outputs]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: LinearRoutines,
    ) -> Batched:
        inputs, everything = batched_arrays(b, size, operands, batched)
        body, _, types = engine.batched_callee(b, attributes.callee, everything, all_results=True)
        (back,) = engine.batched_rules(
            [attributes.transposed], lambda rules: [engine.batch(rules[0], tuple(everything), True).symbol]
        )
        mapped = attributes.replaced(callee=body, transposed=back, results=types)
        return list(b.linear_routine(*engine.leading(size), *inputs, **mapped.keywords)), [True]

    @staticmethod
    def undifferentiated(b: Builder, operands: Values, *, attributes: LinearRoutines) -> Values:
        """A routine, which has no transpose."""
        kernel, results = attributes.kernel, attributes.results
        return b.routine(*operands, callee=attributes.callee, kernel=kernel, results=results)
