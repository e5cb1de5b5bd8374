"""The checks of branches and loops outside a trace: those that they have inside one.

Input: a construct with its functions and operands. Output: the types of its results, or its errors.

Idea: outside a trace Python is the control flow, and a mistake could hide in the branch that is not taken
or in a step that never comes. So a construct is traced first, in a program that is thrown away: once for
functions of the same code and operands of the same types. Functions that need values cannot be traced and
run unchecked.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Final

import numpy as np

from ...dialects.errors import AdzeError
from ...dialects.types import TensorType
from ...passes.ir.functions import functions
from .. import tree
from ..tracing.array import Array
from ..tracing.default_dtypes import is_float32, names_widening
from ..tracing.frames import Program
from ..tracing.function_scope import FunctionScope, argument_of
from ..tracing.interpreter import as_value
from ..tracing.references import uses
from ..tracing.scalars import is_python_scalar

_MOST: Final = 4096
_DEPTH: Final = 4
_LONG: Final = 64

Types = tuple[TensorType, ...] | None
"""The types of what a construct returns; None where it cannot be traced."""


class _Known(threading.local):
    def __init__(self) -> None:
        self.program: Program | None = None
        self.types: dict[Any, Types] = {}


_known = _Known()


def checked(
    options: Any, called: Sequence[Callable[..., Any]], operands: Any, record: Callable[[Any], Any]
) -> Types:
    """Trace `record(operands)`, which calls the functions `called`; raises its errors.

    Errors of these functions themselves come when they run. `options` is what else the outcome depends on.
    """
    leaves, structure = tree.flatten(operands)
    values = [leaf if is_python_scalar(leaf) else as_value(leaf) for leaf in leaves]
    options = (options, is_float32(), names_widening())
    key = (options, tuple(_code(f, _DEPTH) for f in called), structure, tuple(map(_kind, values)))
    if key not in _known.types:
        types = _traced(called, values, lambda arguments: record(tree.unflatten(structure, arguments)))
        if len(_known.types) >= _MOST:
            _known.types.clear()
        _known.types[key] = types
    return _known.types[key]


def _traced(
    called: Sequence[Callable[..., Any]], values: Sequence[Any], call: Callable[[Sequence[Any]], Any]
) -> Types:
    """The types that a function of these values returns; its Python numbers stay numbers."""
    # A function may leave the trace and check a construct of its own, which then has another program.
    program, _known.program = _known.program or Program("checks"), None
    is_number = [is_python_scalar(v) for v in values]

    def whole(arrays: Sequence[Any]) -> Any:
        rest = iter(arrays)
        return call([v if number else next(rest) for v, number in zip(values, is_number, strict=True)])

    arguments = [argument_of(v) for v, number in zip(values, is_number, strict=True) if not number]
    try:
        with uses():
            return FunctionScope(program).trace("checked", whole, arguments).result_types
    except Exception as error:
        if isinstance(error, AdzeError) and not _came_from(error, called):
            raise
        return None
    finally:
        for operation in functions(program.module).values():
            operation.operation.erase()
        program.memo.clear()
        program.symbols.clear()
        program.callees.clear()
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
