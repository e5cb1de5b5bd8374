"""A call of a function with its own derivative rule: when the function and its rules are traced, and at what.

Input: a call of a `custom_jvp` or `custom_vjp` function. Output: its body and rules as private functions,
with the outer values that they capture.

Idea: rules are traced with the call, in derivatives before the function itself. Calls inside rules are the
exception: their rules are traced when they are differentiated, since they may call for others without end. So
are rules that see which tangents are zero, and those of adze's own functions.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...passes.autodiff.deferred import Deferred
from ...passes.autodiff.variants import BY_TANGENTS, Variants
from ...passes.ir.construction import Activity
from .. import tree
from ..errors import ArgumentTypeError, LeakedTracerError, TraceError
from ..tracing.closed_over import closed_over
from ..tracing.concrete_values import KnownArgument, origin_of
from ..tracing.frames import Frame, capture_key, current_frame
from ..tracing.function_scope import (
    Argument,
    FunctionScope,
    PrivateFunction,
    argument_of,
    resumes_trace,
    varied_together,
    with_all_names,
)
from ..tracing.interpreter import as_value
from ..tracing.locations import user_location_text
from ..tracing.sizes import Dim
from ..tracing.trace import function_name

_LIBRARY: Final = __name__.removesuffix(".transforms.custom_derivative_calls") + ".library."
_IN_RULES: Final = ContextVar("whether the rule of a custom derivative is being traced", default=False)


@dataclass
class TracedCustomFunction:
    """A traced custom function: its body, the symbols of its rules, and what they capture."""

    make_body: Callable[[], PrivateFunction]
    rules: Sequence[str]
    captured: Captured
    values: Sequence[Any]
    is_used_elsewhere: bool = False
    is_deferred: bool = False

    @functools.cached_property
    def body(self) -> PrivateFunction:
        """The function itself, traced when it is first asked for."""
        return self.make_body()

    def trace_body(self) -> None:
        """Trace the function itself now."""
        _ = self.body

    def forget(self, scope: FunctionScope) -> None:
        """Drop the functions, which call each other without what they turned out to need."""
        bodies = [self.body.symbol] if "body" in vars(self) else []
        for symbol in (*bodies, *self.rules):
            scope.drop(symbol)

    @property
    def sources(self) -> list[KnownArgument | None]:
        """What the arguments are in the call; not known any more when deferred rules are traced."""
        return [] if self.is_deferred else self.captured.sources(self.values)

    def note_use(self, values: Sequence[Any]) -> None:
        """A rule calls its own function: is that at the values that the function itself was called with?"""
        pairs = zip(self.values, values, strict=True)
        same = all(capture_key(origin_of(v)) == capture_key(origin_of(w)) for v, w in pairs)
        self.is_used_elsewhere |= not same

    def check_uses(self, name: str, *rules: PrivateFunction) -> None:
        """Raise where a rule calls its function at other values than it has been traced for."""
        if self.is_used_elsewhere and any(nested.asked for nested in (self.body, *rules)):
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

    def sources(self, values: Sequence[Any]) -> list[KnownArgument | None]:
        """What arguments are in the call; those that are captured are known to be bound."""
        return [*(None for _ in self.sizes), *map(KnownArgument, values)]

    def without(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """The others among the arguments."""
        return leaves[len(self.sizes) : len(leaves) - len(self.arrays)]


class Call:
    """One call of a wrapped function inside a trace: its array leaves and its other arguments."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], nondiff: Sequence[int]) -> None:
        self.function = function
        self.count = len(args)
        self.fixed = {i: args[i] for i in nondiff}
        leaves, self.structure = tree.flatten(tuple(a for i, a in enumerate(args) if i not in self.fixed))
        self.values = varied_together([as_value(leaf) for leaf in leaves])
        self.arguments = [argument_of(v) for v in self.values]
        self.scope = FunctionScope()

    @property
    def memo(self) -> dict[Any, Any]:
        """What the program has traced already, or is tracing: rules may call their own function."""
        return self.scope.program.memo

    def key(self, owner: object) -> Any:
        """What makes two calls of a wrapped function one and the same traced function."""
        fixed = tuple((i, id(v)) for i, v in sorted(self.fixed.items()))
        return (id(owner), self.structure, tuple((a.type, a.varying) for a in self.arguments), fixed)

    def known(self, owner: object) -> TracedCustomFunction | None:
        """The function as it has been traced already, where one of its own rules calls it."""
        traced: TracedCustomFunction | None = self.memo.get(self.key(owner))
        if traced is not None:
            traced.note_use(self.values)
        return traced

    @contextmanager
    def remembered(self, owner: object, traced: TracedCustomFunction) -> Iterator[TracedCustomFunction]:
        """Let calls of the function inside its own rules find `traced`; for the time of the block."""
        key = self.key(owner)
        before = self.memo.get(key)
        self.memo[key] = traced
        token = _IN_RULES.set(True)
        try:
            yield traced
        finally:
            _IN_RULES.reset(token)
            del self.memo[key]
            if before is not None:
                self.memo[key] = before

    def body(self, captured: Captured) -> PrivateFunction:
        """The function itself, which takes what is captured around its arguments."""
        arguments, bound = captured.arguments(self.arguments), captured.bound(len(self.values))
        name, sources = function_name(self.function), captured.sources(self.values)
        return self.scope.trace(
            name, lambda leaves: self.main(captured.without(leaves)), arguments, bound, sources=sources
        )

    @property
    def fixed_values(self) -> list[Any]:
        """The arguments that are not differentiated, in order."""
        return [self.fixed[i] for i in sorted(self.fixed)]

    def trees(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The array arguments as their trees."""
        arguments: tuple[Any, ...] = tree.unflatten(self.structure, leaves)
        return arguments

    def main(self, leaves: Sequence[Any]) -> Any:
        """The function itself, on array leaves."""
        arrays = iter(self.trees(leaves))
        return self.function(*(self.fixed[i] if i in self.fixed else next(arrays) for i in range(self.count)))


def union(*functions: PrivateFunction) -> list[Any]:
    """The values that any of these functions captures, each once."""
    return list({capture_key(v): v for nested in functions for v in nested.captured}.values())


class _RuleRaised(Exception):
    """A rule of the user raised something while it was traced."""


class Custom:
    """A function with rules: what a call of it is, inside a trace and outside."""

    def __init__(
        self,
        function: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        if not callable(function):
            raise ArgumentTypeError(
                f"{type(self).__name__} expects a function, got {type(function).__name__}: {function!r}",
                where=user_location_text(),
            )
        functools.update_wrapper(self, function, updated=())
        self._function = function
        nums = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else nondiff_argnums
        names = (nondiff_argnames,) if isinstance(nondiff_argnames, str) else nondiff_argnames
        self._sees_zeros = False
        self._nondiff = tuple(sorted({*nums, *(_position(function, name) for name in names)}))

    @resumes_trace
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        args = positional(self._function, args, kwargs)
        if current_frame() is None:
            return self._function(*args)
        rules = self._rules()
        call = Call(self._function, args, self._nondiff)
        known = call.known(self)
        traced = known
        if traced is None:
            endless = self._sees_zeros or _IN_RULES.get()
            if endless or _is_of_library(self._function, *rules, *call.fixed_values):
                traced = self._deferred(call, rules, ends=not endless)
            else:
                traced = self._traced_or_deferred(call, rules)
        operands = traced.captured.around(call.values)
        results = self._record(traced, operands)
        if known is None:  # a known one may have been traced at sizes of other names
            with_all_names(results, traced.body.result_names, operands)
        return tree.unflatten(traced.body.result_tree, results)

    def _rules(self) -> Sequence[Callable[..., Any]]:
        """The user's rules; an error where there are none."""
        raise NotImplementedError

    def _record(self, traced: TracedCustomFunction, operands: Sequence[Any]) -> Any:
        """The op of a call."""
        raise NotImplementedError

    def _names(self) -> list[str]:
        """What the traced rules are called."""
        raise NotImplementedError

    def _trace_rules(
        self,
        call: Call,
        traced: TracedCustomFunction,
        symbols: Sequence[str],
        active: Activity | None = None,
    ) -> list[PrivateFunction]:
        """The rules as functions of the module under these symbols, which take what is captured.

        `active`: which of the arguments are differentiated, for rules that see zeros; None for all.
        """
        raise NotImplementedError

    def _traced_or_deferred(self, call: Call, rules: Sequence[Callable[..., Any]]) -> TracedCustomFunction:
        """The function and its rules. What a rule raises is raised where it is differentiated."""
        try:
            return self._traced(call)
        except _RuleRaised:
            return self._deferred(call, rules)

    def _traced(self, call: Call) -> TracedCustomFunction:
        """The function and its rules, traced now: what they capture are operands of the call."""
        traced, missing = self._traced_with(call, Captured())
        if missing:
            traced.forget(call.scope)
            traced, _ = self._traced_with(call, Captured(missing))
        return traced

    def _traced_with(self, call: Call, captured: Captured) -> tuple[TracedCustomFunction, list[Any]]:
        """The same, for values that are known to be captured; and those that are missing among them."""
        symbols = [call.scope.reserve(name) for name in self._names()]
        in_rules = _IN_RULES.get()

        def body() -> PrivateFunction:
            token = _IN_RULES.set(in_rules)
            try:
                return call.body(captured)
            finally:
                _IN_RULES.reset(token)

        traced = TracedCustomFunction(body, symbols, captured, call.values)
        if not _in_derivative(call.scope.frame):
            traced.trace_body()
        with call.remembered(self, traced):
            try:
                rules = self._trace_rules(call, traced, symbols)
            except AdzeError:
                raise
            except Exception as error:
                traced.forget(call.scope)
                raise _RuleRaised from error
        traced.check_uses(function_name(self._function), *rules)
        return traced, union(traced.body, *rules)

    def _deferred(
        self, call: Call, functions: Sequence[Callable[..., Any]], *, ends: bool = False
    ) -> TracedCustomFunction:
        """The function traced now, its rules when they are differentiated: they may call for others, which
        call for others again. What they capture can only be looked up in their closures."""
        captured = {capture_key(v): v for v in closed_over(*functions, *call.fixed_values)}
        body = call.body(Captured(list(captured.values())))
        if body.captured:
            call.scope.drop(body.symbol)
            captured |= {capture_key(v): v for v in body.captured}
            body = call.body(Captured(list(captured.values())))
        traced = TracedCustomFunction(
            lambda: body, [], Captured(list(captured.values())), call.values, is_deferred=True
        )

        def make(active: Activity | None = None) -> Sequence[str]:
            symbols = [call.scope.reserve(name) for name in self._names()]
            with call.remembered(self, traced), self._outer_values():
                rules = self._trace_rules(call, traced, symbols, active)
                if union(*rules):
                    raise self._uses_outer_values()
            return symbols

        module = call.scope.program.module
        deferred = Deferred(module, self._names(), make, ends=ends)
        kept = Variants(module, BY_TANGENTS, deferred.symbols, make) if self._sees_zeros else None
        call.memo["deferred", deferred.symbols[0]] = (deferred, kept)
        traced.rules = deferred.symbols
        return traced

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


def _is_of_library(*used: Any) -> bool:
    """Whether functions are all of adze's library, without closures: their rules raise nothing and use no
    values but their arguments."""
    return all(
        (getattr(each, "__module__", None) or "").startswith(_LIBRARY)
        and getattr(each, "__closure__", each) is None
        for each in used
        if callable(each)
    )


def _in_derivative(frame: Frame | None) -> bool:
    """Whether a function is differentiated: its rules, which may call it, are called before it, as in JAX."""
    enclosing = frame
    while enclosing is not None:
        sources = enclosing.argument_sources.values()
        if any(isinstance(s, KnownArgument) and s.is_differentiated for s in sources):
            return True
        enclosing = enclosing.parent
    return False


def positional(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments by position, defaults filled in."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"{function_name(function)}(): {error}", where=user_location_text()) from None
    bound.apply_defaults()
    if bound.kwargs.keys() & kwargs.keys():
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
