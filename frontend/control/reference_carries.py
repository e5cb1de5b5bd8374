"""Loops and branches whose functions read and write references (`new_ref`).

Input: a construct, its functions and operands. Output: what the construct returns; the references hold what
was written. Idea: each function is traced once in vain, to see which references it touches; then their values
are one more carry of the loop, or one more operand and result of the branches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..tracing.frames import current_frame
from ..tracing.function_scope import FunctionScope, argument_of
from ..tracing.interpreter import as_value
from ..tracing.references import Ref, any_alive, of_values, uses
from ..tracing.trace import function_name


def touched(calls: Sequence[tuple[Callable[..., Any], Sequence[Any]]]) -> list[Ref]:
    """The references that a construct with these functions must carry: those that one of them writes.

    Each function comes with arguments of the types that it is called with.
    """
    if not any_alive() or current_frame() is None:  # outside a trace Python runs the functions themselves
        return []
    refs: list[Ref] = []
    for function, args in calls:
        leaves, structure = tree.flatten(tuple(args))
        values = [as_value(leaf) for leaf in leaves]
        scope = FunctionScope()
        with uses() as inner:
            nested = scope.trace(
                function_name(function),
                lambda arrays, f=function, s=structure: f(*tree.unflatten(s, arrays)),  # type: ignore[misc]
                [argument_of(v) for v in values],
            )
        scope.drop(nested.symbol)
        refs += [ref for ref in inner.written if not any(ref is known for known in refs)]
    return refs


def hold(refs: Sequence[Ref], values: Sequence[Any]) -> None:
    """Let references hold what a construct returned for them."""
    for ref, value in zip(refs, values, strict=True):
        ref.write(value)


def values_of(refs: Sequence[Ref]) -> list[Any]:
    """What references hold before a construct."""
    return [ref.read() for ref in refs]


def scan_step(f: Callable[..., Any], refs: Sequence[Ref]) -> Callable[..., Any]:
    """A step of a scan that carries references beside the user's carry."""
    step = of_values(f, refs)

    def call(carry: Any, x: Any) -> Any:
        (after, y), values = step(carry[1], carry[0], x)
        return (after, values), y

    call.__name__ = function_name(f)
    return call


def while_functions(
    cond_fun: Callable[..., Any], body_fun: Callable[..., Any], refs: Sequence[Ref]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions of a while loop that carries references beside the user's state."""
    ask, step = of_values(cond_fun, refs), of_values(body_fun, refs)

    def condition(state: Any) -> Any:
        return ask(state[1], state[0])[0]

    def body(state: Any) -> Any:
        return step(state[1], state[0])

    condition.__name__, body.__name__ = function_name(cond_fun), function_name(body_fun)
    return condition, body
