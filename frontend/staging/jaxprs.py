"""`make_jaxpr`: a traced function that prints one op a line, and can be called with arrays.

Input: a function, and arrays or specs of its arguments. Output: a `TracedFunction`. Idea: what clients of
JAX do with a jaxpr is to print it, to ask for types, and to call it with other arrays for what the function
closes over: `eval_jaxpr(jaxpr, jaxpr.consts, *args)`. The ops are adze's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ...passes.ir.functions import find_function
from .. import tree
from ..errors import ArgumentError
from ..tracing.frames import current_frame
from ..tracing.function_scope import Argument, FunctionScope, PrivateFunction, argument_of
from ..tracing.interpreter import as_value
from ..tracing.locations import user_location_text
from ..tracing.specs import ShapeDtype
from .jit import jit, trace
from .shape_evaluation import eval_shape
from .traced import Traced


class TracedFunction:
    """A traced function as `make_jaxpr` returns it: it prints one op a line."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self._function = function
        self._args, self._kwargs = args, kwargs
        self._is_inside = current_frame() is not None
        if self._is_inside:  # its values may be used, and only now
            self._private  # noqa: B018
        else:
            self._traced  # noqa: B018

    @cached_property
    def _traced(self) -> Traced:
        return trace(self._function, *self._args, **self._kwargs)

    @cached_property
    def _private(self) -> tuple[FunctionScope, PrivateFunction]:
        """The function of flat arrays in a program, with what it closes over as more arguments."""
        scope = FunctionScope()
        leaves, structure = tree.flatten((tuple(self._args), self._kwargs))

        def call(values: Sequence[Any]) -> Any:
            args, kwargs = tree.unflatten(structure, values)
            return self._function(*args, **kwargs)

        return scope, scope.trace("jaxpr", call, [_argument(leaf) for leaf in leaves])

    def __str__(self) -> str:
        if not self._is_inside:
            return self._traced.pretty()
        scope, function = self._private
        return str(find_function(scope.program.module, function.symbol))

    __repr__ = __str__

    @property
    def jaxpr(self) -> TracedFunction:
        """Itself."""
        return self

    @property
    def consts(self) -> list[Any]:
        """The traced values that the function closes over; arrays that it closes over are constants in it."""
        return list(self._private[1].captured)

    @property
    def in_avals(self) -> list[ShapeDtype]:
        """The types of the arguments."""
        return [_spec(leaf) for leaf in tree.leaves((tuple(self._args), self._kwargs))]

    @property
    def out_avals(self) -> list[ShapeDtype]:
        """The types of the results."""
        if self._is_inside:
            return [ShapeDtype(t.static_shape, t.dtype) for t in self._private[1].result_types]
        program = self._traced.program
        pairs = zip(program.result_shapes, program.result_types, strict=True)
        return [ShapeDtype(shape, kind.dtype) for shape, kind in pairs]


def make_jaxpr(
    fun: Callable[..., Any], static_argnums: Any = (), return_shape: bool = False
) -> Callable[..., Any]:
    """A function of arguments (or specs) that traces `fun` and returns its ops, which print one a line.

    They are ops of adze, not of JAX. With `return_shape` the tree of the result types comes too.
    """
    traceable = jit(fun, static_argnums=static_argnums)

    @functools.wraps(fun)
    def make(*args: Any, **kwargs: Any) -> Any:
        text = TracedFunction(traceable, args, kwargs)
        return (text, eval_shape(traceable, *args, **kwargs)) if return_shape else text

    return make


def eval_jaxpr(jaxpr: TracedFunction, consts: Sequence[Any], *args: Any) -> list[Any]:
    """The flat results of a traced function: `consts` for what it closes over, `args` for flat arguments.

    Raises `ArgumentError` where their number is another one.
    """
    scope, function = jaxpr._private
    expected = (len(jaxpr.consts), len(jaxpr.in_avals))
    if (len(consts), len(args)) != expected:
        raise ArgumentError(
            f"eval_jaxpr: expected {expected[0]} consts and {expected[1]} arguments, got {len(consts)} and "
            f"{len(args)}",
            where=user_location_text(),
        )
    values = [as_value(x, s.dtype) for x, s in zip(args, jaxpr.in_avals, strict=True)]
    return scope.call(function.symbol, [*values, *map(as_value, consts)])


def jaxpr_as_fun(closed_jaxpr: TracedFunction) -> Callable[..., list[Any]]:
    """A traced function as a function of its flat arguments."""
    return lambda *args: eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)


def _spec(leaf: Any) -> ShapeDtype:
    return leaf if isinstance(leaf, ShapeDtype) else ShapeDtype.like(as_value(leaf))


def _argument(leaf: Any) -> Argument:
    if not isinstance(leaf, ShapeDtype):
        return argument_of(as_value(leaf))
    names = tuple(n if isinstance(n, str) else None for n in leaf.shape)
    return Argument(leaf.type, names, leaf.weak_type)
