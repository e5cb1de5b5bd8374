"""Branches and loops outside a trace: their checks are those that they have inside one.

Input: a construct with its functions and operands. Output: the types of its results, or its errors; the
results of a loop.

Idea: a mistake could hide in the branch that is not taken or in a step that never comes. So a construct is
traced first, in a program that is thrown away: once for functions of the same code and operands of the same
types. A loop is traced at each call, and evaluated, so that its functions run once, as inside `jit`.
Functions that need values cannot be traced: Python is the control flow then, and nothing is checked.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from ...dialects.errors import AdzeError
from ...dialects.types import ANY, TensorType
from ...passes.ir.functions import functions
from .. import tree
from ..tracing.array import Array
from ..tracing.closed_over import held_by
from ..tracing.default_dtypes import is_float32, names_widening
from ..tracing.frames import hold
from ..tracing.function_scope import FunctionScope, PrivateFunction, argument_of, has_layouts
from ..tracing.interpreter import as_value, as_weak
from ..tracing.layouts import layout_of
from ..tracing.mesh_in_force import mesh_in_force
from ..tracing.program import Program
from ..tracing.references import uses
from ..tracing.scalars import is_python_scalar
from ..tracing.visible import Seen, is_plain, may_be_known, seen_by, surroundings
from .known_loops import KnownLoop, KnownLoops, unchanged

_MOST: Final = 4096
_DEPTH: Final = 4
_LONG: Final = 64

Record = Callable[[Any], Any]


UNTRACEABLE: Final = object()
"""What `evaluated` returns where Python has to run a construct: it needs values, or writes to references."""


class Results(NamedTuple):
    """What a construct returns, as it was traced."""

    types: tuple[TensorType, ...]
    are_weak: tuple[bool, ...]
    """Which results are weakly typed."""


class _Known(threading.local):
    def __init__(self) -> None:
        self.program: Program | None = None
        self.outcomes: dict[Any, Results | None] = {}
        self.loops = KnownLoops()


_known = _Known()


def checked(
    options: Any, called: Sequence[Callable[..., Any]], operands: Any, record: Record
) -> Results | None:
    """Trace `record(operands)`, which calls the functions `called`; raises its errors.

    Returns what is known of its results, None where it cannot be traced. Errors of these functions themselves
    come when they run. `options` is what else the outcome depends on.
    """
    call = _Call(operands, record)
    key = _key(options, called, call)
    if key not in _known.outcomes:
        with _program() as program:
            traced, _ = _traced(called, call, FunctionScope(program))
        _note(key, None if traced is None else Results(traced.result_types, traced.weak_results))
    return _known.outcomes[key]


def evaluated(options: Any, called: Sequence[Callable[..., Any]], operands: Any, record: Record) -> Any:
    """The results of `record(operands)`, traced and evaluated; `UNTRACEABLE` for functions that need values.

    Raises errors as `checked` does. What is long runs compiled: arrays that the functions hold are operands
    then, so that other arrays make no other program.
    """
    call = _Call(operands, record)
    seen = seen_by(called) if may_be_known() else None
    exact = None if seen is None else _exact_key(options, seen, call)
    if exact is not None and seen is not None:
        loop = _known.loops.find(exact)
        if loop is not None:
            return loop.call([*call.arrays, *seen.arrays])
        if _known.loops.was_called(exact):
            kept = _kept(exact, called, seen, call)
            if kept is not None:
                return kept.call([*call.arrays, *seen.arrays])
    return _evaluated_once(options, called, call)


def _evaluated_once(options: Any, called: Sequence[Callable[..., Any]], call: _Call) -> Any:
    """The results of a construct, which is traced for this call alone."""
    key = _key(options, called, call)
    if _known.outcomes.get(key, call) is None:
        return UNTRACEABLE
    held = [v for f in called for v in _held(f, _DEPTH)]
    with _program() as program:
        program.lifted = {id(v): v if isinstance(v, Array) else None for v in held}
        scope = FunctionScope(program)
        traced, writes = _traced(called, call, scope)
        if traced is None:
            _note(key, None)
        if traced is None or writes:
            return UNTRACEABLE
        results = scope.call(traced.symbol, call.arrays)
    return _finished(traced.result_tree, call.are_weak, results)


def _finished(structure: tree.Structure, are_weak: Sequence[bool], results: Sequence[Any]) -> Any:
    """The tree of flat results."""
    typed = [as_weak(v) if is_weak else v for v, is_weak in zip(results, are_weak, strict=True)]
    return tree.unflatten(structure, typed)


def _kept(key: Any, called: Sequence[Callable[..., Any]], seen: Seen, call: _Call) -> KnownLoop | None:
    """The construct, traced once for all calls with this key; None where it cannot be."""
    program = Program("eager")
    program.lifted = {id(v): v for v in seen.arrays}
    scope = FunctionScope(program)
    traced, writes = _traced(called, call, scope, seen.arrays)
    program.lifted = None
    is_plain = traced is not None and not writes and not has_layouts(scope, traced.symbol)
    if traced is None or not is_plain or not unchanged(called, seen):
        return None
    finish = functools.partial(_finished, traced.result_tree, tuple(call.are_weak))
    loop = KnownLoop(scope, traced.symbol, finish)
    _known.loops.keep(key, loop)
    return loop


def _exact_key(options: Any, seen: Seen, call: _Call) -> Any:
    """What the results of a trace depend on, besides the elements of the operands; None where that is more
    than can be compared."""
    if not is_plain(call.structure) or any(layout_of(v) is not None for v in call.arrays):
        return None
    kinds = tuple(
        [(type(v), repr(v)) if is_python_scalar(v) else (v.dtype, v.shape, v.weak_type) for v in call.values]
    )
    return options, surroundings(), seen.key, call.structure, kinds


def _key(options: Any, called: Sequence[Callable[..., Any]], call: _Call) -> Any:
    """What the outcome of a trace depends on."""
    codes = tuple(_code(f, _DEPTH) for f in called)
    kinds = tuple(map(_kind, call.values))
    return options, is_float32(), names_widening(), mesh_in_force(), codes, call.structure, kinds


def _note(key: Any, outcome: Results | None) -> None:
    if len(_known.outcomes) >= _MOST:
        _known.outcomes.clear()
    _known.outcomes[key] = outcome


class _Call:
    """A construct with its operands, as a function of those that are arrays; Python numbers stay numbers."""

    def __init__(self, operands: Any, record: Record) -> None:
        leaves, self.structure = tree.flatten(operands)
        self.values = [leaf if is_python_scalar(leaf) else as_value(leaf) for leaf in leaves]
        self.arrays = [v for v in self.values if not is_python_scalar(v)]
        self.are_weak: list[bool] = []
        """Which results are weakly typed, once it is traced."""
        self._record = record

    def trace(self, scope: FunctionScope, name: str, held: Sequence[Array] = ()) -> PrivateFunction:
        """The function of the arrays, and of the arrays `held` that the functions of the construct see."""

        def results(arrays: Sequence[Any]) -> Any:
            hold(held, arrays[len(self.arrays) :])
            return self._results(arrays[: len(self.arrays)])

        return scope.trace(name, results, [argument_of(v) for v in (*self.arrays, *held)])

    def _results(self, arrays: Sequence[Any]) -> Any:
        rest = iter(arrays)
        operands = [v if is_python_scalar(v) else next(rest) for v in self.values]
        results = self._record(tree.unflatten(self.structure, operands))
        self.are_weak = [bool(getattr(v, "weak_type", False)) for v in tree.leaves(results)]
        return results


def _traced(
    called: Sequence[Callable[..., Any]], call: _Call, scope: FunctionScope, held: Sequence[Array] = ()
) -> tuple[PrivateFunction | None, bool]:
    """The construct as a function, None where it cannot be traced; and whether it writes to references."""
    try:
        with uses() as inner:
            traced = call.trace(scope, "eager", held)
        return traced, bool(inner.written)
    except Exception as error:
        if isinstance(error, AdzeError) and not _came_from(error, called):
            raise
        return None, False


@contextmanager
def _program() -> Iterator[Program]:
    """A program to trace in, which is empty again afterwards: one for all constructs of this thread.

    A function may leave the trace and run a construct of its own, which then has another program.
    """
    program, _known.program = _known.program or Program("eager"), None
    try:
        yield program
    finally:
        for operation in functions(program.module).values():
            operation.operation.erase()
        program.memo.clear()
        program.symbols.clear()
        program.callees.clear()
        program.lifted = None
        _known.program = program


def _came_from(error: Exception, called: Sequence[Callable[..., Any]]) -> bool:
    """Whether one of these functions was running when an error was raised."""
    codes = {getattr(f, "__code__", getattr(type(f).__call__, "__code__", None)) for f in called}
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code not in codes:
        frame = frame.tb_next
    return frame is not None


def _code(function: Any, depth: int) -> Any:
    """What functions have in common that do the same with values of the same types."""
    code = getattr(function, "__code__", None)
    if code is None or depth == 0:
        return type(function), _identity(function)
    held = [*(getattr(function, "__defaults__", None) or ())]
    held += (getattr(function, "__kwdefaults__", None) or {}).values()
    for cell in getattr(function, "__closure__", None) or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    owner = getattr(function, "__self__", None)  # of a method, whose result may depend on all of it
    same = None if owner is None else _identity(owner)
    kinds = tuple(_code(v, depth - 1) if callable(v) else _kind(v) for v in held)
    return code, same, kinds, _globals(code, getattr(function, "__globals__", {}), depth)


def _held(value: Any, depth: int) -> Iterator[Array | np.ndarray]:
    """The arrays that a function reaches: of its closure, its defaults, its object and its module."""
    if isinstance(value, Array) or (type(value) is np.ndarray and value.dtype in ANY):
        yield value
    elif depth == 0 or isinstance(value, (str, int, float, type(None), type, ModuleType)):
        return
    elif isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _held(item, depth - 1)
    elif callable(value):
        code, known = getattr(value, "__code__", None), getattr(value, "__globals__", {})
        names = () if code is None else _names(code)
        parts = [*held_by(value), *(known[name] for name in names if name in known)]
        for part in parts:
            yield from _held(part, depth - 1)


def _globals(code: CodeType, known: dict[str, Any], depth: int) -> Any:
    """The same of the names of a module that a function looks up; of functions elsewhere, which they are."""
    found = []
    for name in _names(code):
        if name in known:
            value = known[name]
            is_near = getattr(value, "__globals__", None) is known
            found.append(_code(value, max(depth - 2, 0)) if is_near else _kind(value))
    return tuple(found)


@functools.lru_cache(maxsize=_MOST)
def _names(code: CodeType) -> tuple[str, ...]:
    """What a function, or one inside it, may look up among the names of its module."""
    inner = (name for c in code.co_consts if isinstance(c, CodeType) for name in _names(c))
    return tuple(dict.fromkeys((*code.co_names, *inner)))


class _Same:
    """Equal for one and the same object while it lives; an address alone may be that of a later one."""

    def __init__(self, value: Any) -> None:
        self._value = weakref.ref(value)
        self._hash = id(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        value = self._value()
        return isinstance(other, _Same) and value is not None and value is other._value()


def _identity(value: Any) -> Any:
    """Which object it is; its type where that cannot be told without keeping it alive."""
    try:
        return _Same(value)
    except TypeError:
        return type(value)


def _kind(value: Any, depth: int = _DEPTH) -> Any:
    """What the types of results may depend on: all of a value but elements of arrays and fractions."""
    if isinstance(value, (Array, np.ndarray, np.generic)):
        return value.dtype, value.shape, bool(getattr(value, "weak_type", False))
    if isinstance(value, (str, int, bool, type(None))):
        return type(value), value
    if isinstance(value, (tuple, list)) and depth > 0 and len(value) <= _LONG:
        return type(value), tuple(_kind(v, depth - 1) for v in value)
    if isinstance(value, dict) and depth > 0 and len(value) <= _LONG:
        return type(value), tuple((_kind(k, 0), _kind(v, depth - 1)) for k, v in value.items())
    return _identity(value)
