"""`make_jaxpr`: a traced function that prints one op a line, can be walked, and can be called with arrays.

Input: a function, and arrays or specs of its arguments. Output: a `TracedFunction`, a closed jaxpr. Idea:
clients of JAX print a jaxpr, ask for types, walk its equations (`equations.py`), and call it with other
arrays for what the function closes over: `eval_jaxpr(jaxpr, consts, *args)`. The ops are adze's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...dialects.builder.emitter import Reader
from ...dialects.types import FLOAT32, INEXACT, TensorType, ValueType
from ...passes.ir.functions import function as function_called
from ...passes.ir.functions import referenced, split_body
from ...passes.ir.pretty import pretty
from .. import tree
from ..errors import ArgumentError
from ..tracing.array import moment
from ..tracing.default_dtypes import floating
from ..tracing.frames import current_frame
from ..tracing.function_scope import Argument, FunctionScope, PrivateFunction, argument_of
from ..tracing.interpreter import as_value, narrow_numbers
from ..tracing.jax_rules import follows_jax
from ..tracing.locations import user_location_text
from ..tracing.program import Program
from ..tracing.specs import ShapeDtype
from ..tracing.trace import function_name
from ..tracing.wrapped import wraps
from .equations import ClosedJaxpr, Jaxpr, Literal, Var
from .mesh_equations import bound_axes_of
from .shape_evaluation import eval_shape


class TracedFunction(ClosedJaxpr):
    """A traced function as `make_jaxpr` returns it: it prints one op a line, and has equations."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        axes: frozenset[str] = frozenset(),
    ) -> None:
        self._is_inside = current_frame() is not None
        began = moment()
        scope, traced, self._avals = _traced(function, args, kwargs, axes)
        super().__init__(scope.program, traced.symbol, traced.captured, began)
        self._results = [ShapeDtype(t.static_shape, t.dtype) for t in traced.result_types]

    @property
    def in_avals(self) -> list[ShapeDtype]:
        """The types of the arguments."""
        return self._avals

    @property
    def out_avals(self) -> list[ShapeDtype]:
        """The types of the results."""
        return self._results

    def in_own_syntax(self) -> str:
        """Its ops and those of the functions that it calls, one a line."""
        return super().in_own_syntax() if self._is_inside else pretty(self.program.module)


def _traced(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], axes: frozenset[str]
) -> tuple[FunctionScope, PrivateFunction, list[ShapeDtype]]:
    """The function of flat arrays in a program, with what it closes over as more arguments.

    A Python float is an argument of float32 in it, as in a jaxpr. That makes no difference where it meets no
    floats of another width; it yields to these, with all of its bits, where it does. In programs written for
    JAX that leave 64 bits off, Python's numbers have 32 bits in it. The arguments differ along `axes`.
    """
    leaves, structure = tree.flatten((tuple(args), kwargs))
    arguments = [_argument(leaf) for leaf in leaves]
    if axes:
        arguments = [replace(a, varying=axes) for a in arguments]

    def call(values: Sequence[Any]) -> Any:
        args, kwargs = tree.unflatten(structure, values)
        return function(*args, **kwargs)

    scope, name = FunctionScope(), function_name(function)
    specs = [_spec(leaf) for leaf in leaves]
    if follows_jax() and floating() == FLOAT32:
        with narrow_numbers():
            return scope, scope.trace(name, call, arguments), specs
    plain = [replace(a, weak_type=a.weak_type and not _is_float(a.type)) for a in arguments]
    traced = scope.trace(name, call, plain)
    if plain != arguments and _widens(scope.program, traced.symbol):
        scope.drop(traced.symbol)
        traced = scope.trace(name, call, arguments)
    return scope, traced, specs


def _widens(program: Program, symbol: str) -> bool:
    """Whether a function, or one that it calls, converts floats to wider ones."""
    reader, waiting, seen = Reader(program.codec), [symbol], {symbol}
    while waiting:
        for child in split_body(function_called(program.module, waiting.pop()))[0]:
            application = reader.read(child.operation)
            assert application is not None
            if application.op.name == "convert":
                source, target = (_dtype(program, v) for v in (child.operands[0], child.results[0]))
                if source in INEXACT and source.itemsize < target.itemsize:
                    return True
            callees = [callee for callee in referenced(application) if callee not in seen]
            waiting += callees
            seen.update(callees)
    return False


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: Any = (),
    axis_env: Sequence[tuple[str, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function of arguments (or specs) that traces `fun` and returns its ops, which print one a line.

    They are ops of adze, not of JAX; programs written for JAX see them in its syntax. `axis_env` binds names
    to axes of a size, `[("i", 4)]`: collectives over them are equations, and the arguments are those of one
    position. With `return_shape` the tree of the result types comes too.
    """
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @wraps(fun)
    def make(*args: Any, **kwargs: Any) -> Any:
        fixed = {n % len(args): args[n] for n in numbers}

        @wraps(fun)
        def of_arrays(*arrays: Any, **keywords: Any) -> Any:
            rest = iter(arrays)
            return fun(*(fixed[i] if i in fixed else next(rest) for i in range(len(args))), **keywords)

        dynamic = [arg for i, arg in enumerate(args) if i not in fixed]
        with bound_axes_of(axis_env):
            traced = TracedFunction(of_arrays, dynamic, kwargs, frozenset(name for name, _ in axis_env or ()))
            return (traced, eval_shape(of_arrays, *dynamic, **kwargs)) if return_shape else traced

    return make


def eval_jaxpr(jaxpr: Jaxpr | ClosedJaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """The flat results of a traced function: `consts` for what it closes over, `args` for flat arguments.

    Raises `ArgumentError` where their number is another one.
    """
    closed = jaxpr.closed if isinstance(jaxpr, Jaxpr) else jaxpr
    expected = (len(closed.consts), len(closed.in_avals))
    if (len(consts), len(args)) != expected:
        raise ArgumentError(
            f"eval_jaxpr: expected {expected[0]} consts and {expected[1]} arguments, got {len(consts)} and "
            f"{len(args)}",
            where=user_location_text(),
        )
    values = [as_value(x, s.dtype) for x, s in zip(args, closed.in_avals, strict=True)]
    captured, constants = closed.as_captured(consts)
    _, own_constants = closed.as_captured(closed.consts)
    if all(own is given for own, given in zip(own_constants, constants, strict=True)):
        return closed.called(values, list(map(as_value, captured)))
    return _walked(closed.jaxpr, consts, values)


def _walked(jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """The results by one equation after the other, for other arrays in the place of its constants."""
    known: dict[Var, Any] = dict(zip(jaxpr.constvars, map(as_value, consts), strict=True))
    known.update(zip(jaxpr.invars, args, strict=True))

    def value_of(operand: Any) -> Any:
        return operand.val if isinstance(operand, Literal) else known[operand]

    for eqn in jaxpr.eqns:
        results = eqn.primitive.bind(*map(value_of, eqn.invars), **eqn.params)
        known.update(zip(eqn.outvars, results if eqn.primitive.multiple_results else [results], strict=True))
    return [as_value(value_of(v)) for v in jaxpr.outvars]


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr) -> Callable[..., list[Any]]:
    """A traced function as a function of its flat arguments."""
    return lambda *args: eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)


def _is_float(type_: ValueType) -> bool:
    return isinstance(type_, TensorType) and type_.dtype in INEXACT


def _dtype(program: Program, value: Any) -> np.dtype:
    """The dtype of a value that is no size."""
    type_ = program.codec.read_type(value.type)
    assert isinstance(type_, TensorType)
    return type_.dtype


def _spec(leaf: Any) -> ShapeDtype:
    return leaf if isinstance(leaf, ShapeDtype) else ShapeDtype.like(as_value(leaf))


def _argument(leaf: Any) -> Argument:
    if not isinstance(leaf, ShapeDtype):
        return argument_of(as_value(leaf))
    names = tuple(n if isinstance(n, str) else None for n in leaf.shape)
    return Argument(leaf.type, names, leaf.weak_type)
