"""Transpose rules of clients' primitives: `jax.interpreters.ad.primitive_transposes`.

Input: a primitive that is bound in the rule of a derivative, at operands of which some follow from tangents.
Output: its results, by an op whose transpose calls the client's rule. Idea: which operands are linear is
known where the rule of the derivative is traced: those that follow from its tangents. Elsewhere a primitive
is the ops of its implementation, whose transposes are theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from ...dialects import mlir
from ...dialects.types import INEXACT
from ..tracing.concrete_values import KnownArgument, source_of
from ..tracing.frames import Tracer, capture_key, current_frame
from ..tracing.function_scope import Argument, FunctionScope, PrivateFunction, argument_of
from ..tracing.interpreter import as_value, ops
from ..tracing.sizes import Dim
from ..tracing.specs import ShapeDtype
from ..transforms.symbolic_zeros import SymbolicZero, instantiated
from .interpreters import UndefinedPrimal, Zero

__all__: list[str] = []

_TANGENTS: Final[ContextVar[frozenset[Any]]] = ContextVar("tangents of the rules being traced")
"""The SSA values that are tangents of the rules that are being traced."""


@contextmanager
def in_rule(tangents: Sequence[Any]) -> Iterator[None]:
    """While a rule of a derivative is traced at these tangents."""
    moving = frozenset(t.value for t in tangents if isinstance(t, Tracer))
    token = _TANGENTS.set(_TANGENTS.get(frozenset()) | moving)
    try:
        yield
    finally:
        _TANGENTS.reset(token)


def linear_places(args: Sequence[Any]) -> list[int]:
    """Which arguments follow from the tangents of a rule that is being traced."""
    tangents = _TANGENTS.get(frozenset())
    return [n for n, arg in enumerate(args) if tangents and _follows(arg, tangents)]


def _follows(arg: Any, tangents: frozenset[Any]) -> bool:
    wanted = [arg] if isinstance(arg, Tracer) and arg.dtype in INEXACT else []
    pending, seen = [(tracer.frame, tracer.value) for tracer in wanted], set()
    while pending:
        frame, value = pending.pop()
        if value in tangents:
            return True
        if value in seen:
            continue
        seen.add(value)
        if not isinstance(value.owner, mlir.ir.Block):
            pending += [(frame, operand) for operand in value.owner.operands]
            continue
        source = source_of(frame, value)
        if isinstance(source, KnownArgument) and isinstance(source.value, Tracer):
            pending.append((source.value.frame, source.value.value))
    return False


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
        outer: list[Any] = []
        forward, backward = self._traced(outer)
        missing = list({capture_key(v): v for f in (forward, backward) for v in f.captured}.values())
        if missing:
            for function in (forward, backward):
                self.scope.drop(function.symbol)
            outer = sorted(missing, key=lambda v: not isinstance(v, Dim))  # sizes are the first operands
            forward, backward = self._traced(outer)
        results = ops.custom_vjp_linear(
            *outer,
            *self.fixed,
            *self.linear,
            callee=forward.symbol,
            bwd=backward.symbol,
            residual_count=len(outer) + len(self.fixed),
            shape_operand_count=0,
            results=forward.result_types,
        )
        return self.result_tree(list(results))

    def _traced(self, outer: Sequence[Any]) -> tuple[PrivateFunction, PrivateFunction]:
        bound, first = dict(enumerate(outer)), len(outer)
        fixed = [argument_of(v) for v in (*outer, *self.fixed)]
        own = [argument_of(v) for v in self.linear]

        def forward(leaves: Sequence[Any]) -> Any:
            count = first + len(self.fixed)
            results = self.call(*self._placed(leaves[first:count], leaves[count:]))
            self.result_tree = type(results) if isinstance(results, (list, tuple)) else lambda r: r[0]
            return results

        traced = self.scope.trace(self.name, forward, [*fixed, *own], bound)
        seeds = [Argument(t, (None,) * t.rank, False) for t in traced.result_types]

        def backward(leaves: Sequence[Any]) -> list[Any]:
            count = first + len(self.fixed)
            incoming = [c if c.dtype in INEXACT else Zero.from_primal_value(c) for c in leaves[count:]]
            return self._pulled(leaves[first:count], incoming)

        return traced, self.scope.trace(f"{self.name}_transpose", backward, [*fixed, *seeds], bound)

    def _placed(self, fixed: Sequence[Any], linear: Sequence[Any]) -> list[Any]:
        """All arguments in the order of the primitive."""
        others, moving = iter(fixed), iter(linear)
        return [next(moving) if n in self.places else next(others) for n in range(len(self.values))]

    def _pulled(self, fixed: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The cotangents of the linear arguments."""
        undefined = [UndefinedPrimal(ShapeDtype.like(v)) for v in self.linear]
        incoming = cotangents if self.result_tree in (list, tuple) else cotangents[0]
        outgoing = self.rule(incoming, *self._placed(fixed, undefined))
        return [
            instantiated(SymbolicZero.from_primal_value(v) if outgoing[n] is None else outgoing[n])
            for n, v in zip(self.places, self.linear, strict=True)
        ]
