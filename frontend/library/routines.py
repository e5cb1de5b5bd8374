"""Compositions that a target may compute by a kernel of its own: recorded as routines, by the kernel's name.

Input: the name of a kernel, a function of arrays, and arrays. Output: what the function returns of them.
Idea: in a trace the function becomes a private one, the callee of an `adze.routine`; equal calls share it.
For dtypes and sizes that no kernel takes (`dialects/routine_arrays.py`), the function is called as it is.
Outside a trace the function is traced once for each types of arrays and then evaluated, and compiled once it
has run many ops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...dialects.routine_arrays import ANY_SIZES, OWN_AXES, takes
from ...dialects.types import TensorType
from ...passes.analysis.evaluate import Evaluation, is_watching
from ...passes.analysis.long_loops import OpCounts
from ...passes.autodiff.deferred import Deferred
from .. import tree
from ..tracing.array import Array
from ..tracing.default_dtypes import is_float32
from ..tracing.frames import current_frame
from ..tracing.function_scope import Argument, FunctionScope, PrivateFunction, argument_of, keep_dimensions
from ..tracing.interludes import trace_of
from ..tracing.interpreter import ops
from ..tracing.operators import library_function
from ..tracing.program import Program
from ..tracing.sizes import minimum

_jitted_function = library_function("jitted_function")

MOST_OPS: Final = 30_000
"""A routine whose calls outside of traces run more ops than these is compiled: half a second, as it takes."""

_MOST_KEPT: Final = 64
_kept: dict[Any, _KeptRoutine] = {}
"""What is evaluated outside of traces, by kernel and types."""


def routine(kernel: str, function: Callable[..., Any], *arrays: Any) -> Any:
    """``function(*arrays)``, an array or a tuple of arrays, as the routine `kernel`.

    The name stands for the function and for everything but the arrays that it depends on.
    """
    with trace_of(arrays):
        return _routine(kernel, function, *arrays)


def _routine(kernel: str, function: Callable[..., Any], *arrays: Any) -> Any:
    if current_frame() is None:
        return _evaluated(kernel, function, arrays)
    if not _has_kernel(kernel, arrays):
        return function(*arrays)
    callee = _traced(kernel, function, arrays)
    results = ops.routine(*arrays, callee=callee.symbol, kernel=kernel, results=callee.result_types)
    kept = [_sized(kernel, position, result, arrays) for position, result in enumerate(results)]
    return kept[0] if len(kept) == 1 else tuple(kept)


def linear_routine(
    kernel: str,
    function: Callable[..., Any],
    transposed_kernel: str,
    transposed: Callable[..., Any],
    *arrays: Any,
    keeps_shape: bool = False,
) -> Any:
    """The same for a function that is linear in its last argument, with its transpose.

    ``transposed(*others, cotangent)`` is the cotangent of the last argument. With `keeps_shape` the result
    has the shape of that argument, and all sizes may be dynamic, whether a kernel takes them or not.
    """
    with trace_of(arrays):
        if current_frame() is None:
            return _evaluated(kernel, function, arrays)
        is_named = keeps_shape and _is_named(arrays)
        if not is_named and not _has_kernel(kernel, arrays):
            return function(*arrays)
        callee = _traced(kernel, function, arrays)
        if is_named:
            back = _later(transposed_kernel, transposed, arrays)
        else:
            cotangent = _cotangent_of(callee.result_types[0], arrays[-1])
            back = _later(transposed_kernel, transposed, arrays[:-1], cotangent)
        (result,) = ops.linear_routine(
            *arrays,
            callee=callee.symbol,
            kernel=kernel,
            transposed=back,
            transposed_kernel=transposed_kernel,
            results=callee.result_types,
        )
        if is_named:
            return keep_dimensions(result, arrays[-1].shape)
        return _sized(kernel, 0, result, arrays)


def _has_kernel(kernel: str, arrays: tuple[Any, ...]) -> bool:
    return takes(kernel, [ops.tensor_type(x) for x in arrays])


def _sized(kernel: str, position: int, result: Any, arrays: tuple[Any, ...]) -> Any:
    """A result with its dimensions: as many matrices or rows as operands have, and known or their sizes."""
    counted = arrays[-1]
    count = counted.ndim - OWN_AXES.get(kernel, counted.ndim)
    own: Sequence[Any] = ops.tensor_type(result).static_shape[count:]
    if kernel in ANY_SIZES:
        own = [
            functools.reduce(minimum, (arrays[operand].shape[axis] for axis in axes))
            for operand, *axes in ANY_SIZES[kernel][position]
        ]
    return keep_dimensions(result, (*counted.shape[:count], *own))


def _is_named(arrays: tuple[Any, ...]) -> bool:
    types = [ops.tensor_type(x) for x in arrays]
    return not all(t.is_static for t in types) and not any(0 in t.shape for t in types)


def _traced(kernel: str, function: Callable[..., Any], arrays: tuple[Any, ...]) -> PrivateFunction:
    """The function of arguments like `arrays`."""
    return _Wanted.of(kernel, function, arrays).traced()


def _later(kernel: str, function: Callable[..., Any], arrays: tuple[Any, ...], *more: Argument) -> str:
    """The symbol of the function of arguments like `arrays`, then of `more`, traced when it is asked for."""
    wanted = _Wanted.of(kernel, function, arrays, *more)
    memo, key = wanted.scope.program.memo, wanted.key
    if key in memo:
        symbol: str = memo[key].symbol
        return symbol
    if (Deferred, key) not in memo:
        context = copy_context()  # the settings of dtypes, and JAX's rules

        def trace() -> list[str]:
            del memo[Deferred, key]
            wanted.scope.drop(deferred.symbols[0])
            return [context.run(wanted.traced, deferred.symbols[0]).symbol]

        deferred = memo[Deferred, key] = Deferred(wanted.scope.program.module, [kernel], trace, ends=True)
    later: Deferred = memo[Deferred, key]
    return later.symbols[0]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A function that is traced for arguments of certain kinds, once in a program."""

    kernel: str
    function: Callable[..., Any]
    scope: FunctionScope
    arguments: list[Argument]
    key: Hashable

    @classmethod
    def of(
        cls, kernel: str, function: Callable[..., Any], arrays: tuple[Any, ...], *more: Argument
    ) -> _Wanted:
        # Of one kind, as the operands of a routine are (`tracing/varying.py`).
        arguments = [*(replace(argument_of(x), varying=frozenset()) for x in arrays), *more]
        types = tuple(argument.type for argument in arguments)
        names = tuple(argument.dimensions for argument in arguments)
        key = ("routine", kernel, types, names, is_float32())
        return cls(kernel, function, FunctionScope(), arguments, key)

    def traced(self, symbol: str | None = None) -> PrivateFunction:
        """The function, called `symbol`, if it is traced now and not a deferred one already."""
        memo = self.scope.program.memo
        if symbol is None and (Deferred, self.key) in memo:
            memo[Deferred, self.key].resolve()
        if self.key not in memo:
            function = self.function
            memo[self.key] = self.scope.trace(
                self.kernel, lambda leaves: function(*leaves), self.arguments, symbol=symbol
            )
        traced: PrivateFunction = memo[self.key]
        assert not traced.captured, f"the routine {self.kernel} depends on more than its arguments"
        return traced


def _cotangent_of(type_: TensorType, array: Any) -> Argument:
    """An argument of a type whose leading axes are those of an array."""
    names = (*argument_of(array).dimensions, *(None,) * type_.rank)
    dimensions = (
        name if size is None else None for name, size in zip(names, type_.static_shape, strict=False)
    )
    return Argument(type_, tuple(dimensions), False)


def _evaluated(kernel: str, function: Callable[..., Any], arrays: tuple[Any, ...]) -> Any:
    """The results outside of a trace; op by op where NaN are looked for, whose places are then the user's."""
    if is_watching():
        return function(*arrays)
    arguments = [argument_of(x) for x in arrays]
    key = (kernel, tuple(arguments), is_float32())
    kept = _kept.get(key)  # once: another thread may clear them
    if kept is None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        kept = _kept[key] = _KeptRoutine(kernel, function, arguments)
        kept.may_compile = _has_kernel(kernel, arrays)
    return kept.call([np.asarray(x) for x in arrays])


class _KeptRoutine:
    """A routine of arrays of one kind: evaluated, and compiled where its calls run many ops."""

    def __init__(self, kernel: str, function: Callable[..., Any], arguments: list[Argument]) -> None:
        self._kernel, self._function = kernel, function
        scope = FunctionScope(Program(kernel))
        self._traced = scope.trace(kernel, lambda leaves: function(*leaves), arguments)
        self._evaluation = Evaluation(scope.program.module)
        self._ops = OpCounts(scope.program.module, self._evaluation.reader).of_function(self._traced.symbol)
        self._compiled: Callable[..., Any] | None = None
        self.may_compile = True

    def call(self, arrays: Sequence[np.ndarray]) -> Any:
        """The tree of the results. Which call compiles depends on the calls before, and on no clock."""
        if self.may_compile and self._compiled is None and self._evaluation.count + self._ops > MOST_OPS:
            self._compiled = _jitted_function(self._recorded)
            self.may_compile = self._compiled is not None
        if self._compiled is not None:
            try:
                return tree.map(lambda result: Array(np.asarray(result)), self._compiled(*arrays))
            except AdzeError:  # the evaluator computes it, or says what is wrong with it
                self._compiled, self.may_compile = None, False
        results = self._evaluation.call(self._traced.symbol, arrays)
        return tree.unflatten(self._traced.result_tree, [Array(r) for r in results])

    def _recorded(self, *arrays: Any) -> Any:
        return routine(self._kernel, self._function, *arrays)
