"""Functions that are differentiated or mapped outside a trace again: traced once.

Input: what a call of a transform depends on, and how its function is traced. Output: the function in a scope.
Idea: as for loops (`control/known_loops.py`), a trace is kept from the second call on, while the function
sees what it saw. The engines of the scope have memos, so derivatives of what is known are known too. Arrays
that the function sees are arguments, after its own.
"""

from __future__ import annotations

import atexit
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Final
from weakref import WeakSet

from ..tracing.array import Array
from ..tracing.frames import JIT_DISABLED, current_frame
from ..tracing.function_scope import FunctionScope, PrivateFunction, keep_evaluation
from ..tracing.interludes import suspended_frame
from ..tracing.layouts import layout_of
from ..tracing.visible import may_be_known, seen_by, surroundings

_MOST: Final = 64
"""So many functions are known at once on a thread."""

Trace = Callable[[FunctionScope, Sequence[Array]], PrivateFunction]
"""Traces a function of its own arguments and of arrays that it sees, which are outer values to it."""


class _Known:
    def __init__(self) -> None:
        self.traces: OrderedDict[Any, tuple[FunctionScope, PrivateFunction] | None] = OrderedDict()
        _all.add(self)


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.known = _Known()


_all: Final[WeakSet[_Known]] = WeakSet()
_of_thread: Final = _OfThread()


def _forget_all() -> None:
    for known in list(_all):
        known.traces.clear()


# Structures that live until modules are torn down crash there: see `tree/key_order.py`.
atexit.register(_forget_all)


def kinds_of(values: Sequence[Any]) -> Hashable | None:
    """What a trace depends on of arrays that are its arguments; None where they lie on a mesh."""
    if any(layout_of(v) is not None for v in values):
        return None
    return tuple([(v.dtype, v.shape, v.weak_type) for v in values])


def known_trace(
    key: Hashable | None, seen: Sequence[Any], trace: Trace
) -> tuple[FunctionScope, PrivateFunction]:
    """A function traced by `trace`, now or before, with a scope that has it.

    `key` is what the trace depends on, besides what the objects `seen` see; None to trace at any rate.
    """
    sight = None if key is None or not _may_know() else seen_by(seen)
    if sight is None:
        scope = FunctionScope()
        return scope, trace(scope, ())
    whole = key, surroundings(), sight.key
    traces = _of_thread.known.traces
    found = traces.get(whole)
    if found is not None:
        traces.move_to_end(whole)
        scope, nested = found
        return scope, replace(nested, captured=tuple(sight.arrays))
    scope = FunctionScope()
    if whole not in traces:
        _keep(whole, None)
        return scope, trace(scope, ())
    nested = _with_arguments(scope, trace, sight.arrays)
    after = seen_by(seen)
    if not nested.asked and after is not None and after.key == sight.key:
        keep_evaluation(scope)
        _keep(whole, (scope, nested))
    return scope, replace(nested, captured=tuple(sight.arrays))


def _may_know() -> bool:
    """Whether nothing else than its arguments and what it sees decides what a function is."""
    in_trace = current_frame() is not None or suspended_frame() is not None
    return may_be_known() and not in_trace and not JIT_DISABLED.get()


def _with_arguments(scope: FunctionScope, trace: Trace, held: Sequence[Array]) -> PrivateFunction:
    """The function, with the arrays that it sees as arguments."""
    scope.program.lifted = {id(v): v for v in held}
    try:
        return trace(scope, held)
    finally:
        scope.program.lifted = None


def _keep(key: Any, trace: tuple[FunctionScope, PrivateFunction] | None) -> None:
    traces = _of_thread.known.traces
    traces[key] = trace
    if len(traces) > _MOST:
        traces.popitem(last=False)
