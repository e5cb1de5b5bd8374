"""`custom_vmap` and `sequential_vmap`: batching by the user's own rule.

Input: a function and its batching rule. Output: a call inside a trace is an op that refers to the rule.

Idea: the batch engine asks for the rule when, and only when, the function is batched: it is traced then, as
it is known which arguments are batched. The rule of `sequential_vmap` is a loop, which the engine writes
itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.ops.custom_rules.batching import ONE_BY_ONE, gone, register
from ...dialects.types import SIZE, TensorType, ValueType
from .. import tree
from ..errors import TraceError
from ..tracing.closed_over import closed_over
from ..tracing.concrete_values import KnownArgument
from ..tracing.frames import capture_key, current_frame
from ..tracing.function_scope import Argument, FunctionScope, PrivateFunction, argument_of
from ..tracing.interludes import trace_of
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.trace import function_name
from ..tracing.wrapped import wraps
from .custom_derivative_calls import positional

Flags = tuple[bool, ...]


class custom_vmap:  # a decorator, named as JAX has it
    """A function with a batching rule of its own: decorate it, then its rule with `.def_vmap`.

    The rule is called as `rule(axis_size, in_batched, *args)`. `in_batched` is a list with, for each
    argument, its tree with a bool for each array: whether the array has the batch, as axis 0. It returns the
    result and a tree of the same structure with a bool for each array of the result.

    Where the function is differentiated before it is batched (`vmap(grad(f))`), the rule is differentiated;
    where it is batched first (`grad` of a sum of `vmap(f)`), what the rule gave is. For a derivative of its
    own put it inside a `custom_jvp` or `custom_vjp`. The function may use outer values, but none that is
    mapped: those must be arguments.

    Raises `TraceError` when it is called before it has a rule, and when it is batched and the rule returns a
    result of another tree or type than the function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._rule: Callable[..., Any] | None = None

    def def_vmap(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Use `rule` under `vmap`; returns it, so that it works as a decorator."""
        self._rule = rule
        return rule

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._rule is None:
            raise TraceError(
                f"custom_vmap function {function_name(self._function)} has no batching rule",
                where=user_location_text(),
                hint="define one: @f.def_vmap",
            )
        args = positional(self._function, args, kwargs)
        with trace_of(tree.leaves(args)):
            if current_frame() is None:
                return self._function(*args)
            return _Call(self._function, self._rule, args).record()


def sequential_vmap(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that `vmap` applies to one element after the other, in a loop.

    For a body that takes much memory, whose effects must keep their order, or whose branches should stay
    branches. Its derivatives run one after the other as well. It may use outer values, mapped or not.
    """

    @wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        arguments = positional(f, args, kwargs)
        if current_frame() is None:
            return f(*arguments)
        return _Call(f, None, arguments).record()

    return wrapped


class _Call:
    """One call of a wrapped function inside a trace; one without a rule is mapped by a loop."""

    def __init__(
        self, function: Callable[..., Any], rule: Callable[..., Any] | None, args: tuple[Any, ...]
    ) -> None:
        self.function = function
        self.rule = rule
        self.name = function_name(function)
        leaves, self.structure = tree.flatten(args)
        self.values = [as_value(leaf) for leaf in leaves]
        self.arguments = [argument_of(v) for v in self.values]
        self.scope = FunctionScope()

    def record(self) -> Any:
        count = len(self.values)
        body = self._body([])
        outer = [] if self.rule is None else closed_over(self.rule)
        captured = list({capture_key(v): v for v in (*body.captured, *outer)}.values())
        if captured:
            body = self._body(captured)
        name = ONE_BY_ONE
        if self.rule is not None:
            traced = _TracedRule(self, self.rule, body, captured)
            name = register(self.name, traced)
            self.scope.program.memo["batching rule", name] = traced  # kept as long as the program is
        results = ops.custom_batch_call(
            *self.values[:count],
            *captured,
            callee=body.symbol,
            rule=name,
            derivation=(),
            results=body.result_types,
        )
        return tree.unflatten(body.result_tree, results)

    def _body(self, captured: Sequence[Any]) -> PrivateFunction:
        count = len(self.values)
        arguments = [*self.arguments, *map(argument_of, captured)]

        def call(leaves: Sequence[Any]) -> Any:
            return self.function(*tree.unflatten(self.structure, leaves[:count]))

        bound = {count + i: v for i, v in enumerate(captured)}
        return self.scope.trace(
            self.name, call, arguments, bound, sources=[KnownArgument(v) for v in self.values[:count]]
        )


class _TracedRule:
    """The rule of one call as the batch engine asks for it."""

    def __init__(
        self, call: _Call, rule: Callable[..., Any], body: PrivateFunction, captured: Sequence[Any]
    ) -> None:
        self.rule = rule
        self.name = call.name
        self.structure = call.structure
        self.arguments = call.arguments
        self.result_tree = body.result_tree
        self.result_types = body.result_types
        self.captured = list(captured)

    def __call__(self, engine: Any, types: Sequence[ValueType], batched: Flags) -> tuple[str, Flags]:
        """A function that takes the size (where it is dynamic), the arguments and what is captured."""
        count = len(self.arguments)
        if engine.program is None:
            raise gone(self.name)
        if any(batched[count:]):
            raise TraceError(
                f"custom_vmap function {self.name}, or its batching rule, uses an outer value that is mapped",
                where=user_location_text(),
                hint="make that value an argument, so that the rule sees whether it is batched",
            )
        lead = [Argument(SIZE, ("the batch",), False)] if engine.size is None else []
        first = len(lead) + count
        arguments = [
            *lead,
            *(
                self._argument(engine.size, *each)
                for each in zip(types, batched, self.arguments, strict=False)
            ),
            *map(argument_of, self.captured),
        ]
        flags: list[bool] = []

        def call(values: Sequence[Any]) -> Any:
            size = values[0] if lead else engine.size
            results, result_flags = self._apply(size, values[len(lead) : first], batched[:count])
            flags[:] = result_flags
            return results

        symbol = engine.program.unique_symbol(f"{self.name}_rule")
        bound = {first + i: v for i, v in enumerate(self.captured)}
        traced = FunctionScope(engine.program).trace(symbol, call, arguments, bound, symbol)
        if traced.captured:
            raise TraceError(
                f"the batching rule of {self.name} uses a traced value through another function",
                where=user_location_text(),
                hint="make that value an argument of the function",
            )
        return traced.symbol, tuple(flags)

    @staticmethod
    def _argument(size: int | None, kind: ValueType, has_axis: bool, argument: Argument) -> Argument:
        if not has_axis:
            return Argument(kind, argument.dimensions, argument.weak_type)
        assert isinstance(kind, TensorType)
        names = ("the batch", *(argument.dimensions or (None,) * kind.rank))
        return Argument(kind.with_shape((size, *kind.shape)), names, argument.weak_type)

    def _apply(self, size: Any, leaves: Sequence[Any], batched: Flags) -> tuple[list[Any], list[bool]]:
        args = tree.unflatten(self.structure, leaves)
        pair = self.rule(size, list(tree.unflatten(self.structure, batched)), *args)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TraceError(
                f"the batching rule of {self.name} must return (result, which of it is batched), it returns "
                f"{tree.describe(tree.structure(pair))}",
                where=user_location_text(),
            )
        results, structure = tree.flatten(pair[0])
        flags, flag_structure = tree.flatten(pair[1])
        if structure != self.result_tree:
            raise TraceError(
                f"the batching rule of {self.name} returns a result of tree {tree.describe(structure)}, "
                f"{self.name} itself returns {tree.describe(self.result_tree)}",
                where=user_location_text(),
            )
        if flag_structure != structure or not all(isinstance(flag, bool) for flag in flags):
            raise TraceError(
                f"the batching rule of {self.name} says {pair[1]!r} for which of its result is batched, "
                f"expected a bool for each array of {tree.describe(structure)}",
                where=user_location_text(),
            )
        paths = tree.paths(structure)
        entries = zip(results, flags, self.result_types, paths, strict=True)
        checked = [self._checked(size, *entry) for entry in entries]
        return checked, flags

    def _checked(self, size: Any, result: Any, has_axis: bool, kind: TensorType, path: str) -> Any:
        value = as_value(result)
        value = as_value(value, kind.dtype) if value.weak_type else value
        static = size if isinstance(size, int) else None
        wanted = kind.with_shape((static, *kind.shape)) if has_axis else kind
        if ops.type_of(value) != wanted:
            said = "batched" if has_axis else "not batched"
            raise TraceError(
                f"the batching rule of {self.name} returns result{path} of type {ops.type_of(value)}, "
                f"expected {wanted}: it is said to be {said}, and {self.name} itself returns {kind}",
                where=user_location_text(),
            )
        return value
