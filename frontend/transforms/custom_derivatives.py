"""`custom_jvp` and `custom_vjp`: derivatives by the user's own rule.

Input: a function and its rules. Output: a call inside a trace is an op that refers to the function and to
the rules: the engines of differentiation follow the rules, everything else inlines the function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...dialects.types import INEXACT
from ...passes.autodiff.variants import BY_COTANGENTS, Variants
from ...passes.ir.construction import Activity
from .. import tree
from ..errors import CotangentError, TraceError, UndefinedRuleError
from ..tracing.concrete_values import KnownArgument, results_of
from ..tracing.function_scope import Argument, PrivateFunction, check_sizes
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.rule_tangents import in_rule
from ..tracing.scalars import is_python_scalar
from ..tracing.trace import function_name
from .custom_derivative_calls import Call, Captured, Custom, TracedCustomFunction
from .symbolic_zeros import SymbolicZero, instantiated, with_marks, with_zeros


class custom_jvp(Custom):  # a decorator, named as JAX has it
    """A function with a forward rule of its own: decorate it, then its rule with `.defjvp`.

    The rule is called as `rule(primals, tangents)` with tuples, and returns the result and its tangent; it
    must be linear in the tangents. Arguments in `nondiff_argnums` (or named by `nondiff_argnames`) are Python
    values (functions, options) that the rule gets first, in order. Reverse mode follows by transposing the
    rule.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self._rule: Callable[..., Any] | None = None

    def defjvp(self, rule: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Use `rule` for the derivative; returns it, so that it works as a decorator.

        With `symbolic_zeros` the rule is traced for the arguments that are differentiated: it gets a
        `SymbolicZero` for the tangent of any other, and may return such zeros. Without, these are arrays.
        """
        self._rule, self._sees_zeros = rule, symbolic_zeros
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """One rule for each argument: `rule(tangent, result, *args)`; None where the tangent is zero."""

        def rule(primals: Any, tangents: Any) -> Any:
            result = self(*primals)
            parts = [r(t, result, *primals) for r, t in zip(rules, tangents, strict=True) if r is not None]
            if not parts:
                return result, tree.map(ops.zeros_like, result)
            return result, functools.reduce(lambda a, b: tree.map(lambda x, y: x + y, a, b), parts)

        self._rule = rule

    def _rules(self) -> Sequence[Callable[..., Any]]:
        if self._rule is None:
            raise UndefinedRuleError(
                f"custom_jvp function {function_name(self._function)} has no rule",
                where=user_location_text(),
                hint="define one: @f.defjvp",
            )
        return [self._rule]

    def _names(self) -> list[str]:
        return [f"{function_name(self._function)}_rule"]

    def _record(self, traced: TracedCustomFunction, operands: Sequence[Any]) -> Any:
        return ops.custom_jvp_call(
            *operands,
            callee=traced.body.symbol,
            rule=traced.rules[0],
            closed_over=len(traced.captured.arrays),
            results=traced.body.result_types,
        )

    def _trace_rules(
        self,
        call: Call,
        function: TracedCustomFunction,
        symbols: Sequence[str],
        active: Activity | None = None,
    ) -> list[PrivateFunction]:
        captured, n = function.captured, len(call.values)
        arguments, bound = captured.arguments(call.arguments), captured.bound(n)
        count = len(arguments)

        def rule(leaves: Sequence[Any]) -> Any:
            tangents = leaves[count : count + n]
            seen = with_zeros(tangents, active) if self._sees_zeros else tangents
            return self._apply_rule(call, captured.without(leaves[:count]), seen)

        moving = arguments[len(captured.sizes) :]  # sizes have no tangents
        traced = call.scope.trace(
            symbols[0], rule, [*arguments, *moving], bound, symbols[0], function.sources
        )
        self._check_types(function.body, traced)
        return [traced]

    def _apply_rule(self, call: Call, primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        assert self._rule is not None
        name = function_name(self._function)
        with in_rule(tangents):
            pair = self._rule(*call.fixed_values, call.trees(primals), call.trees(tangents))
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TraceError(
                f"the jvp rule of {name} must return (result, tangent), it returns "
                f"{tree.describe(tree.structure(pair))}",
                where=user_location_text(),
                hint="write return result, tangent",
            )
        value, tangent = pair
        if tree.structure(value) != tree.structure(tangent):
            raise TraceError(
                f"the jvp rule of {name} returns a tangent of tree "
                f"{tree.describe(tree.structure(tangent))} for a result of tree "
                f"{tree.describe(tree.structure(value))}",
                where=user_location_text(),
            )
        values = [as_value(v) for v in tree.leaves(value)]
        tangents = list(map(instantiated, tree.leaves(tangent)))
        moved = [
            as_value(t, v.dtype) if as_value(t).weak_type else as_value(t)
            for v, t in zip(values, tangents, strict=True)
        ]
        for v, t in zip(values, moved, strict=True):
            if t.ndim == v.ndim:
                check_sizes(t, v.shape, f"the jvp rule of {name} must return a tangent of its result's shape")
        return [*values, *moved]

    def _check_types(self, body: PrivateFunction, rule: PrivateFunction) -> None:
        count = len(body.result_types)
        if rule.result_types[:count] != body.result_types or rule.result_types[count:] != body.result_types:
            raise TraceError(
                f"the jvp rule of {function_name(self._function)} returns results and tangents of types "
                f"{', '.join(map(str, rule.result_types))}, expected twice "
                f"{', '.join(map(str, body.result_types))}",
                where=user_location_text(),
            )


class custom_vjp(Custom):  # a decorator, named as JAX has it
    """A function with a pullback of its own: decorate it, then give the pair of rules to `.defvjp`.

    `fwd(*args)` returns (result, residuals), `bwd(residuals, cotangent)` a tuple with one cotangent for each
    argument (None: zero, also within its tree). Arguments in `nondiff_argnums` (or named by
    `nondiff_argnames`) are Python values; `bwd` gets them first. Under forward mode the transpose of `bwd` is
    used, where its ops can be transposed.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self._pair: tuple[Callable[..., Any], Callable[..., Any]] | None = None

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Use these rules for the pullback.

        With `symbolic_zeros` `fwd` gets a `CustomVJPPrimal` for each array: its `value`, and whether it is
        `perturbed`, that is, differentiated; `bwd` gets a `SymbolicZero` for a cotangent that is zero, and
        may return such zeros. The rules are traced for each such case. `optimize_remat` changes nothing:
        what a checkpoint computes again and nothing reads is not computed.
        """
        self._pair, self._sees_zeros = (fwd, bwd), symbolic_zeros

    def _rules(self) -> Sequence[Callable[..., Any]]:
        if self._pair is None:
            raise UndefinedRuleError(
                f"custom_vjp function {function_name(self._function)} has no rules",
                where=user_location_text(),
                hint="define them: f.defvjp(fwd, bwd)",
            )
        return self._pair

    def _names(self) -> list[str]:
        name = function_name(self._function)
        return [f"{name}_fwd", f"{name}_bwd"]

    def _record(self, traced: TracedCustomFunction, operands: Sequence[Any]) -> Any:
        return ops.custom_vjp_call(
            *operands,
            callee=traced.body.symbol,
            fwd=traced.rules[0],
            bwd=traced.rules[1],
            closed_over=len(traced.captured.arrays),
            results=traced.body.result_types,
        )

    def _trace_rules(
        self,
        call: Call,
        function: TracedCustomFunction,
        symbols: Sequence[str],
        active: Activity | None = None,
    ) -> list[PrivateFunction]:
        """What is captured is around the arguments of fwd, and around the residuals."""
        captured, scope = function.captured, call.scope
        user_fwd, user_bwd = self._rules()
        pullback = _Pullback(call, user_fwd, user_bwd, captured, self._sees_zeros, active)
        arguments, bound = captured.arguments(call.arguments), captured.bound(len(call.values))
        fwd = scope.trace(symbols[0], pullback.forward, arguments, bound, symbols[0], function.sources)
        self._check_types(function.body, fwd)
        backward, count = pullback.arguments(fwd, function.body), len(pullback.weak_residuals)
        residuals: list[KnownArgument | None] = []
        if not function.is_deferred:
            operands = [*captured.around(call.values), *fwd.captured]
            outputs = results_of(scope.program, fwd.symbol, operands, len(fwd.result_types))
            residuals = [*(None for _ in captured.sizes), *outputs[len(function.body.result_types) :][:count]]

        def trace(symbol: str, has_cotangent: Activity | None) -> PrivateFunction:
            call_bwd = partial(pullback.backward, has_cotangent=has_cotangent)
            return scope.trace(symbol, call_bwd, backward, captured.bound(count), symbol, residuals)

        bwd = trace(symbols[1], None)
        if self._sees_zeros:

            def variant(has_cotangent: Activity) -> list[str]:
                return [trace(scope.reserve(symbols[1]), has_cotangent).symbol]

            kept = Variants(scope.program.module, BY_COTANGENTS, [bwd.symbol], variant)
            call.memo["variants", bwd.symbol] = kept
        return [fwd, bwd]

    def _check_types(self, body: PrivateFunction, fwd: PrivateFunction) -> None:
        types = fwd.result_types[: len(body.result_types)]
        if types != body.result_types:
            raise TraceError(
                f"the fwd rule of {function_name(self._function)} returns results of types "
                f"{', '.join(map(str, types))}, the function {', '.join(map(str, body.result_types))}",
                where=user_location_text(),
            )


class _Pullback:
    """The two rules of a `custom_vjp` call as functions of flat leaves; captured values are residuals."""

    def __init__(
        self,
        call: Call,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        captured: Captured,
        sees_zeros: bool,
        active: Activity | None,
    ) -> None:
        self.call = call
        self.fwd = fwd
        self.bwd = bwd
        self.captured = captured
        self.sees_zeros, self.active = sees_zeros, active
        self.residual_tree: Any = None
        self.weak_residuals: list[bool] = []
        self.numbers: dict[int, Any] = {}
        """The residuals that are Python's numbers, which `bwd` gets as they are: it may ask `if number`."""
        self.result_tree: Any = None

    def forward(self, leaves: Sequence[Any]) -> list[Any]:
        """Results, the user's residuals, then the captured arrays."""
        call = self.call
        values = self.captured.without(leaves)
        arrays = iter(call.trees(with_marks(values, self.active) if self.sees_zeros else values))
        full = [call.fixed[i] if i in call.fixed else next(arrays) for i in range(call.count)]
        pair = self.fwd(*full)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TraceError(
                f"the fwd rule of {function_name(call.function)} must return (result, residuals), it returns "
                f"{tree.describe(tree.structure(pair))}",
                where=user_location_text(),
            )
        results, self.result_tree = tree.flatten(pair[0])
        found, self.residual_tree = tree.flatten(pair[1])
        self.numbers = {k: r for k, r in enumerate(found) if is_python_scalar(r)}
        residuals = [r for k, r in enumerate(found) if k not in self.numbers]
        self.weak_residuals = [as_value(r).weak_type for r in residuals]
        return [*results, *residuals, *leaves[len(leaves) - len(self.captured.arrays) :]]

    def arguments(self, fwd: PrivateFunction, body: PrivateFunction) -> list[Argument]:
        """What the bwd rule is traced at: residuals amid what is captured, then cotangents of the results."""
        count = len(body.result_types)
        if self.result_tree != body.result_tree:
            raise TraceError(
                f"the fwd rule of {function_name(self.call.function)} returns a result of tree "
                f"{tree.describe(self.result_tree)}, the function {tree.describe(body.result_tree)}",
                where=user_location_text(),
            )
        pairs = zip(fwd.result_types, fwd.result_axes, strict=True)
        kinds = [Argument(t, (None,) * t.rank, False, axes) for t, axes in pairs]
        residuals = [
            replace(kind, weak_type=is_weak)
            for kind, is_weak in zip(kinds[count:], self.weak_residuals, strict=False)
        ]
        return [*self.captured.arguments(residuals), *kinds[:count]]

    def backward(self, leaves: Sequence[Any], has_cotangent: Activity | None) -> list[Any]:
        """Cotangents of the float leaves of the arguments, then zeros for the captured arrays."""
        call, count = self.call, len(leaves) - self.result_tree.num_leaves
        captured = leaves[count - len(self.captured.arrays) : count]
        arrays = iter(self.captured.without(leaves[:count]))
        places = range(self.residual_tree.num_leaves)
        own = [self.numbers[k] if k in self.numbers else next(arrays) for k in places]
        residuals = tree.unflatten(self.residual_tree, own)
        seeds = with_zeros(leaves[count:], has_cotangent) if self.sees_zeros else leaves[count:]
        cotangent = tree.unflatten(self.result_tree, seeds)
        cotangents = self.bwd(*call.fixed_values, residuals, cotangent)
        name = function_name(call.function)
        arguments = call.trees(call.values)
        if not isinstance(cotangents, (tuple, list)) or len(cotangents) != len(arguments):
            raise TraceError(
                f"the bwd rule of {name} must return a tuple of {len(arguments)} cotangents, one for each "
                f"argument, it returns {tree.describe(tree.structure(cotangents))}",
                where=user_location_text(),
                hint="write return (cotangent,), with the comma, for one argument; None stands for zeros",
            )
        out: list[Any] = []
        for position, (argument, cotangent_of_it) in enumerate(zip(arguments, cotangents, strict=True)):
            out += self._cotangents(position, argument, cotangent_of_it)
        return [*out, *(ops.zeros_like(c) for c in captured if c.dtype in INEXACT)]

    def _cotangents(self, position: int, argument: Any, cotangent_tree: Any) -> list[Any]:
        leaves, structure = tree.flatten(argument)
        cotangents = tree.leaves_along(structure, cotangent_tree)
        rule = f"the bwd rule of {function_name(self.call.function)}"
        if cotangents is None:
            raise TraceError(
                f"{rule} returns for argument {position} "
                f"a cotangent of tree {tree.describe(tree.structure(cotangent_tree))}, "
                f"expected {tree.describe(structure)}",
                where=user_location_text(),
            )
        out = []
        for value, cotangent in zip(leaves, cotangents, strict=True):
            if value.dtype not in INEXACT:
                continue
            is_zero = cotangent is None or isinstance(cotangent, SymbolicZero)
            converted = _zero_like(value) if is_zero else as_value(cotangent)
            converted = as_value(converted, value.dtype) if converted.weak_type else converted
            if ops.type_of(converted) != ops.type_of(value):
                raise CotangentError(
                    f"{rule} returns for argument {position} a "
                    f"cotangent of type {ops.type_of(converted)}, expected {ops.type_of(value)}",
                    where=user_location_text(),
                )
            check_sizes(
                converted, value.shape, f"{rule} must return a cotangent of argument {position}'s shape"
            )
            out.append(converted)
        return out


def _zero_like(value: Any) -> Any:
    return ops.full(0, tuple(value.shape), value.dtype)
