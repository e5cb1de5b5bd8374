"""The equations of a traced function, as programs that walk jaxprs read them.

Input: a function of a program. Output: a `Jaxpr` of variables, literals and equations, whose primitives are
JAX's where adze's op is one of those, with JAX's attributes: `eqn.primitive.bind(*values, **eqn.params)`
applies an equation again. An op that calls functions, such as a loop, has them as closed jaxprs among its
attributes, under JAX's names too. Numbers that the function states are literals, arrays are constants of the
jaxpr.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final

import numpy as np

from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.dataclass import dataclass
from ...dialects.types import TensorType, ValueType
from ...passes.ir.functions import body, split_body
from ...passes.ir.functions import function as function_called
from ..library.lax.primitive_attributes import described
from ..library.lax.primitives import Primitive
from ..library.traced_ops import applied
from ..tracing.array import Array, number_of
from ..tracing.frames import current_frame
from ..tracing.function_scope import FunctionScope, argument_of, imported
from ..tracing.interpreter import as_value
from ..tracing.jax_rules import follows_jax
from ..tracing.program import Program
from ..tracing.specs import ShapeDtype
from .jaxpr_text import equation_text, jax_text
from .mesh_equations import jax_attributes, jax_name
from .nested_calls import JITTED


class Var:
    """A variable of a jaxpr; `aval` is its type."""

    def __init__(self, count: int, aval: ShapeDtype) -> None:
        self.count, self.aval = count, aval

    def __repr__(self) -> str:
        return f"%{self.count}:{self.aval}"


class Literal:
    """A number that a jaxpr states; `val` is it, `aval` its type."""

    def __init__(self, val: Any, aval: ShapeDtype) -> None:
        self.val, self.aval = val, aval

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval}"


@dataclass(eq=False)
class JaxprEqn:
    """One equation: `outvars` are what `primitive` makes of `invars` with the attributes `params`."""

    invars: list[Any]
    outvars: list[Var]
    primitive: Primitive
    params: dict[str, Any]
    effects: frozenset[Any] = frozenset()
    source_info: str = ""

    def __repr__(self) -> str:
        if follows_jax():
            return equation_text(self)
        left, right = " ".join(map(str, self.outvars)), " ".join(map(str, self.invars))
        return f"{left} = {self.primitive} {right}"


@dataclass(eq=False)
class Jaxpr:
    """A function as its variables and equations; `constvars` are those of what it closes over."""

    constvars: list[Var]
    invars: list[Var]
    outvars: list[Any]
    eqns: list[JaxprEqn]
    closed: ClosedJaxpr = field(repr=False)
    effects: frozenset[Any] = frozenset()
    debug_info: None = None

    def __str__(self) -> str:
        return jax_text(self) if follows_jax() else str(self.closed)

    __repr__ = __str__


class ClosedJaxpr:
    """A function of a program with what it closes over: `consts` belong to `jaxpr.constvars`."""

    def __init__(
        self, program: Program, symbol: str, captured: Sequence[Any] = (), began: int | None = None
    ) -> None:
        self.program, self.symbol, self.captured = program, symbol, list(captured)
        self.began = began

    def given(self, constant: Any, value: np.ndarray) -> Array | None:
        """The array of a constant, where its function was given it: it is older than the trace."""
        array = self.program.arrays.get(constant)
        if array is None or self.began is None or number_of(array) >= self.began:
            return None
        is_same = array.dtype == value.dtype and array.numpy().tobytes() == value.tobytes()
        return array if is_same else None  # the value of an op that was erased may be that of another one

    @cached_property
    def jaxpr(self) -> Jaxpr:
        """Its variables and equations."""
        return self._read[0]

    @property
    def consts(self) -> list[Any]:
        """The traced values that it closes over, and the arrays that are constants in it."""
        values, (_, constants, order) = self.captured, self._read
        return [[*values, *constants][i] for i in order]

    literals = consts

    @property
    def eqns(self) -> list[JaxprEqn]:
        """The equations of `jaxpr`."""
        return self.jaxpr.eqns

    @property
    def effects(self) -> frozenset[Any]:
        """None: the order of a program's ops is that of its effects."""
        return self.jaxpr.effects

    @property
    def in_avals(self) -> list[ShapeDtype]:
        """The types of the arguments."""
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[ShapeDtype]:
        """The types of the results."""
        return [v.aval for v in self.jaxpr.outvars]

    @cached_property
    def _read(self) -> tuple[Jaxpr, list[Any], list[int]]:
        return _Reading(self).run()

    def as_captured(self, consts: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What stands for the traced values among `consts`, in the order of `captured`, and the others."""
        values = dict(zip(self._read[2], consts, strict=True))
        ordered = [values[i] for i in range(len(consts))]
        return ordered[: len(self.captured)], ordered[len(self.captured) :]

    def called(self, args: Sequence[Any], captured: Sequence[Any]) -> list[Any]:
        """The results, for other values of what it captures."""
        return FunctionScope(self.program).call(self.symbol, [*args, *captured])

    def __str__(self) -> str:
        if follows_jax():
            return jax_text(self.jaxpr)
        return self.in_own_syntax()

    def in_own_syntax(self) -> str:
        """Its ops of adze."""
        return str(function_called(self.program.module, self.symbol))

    __repr__ = __str__


class _Reading:
    """One function read into equations."""

    def __init__(self, closed: ClosedJaxpr) -> None:
        self.closed = closed
        self.codec = closed.program.codec
        self.numbers = itertools.count()
        self.known: dict[Any, Any] = {}
        self.constvars: list[Var] = []
        self.given: dict[int, Var] = {}
        self.constants: list[Any] = []

    def run(self) -> tuple[Jaxpr, list[Any], list[int]]:
        """The function, its constants, and the order of what it closes over: by first use, as in JAX."""
        operation = function_called(self.closed.program.module, self.closed.symbol)
        arguments = [self.variable(a) for a in body(operation).arguments]
        count = len(arguments) - len(self.closed.captured)
        eqns, results = self.function_read(operation)
        constvars = [*arguments[count:], *self.constvars]
        order = _by_first_use(constvars, [*(operand for eqn in eqns for operand in eqn.invars), *results])
        jaxpr = Jaxpr([constvars[i] for i in order], arguments[:count], results, eqns, self.closed)
        return jaxpr, self.constants, order

    def function_read(self, operation: Any) -> tuple[list[JaxprEqn], list[Any]]:
        """The equations and the results of a function whose arguments are known.

        A call of a function that a transform derived is the equations of that function, as in JAX.
        """
        operations, terminator = split_body(operation)
        reader, eqns = Reader(self.codec), list[JaxprEqn]()
        for child in operations:
            application = reader.read(child.operation, self.known.__getitem__)
            assert application is not None, f"{child.operation.name} is not an op of adze"
            if application.op.is_constant:
                self.constant(child.results[0], application)
            elif self.is_of_transform(application):
                callee = function_called(self.closed.program.module, application.attributes["callee"])
                self.known.update(zip(body(callee).arguments, application.operands, strict=True))
                inner, results = self.function_read(callee)
                eqns += inner
                self.known.update(zip(child.results, results, strict=True))
            else:
                eqns.append(self.equation(child.operation, application))
        return eqns, [self.known[v] for v in terminator.operands]

    def is_of_transform(self, application: Application) -> bool:
        """Whether an op calls a function that nobody jitted."""
        if application.op.name != "call":
            return False
        return application.attributes["callee"] not in self.closed.program.memo.get(JITTED, ())

    def variable(self, value: Any) -> Var:
        variable = self.known[value] = Var(next(self.numbers), _aval(self.codec.read_type(value.type)))
        return variable

    def constant(self, result: Any, application: Application) -> None:
        """A number is a literal, and an array of rank 0 that the trace was given is none, as in JAX."""
        value = np.asarray(application.op.evaluate(**application.attributes))
        given = self.closed.given(result, value)
        if given is None and value.ndim == 0:
            self.known[result] = Literal(value[()], _aval(self.codec.read_type(result.type)))
            return
        if given is not None and number_of(given) in self.given:
            self.known[result] = self.given[number_of(given)]
            return
        self.constvars.append(self.variable(result))
        self.constants.append(Array(value) if given is None else given)
        if given is not None:
            self.given[number_of(given)] = self.constvars[-1]

    def equation(self, operation: Any, application: Application) -> JaxprEqn:
        results = [self.variable(r) for r in operation.results]
        name = jax_name(application.op.name, dict(application.attributes))
        known = described(application) if name is None else None
        if known is not None:
            return JaxprEqn(list(known.operands), results, known.primitive, known.attributes)
        has_several = application.op.refers_to_functions or len(results) != 1
        primitive = _own_primitive(name or application.op.name, has_several)
        params = self.params(application) | {"op": OfProgram(self.closed.program, application)}
        return JaxprEqn(list(application.operands), results, primitive, params)

    def params(self, application: Application) -> dict[str, Any]:
        """The attributes of an op that is no primitive of JAX by its ops; functions as closed jaxprs."""
        if jax_name(application.op.name, dict(application.attributes)) is not None:
            return jax_attributes(application.op.name, dict(application.attributes))
        params: dict[str, Any] = {}
        for name, value in application.attributes.items():
            kind = application.op.attributes[name].kind
            if kind == "symbol":
                params[_FUNCTIONS.get((application.op.name, name), name)] = self.function(value)
            elif kind == "symbols":
                params[name] = tuple(map(self.function, value))
            else:
                params[_PARAMS.get((application.op.name, name), name)] = value
        if application.op.name == "call":
            callee = application.attributes["callee"]
            params["name"] = self.closed.program.memo.get(JITTED, {}).get(callee, callee)
        if application.op.name == "scan" and len(params["length"]) == 1:
            (params["length"],) = params["length"]
        if application.op.name == "scan":
            params["unroll"] = 1
        return params

    def function(self, symbol: str) -> ClosedJaxpr:
        return ClosedJaxpr(self.closed.program, symbol, began=self.closed.began)


def _by_first_use(variables: Sequence[Var], operands: Sequence[Any]) -> list[int]:
    """The positions of variables in the order in which they are first among `operands`."""
    first: dict[Var, int] = {}
    for position, operand in enumerate(operands):
        if isinstance(operand, Var):
            first.setdefault(operand, position)
    return sorted(range(len(variables)), key=lambda i: first.get(variables[i], len(operands)))


_FUNCTIONS: Final = {
    ("call", "callee"): "jaxpr",
    ("routine", "callee"): "jaxpr",
    ("checkpoint_call", "callee"): "jaxpr",
    ("custom_jvp_call", "callee"): "call_jaxpr",
    ("custom_vjp_call", "callee"): "call_jaxpr",
    ("scan", "body"): "jaxpr",
    ("while", "condition"): "cond_jaxpr",
    ("while", "body"): "body_jaxpr",
}
"""JAX's names of the functions that an op refers to."""

_PARAMS: Final = {
    ("scan", "constant_count"): "num_consts",
    ("scan", "carry_count"): "num_carry",
    ("while", "condition_constants"): "cond_nconsts",
    ("while", "body_constants"): "body_nconsts",
    ("checkpoint_name", "label"): "name",
}
"""JAX's names of other attributes."""

_NAMES: Final = {
    "axis_gather": "all_gather",
    "axis_sum": "psum",
    "call": "jit",
    "checkpoint_call": "checkpoint",
    "checkpoint_name": "name",
}
"""JAX's names of ops that are none of its primitives of `lax`."""


@dataclass(frozen=True)
class OfProgram:
    """An op with the program that its functions are in: what `bind` applies again."""

    program: Program
    application: Application

    def __repr__(self) -> str:
        return f"adze.{self.application.op.name}"


class _OwnPrimitive(Primitive):
    """An op that is no primitive of `adze.lax`: its `bind` takes the attributes of an equation."""

    def __init__(self, name: str, has_several: bool) -> None:
        super().__init__(name, _applied_again)
        self.multiple_results = has_several

    def bind(self, *operands: Any, **attributes: Any) -> Any:
        results = _applied_again(attributes["op"], operands)
        return results if self.multiple_results else results[0]


@functools.cache
def _own_primitive(op: str, has_several: bool) -> Primitive:
    """The one primitive of an op, which rules can be kept for."""
    return _OwnPrimitive(_NAMES.get(op, op), has_several)


def primitive_of(application: Application) -> tuple[Primitive, Sequence[Any], dict[str, Any]]:
    """An op as a primitive with its operands and attributes: JAX's where it is one of those."""
    known = described(application)
    if known is not None:
        return known.primitive, known.operands, dict(known.attributes)
    primitive = _own_primitive(application.op.name, application.op.refers_to_functions)
    return primitive, application.operands, dict(application.attributes)


def primitive_of_functions(name: str) -> Primitive | None:
    """The primitive of an op that calls functions by its name in JAX, `jit` or `scan`; None for another."""
    ops = {_NAMES.get(op, op): op for op in (*(op for op, _ in _FUNCTIONS if op != "routine"), "cond")}
    return _own_primitive(ops[name], True) if name in ops else None


def _applied_again(op: OfProgram, operands: Sequence[Any]) -> list[Any]:
    """The results of an op of other operands, in the trace that goes on or at once."""
    values = [x if isinstance(x, int) and not isinstance(x, bool) else as_value(x) for x in operands]
    frame = current_frame()
    if frame is not None:
        return applied(_moved(op, frame.program), values)
    scope = FunctionScope()
    traced = scope.trace(
        op.application.op.name,
        lambda inner: applied(_moved(op, scope.program), inner),
        [argument_of(v) for v in values],
    )
    return scope.call(traced.symbol, values)


def _moved(op: OfProgram, program: Program) -> Application:
    """The op with its functions copied into `program`."""
    if op.program is program:
        return op.application

    def copy(symbol: str) -> str:
        return imported(program, op.program, symbol)

    kinds: dict[str, Callable[[Any], Any]] = {"symbol": copy, "symbols": lambda s: tuple(map(copy, s))}
    attributes = {
        name: kinds.get(op.application.op.attributes[name].kind, lambda value: value)(value)
        for name, value in op.application.attributes.items()
    }
    return Application(op.application.op, op.application.operands, attributes)


def _aval(type_: ValueType) -> ShapeDtype:
    if isinstance(type_, TensorType):
        return ShapeDtype(type_.static_shape, type_.dtype)
    return ShapeDtype((), np.dtype(np.int64))  # a size


def jaxprs_in_params(params: dict[str, Any]) -> list[Jaxpr]:
    """The jaxprs of the functions that an equation with these attributes calls."""
    found: list[Jaxpr] = []
    for value in params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, ClosedJaxpr):
                found.append(item.jaxpr)
            elif isinstance(item, Jaxpr):
                found.append(item)
    return found


def subjaxprs(jaxpr: Jaxpr) -> list[Jaxpr]:
    """The jaxprs of the functions that the equations of `jaxpr` call, not those within them."""
    return [inner for eqn in jaxpr.eqns for inner in jaxprs_in_params(eqn.params)]
