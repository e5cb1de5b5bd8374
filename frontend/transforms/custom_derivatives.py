"""Derivatives by the user's own rule.

`custom_jvp` and `custom_vjp` wrap a function with rules; a call of it inside a trace is an op that the
engines of differentiation honour and that otherwise is its function's body.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

from ...dialects.types import INEXACT
from ...passes.deferred import Deferred
from .. import tree
from ..errors import ArgumentTypeError, LeakedTracerError, TraceError
from ..tracing.array import Array
from ..tracing.closures import closed_over
from ..tracing.concrete import Given, origin_of, results_of
from ..tracing.frames import Tracer, capture_key, current_frame
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.nested import Argument, Nested, Workshop, argument_of
from ..tracing.sizes import Dim
from ..tracing.trace import function_name

_IN_RULES: Final = ContextVar("whether the rule of a custom derivative is being traced", default=False)


@dataclass
class _Made:
    """A traced custom function: its body, the symbols of its rules, and what they capture."""

    body: Nested
    rules: Sequence[str]
    captured: Captured
    values: Sequence[Any]
    is_used_elsewhere: bool = False
    is_deferred: bool = False

    def forget(self, shop: Workshop) -> None:
        """Drop the functions, which call each other without what they turned out to need."""
        for symbol in (self.body.symbol, *self.rules):
            shop.drop(symbol)

    @property
    def given(self) -> list[Given | None]:
        """What the arguments are in the call; not known any more when deferred rules are traced."""
        return [] if self.is_deferred else self.captured.given(self.values)

    def note_use(self, values: Sequence[Any]) -> None:
        """A rule calls its own function: is that at the values that the function itself was called with?"""
        pairs = zip(self.values, values, strict=True)
        same = all(capture_key(origin_of(v)) == capture_key(origin_of(w)) for v, w in pairs)
        self.is_used_elsewhere |= not same

    def check_uses(self, name: str, *made: Nested) -> None:
        """Raise where a rule calls its function at other values than it has been traced for."""
        if self.is_used_elsewhere and any(nested.asked for nested in (self.body, *made)):
            raise TraceError(
                f"a rule of {name} calls {name} at other values, and {name} or its rules ask for values "
                "(`if x > 0`): one trace does not hold for both",
                where=user_location_text(),
                hint="use adze.numpy.where or adze.cond in it",
            )


class Captured:
    """Outer values that a custom function and its rules use: sizes are arguments before, arrays after."""

    def __init__(self, values: Sequence[Any] = ()) -> None:
        self.sizes = [v for v in values if isinstance(v, Dim)]
        self.arrays = [v for v in values if not isinstance(v, Dim)]

    def around(self, values: Sequence[Any]) -> list[Any]:
        """`values` as a custom function takes them."""
        return [*self.sizes, *values, *self.arrays]

    def arguments(self, own: Sequence[Argument]) -> list[Argument]:
        """What a function that takes `own` arguments is traced at."""
        return [*map(argument_of, self.sizes), *own, *map(argument_of, self.arrays)]

    def bound(self, count: int) -> dict[int, Any]:
        """Which arguments they are, around `count` others."""
        first = len(self.sizes) + count
        return dict(enumerate(self.sizes)) | {first + i: v for i, v in enumerate(self.arrays)}

    def given(self, values: Sequence[Any]) -> list[Given | None]:
        """What arguments are in the call; those that are captured are known to be bound."""
        return [*(None for _ in self.sizes), *map(Given, values)]

    def without(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """The others among the arguments."""
        return leaves[len(self.sizes) : len(leaves) - len(self.arrays)]


class _Call:
    """One call of a wrapped function inside a trace: its array leaves and its other arguments."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], nondiff: Sequence[int]) -> None:
        self.function = function
        self.count = len(args)
        self.fixed = {i: args[i] for i in nondiff}
        leaves, self.structure = tree.flatten(tuple(a for i, a in enumerate(args) if i not in self.fixed))
        self.values = [as_value(leaf) for leaf in leaves]
        self.arguments = [argument_of(v) for v in self.values]
        self.shop = Workshop()

    @property
    def memo(self) -> dict[Any, Any]:
        """What the program has traced already, or is tracing: rules may call their own function."""
        return self.shop.program.memo

    def key(self, owner: object) -> Any:
        """What makes two calls of a wrapped function one and the same traced function."""
        fixed = tuple((i, id(v)) for i, v in sorted(self.fixed.items()))
        return (id(owner), self.structure, tuple(a.type for a in self.arguments), fixed)

    def known(self, owner: object) -> _Made | None:
        """The function as it has been traced already, where one of its own rules calls it."""
        made: _Made | None = self.memo.get(self.key(owner))
        if made is not None:
            made.note_use(self.values)
        return made

    @contextmanager
    def remembered(self, owner: object, made: _Made) -> Iterator[_Made]:
        """Let calls of the function inside its own rules find `made`; for the time of the block."""
        key = self.key(owner)
        before = self.memo.get(key)
        self.memo[key] = made
        token = _IN_RULES.set(True)
        try:
            yield made
        finally:
            _IN_RULES.reset(token)
            del self.memo[key]
            if before is not None:
                self.memo[key] = before

    def body(self, captured: Captured) -> Nested:
        """The function itself, which takes what is captured around its arguments."""
        given, bound = captured.arguments(self.arguments), captured.bound(len(self.values))
        name, at = function_name(self.function), captured.given(self.values)
        return self.shop.nested(
            name, lambda leaves: self.main(captured.without(leaves)), given, bound, given=at
        )

    @property
    def fixed_values(self) -> list[Any]:
        """The arguments that are not differentiated, in order."""
        return [self.fixed[i] for i in sorted(self.fixed)]

    def trees(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The array arguments as their trees."""
        found: tuple[Any, ...] = tree.unflatten(self.structure, leaves)
        return found

    def main(self, leaves: Sequence[Any]) -> Any:
        """The function itself, on array leaves."""
        arrays = iter(self.trees(leaves))
        return self.function(*(self.fixed[i] if i in self.fixed else next(arrays) for i in range(self.count)))


def _union(*functions: Nested) -> list[Any]:
    """The values that any of these functions captures, each once."""
    return list({capture_key(v): v for nested in functions for v in nested.captured}.values())


class _Custom:
    """A function with rules: what a call of it is, inside a trace and outside."""

    def __init__(
        self,
        function: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        nums = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else nondiff_argnums
        names = (nondiff_argnames,) if isinstance(nondiff_argnames, str) else nondiff_argnames
        self._nondiff = tuple(sorted({*nums, *(_position(function, name) for name in names)}))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = positional(self._function, args, kwargs)
        if current_frame() is None:
            return self._function(*args)
        rules = self._rules()
        call = _Call(self._function, args, self._nondiff)
        made = call.known(self)
        if made is None:
            made = self._deferred(call, rules) if _IN_RULES.get() else self._traced(call)
        results = self._record(made, made.captured.around(call.values))
        return tree.unflatten(made.body.result_tree, results if isinstance(results, tuple) else (results,))

    def _rules(self) -> Sequence[Callable[..., Any]]:
        """The user's rules; an error where there are none."""
        raise NotImplementedError

    def _record(self, made: _Made, operands: Sequence[Any]) -> Any:
        """The op of a call."""
        raise NotImplementedError

    def _names(self) -> list[str]:
        """What the traced rules are called."""
        raise NotImplementedError

    def _trace_rules(self, call: _Call, made: _Made, symbols: Sequence[str]) -> list[Nested]:
        """The rules as functions of the module under these symbols, which take what is captured."""
        raise NotImplementedError

    def _traced(self, call: _Call) -> _Made:
        """The function and its rules, traced now: what they capture are operands of the call."""
        made, missing = self._traced_with(call, Captured())
        if missing:
            made.forget(call.shop)
            made, _ = self._traced_with(call, Captured(missing))
        return made

    def _traced_with(self, call: _Call, captured: Captured) -> tuple[_Made, list[Any]]:
        """The same, for values that are known to be captured; and those that are missing among them."""
        symbols = [call.shop.reserve(name) for name in self._names()]
        made = _Made(call.body(captured), symbols, captured, call.values)
        with call.remembered(self, made):
            rules = self._trace_rules(call, made, symbols)
        made.check_uses(function_name(self._function), *rules)
        return made, _union(made.body, *rules)

    def _deferred(self, call: _Call, functions: Sequence[Callable[..., Any]]) -> _Made:
        """The function traced now, its rules when they are differentiated: they may call for others, which
        call for others again. What they capture can only be looked up in their closures."""
        found = {capture_key(v): v for v in closed_over(*functions, *call.fixed_values)}
        body = call.body(Captured(list(found.values())))
        if body.captured:
            call.shop.drop(body.symbol)
            found |= {capture_key(v): v for v in body.captured}
            body = call.body(Captured(list(found.values())))
        made = _Made(body, [], Captured(list(found.values())), call.values, is_deferred=True)

        def make() -> Sequence[str]:
            symbols = [call.shop.reserve(name) for name in self._names()]
            with call.remembered(self, made), self._outer_values():
                rules = self._trace_rules(call, made, symbols)
                if _union(*rules):
                    raise self._uses_outer_values()
            return symbols

        deferred = Deferred(call.shop.program.module, self._names(), make)
        call.memo["deferred", deferred.symbols[0]] = deferred
        made.rules = deferred.symbols
        return made

    @contextmanager
    def _outer_values(self) -> Iterator[None]:
        """Say what is wrong where a rule uses a value of a trace that has ended since it was called."""
        try:
            yield
        except LeakedTracerError:
            raise self._uses_outer_values() from None

    def _uses_outer_values(self) -> TraceError:
        return TraceError(
            f"a rule of {function_name(self._function)}, which is called in a rule itself, uses a traced "
            "value that is neither an argument nor in a closure of it",
            where=user_location_text(),
            hint="make that value an argument of the function",
        )


class custom_jvp(_Custom):  # a decorator, named as JAX has it
    """A function with a forward rule of its own: decorate it, then its rule with `.defjvp`.

    The rule is called as `rule(primals, tangents)` with tuples, and gives the result and its tangent; it must
    be linear in the tangents. Arguments in `nondiff_argnums` (or named by `nondiff_argnames`) are Python
    values (functions, options) that the rule gets first, in order. Reverse mode follows by transposing the
    rule.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        super().__init__(function, nondiff_argnums, nondiff_argnames)
        self._rule: Callable[..., Any] | None = None

    def defjvp(self, rule: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Use `rule` for the derivative; gives it back, so that it works as a decorator.

        With `symbolic_zeros` or without, tangents that are zero are arrays of zeros.
        """
        self._rule = rule
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
            raise TraceError(
                f"custom_jvp function {function_name(self._function)} has no rule",
                where=user_location_text(),
                hint="define one: @f.defjvp",
            )
        return [self._rule]

    def _names(self) -> list[str]:
        return [f"{function_name(self._function)}_rule"]

    def _record(self, made: _Made, operands: Sequence[Any]) -> Any:
        return ops.custom_jvp_call(
            *operands,
            callee=made.body.symbol,
            rule=made.rules[0],
            closed_over=len(made.captured.arrays),
            results=made.body.result_types,
        )

    def _trace_rules(self, call: _Call, made: _Made, symbols: Sequence[str]) -> list[Nested]:
        captured, n = made.captured, len(call.values)
        given, bound = captured.arguments(call.arguments), captured.bound(n)
        count = len(given)

        def rule(leaves: Sequence[Any]) -> Any:
            return self._apply_rule(call, captured.without(leaves[:count]), leaves[count : count + n])

        moving = given[len(captured.sizes) :]  # sizes have no tangents
        traced = call.shop.nested(symbols[0], rule, [*given, *moving], bound, symbols[0], made.given)
        self._check_types(made.body, traced)
        return [traced]

    def _apply_rule(self, call: _Call, primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        assert self._rule is not None
        name = function_name(self._function)
        found = self._rule(*call.fixed_values, call.trees(primals), call.trees(tangents))
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise TraceError(
                f"the jvp rule of {name} must give (result, tangent), it gives "
                f"{tree.describe(tree.structure(found))}",
                where=user_location_text(),
            )
        value, tangent = found
        if tree.structure(value) != tree.structure(tangent):
            raise TraceError(
                f"the jvp rule of {name} gives a tangent of tree "
                f"{tree.describe(tree.structure(tangent))} for a result of tree "
                f"{tree.describe(tree.structure(value))}",
                where=user_location_text(),
            )
        values = [as_value(v) for v in tree.leaves(value)]
        moved = [
            as_value(t, v.dtype) if as_value(t).weak_type else as_value(t)
            for v, t in zip(values, tree.leaves(tangent), strict=True)
        ]
        return [*values, *moved]

    def _check_types(self, body: Nested, rule: Nested) -> None:
        count = len(body.result_types)
        if rule.result_types[:count] != body.result_types or rule.result_types[count:] != body.result_types:
            raise TraceError(
                f"the jvp rule of {function_name(self._function)} gives results and tangents of types "
                f"{', '.join(map(str, rule.result_types))}, expected twice "
                f"{', '.join(map(str, body.result_types))}",
                where=user_location_text(),
            )


class custom_vjp(_Custom):  # a decorator, named as JAX has it
    """A function with a pullback of its own: decorate it, then give the pair of rules to `.defvjp`.

    `fwd(*args)` gives (result, residuals), `bwd(residuals, cotangent)` a tuple with one cotangent for each
    argument (None: zero, also within its tree). Arguments in `nondiff_argnums` (or named by
    `nondiff_argnames`) are Python values; `bwd` gets them first. Under forward mode the transpose of `bwd` is
    used, where its ops can be transposed.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        super().__init__(function, nondiff_argnums, nondiff_argnames)
        self._pair: tuple[Callable[..., Any], Callable[..., Any]] | None = None

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Use these rules for the pullback.

        With `symbolic_zeros` `fwd` gets a `CustomVJPPrimal` for each array, whose `value` it is. Rules are
        traced before it is known which arguments are differentiated: `perturbed` is always true, and
        cotangents that are zero are arrays of zeros. `optimize_remat` changes nothing: what a checkpoint
        computes again and nothing reads is not computed.
        """
        self._pair = (_with_values(fwd) if symbolic_zeros else fwd, bwd)

    def _rules(self) -> Sequence[Callable[..., Any]]:
        if self._pair is None:
            raise TraceError(
                f"custom_vjp function {function_name(self._function)} has no rules",
                where=user_location_text(),
                hint="define them: f.defvjp(fwd, bwd)",
            )
        return self._pair

    def _names(self) -> list[str]:
        name = function_name(self._function)
        return [f"{name}_fwd", f"{name}_bwd"]

    def _record(self, made: _Made, operands: Sequence[Any]) -> Any:
        return ops.custom_vjp_call(
            *operands,
            callee=made.body.symbol,
            fwd=made.rules[0],
            bwd=made.rules[1],
            closed_over=len(made.captured.arrays),
            results=made.body.result_types,
        )

    def _trace_rules(self, call: _Call, made: _Made, symbols: Sequence[str]) -> list[Nested]:
        """What is captured is around the arguments of fwd, and around the residuals."""
        captured, shop = made.captured, call.shop
        user_fwd, user_bwd = self._rules()
        pullback = _Pullback(call, user_fwd, user_bwd, captured)
        given, bound = captured.arguments(call.arguments), captured.bound(len(call.values))
        fwd = shop.nested(symbols[0], pullback.forward, given, bound, symbols[0], made.given)
        self._check_types(made.body, fwd)
        backward, count = pullback.arguments(fwd, made.body), pullback.residual_tree.num_leaves
        residuals: list[Given | None] = []
        if not made.is_deferred:
            operands = [*captured.around(call.values), *fwd.captured]
            found = results_of(shop.program, fwd.symbol, operands, len(fwd.result_types))
            residuals = [*(None for _ in captured.sizes), *found[len(made.body.result_types) :][:count]]
        bwd = shop.nested(
            symbols[1], pullback.backward, backward, captured.bound(count), symbols[1], residuals
        )
        return [fwd, bwd]

    def _check_types(self, body: Nested, fwd: Nested) -> None:
        found = fwd.result_types[: len(body.result_types)]
        if found != body.result_types:
            raise TraceError(
                f"the fwd rule of {function_name(self._function)} gives results of types "
                f"{', '.join(map(str, found))}, the function {', '.join(map(str, body.result_types))}",
                where=user_location_text(),
            )


@dataclass(frozen=True)
class CustomVJPPrimal:
    """What a rule that asked for symbolic zeros gets for an array, and whether that is differentiated."""

    value: Any
    perturbed: bool


def _with_values(fwd: Callable[..., Any]) -> Callable[..., Any]:
    """A rule that takes `CustomVJPPrimal`s, as one that takes arrays; other arguments stay."""

    @functools.wraps(fwd)
    def wrapped(*args: Any) -> Any:
        def boxed(leaf: Any) -> Any:
            return CustomVJPPrimal(leaf, True) if isinstance(leaf, (Tracer, Array)) else leaf

        return fwd(*(tree.map(boxed, arg) for arg in args))

    return wrapped


class _Pullback:
    """The two rules of a `custom_vjp` call as functions of flat leaves; captured values are residuals."""

    def __init__(
        self, call: _Call, fwd: Callable[..., Any], bwd: Callable[..., Any], captured: Captured
    ) -> None:
        self.call = call
        self.fwd = fwd
        self.bwd = bwd
        self.captured = captured
        self.residual_tree: Any = None
        self.weak_residuals: list[bool] = []
        self.result_tree: Any = None

    def forward(self, leaves: Sequence[Any]) -> list[Any]:
        """Results, the user's residuals, then the captured arrays."""
        call = self.call
        arrays = iter(call.trees(self.captured.without(leaves)))
        full = [call.fixed[i] if i in call.fixed else next(arrays) for i in range(call.count)]
        found = self.fwd(*full)
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise TraceError(
                f"the fwd rule of {function_name(call.function)} must give (result, residuals), it gives "
                f"{tree.describe(tree.structure(found))}",
                where=user_location_text(),
            )
        results, self.result_tree = tree.flatten(found[0])
        residuals, self.residual_tree = tree.flatten(found[1])
        self.weak_residuals = [as_value(r).weak_type for r in residuals]
        return [*results, *residuals, *leaves[len(leaves) - len(self.captured.arrays) :]]

    def arguments(self, fwd: Nested, body: Nested) -> list[Argument]:
        """What the bwd rule is traced at: residuals amid what is captured, then cotangents of the results."""
        count = len(body.result_types)
        if self.result_tree != body.result_tree:
            raise TraceError(
                f"the fwd rule of {function_name(self.call.function)} gives a result of tree "
                f"{tree.describe(self.result_tree)}, the function {tree.describe(body.result_tree)}",
                where=user_location_text(),
            )
        kinds = [Argument(t, (None,) * t.rank, False) for t in fwd.result_types]
        residuals = [
            replace(kind, weak_type=is_weak)
            for kind, is_weak in zip(kinds[count:], self.weak_residuals, strict=False)
        ]
        return [*self.captured.arguments(residuals), *kinds[:count]]

    def backward(self, leaves: Sequence[Any]) -> list[Any]:
        """Cotangents of the float leaves of the arguments, then zeros for the captured arrays."""
        call, count = self.call, len(leaves) - self.result_tree.num_leaves
        captured = leaves[count - len(self.captured.arrays) : count]
        residuals = tree.unflatten(self.residual_tree, self.captured.without(leaves[:count]))
        cotangent = tree.unflatten(self.result_tree, leaves[count:])
        found = self.bwd(*call.fixed_values, residuals, cotangent)
        name = function_name(call.function)
        arguments = call.trees(call.values)
        if not isinstance(found, (tuple, list)) or len(found) != len(arguments):
            raise TraceError(
                f"the bwd rule of {name} must give a tuple of {len(arguments)} cotangents, one for each "
                f"argument, it gives {tree.describe(tree.structure(found))}",
                where=user_location_text(),
            )
        out: list[Any] = []
        for position, (argument, given) in enumerate(zip(arguments, found, strict=True)):
            out += self._cotangents(position, argument, given)
        return [*out, *(ops.zeros_like(c) for c in captured if c.dtype in INEXACT)]

    def _cotangents(self, position: int, argument: Any, given: Any) -> list[Any]:
        leaves, structure = tree.flatten(argument)
        cotangents = tree.leaves_along(structure, given)
        if cotangents is None:
            raise TraceError(
                f"the bwd rule of {function_name(self.call.function)} gives for argument {position} "
                f"a cotangent of tree {tree.describe(tree.structure(given))}, "
                f"expected {tree.describe(structure)}",
                where=user_location_text(),
            )
        out = []
        for value, cotangent in zip(leaves, cotangents, strict=True):
            if value.dtype not in INEXACT:
                continue
            found = _zero_like(value) if cotangent is None else as_value(cotangent)
            found = as_value(found, value.dtype) if found.weak_type else found
            if ops.type_of(found) != ops.type_of(value):
                raise TraceError(
                    f"the bwd rule of {function_name(self.call.function)} gives for argument {position} a "
                    f"cotangent of type {ops.type_of(found)}, expected {ops.type_of(value)}",
                    where=user_location_text(),
                )
            out.append(found)
        return out


def _zero_like(value: Any) -> Any:
    return ops.full(0, tuple(value.shape), value.dtype)


def positional(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments by position, defaults filled in."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"{function_name(function)}(): {error}", where=user_location_text()) from None
    given = bound.kwargs
    bound.apply_defaults()
    if given:
        raise ArgumentTypeError(
            f"{function_name(function)}() has keyword-only arguments, which custom rules cannot take",
            where=user_location_text(),
        )
    return bound.args


def _position(function: Callable[..., Any], name: str) -> int:
    """The place of a parameter among the positional ones."""
    names = list(inspect.signature(function).parameters)
    if name not in names:
        raise ArgumentTypeError(
            f"nondiff_argnames names {name!r}, which {function_name(function)} has not: it has "
            f"{', '.join(names)}",
            where=user_location_text(),
        )
    return names.index(name)
