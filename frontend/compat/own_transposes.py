"""Transpose rules of clients' primitives: `jax.interpreters.ad.primitive_transposes`.

Input: a primitive that is bound in the rule of a derivative, at operands of which some follow from tangents.
Output: its results, by an op whose transpose calls the client's rule. Idea: which operands are linear is
known where the rule of the derivative is traced: those that follow from its tangents. Elsewhere a primitive
is the ops of its implementation, whose transposes are theirs: also where a loop, a branch or `vmap` has
passed the operand on as an argument. The rule is called for the first backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...dialects.types import INEXACT, TensorType
from ...passes.autodiff.deferred import Deferred
from ..errors import TraceError
from ..tracing.closed_over import closed_over
from ..tracing.frames import capture_key, current_frame
from ..tracing.function_scope import Argument, FunctionScope, PrivateFunction, argument_of
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.sizes import Dim
from ..tracing.specs import ShapeDtype
from ..transforms.symbolic_zeros import SymbolicZero, instantiated
from .interpreters import UndefinedPrimal, Zero

__all__: list[str] = []


class LinearCall:
    """A call of a primitive that is linear in the arguments at `places`, with the client's transpose rule."""

    def __init__(
        self,
        call: Callable[..., Any],
        rule: Callable[..., Any],
        name: str,
        args: Sequence[Any],
        places: Sequence[int],
    ) -> None:
        self.call, self.rule, self.name, self.places = call, rule, name, places
        self.values = [as_value(arg) for arg in args]
        self.linear = [self.values[n] for n in places]
        self.fixed = [v for n, v in enumerate(self.values) if n not in places]
        self.scope = FunctionScope()

    @property
    def is_static(self) -> bool:
        """Whether all sizes are known, as the op needs."""
        return current_frame() is not None and all(ops.tensor_type(v).is_static for v in self.values)

    def results(self) -> Any:
        """What `call` returns."""
        outer = [*closed_over(self.rule)]
        forward = self._forward(outer)
        if forward.captured:
            self.scope.drop(forward.symbol)
            known = {capture_key(v): v for v in (*outer, *forward.captured)}
            outer = sorted(known.values(), key=lambda v: not isinstance(v, Dim))  # sizes are first
            forward = self._forward(outer)
        pullback = partial(self._backward, outer, forward.result_types)
        deferred = Deferred(self.scope.program.module, [f"{self.name}_transpose"], pullback)
        (bwd,) = deferred.symbols
        self.scope.program.memo["deferred", bwd] = deferred
        results = ops.custom_vjp_linear(
            *outer,
            *self.fixed,
            *self.linear,
            callee=forward.symbol,
            bwd=bwd,
            residual_count=len(outer) + len(self.fixed),
            shape_operand_count=0,
            results=forward.result_types,
        )
        return self.result_tree(list(results))

    def _forward(self, outer: Sequence[Any]) -> PrivateFunction:
        """`call` as a function of what it captures, the other arguments and the linear ones."""
        first = len(outer)
        count = first + len(self.fixed)

        def forward(leaves: Sequence[Any]) -> Any:
            results = self.call(*self._placed(leaves[first:count], leaves[count:]))
            self.result_tree = type(results) if isinstance(results, (list, tuple)) else lambda r: r[0]
            return results

        arguments = [argument_of(v) for v in (*outer, *self.fixed, *self.linear)]
        return self.scope.trace(self.name, forward, arguments, dict(enumerate(outer)))

    def _backward(self, outer: Sequence[Any], types: Sequence[TensorType]) -> list[str]:
        """The client's rule as a function of residuals and cotangents, traced for the first backward pass."""
        first = len(outer)
        count = first + len(self.fixed)

        def backward(leaves: Sequence[Any]) -> list[Any]:
            incoming = [c if c.dtype in INEXACT else Zero.from_primal_value(c) for c in leaves[count:]]
            return self._pulled(leaves[first:count], incoming)

        arguments = [argument_of(v) for v in (*outer, *self.fixed)]
        seeds = [Argument(t, (None,) * t.rank, False) for t in types]
        bound = dict(enumerate(outer))
        traced = self.scope.trace(f"{self.name}_pullback", backward, [*arguments, *seeds], bound)
        if traced.captured:
            raise TraceError(
                f"the rule of transposition of {self.name} uses a traced value that is neither an argument "
                "nor in a closure of it",
                where=user_location_text(),
                hint="make that value an argument of the primitive",
            )
        return [traced.symbol]

    def _placed(self, fixed: Sequence[Any], linear: Sequence[Any]) -> list[Any]:
        """All arguments in the order of the primitive."""
        others, moving = iter(fixed), iter(linear)
        return [next(moving) if n in self.places else next(others) for n in range(len(self.values))]

    def _pulled(self, fixed: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The cotangents of the linear arguments."""
        undefined = [UndefinedPrimal(ShapeDtype.like(v)) for v in self.linear]
        incoming = cotangents if self.result_tree in (list, tuple) else cotangents[0]
        outgoing = self.rule(incoming, *self._placed(fixed, undefined))
        if outgoing is Zero:  # the class stands for zeros of all arguments
            outgoing = [None] * len(self.values)
        return [
            instantiated(SymbolicZero.from_primal_value(v) if outgoing[n] is None else outgoing[n])
            for n, v in zip(self.places, self.linear, strict=True)
        ]
