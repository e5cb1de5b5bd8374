"""Routines: calls of functions that a target may compute by a kernel of its own.

`adze.routine` computes what its `callee` computes, in ops; `kernel` names what that is. Derivatives and
batches are those of the callee, and a batched routine is a routine again: its kernel takes leading axes. The
inliner leaves routines alone; the pass `routine-kernels`, which knows the target, puts a kernel in the place
of a routine, or the body of its callee.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...op import Linear, symbol, text
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


class Routine(PlainCall):
    """``y... = callee(x...)``, which a target may compute by its kernel of the name `kernel`."""

    name = "routine"
    is_routine = True
    attributes = {"callee": symbol("the function's name"), "kernel": KERNEL, "results": RESULTS}

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        callee: str,
        kernel: str,
        results: tuple[TensorType, ...],
    ) -> WithTangents:
        return engine.call(b, callee, primals, tangents)

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        callee: str,
        kernel: str,
        results: tuple[TensorType, ...],
    ) -> Batched:
        inputs, everything = batched_arrays(b, size, operands, batched)
        body, _, types = engine.batched_callee(b, callee, everything, all_results=True)
        outputs = b.routine(*engine.leading(size), *inputs, callee=body, kernel=kernel, results=types)
        return list(outputs), [True] * len(types)


class LinearRoutine(PlainCall):
    """``y = callee(x..., z)``, linear in `z`, a routine whose transpose is a routine.

    `transposed` maps `x...` and a cotangent of `y` to that of `z`, and `transposed_kernel` is its kernel's
    name.
    """

    name = "linear_routine"
    is_routine = True
    has_own_transpose = True
    attributes = {
        "callee": symbol("the function's name"),
        "kernel": KERNEL,
        "transposed": symbol("maps the other operands and a cotangent to that of the last operand"),
        "transposed_kernel": text("what `transposed` computes, by the name of its kernel"),
        "results": RESULTS,
    }

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        callee: str,
        results: tuple[TensorType, ...],
        **names: str,
    ) -> WithTangents:
        if any(t is not None for t in tangents[:-1]):
            return engine.call(b, callee, primals, tangents)
        last = tangents[-1]
        outputs = b.linear_routine(*primals, callee=callee, results=results, **names)
        if last is None:
            return outputs, [None]
        return outputs, list(b.linear_routine(*primals[:-1], last, callee=callee, results=results, **names))

    @classmethod
    def transpose(
        cls,
        b: Builder,
        cotangents: Sequence[Tangent],
        operands: Values,
        engine: Transposition,
        *,
        callee: str,
        kernel: str,
        transposed: str,
        transposed_kernel: str,
        results: tuple[TensorType, ...],
    ) -> Sequence[Tangent]:
        if any(isinstance(x, Linear) for x in operands[:-1]):
            return engine.call(b, callee, operands, cotangents)
        (cotangent,) = b.linear_routine(
            *operands[:-1],
            *cotangents,
            callee=transposed,
            kernel=transposed_kernel,
            transposed=callee,
            transposed_kernel=kernel,
            results=(operands[-1].type,),
        )
        return [*(None for _ in operands[:-1]), cotangent]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        callee: str,
        transposed: str,
        results: tuple[TensorType, ...],
        **names: Any,
    ) -> Batched:
        inputs, everything = batched_arrays(b, size, operands, batched)
        body, _, types = engine.batched_callee(b, callee, everything, all_results=True)
        back, _, _ = engine.batched_callee(b, transposed, everything, all_results=True)
        outputs = b.linear_routine(
            *engine.leading(size), *inputs, callee=body, transposed=back, results=types, **names
        )
        return list(outputs), [True]
